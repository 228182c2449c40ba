/* What the instances of a process share: one of each, whichever loop a call arrives in. */
#ifndef RENGA_LLM_GATEWAY_COMMONS_H
#define RENGA_LLM_GATEWAY_COMMONS_H

#include "base/config.h"
#include "base/status.h"
#include "route/retry.h"

#include <stdbool.h>

struct gate;
struct ledger;
struct loop;
struct metrics;
struct recall;
struct routes;

struct commons {
    struct routes *routes;
    struct gate *gate;
    struct gate **places; /* of each route, behind the gate; NULL: as many as are wanted */
    struct gate **turns;  /* ... and one at a time behind those, to wait for a minute's rate; NULL: without one */
    struct ledger *ledger;
    struct recall *recall;
    struct retry_budget budget;
    bool counts_tokens; /* there are limits on tokens or money: estimates are worth their time */
    struct metrics *metrics;
    unsigned members; /* loops that have joined */
};

/* `metrics` is borrowed and shows what is shared: places, queue, circuits, cache, accounts. Nobody has joined yet. */
struct commons *commons_create(const struct config *config, struct metrics *metrics, struct status *st);

/* From inside each loop, at its instance's beginning and end. With the last one that leaves it is gone. */
struct commons *commons_join(struct commons *commons, struct loop *loop);
void commons_leave(struct commons **commons, struct loop *loop);

#endif
