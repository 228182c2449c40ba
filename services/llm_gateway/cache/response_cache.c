/* One lock guards the state that loops share: the store, the flights, the lists of results to deliver. It is held for
 * lookups in two hash tables; copying bytes, freeing memory and waking loops happen outside of it.
 *
 *      NEW --miss, Redis is asked-----> LOOKS --miss-----------> LEADS --answer, fail, leave--> OVER
 *       |                                   |                        ^                             ^
 *       |--in flight----------------------> | --> WAITS --> LANDS ---'  (promoted)                 |
 *       '--stored, other--------------------'       '-----> LANDS ---------------------------------' */
#include "response_cache_priv.h"

#include "base/clock.h"
#include "base/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MAX_MS (INT64_C(7) * 24 * 3600 * 1000) /* of the contract */

/* ---- flights: all under the lock --------------------------------------------------------------------------------- */

static bool keys_equal(const struct response_cache_key *a, const struct response_cache_key *b)
{
    return memcmp(a->bytes, b->bytes, RESPONSE_CACHE_KEY_SIZE) == 0;
}

static struct response_cache_flight **flight_place(struct response_cache *cache, const struct response_cache_key *key)
{
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof hash);
    struct response_cache_flight **place = &cache->flights[hash & (RESPONSE_CACHE_FLIGHT_BUCKETS - 1)];
    while (*place && !keys_equal(&(*place)->key, key))
        place = &(*place)->chain;
    return place;
}

/* If memory is exhausted, the query leads without a flight. */
static void take_off(struct response_cache *cache, struct response_cache_query *query)
{
    struct response_cache_flight *flight = query->shares ? calloc(1, sizeof *flight) : NULL;
    query->result = RESPONSE_CACHE_MISS;
    query->state = QUERY_LEADS;
    cache->stats.nothing++;
    if (!flight)
        return;
    struct response_cache_flight **place = flight_place(cache, &query->key);
    *flight =
        (struct response_cache_flight){.key = query->key, .content = query->content, .leader = query, .chain = *place};
    *place = flight;
    query->flight = flight;
    cache->stats.flights++;
}

/* The flight, to be freed after unlocking. */
static struct response_cache_flight *flight_end(struct response_cache *cache, struct response_cache_flight *flight)
{
    struct response_cache_flight **place = flight_place(cache, &flight->key);
    *place = flight->chain;
    cache->stats.flights--;
    return flight;
}

