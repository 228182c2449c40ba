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

/* The same, with a question that has a vector. */
static inline struct search_fixture *search_document_ask(struct search_document *document, const char *kind,
                                                         const char *fields, const char *query, const float *vector,
                                                         size_t dimensions)
{
    struct search_fixture *fixture = search_document_init(document, kind, fields);
    fixture->question.query = query;
    fixture->question.vector = vector;
    fixture->question.dimensions = dimensions;
    return fixture;
}

/* Settings that a document is refused for, with a part of the text. */
struct search_refusal_case {
    const char *fields, *message;
};

/* A description of the first case with another verdict; NULL: all verdicts are right. */
static inline const char *search_refusals_differ(const char *kind, const struct search_refusal_case *cases,
                                                 size_t count)
{
    static char told[1024];
    for (size_t i = 0; i < count; i++) {
        struct search_setups setups;
        struct status st = {0};
        bool good = search_document_read(&setups, kind, cases[i].fields, &st);
        bool same = !good && st.code == INVALID_ARGUMENT && strstr(st.text, cases[i].message);
        snprintf(told, sizeof told, "%.200s: %d, '%s'", cases[i].fields, (int)st.code, st.text);
        search_setups_fini(&setups);
        if (!same)
            return told;
    }
    return NULL;
}

/* Answers that are used, and the reason why each is partial; NULL: it is whole. */
struct search_partial_case {
    int http_status;
    const char *body;
    size_t results;
    const char *partial; /* a part of the text */
};

/* A description of the first case with another verdict; NULL: all verdicts are right. */
static inline const char *search_partials_differ(const char *kind, const char *fields,
                                                 const struct search_partial_case *cases, size_t count)
{
    static char told[1024];
    for (size_t i = 0; i < count; i++) {
        struct search_document document;
        struct search_fixture *fixture = search_document_init(&document, kind, fields);
        bool good = search_fixture_read(fixture, cases[i].http_status, cases[i].body);
        const char *partial = fixture->answer.partial, *wanted = cases[i].partial;
        bool same = good && fixture->failure.status.code == OK && fixture->answer.count == cases[i].results &&
                    (wanted ? partial && strstr(partial, wanted) : !partial);
        snprintf(told, sizeof told, "%d %.200s: %zu results, '%s', partial '%s'", cases[i].http_status, cases[i].body,
                 fixture->answer.count, fixture->failure.status.text, partial ? partial : "(whole)");
        search_document_fini(&document);
        if (!same)
            return told;
    }
    return NULL;
}

/* The verdict on an error. */
struct search_error_case {
    int http_status;
    const char *body;
    enum status_code code;
    bool quota;
    const char *message; /* a part of the text */
};

/* A description of the first case with another verdict; NULL: all verdicts are right. */
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
