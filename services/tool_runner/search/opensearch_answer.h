/* Answers of OpenSearch and Elasticsearch, and the settings by which they are read. Private to the provider. */
#ifndef RENGA_TOOL_RUNNER_OPENSEARCH_ANSWER_H
#define RENGA_TOOL_RUNNER_OPENSEARCH_ANSWER_H

#include "search/provider.h"

#include <stdbool.h>

/* Parts of a result that stand in fields of a document. */
enum opensearch_part {
    OPENSEARCH_TITLE,
    OPENSEARCH_URL,
    OPENSEARCH_DATE,
    OPENSEARCH_CONTENT,
    OPENSEARCH_PARTS,
};

struct opensearch_settings {
    const char *index, *dialect, *mode, *user, *filter, *vector_field;
    const char *title_field, *url_field, *content_field, *date_field; /* date_field may be NULL */
    struct field_list search_fields;                                  /* "title^3"; empty: title and content */
    bool whole_content;  /* the field's whole text is the snippet, not passages of it */
    bool words, vectors; /* the parts of a query, by `mode` */
    bool beside;         /* kNN stands beside the query: Elasticsearch */
};

/* The field of a part; NULL: the document names no field. "meta.title" is a field within an object, too. */
static inline const char *opensearch_field(const struct opensearch_settings *settings, enum opensearch_part part)
{
    const char *const fields[OPENSEARCH_PARTS] = {settings->title_field, settings->url_field, settings->date_field,
                                                  settings->content_field};
    return fields[part];
}

/* As search_provider has them. */
bool opensearch_read_answer(const struct search_source *source, const struct search_reply *reply,
                            struct search_answer *answer, struct search_failure *failure);
void opensearch_read_error(const struct search_source *source, const struct search_reply *reply,
                           struct search_failure *failure);

#endif
