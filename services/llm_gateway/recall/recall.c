/* One lock over what the loops share: the store, the flights, the lists of what is to land. It is held for a look into
 * two hash tables; bytes are copied, memory is freed and loops are woken outside of it.
 *
 *      NEW --nothing here, Redis asked--> LOOKS --nothing there--> LEADS --answer, fail, leave--> OVER
 *       |                                   |                        ^                             ^
 *       |--under way----------------------> | --> WAITS --> LANDS ---'  (promoted)                 |
 *       '--kept, other----------------------'       '-----> LANDS ---------------------------------' */
#include "recall_priv.h"

#include "base/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MAX_MS (INT64_C(7) * 24 * 3600 * 1000) /* of the contract */

/* ---- flights: all under the lock --------------------------------------------------------------------------------- */

static bool keys_equal(const struct recall_key *a, const struct recall_key *b)
{
    return memcmp(a->bytes, b->bytes, RECALL_KEY_SIZE) == 0;
}

static struct recall_flight **flight_place(struct recall *recall, const struct recall_key *key)
{
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof hash);
    struct recall_flight **place = &recall->flights[hash & (RECALL_FLIGHT_BUCKETS - 1)];
    while (*place && !keys_equal(&(*place)->key, key))
        place = &(*place)->chain;
    return place;
}

/* Where memory is out, it leads for itself alone. */
static void take_off(struct recall *recall, struct recall_query *query)
{
    struct recall_flight *flight = query->shares ? calloc(1, sizeof *flight) : NULL;
    query->result = RECALL_NOTHING;
    query->state = QUERY_LEADS;
    recall->stats.nothing++;
    if (!flight)
        return;
    struct recall_flight **place = flight_place(recall, &query->key);
    *flight = (struct recall_flight){.key = query->key, .content = query->content, .leader = query, .chain = *place};
    *place = flight;
    query->flight = flight;
    recall->stats.flights++;
}

/* The flight, to be freed after unlocking. */
static struct recall_flight *end_flight(struct recall *recall, struct recall_flight *flight)
{
    struct recall_flight **place = flight_place(recall, &flight->key);
    *place = flight->chain;
    recall->stats.flights--;
    return flight;
}

