/* Shared by all instances of a process, one in each loop. */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_SHARED_H
#define RENGA_LLM_GATEWAY_GATEWAY_SHARED_H

#include "base/status.h"
#include "config/config.h"
#include "loop/loop.h"
#include "upstream/retry.h"

#include <pthread.h>
#include <stdint.h>

struct config_generation;
struct admission;
struct gateway;
struct ledger;
struct metrics;
struct response_cache;

struct gateway_shared {
    const struct config *config;
    struct admission *admission;
    struct ledger *ledger;
    struct response_cache *cache;
    struct retry_budget budget;
    struct metrics *metrics;
    struct gateway *members[LOOPS_MAX]; /* one in each loop, all joined before the first call */
    unsigned member_count;
    pthread_mutex_t lock; /* guards the fields below; calls do not take it */
    struct config_generation
        *generation; /* the current configuration. Calls use the reference of their loop's gateway */
    uint64_t reloaded, reload_refused;
};

/* `config` and `metrics` are borrowed; `metrics` gets the gauges of shared state: slots, queue, circuit breakers,
 * cache, ledger. No instance has joined yet. */
struct gateway_shared *gateway_shared_create(const struct config *config, struct metrics *metrics, struct status *st);

/* Called in each loop at the beginning and end of its instance. The last leave destroys the shared state. */
struct gateway_shared *gateway_shared_join(struct gateway_shared *shared, struct gateway *gateway);
void gateway_shared_leave(struct gateway_shared **shared, struct gateway *gateway);

/* Reads the routes document again. A wrong document is logged and the old one stays. When this returns, all loops
 * use the new one. Not from inside a loop; one call at a time, between the last join and the first leave. */
void gateway_shared_reload(struct gateway_shared *shared);

#endif
