/* A provider with the settings of a document, for tests: {"sources": {"here": {"kind": …, FIELDS}}}. */
#ifndef RENGA_SEARCH_DOCUMENT_H
#define RENGA_SEARCH_DOCUMENT_H

#include "search/setup.h"
#include "search_fixture.h"

#include <stdio.h>
#include <unistd.h>

struct search_document {
    struct search_setups setups;
    struct search_fixture fixture;
};

static inline bool search_document_read(struct search_setups *setups, const char *kind, const char *fields,
                                        struct status *st)
{
    char path[] = "/tmp/renga-search-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file)
        return fail(st, INTERNAL, "no file in /tmp");
    fprintf(file, "{\"sources\": {\"here\": {\"kind\": \"%s\", \"url\": \"https://engine.example\"%s%s}}}", kind,
            *fields ? ", " : "", fields);
    fclose(file);
    bool good = search_setups_read(path, setups, st);
    unlink(path);
    return good;
}

/* The fields are JSON without braces, such as "\"index\": \"kb\"". Ends the test where they are refused. */
static inline struct search_fixture *search_document_init(struct search_document *document, const char *kind,
                                                          const char *fields)
{
    struct status st = {0};
    if (!search_document_read(&document->setups, kind, fields, &st)) {
        fprintf(stderr, "%s\n", st.text);
        abort();
    }
    const struct search_source *source = &document->setups.list[0]->source;
    search_fixture_init(&document->fixture, source->provider, source->settings);
    return &document->fixture;
}

static inline void search_document_fini(struct search_document *document)
{
    search_fixture_fini(&document->fixture);
    search_setups_fini(&document->setups);
}

/* What an error must become. */
struct search_error_case {
    int http_status;
    const char *body;
    enum status_code code;
    bool quota;
    const char *message; /* that the text has */
};

/* The first case that becomes something else, told; NULL: all are right. */
static inline const char *search_errors_differ(const char *kind, const char *fields,
                                               const struct search_error_case *cases, size_t count)
{
    static char told[1024];
    for (size_t i = 0; i < count; i++) {
        struct search_document document;
        struct search_fixture *fixture = search_document_init(&document, kind, fields);
        bool good = search_fixture_read(fixture, cases[i].http_status, cases[i].body);
        const struct search_failure *failure = &fixture->failure;
        bool same = !good && failure->status.code == cases[i].code && failure->quota == cases[i].quota &&
                    strstr(failure->status.text, cases[i].message);
        snprintf(told, sizeof told, "%d %.200s: %d, quota %d, '%s'", cases[i].http_status, cases[i].body,
                 (int)failure->status.code, failure->quota, failure->status.text);
        search_document_fini(&document);
        if (!same)
            return told;
    }
    return NULL;
}

#endif
