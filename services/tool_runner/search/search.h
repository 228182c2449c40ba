/* A search over a source or several sources, from the request to its fused hits; for the method Search and for tools.
 * Embedded in its owner.
 *
 *      checked --> the lock of its key --> the record is read --> the query's vector --> subqueries --> fused
 *                  only with an idempotency_key                               if a source wants it
 *
 * A subquery asks a single source. All subqueries run side by side. One that fails is replaced by a stand-in of its
 * group.
 */
#ifndef RENGA_TOOL_RUNNER_SEARCH_H
#define RENGA_TOOL_RUNNER_SEARCH_H

#include "knowledge/lookup.h"
#include "record/key_lock.h"
#include "record/record.h"
#include "search/source_call.h"

#define SEARCH_NAMES_MAX        8 /* sources that a request names */
#define SEARCH_SUBQUERIES_MAX   (SEARCH_SOURCES_MAX + 1)
#define SEARCH_LIMIT            10
#define SEARCH_DEGRADATIONS_MAX 4
#define SEARCH_KEY_MAX          128 /* bytes, as SearchRequest.idempotency_key */

struct search;

struct search_subquery {
    struct search *search;
    struct search_site *site; /* NULL: the knowledge base */
    struct lookup *lookup;    /* of the knowledge base */
    const char *replaces;     /* the source that it stands in for; NULL: it was asked for itself */
    struct source_call call;
    struct status status; /* how it ended */
    bool is_over, is_replaced;
    bool in_record; /* a row there says that it has begun */
    Renga__V1__SearchHit **hits;
    size_t lists[SEARCH_LISTS_MAX]; /* hits of each list, the lists in a row in `hits` */
    size_t list_count;
    const char *partial; /* NULL: its answer is whole */
    uint8_t digest[RECORD_DIGEST];
    int64_t due_ms;
    struct store_batch batch;
};

struct search {
    /* Set by the owner after search_init; borrowed until `ended`. */
    struct tool_runner *runner;
    const char *query;
    const char *const *sources; /* names and groups; at least 1 */
    size_t source_count;
    const char *const *collections;
    size_t collection_count;
    Renga__V1__SearchMode mode;
    int limit; /* 0: SEARCH_LIMIT */
    double min_score;
    const char *idempotency_key, *thread_id, *run_id; /* may be "" */
    struct lookup_place place;                        /* loop, caller, deadline */
    void (*ended)(struct search *search);             /* once, later, from the loop */
    void *owner;

    /* For `ended`, until search_fini. */
    struct status status;
    Renga__V1__SearchHit **hits;
    size_t hit_count;
    Renga__V1__SearchMode mode_used;
    Renga__V1__Usage usage;
    Renga__V1__Degradation degradations[SEARCH_DEGRADATIONS_MAX];
    size_t degradation_count;

    /* Its own. */
    struct arena arena;
    unsigned stage, waits;
    struct work step;
    bool cancelled, has_key_lock, scanned, embeds;
    int64_t deadline_ns;
    struct record_name name;
    struct key_lock key_lock;
    struct store *store;
    struct store_scan rows;
    struct embedding embedding;
    const float *vector;
    size_t dimensions;
    struct search_subquery *subqueries[SEARCH_SUBQUERIES_MAX];
    size_t subquery_count;
};

/* Whether the request asks for any source beside the knowledge base. */
bool search_is_outside(const struct search_sources *sources, const char *const *names, size_t count);

/* Zeroes it. */
void search_init(struct search *search, struct tool_runner *runner);
/* False with the reason if it does not begin; `ended` does not run then. INVALID_ARGUMENT names the field. */
bool search_start(struct search *search, struct status *st);
/* It still ends, soon; requests under way are cut at once, except a paid one with an idempotency_key: it is brought to
 * its end, and its answer is kept in the record. */
void search_cancel(struct search *search);
void search_fini(struct search *search);

/* The method. It ends the call, now or later. */
void search_method(struct tool_runner *runner, struct rpc_call *call, const Renga__V1__SearchRequest *request,
                   Renga__V1__SearchResponse_Closure reply);

#endif
