/* The sources of the document, as the process asks them: the data of a source beyond a single search. Shared by the
 * loops; only the health and the token change, each behind its lock. */
#ifndef RENGA_TOOL_RUNNER_SOURCES_H
#define RENGA_TOOL_RUNNER_SOURCES_H

#include "search/setup.h"
#include "search/source_slots.h"
#include "upstream/endpoint_health.h"
#include "upstream/retry.h"

#include <pthread.h>

struct cassette;
struct metrics;

#define SEARCH_TOKEN_MAX ((size_t)8000) /* bytes */

struct search_site {
    const struct search_setup *setup;
    struct endpoint_health *health;
    struct source_slots *slots; /* for tenants */
    struct retry_budget budget;
    struct cassette *cassette; /* NULL: neither recorded nor replayed */

    pthread_mutex_t lock; /* of the token */
    char token[SEARCH_TOKEN_MAX + 1];
    int64_t token_read_ns; /* 0: not yet */
};

struct search_sources {
    struct search_setups setups;
    struct search_site *sites[SEARCH_SOURCES_MAX]; /* in the order of the document */
    size_t count;
    struct metrics *metrics; /* may be NULL */
};

/* NULL with the mistake in the document. `path` NULL: there are no sources. */
struct search_sources *search_sources_create(const char *path, struct metrics *metrics, struct status *st);
/* When no search is under way. */
void search_sources_destroy(struct search_sources **sources);

/* NULL: no source has the name. */
struct search_site *search_sources_find(const struct search_sources *sources, const char *name);
/* How many sources the group has. */
size_t search_sources_in(const struct search_sources *sources, const char *group);

/* A copy of the token in the source's token_file, which is read again after a minute; `token` has SEARCH_TOKEN_MAX + 1
 * bytes. FAILED_PRECONDITION names the file. Without a token_file it is "". */
bool search_site_token(struct search_site *site, char *token, struct status *st);

#endif
