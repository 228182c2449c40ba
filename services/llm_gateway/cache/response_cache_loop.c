/* Delivers the results of queries that other loops have resolved. Posted work cannot be taken back, and a query's
 * memory may be gone once it has left. Therefore the query is put on a list of its own loop, from which it can be
 * removed, and one posted work delivers the list. */
#include "response_cache_priv.h"

#include "base/list.h"
#include "base/memory.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

/* ---- landing ----------------------------------------------------------------------------------------------------- */

void response_cache_resolve(struct response_cache_query *query, enum response_cache_result result,
                            struct response_cache_loop **asleep)
{
    struct response_cache_loop *cache_loop = response_cache_loop_of(query);
    query->result = result;
    query->state = QUERY_LANDS;
    LIST_APPEND(cache_loop->landed.first, cache_loop->landed.last, query);
    if (cache_loop->posted)
        return;
    cache_loop->posted = true;
    cache_loop->wakes_next = *asleep;
    *asleep = cache_loop;
}

void response_cache_wake(struct response_cache_loop *asleep)
{
    while (asleep) {
        struct response_cache_loop *cache_loop = asleep;
        asleep = cache_loop->wakes_next;
        loop_post(cache_loop->loop, &cache_loop->landing);
    }
}

static void response_cache_loop_deliver(struct work *work)
{
    struct response_cache_loop *cache_loop = CONTAINER_OF(work, struct response_cache_loop, landing);
    struct response_cache *cache = cache_loop->cache;
    if (!cache) {
        free(cache_loop);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    cache_loop->posted = false;
    for (struct response_cache_query *query; (query = cache_loop->landed.first);) {
        LIST_REMOVE(cache_loop->landed.first, cache_loop->landed.last, query);
        query->state = query->result == RESPONSE_CACHE_MISS ? QUERY_LEADS : QUERY_OVER;
        pthread_mutex_unlock(&cache->lock);
        query->resolved(query);
        pthread_mutex_lock(&cache->lock);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* The connection of a loop is plain: it has neither TLS nor a path. */
static bool find_redis(struct response_cache *cache, const char *url, struct status *st)
{
    if (!redis_target_parse("llm_gateway.cache_redis", url, &cache->target, st))
        return false;
    if (cache->target.tls || cache->target.path[0])
        return fail(st, INVALID_ARGUMENT,
                    "llm_gateway.cache_redis: neither TLS (rediss) nor a socket's path is had; take redis:// within a "
                    "private network, or a TLS tunnel");
    return true;
}

struct response_cache *response_cache_create(const struct response_cache_options *options, struct status *st)
{
    struct response_cache *cache = xcalloc(1, sizeof *cache);
    pthread_mutex_init(&cache->lock, NULL);
    cache->has_redis = options->redis && options->redis[0];
    cache->redis_timeout_ms = options->redis_timeout_ms > 0 ? options->redis_timeout_ms : RESPONSE_CACHE_REDIS_MS;
    bool good = response_cache_store_init(&cache->store, options->bytes_max, st) &&
                (!cache->has_redis || find_redis(cache, options->redis, st));
    if (!good)
        response_cache_destroy(&cache);
    return cache;
}

void response_cache_destroy(struct response_cache **response_cache_pointer)
{
    struct response_cache *cache = *response_cache_pointer;
    if (!cache)
        return;
    *response_cache_pointer = NULL;
    assert(cache->stats.flights == 0);
    for (unsigned i = 0; i < LOOPS_MAX; i++)
        assert(!cache->loops[i]);
    response_cache_store_fini(&cache->store);
    pthread_mutex_destroy(&cache->lock);
    OPENSSL_cleanse(&cache->target, sizeof cache->target);
    free(cache);
}

void response_cache_open(struct response_cache *cache, struct loop *loop)
{
    struct response_cache_loop *cache_loop = xcalloc(1, sizeof *cache_loop);
    cache_loop->cache = cache;
    cache_loop->loop = loop;
    cache_loop->landing.run = response_cache_loop_deliver;
    if (cache->has_redis)
        cache_loop->redis =
            response_cache_redis_open(loop, &cache->target, cache->redis_timeout_ms, &cache->redis_failures);
    pthread_mutex_lock(&cache->lock);
    assert(!cache->loops[loop_index(loop)]);
    cache->loops[loop_index(loop)] = cache_loop;
    pthread_mutex_unlock(&cache->lock);
}

void response_cache_close(struct response_cache *cache, struct loop *loop)
{
    pthread_mutex_lock(&cache->lock);
    struct response_cache_loop *cache_loop = cache->loops[loop_index(loop)];
    cache->loops[loop_index(loop)] = NULL;
    bool posted = cache_loop && cache_loop->posted;
    pthread_mutex_unlock(&cache->lock);
    if (!cache_loop)
        return;
    assert(!cache_loop->landed.first);
    response_cache_redis_close(&cache_loop->redis);
    cache_loop->cache = NULL;
    if (!posted) /* else it frees itself when it runs */
        free(cache_loop);
}

void response_cache_stats(struct response_cache *cache, struct response_cache_stats *stats)
{
    pthread_mutex_lock(&cache->lock);
    *stats = cache->stats;
    stats->stored = cache->store.stored;
    stats->evicted = cache->store.evicted;
    stats->bytes = cache->store.bytes;
    stats->entries = cache->store.count;
    pthread_mutex_unlock(&cache->lock);
    stats->failures = atomic_load_explicit(&cache->redis_failures, memory_order_relaxed);
}