/* The leader leaves: the query that has waited longest leads now. Returns the flight to free. */
static struct response_cache_flight *response_cache_pass_on(struct response_cache *cache,
                                                            struct response_cache_flight *flight,
                                                            struct response_cache_loop **asleep)
{
    struct response_cache_query *next = flight->waiting.first;
    flight->leader->flight = NULL;
    if (!next)
        return flight_end(cache, flight);
    LIST_REMOVE(flight->waiting.first, flight->waiting.last, next);
    flight->leader = next;
    cache->stats.waiting--;
    cache->stats.nothing++;
    response_cache_resolve(next, RESPONSE_CACHE_MISS, asleep);
    return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* True: `kept` answers the query, which now holds a reference. */
static bool response_cache_take(struct response_cache_query *query, struct cached_response *kept, int64_t now_ns)
{
    if (!keys_equal(&kept->content, &query->content)) {
        query->result = RESPONSE_CACHE_KEY_CONFLICT;
        query->cache->stats.other++;
        return true;
    }
    if (query->max_age_ms && now_ns - kept->created_ns > query->max_age_ms * NS_PER_MS)
        return false;
    cached_response_hold(kept);
    query->kept = kept;
    query->bytes = cached_bytes(kept);
    query->size = kept->size;
    query->result = RESPONSE_CACHE_HIT;
    query->cache->stats.kept++;
    return true;
}

/* Under the lock: looks in memory and in the flights. False: a miss; otherwise the query is over or waits. */
static bool find_here(struct response_cache *cache, struct response_cache_query *query, struct cached_response **out)
{
    int64_t now_ns = clock_now_ns();
    query->state = QUERY_OVER;
    struct cached_response *kept =
        query->reads ? response_cache_store_find(&cache->store, &query->key, now_ns, out) : NULL;
    if (kept && response_cache_take(query, kept, now_ns))
        return true;
    struct response_cache_flight *flight = query->shares ? *flight_place(cache, &query->key) : NULL;
    if (!flight)
        return false;
    if (!keys_equal(&flight->content, &query->content)) {
        query->result = RESPONSE_CACHE_KEY_CONFLICT;
        cache->stats.other++;
        return true;
    }
    query->flight = flight;
    query->state = QUERY_WAITS;
    LIST_APPEND(flight->waiting.first, flight->waiting.last, query);
    cache->stats.waiting++;
    return true;
}

static void response_cache_looked(void *owner, const uint8_t *value, size_t size);

/* False: unknown, and the query may not lead yet. `state` is the state before another loop could reach a waiting
 * query. */
static bool response_cache_settle(struct response_cache *cache, struct response_cache_query *query, bool may_lead,
                                  enum query_state *state)
{
    struct cached_response *out = NULL;
    pthread_mutex_lock(&cache->lock);
    bool found = find_here(cache, query, &out);
    if (!found && may_lead)
        take_off(cache, query);
    *state = query->state;
    pthread_mutex_unlock(&cache->lock);
    response_cache_store_drop(out);
    return found || may_lead;
}

bool response_cache_lookup(struct response_cache *cache, struct response_cache_query *query)
{
    enum query_state state;
    query->cache = cache;
    query->flight = NULL;
    query->kept = NULL;
    query->asked = NULL;
    query->bytes = NULL;
    query->size = 0;
    struct response_cache_redis *redis = query->reads ? response_cache_loop_of(query)->redis : NULL;
    if (response_cache_settle(cache, query, redis == NULL, &state))
        return state != QUERY_WAITS;
    query->state = QUERY_LOOKS;
    query->asked = response_cache_redis_get(redis, &query->key, response_cache_looked, query);
    if (query->asked)
        return false;
    response_cache_settle(cache, query, true, &state); /* another loop may have been faster */
    return state != QUERY_WAITS;
}

/* Redis has replied. Its value is stored in memory too; an answer found in this process meanwhile takes precedence. */
static void response_cache_looked(void *owner, const uint8_t *value, size_t size)
{
    struct response_cache_query *query = owner;
    struct response_cache *cache = query->cache;
    struct cached_response *out = NULL, *kept = size ? cached_response_decode(&query->key, value, size) : NULL;
    struct response_cache_loop *asleep = NULL;
    query->asked = NULL;
    pthread_mutex_lock(&cache->lock);
    bool news = kept && !response_cache_store_find(&cache->store, &query->key, clock_now_ns(), &out);
    if (news) {
        cache->stats.redis_kept++;
        response_cache_store_put(&cache->store, kept, clock_now_ns(), &out);
    }
    bool found = (news && response_cache_take(query, kept, clock_now_ns())) || find_here(cache, query, &out);
    if (!found)
        take_off(cache, query);
    if (query->state != QUERY_WAITS)
        response_cache_resolve(query, query->result, &asleep);
    pthread_mutex_unlock(&cache->lock);
    response_cache_wake(asleep);
    response_cache_store_drop(out);
    cached_response_release(kept);
}

/* ---- the end of one that leads ----------------------------------------------------------------------------------- */

/* Under the lock: resolves all waiting queries. Returns the flight to free. */
static struct response_cache_flight *land_all(struct response_cache *cache, struct response_cache_flight *flight,
                                              struct cached_response *kept, const struct status *status,
                                              struct response_cache_loop **asleep)
{
    for (struct response_cache_query *query; (query = flight->waiting.first);) {
        LIST_REMOVE(flight->waiting.first, flight->waiting.last, query);
        query->flight = NULL;
        cache->stats.waiting--;
        if (!kept) {
            query->status = *status;
            response_cache_resolve(query, RESPONSE_CACHE_FAILED, asleep);
            continue;
        }
        cached_response_hold(kept);
        query->kept = kept;
        query->bytes = cached_bytes(kept);
        query->size = kept->size;
        cache->stats.shared++;
        response_cache_resolve(query, RESPONSE_CACHE_COALESCED, asleep);
    }
    flight->leader->flight = NULL;
    return flight_end(cache, flight);
}

static void response_cache_conclude(struct response_cache_query *query, struct cached_response *kept,
                                    const struct status *status, bool stores)
{
    struct response_cache *cache = query->cache;
    struct cached_response *out = NULL;
    struct response_cache_flight *flight = NULL;
    struct response_cache_loop *asleep = NULL;
    assert(query->state == QUERY_LEADS);
    query->state = QUERY_OVER;
    pthread_mutex_lock(&cache->lock);
    if (stores)
        response_cache_store_put(&cache->store, kept, clock_now_ns(), &out);
    if (query->flight)
        flight = land_all(cache, query->flight, kept, status, &asleep);
    pthread_mutex_unlock(&cache->lock);
    response_cache_wake(asleep);
    response_cache_store_drop(out);
    free(flight);
}

static bool is_waited_for(struct response_cache_query *query)
{
    pthread_mutex_lock(&query->cache->lock);
    bool waited_for = query->flight && query->flight->waiting.first;
    pthread_mutex_unlock(&query->cache->lock);
    return waited_for;
}

void response_cache_complete(struct response_cache_query *query, const uint8_t *bytes, size_t size, int64_t keep_ms)
{
    struct response_cache_redis *redis = response_cache_loop_of(query)->redis;
    keep_ms = keep_ms > KEEP_MAX_MS ? KEEP_MAX_MS : keep_ms;
    if (keep_ms <= 0 && !is_waited_for(query)) {
        response_cache_leave(query);
        return;
    }
    struct cached_response *kept = cached_response_create(&query->key, &query->content, bytes, size, keep_ms);
    if (!kept) {
        response_cache_leave(query);
        return;
    }
    if (keep_ms > 0 && redis) {
        cached_response_encode(kept, keep_ms);
        response_cache_redis_set(redis, &kept->key, kept->value, CACHED_HEAD_SIZE + size, keep_ms);
    }
    response_cache_conclude(query, kept, NULL, keep_ms > 0);
    cached_response_release(kept);
}

void response_cache_fail(struct response_cache_query *query, const struct status *status)
{
    response_cache_conclude(query, NULL, status, false);
}

void response_cache_leave(struct response_cache_query *query)
{
    struct response_cache *cache = query->cache;
    struct response_cache_flight *flight = NULL;
    struct response_cache_loop *asleep = NULL;
    if (!cache)
        return;
    if (query->asked)
        response_cache_redis_forget(query->asked);
    query->asked = NULL;
    pthread_mutex_lock(&cache->lock);
    if (query->state == QUERY_LANDS)
        LIST_REMOVE(response_cache_loop_of(query)->landed.first, response_cache_loop_of(query)->landed.last, query);
    if (query->state == QUERY_WAITS) {
        LIST_REMOVE(query->flight->waiting.first, query->flight->waiting.last, query);
        query->flight = NULL;
        cache->stats.waiting--;
    } else if (query->flight) {
        flight = response_cache_pass_on(cache, query->flight, &asleep);
    }
    query->state = QUERY_OVER;
    pthread_mutex_unlock(&cache->lock);
    response_cache_wake(asleep);
    free(flight);
    response_cache_release(query);
}

void response_cache_release(struct response_cache_query *query)
{
    cached_response_release(query->kept);
    query->kept = NULL;
    query->bytes = NULL;
    query->size = 0;
}
