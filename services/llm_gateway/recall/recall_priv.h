/* A recall from within: recall.c has what may become of a query, recall_lane.c brings it back to its loop. */
#ifndef RENGA_LLM_GATEWAY_RECALL_PRIV_H
#define RENGA_LLM_GATEWAY_RECALL_PRIV_H

#include "recall_redis.h"
#include "recall_store.h"

#include <pthread.h>

#define RECALL_FLIGHT_BUCKETS 1024u /* a power of two; there are no more flights than calls under way */

enum query_state { QUERY_OVER, QUERY_LOOKS, QUERY_WAITS, QUERY_LANDS, QUERY_LEADS };

struct query_list {
    struct recall_query *first, *last;
};

struct recall_flight {
    struct recall_key key, content;
    struct recall_query *leader;
    struct query_list waiting;
    struct recall_flight *chain;
};

/* What a loop has of the recall. */
struct recall_lane {
    struct recall *recall; /* NULL once it is closed; only its loop looks */
    struct loop *loop;
    struct recall_redis *redis;
    struct work landing;
    bool posted; /* `landing` is, or is about to be by who has made it so */
    struct recall_lane *wakes_next;
    struct query_list landed; /* to be told */
};

struct recall {
    pthread_mutex_t lock;
    struct recall_store store;
    struct recall_flight *flights[RECALL_FLIGHT_BUCKETS];
    struct recall_lane *lanes[LOOPS_MAX];
    struct recall_stats stats;

    bool has_redis;
    struct redis_target target;
    int64_t redis_timeout_ms;
    atomic_ullong redis_failures;
};

void query_list_append(struct query_list *list, struct recall_query *query);
void query_list_remove(struct query_list *list, struct recall_query *query);

/* The lane of a query's own loop. */
static inline struct recall_lane *recall_lane_of(const struct recall_query *query)
{
    return query->recall->lanes[loop_index(query->loop)];
}

/* Under the lock: `resolved` is to run. Adds the lane to those the caller is to wake when it has unlocked. */
void recall_land(struct recall_query *query, enum recall_result result, struct recall_lane **asleep);
void recall_wake(struct recall_lane *asleep);

#endif
