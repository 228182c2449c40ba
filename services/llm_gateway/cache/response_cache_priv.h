/* Private to the response cache: response_cache.c decides the result of a query, response_cache_loop.c delivers it
 * in the query's loop. */
#ifndef RENGA_LLM_GATEWAY_RESPONSE_CACHE_PRIV_H
#define RENGA_LLM_GATEWAY_RESPONSE_CACHE_PRIV_H

#include "response_cache_redis.h"
#include "response_cache_store.h"

#include <pthread.h>

#define RESPONSE_CACHE_FLIGHT_BUCKETS 1024u /* a power of two; flights never exceed the calls in progress */

enum query_state { QUERY_OVER, QUERY_LOOKS, QUERY_WAITS, QUERY_LANDS, QUERY_LEADS };

struct query_list {
    struct response_cache_query *first, *last;
};

struct response_cache_flight {
    struct response_cache_key key, content;
    struct response_cache_query *leader;
    struct query_list waiting;
    struct response_cache_flight *chain;
};

/* The part of the cache that a loop owns. */
struct response_cache_loop {
    struct response_cache *cache; /* NULL after the close; read only by its loop */
    struct loop *loop;
    struct response_cache_redis *redis;
    struct work landing;
    bool posted; /* `landing` is posted, or will be by the thread that set this */
    struct response_cache_loop *wakes_next;
    struct query_list landed; /* to be delivered */
};

struct response_cache {
    pthread_mutex_t lock;
    struct response_cache_store store;
    struct response_cache_flight *flights[RESPONSE_CACHE_FLIGHT_BUCKETS];
    struct response_cache_loop *loops[LOOPS_MAX];
    struct response_cache_stats stats;

    bool has_redis;
    struct redis_target target;
    int64_t redis_timeout_ms;
    atomic_ullong redis_failures;
};

/* The cache_loop of a query's own loop. */
static inline struct response_cache_loop *response_cache_loop_of(const struct response_cache_query *query)
{
    return query->cache->loops[loop_index(query->loop)];
}

/* Under the lock: `resolved` has to run. Adds the cache_loop to `asleep`, which the caller wakes after unlocking. */
void response_cache_resolve(struct response_cache_query *query, enum response_cache_result result,
                            struct response_cache_loop **asleep);
void response_cache_wake(struct response_cache_loop *asleep);

#endif
