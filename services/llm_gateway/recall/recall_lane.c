/* What happens to a query in another loop is put on the list of its own loop's lane, whose one posted work delivers
 * it: posted work cannot be taken back, a place in a list can, and a query's memory may be gone once it has left. */
#include "recall_priv.h"

#include "base/log.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

void query_list_append(struct query_list *list, struct recall_query *query)
{
    query->next = NULL;
    query->previous = list->last;
    if (list->last)
        list->last->next = query;
    else
        list->first = query;
    list->last = query;
}

void query_list_remove(struct query_list *list, struct recall_query *query)
{
    if (query->previous)
        query->previous->next = query->next;
    else
        list->first = query->next;
    if (query->next)
        query->next->previous = query->previous;
    else
        list->last = query->previous;
    query->next = query->previous = NULL;
}

/* ---- landing ----------------------------------------------------------------------------------------------------- */

void recall_land(struct recall_query *query, enum recall_result result, struct recall_lane **asleep)
{
    struct recall_lane *lane = recall_lane_of(query);
    query->result = result;
    query->state = QUERY_LANDS;
    query_list_append(&lane->landed, query);
    if (lane->posted)
        return;
    lane->posted = true;
    lane->wakes_next = *asleep;
    *asleep = lane;
}

void recall_wake(struct recall_lane *asleep)
{
    while (asleep) {
        struct recall_lane *lane = asleep;
        asleep = lane->wakes_next;
        loop_post(lane->loop, &lane->landing);
    }
}

static void deliver(struct work *work)
{
    struct recall_lane *lane = OWNER_OF(work, struct recall_lane, landing);
    struct recall *recall = lane->recall;
    if (!recall) {
        free(lane);
        return;
    }
    pthread_mutex_lock(&recall->lock);
    lane->posted = false;
    for (struct recall_query *query; (query = lane->landed.first);) {
        query_list_remove(&lane->landed, query);
        query->state = query->result == RECALL_NOTHING ? QUERY_LEADS : QUERY_OVER;
        pthread_mutex_unlock(&recall->lock);
        query->resolved(query);
        pthread_mutex_lock(&recall->lock);
    }
    pthread_mutex_unlock(&recall->lock);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* The connection of a loop is plain: it has neither TLS nor a path. */
static bool find_redis(struct recall *recall, const char *url, struct status *st)
{
    if (!redis_target_parse("llm_gateway.cache_redis", url, &recall->target, st))
        return false;
    if (recall->target.tls || recall->target.path[0])
        return fail(st, INVALID_ARGUMENT,
                    "llm_gateway.cache_redis: neither TLS (rediss) nor a socket's path is had; take redis:// within a "
                    "private network, or a TLS tunnel");
    return true;
}

struct recall *recall_create(const struct recall_options *options, struct status *st)
{
    struct recall *recall = calloc(1, sizeof *recall);
    if (!recall) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the answer cache");
        return NULL;
    }
    pthread_mutex_init(&recall->lock, NULL);
    recall->has_redis = options->redis && options->redis[0];
    recall->redis_timeout_ms = options->redis_timeout_ms > 0 ? options->redis_timeout_ms : RECALL_REDIS_MS;
    bool good = recall_store_init(&recall->store, options->bytes_max, st) &&
                (!recall->has_redis || find_redis(recall, options->redis, st));
    if (!good)
        recall_destroy(&recall);
    return recall;
}

void recall_destroy(struct recall **recall_pointer)
{
    struct recall *recall = *recall_pointer;
    if (!recall)
        return;
    *recall_pointer = NULL;
    assert(recall->stats.flights == 0);
    for (unsigned i = 0; i < LOOPS_MAX; i++)
        assert(!recall->lanes[i]);
    recall_store_fini(&recall->store);
    pthread_mutex_destroy(&recall->lock);
    OPENSSL_cleanse(&recall->target, sizeof recall->target);
    free(recall);
}

void recall_open(struct recall *recall, struct loop *loop)
{
    struct recall_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        fatal("recall.memory", "no memory for the answer cache of a loop");
    lane->recall = recall;
    lane->loop = loop;
    lane->landing.run = deliver;
    if (recall->has_redis)
        lane->redis = recall_redis_open(loop, &recall->target, recall->redis_timeout_ms, &recall->redis_failures);
    pthread_mutex_lock(&recall->lock);
    assert(!recall->lanes[loop_index(loop)]);
    recall->lanes[loop_index(loop)] = lane;
    pthread_mutex_unlock(&recall->lock);
}

void recall_close(struct recall *recall, struct loop *loop)
{
    pthread_mutex_lock(&recall->lock);
    struct recall_lane *lane = recall->lanes[loop_index(loop)];
    recall->lanes[loop_index(loop)] = NULL;
    bool posted = lane && lane->posted;
    pthread_mutex_unlock(&recall->lock);
    if (!lane)
        return;
    assert(!lane->landed.first);
    recall_redis_close(&lane->redis);
    lane->recall = NULL;
    if (!posted) /* else it frees itself when it runs */
        free(lane);
}

void recall_stats(struct recall *recall, struct recall_stats *stats)
{
    pthread_mutex_lock(&recall->lock);
    *stats = recall->stats;
    stats->stored = recall->store.stored;
    stats->evicted = recall->store.evicted;
    stats->bytes = recall->store.bytes;
    stats->entries = recall->store.count;
    pthread_mutex_unlock(&recall->lock);
    stats->failures = atomic_load_explicit(&recall->redis_failures, memory_order_relaxed);
}
