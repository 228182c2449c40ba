/* What the instances of a process share: one of each, whichever loop a call arrives in. */
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
    struct gateway *members[LOOPS_MAX]; /* one a loop, all before anything is served */
    unsigned member_count;
    pthread_mutex_t lock;                 /* of what follows; calls know nothing of it */
    struct config_generation *generation; /* of the routes: the current one. A loop's calls use their gateway's */
    uint64_t reloaded, reload_refused;
};

/* `config` and `metrics` are borrowed; the latter shows what is shared: places, queue, circuits, cache, accounts.
 * Nobody has joined yet. */
struct gateway_shared *gateway_shared_create(const struct config *config, struct metrics *metrics, struct status *st);

/* From inside each loop, at its instance's beginning and end. With the last one that leaves it is gone. */
struct gateway_shared *gateway_shared_join(struct gateway_shared *shared, struct gateway *gateway);
void gateway_shared_leave(struct gateway_shared **shared, struct gateway *gateway);

/* Reads the document of the routes again. A wrong one is logged, and the old stays; a good one is in force in all loops
 * when it returns. Not from inside a loop, one at a time, between the last join and the first leave. */
void gateway_shared_reload(struct gateway_shared *shared);

#endif