/* The leader goes: the one that has waited longest leads now. Returns what is to be freed. */
static struct recall_flight *pass_on(struct recall *recall, struct recall_flight *flight, struct recall_lane **asleep)
{
    struct recall_query *next = flight->waiting.first;
    flight->leader->flight = NULL;
    if (!next)
        return end_flight(recall, flight);
    query_list_remove(&flight->waiting, next);
    flight->leader = next;
    recall->stats.waiting--;
    recall->stats.nothing++;
    recall_land(next, RECALL_NOTHING, asleep);
    return NULL;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* True where `kept` answers the query: then it holds it. */
static bool take(struct recall_query *query, struct recall_kept *kept, int64_t now_ns)
{
    if (!keys_equal(&kept->content, &query->content)) {
        query->result = RECALL_OTHER;
        query->recall->stats.other++;
        return true;
    }
    if (query->max_age_ms && now_ns - kept->created_ns > query->max_age_ms * NS_PER_MS)
        return false;
    kept_hold(kept);
    query->kept = kept;
    query->bytes = kept_bytes(kept);
    query->size = kept->size;
    query->result = RECALL_KEPT;
    query->recall->stats.kept++;
    return true;
}

/* Under the lock: what this process knows by itself. False where it knows nothing; else the query is over, or waits. */
static bool find_here(struct recall *recall, struct recall_query *query, struct recall_kept **out)
{
    int64_t now_ns = clock_now_ns();
    query->state = QUERY_OVER;
    struct recall_kept *kept = query->reads ? recall_store_find(&recall->store, &query->key, now_ns, out) : NULL;
    if (kept && take(query, kept, now_ns))
        return true;
    struct recall_flight *flight = query->shares ? *flight_place(recall, &query->key) : NULL;
    if (!flight)
        return false;
    if (!keys_equal(&flight->content, &query->content)) {
        query->result = RECALL_OTHER;
        recall->stats.other++;
        return true;
    }
    query->flight = flight;
    query->state = QUERY_WAITS;
    query_list_append(&flight->waiting, query);
    recall->stats.waiting++;
    return true;
}

static void looked(void *owner, const uint8_t *value, size_t size);

/* False where nothing is known and the query may not lead yet. `state` is as it was before another loop could get hold
 * of a query that waits. */
static bool settle(struct recall *recall, struct recall_query *query, bool may_lead, enum query_state *state)
{
    struct recall_kept *out = NULL;
    pthread_mutex_lock(&recall->lock);
    bool found = find_here(recall, query, &out);
    if (!found && may_lead)
        take_off(recall, query);
    *state = query->state;
    pthread_mutex_unlock(&recall->lock);
    recall_store_drop(out);
    return found || may_lead;
}

bool recall_ask(struct recall *recall, struct recall_query *query)
{
    enum query_state state;
    query->recall = recall;
    query->flight = NULL;
    query->kept = NULL;
    query->asked = NULL;
    query->bytes = NULL;
    query->size = 0;
    struct recall_redis *redis = query->reads ? recall_lane_of(query)->redis : NULL;
    if (settle(recall, query, redis == NULL, &state))
        return state != QUERY_WAITS;
    query->state = QUERY_LOOKS;
    query->asked = recall_redis_get(redis, &query->key, looked, query);
    if (query->asked)
        return false;
    settle(recall, query, true, &state); /* another loop may have been faster */
    return state != QUERY_WAITS;
}

/* Redis has answered. What it had is kept in memory too; what this process has learned meanwhile comes before it. */
static void looked(void *owner, const uint8_t *value, size_t size)
{
    struct recall_query *query = owner;
    struct recall *recall = query->recall;
    struct recall_kept *out = NULL, *kept = size ? kept_open(&query->key, value, size) : NULL;
    struct recall_lane *asleep = NULL;
    query->asked = NULL;
    pthread_mutex_lock(&recall->lock);
    bool news = kept && !recall_store_find(&recall->store, &query->key, clock_now_ns(), &out);
    if (news) {
        recall->stats.redis_kept++;
        recall_store_put(&recall->store, kept, clock_now_ns(), &out);
    }
    bool found = (news && take(query, kept, clock_now_ns())) || find_here(recall, query, &out);
    if (!found)
        take_off(recall, query);
    if (query->state != QUERY_WAITS)
        recall_land(query, query->result, &asleep);
    pthread_mutex_unlock(&recall->lock);
    recall_wake(asleep);
    recall_store_drop(out);
    kept_release(kept);
}

/* ---- the end of one that leads ----------------------------------------------------------------------------------- */

/* Under the lock: everyone who waits is told. Returns the flight, to be freed. */
static struct recall_flight *land_all(struct recall *recall, struct recall_flight *flight, struct recall_kept *kept,
                                      const struct status *status, struct recall_lane **asleep)
{
    for (struct recall_query *query; (query = flight->waiting.first);) {
        query_list_remove(&flight->waiting, query);
        query->flight = NULL;
        recall->stats.waiting--;
        if (!kept) {
            query->status = *status;
            recall_land(query, RECALL_FAILED, asleep);
            continue;
        }
        kept_hold(kept);
        query->kept = kept;
        query->bytes = kept_bytes(kept);
        query->size = kept->size;
        recall->stats.shared++;
        recall_land(query, RECALL_SHARED, asleep);
    }
    flight->leader->flight = NULL;
    return end_flight(recall, flight);
}

static void conclude(struct recall_query *query, struct recall_kept *kept, const struct status *status, bool stores)
{
    struct recall *recall = query->recall;
    struct recall_kept *out = NULL;
    struct recall_flight *flight = NULL;
    struct recall_lane *asleep = NULL;
    assert(query->state == QUERY_LEADS);
    query->state = QUERY_OVER;
    pthread_mutex_lock(&recall->lock);
    if (stores)
        recall_store_put(&recall->store, kept, clock_now_ns(), &out);
    if (query->flight)
        flight = land_all(recall, query->flight, kept, status, &asleep);
    pthread_mutex_unlock(&recall->lock);
    recall_wake(asleep);
    recall_store_drop(out);
    free(flight);
}

static bool is_waited_for(struct recall_query *query)
{
    pthread_mutex_lock(&query->recall->lock);
    bool waited_for = query->flight && query->flight->waiting.first;
    pthread_mutex_unlock(&query->recall->lock);
    return waited_for;
}

void recall_answer(struct recall_query *query, const uint8_t *bytes, size_t size, int64_t keep_ms)
{
    struct recall_redis *redis = recall_lane_of(query)->redis;
    keep_ms = keep_ms > KEEP_MAX_MS ? KEEP_MAX_MS : keep_ms;
    if (keep_ms <= 0 && !is_waited_for(query)) {
        recall_leave(query);
        return;
    }
    struct recall_kept *kept = kept_create(&query->key, &query->content, bytes, size, keep_ms);
    if (!kept) {
        recall_leave(query);
        return;
    }
    if (keep_ms > 0 && redis) {
        kept_seal(kept, keep_ms);
        recall_redis_set(redis, &kept->key, kept->value, KEPT_HEAD_SIZE + size, keep_ms);
    }
    conclude(query, kept, NULL, keep_ms > 0);
    kept_release(kept);
}

void recall_fail(struct recall_query *query, const struct status *status)
{
    conclude(query, NULL, status, false);
}

void recall_leave(struct recall_query *query)
{
    struct recall *recall = query->recall;
    struct recall_flight *flight = NULL;
    struct recall_lane *asleep = NULL;
    if (!recall)
        return;
    if (query->asked)
        recall_redis_forget(query->asked);
    query->asked = NULL;
    pthread_mutex_lock(&recall->lock);
    if (query->state == QUERY_LANDS)
        query_list_remove(&recall_lane_of(query)->landed, query);
    if (query->state == QUERY_WAITS) {
        query_list_remove(&query->flight->waiting, query);
        query->flight = NULL;
        recall->stats.waiting--;
    } else if (query->flight) {
        flight = pass_on(recall, query->flight, &asleep);
    }
    query->state = QUERY_OVER;
    pthread_mutex_unlock(&recall->lock);
    recall_wake(asleep);
    free(flight);
    recall_done(query);
}

void recall_done(struct recall_query *query)
{
    kept_release(query->kept);
    query->kept = NULL;
    query->bytes = NULL;
    query->size = 0;
}
