/* services/reviewer: drafts that are weighed without a model. Its methods, and the planner's: readers_services.c. */
#include "readers.h"

#include "draft_facts_priv.h"

#include <stdlib.h>
#include <string.h>

/* Kinds and words of the sentences, the notes, the parts. The comparison itself is limited to 400 claims. */
static void find_claims(struct input *in)
{
    static struct draft_facts facts;
    static struct fact fact;
    Renga__V1__ReviewDraftRequest request = RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
    struct sentence_reader reader;
    struct draft_parts parts;
    struct fact_line line = {.references = 0};
    struct span span;
    request.draft = (char *)(uintptr_t)in->text;
    memset(&facts, 0, sizeof facts);
    facts.request = &request;
    draft_notes_read(&facts.notes, &request);
    draft_parts_read(in->text, &parts);
    draft_point_is_empty(in->text, "open");
    sentences_begin(&reader, in->text, in->length);
    while (sentences_next(&reader, &span)) {
        enum fact_kind kind = fact_kind_of(&facts, &span, &line);
        fact_read(&facts, &fact, &span, 1, kind);
    }
}

#define SOURCES_MOST 900 /* a request has at most 1,000 */

/* Each line of the text is a source, and stands in the draft. */
static void find_addresses(struct input *in)
{
    static Renga__V1__SearchResult sources[SOURCES_MOST], *list[SOURCES_MOST];
    Renga__V1__ReviewDraftRequest request = RENGA__V1__REVIEW_DRAFT_REQUEST__INIT;
    char *rest = arena_strdup(&in->arena, in->text);
    struct draft_reviewing reviewing = {.request = &request};
    request.draft = (char *)(uintptr_t)in->text;
    request.sources = list;
    for (char *line; (line = strsep(&rest, "\n")) && request.n_sources < SOURCES_MOST;) {
        sources[request.n_sources] = (Renga__V1__SearchResult){.url = line};
        list[request.n_sources] = &sources[request.n_sources];
        request.n_sources++;
    }
    if (draft_known_addresses(&reviewing) < 1)
        abort();
}

#define LETTERS_64 "pondpondpondpondpondpondpondpondpondpondpondpondpondpondpondpond"
#define SAME_TEXT  LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64

static const struct generator addresses[] = {
    {"addresses that differ at their ends", 0, .unit = "http://" SAME_TEXT SAME_TEXT "\1\n"},
    {.name = NULL},
};

static const struct generator drafts[] = {
    {"a line of sentences", 0, .begin = "# ", .unit = "Port \1 is open. "},
    {"a row of sentences", 0, .begin = "| ", .unit = "Port \1 is open. "},
    {"headings", 0, .unit = "## open \1 summary\n"},
    {"references", 0, .begin = "## References\n", .unit = "[^\1]: a\n"},
    {"notes", 0, .begin = "a", .unit = "[^\1]"},
    {.name = NULL},
};

const struct reader readers_thinking[] = {
    {"claims of a draft", find_claims, .sets = HOSTILE_BYTES, .own = drafts},
    {"addresses of a draft", find_addresses, .own = addresses, .most = (size_t)512 << 10},
    {.name = NULL},
};
