/* The document of search sources, read: {"sources": {NAME: {"kind": …}}} (README). */
#ifndef RENGA_TOOL_RUNNER_SEARCH_SETUP_H
#define RENGA_TOOL_RUNNER_SEARCH_SETUP_H

#include "base/status.h"
#include "config/config.h"
#include "search/provider.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_SOURCES_MAX     16
#define SEARCH_SOURCE_NAME_MAX 64 /* bytes, as SearchHit.source */

/* The knowledge base as a source, and the two groups: no entry of the document has any of these names. */
#define SEARCH_DOCUMENTS "documents"
#define SEARCH_INTERNAL  "internal"
#define SEARCH_WEB       "web"

struct search_setup {
    struct search_source source;
    const char *place; /* "FILE:LINE:COLUMN" of the entry, for errors */
    const char *kind, *group, *url;
    const char *key;        /* may be "" */
    const char *token_file; /* a bearer token that is renewed outside; may be NULL */
    bool is_stand_in;       /* asked only if another source of its group has failed */
    bool is_paid;
    bool is_disabled;
    bool repeats;       /* a paid search is sent again under its key if a crash has lost its answer */
    int64_t price;      /* micro-USD of a search */
    int32_t attempts;   /* requests of a search, the first included */
    int64_t timeout_ms; /* of a single request */
    int64_t answer_max; /* bytes of an answer, unpacked */
    int64_t concurrency, requests_per_minute; /* 0: no limit */
    const char *record, *replay;              /* files of exchanges (http/cassette.h); NULL: neither */
};

struct search_setups {
    struct config *values; /* owns the texts of setups; secrets stay out of core dumps */
    struct search_setup *list[SEARCH_SOURCES_MAX];
    size_t count;
};

/* `path` NULL: no sources. False with file, line and column of the mistake. */
bool search_setups_read(const char *path, struct search_setups *setups, struct status *st);
void search_setups_fini(struct search_setups *setups);

#endif
