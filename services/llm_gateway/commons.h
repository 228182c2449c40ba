/* What the instances of a process share: one of each, whichever loop a call arrives in. */
#ifndef RENGA_LLM_GATEWAY_COMMONS_H
#define RENGA_LLM_GATEWAY_COMMONS_H

#include "base/config.h"
#include "base/status.h"
#include "route/retry.h"

#include <stdbool.h>

struct gate;
struct ledger;
struct metrics;
struct recall;
struct routes;

struct commons {
    struct routes *routes;
    struct gate *gate;
    struct ledger *ledger;
    struct recall *recall;
    struct retry_budget budget;
    bool counts_tokens; /* there are limits on tokens or money: estimates are worth their time */
    struct metrics *metrics;
};

/* `metrics` is borrowed and shows what is shared: places, queue, circuits, cache, accounts. */
struct commons *commons_create(const struct config *config, struct metrics *metrics, struct status *st);
/* When no call is under way in any loop. */
void commons_destroy(struct commons **commons);

#endif
