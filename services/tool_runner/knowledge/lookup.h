/* A search, from the query to its hits. Begun in a loop, read in a reader's thread, ended in the loop again; for the
 * method Search and for tools. Embedded in its owner.
 *
 *      begun --(vectors wanted)--> asks the gateway --> is read --> ended
 *        '------------------------------------------------^  */
#ifndef RENGA_TOOL_RUNNER_LOOKUP_H
#define RENGA_TOOL_RUNNER_LOOKUP_H

#include "knowledge/embedding.h"
#include "knowledge/knowledge_priv.h"
#include "knowledge/rank.h"

#define LOOKUP_QUERY_MAX       8192 /* bytes */
#define LOOKUP_COLLECTIONS_MAX 16
#define LOOKUP_LIMIT           10
#define LOOKUP_LIMIT_MAX       100
#define LOOKUP_DEGRADATIONS    4

struct span;
struct vector;

struct lookup {
    struct reading reading; /* first */
    struct knowledge *knowledge;

    /* Set by its owner; borrowed until it has ended. */
    const char *query;
    const char *const *collections; /* empty: all of the tenant */
    size_t collection_count;
    Renga__V1__SearchMode mode;
    int limit; /* 0: LOOKUP_LIMIT */
    double min_score;
    bool answers; /* of Q&A pairs alone */
    void (*ended)(struct lookup *lookup);
    void *owner;

    /* The result, in its arena. */
    struct status status;
    Renga__V1__SearchHit **hits;
    size_t hit_count;
    Renga__V1__SearchMode mode_used;
    Renga__V1__Usage usage;
    Renga__V1__Degradation degradations[LOOKUP_DEGRADATIONS];
    size_t degradation_count;

    struct arena arena;
    struct embedding embedding;
    bool embeds;           /* the gateway has still to answer */
    struct vector *vector; /* of the query; NULL: no vector */
    struct trace_context trace;
    struct span *span;
};

/* The context of a lookup: loop, caller, deadline (clock_now_ns; TIME_NEVER is allowed). `parent` may be NULL; then
 * `trace` is the parent span. */
struct lookup_place {
    struct loop *loop;
    struct rpc_call *parent;
    const struct rpc_principal *principal;
    const struct trace_context *trace;
    int64_t deadline_ns;
};

/* Zeroes it. */
void lookup_init(struct lookup *lookup, struct knowledge *knowledge);
/* False with the reason if it does not start; then `ended` does not run. INVALID_ARGUMENT names the field. */
bool lookup_start(struct lookup *lookup, const struct lookup_place *place, struct status *st);
/* It still ends, soon. */
void lookup_cancel(struct lookup *lookup);
void lookup_fini(struct lookup *lookup);

/* In a reader's thread. */
bool lookup_read(struct reading *reading, struct reading_state *state, struct status *st);
void lookup_degrade(struct lookup *lookup, const char *part, Renga__V1__DegradationKind kind, int code,
                    const char *reason);

#endif
