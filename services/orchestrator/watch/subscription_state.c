#include "subscription_state.h"
#include "subscribers.h"

#include "base/machine.h"

#define BEHIND  MACHINE_TO(SUBSCRIPTION_BEHIND)
#define READING MACHINE_TO(SUBSCRIPTION_READING)
#define ENDED   MACHINE_TO(SUBSCRIPTION_ENDED)
#define LEAVING MACHINE_TO(SUBSCRIPTION_LEAVING)
#define LEFT    MACHINE_TO(SUBSCRIPTION_LEFT)

/* ---- the shard's side -------------------------------------------------------------------------------------------- */

static const char *const subscription_states[] = {"asked",  "behind", "reading", "live",
                                                  "ending", "ended",  "leaving", "left"};
static const uint32_t subscription_moves[] = {
    [SUBSCRIPTION_ASKED] = BEHIND | LEAVING | LEFT, /* LEFT: it was refused */
    [SUBSCRIPTION_BEHIND] = READING | MACHINE_TO(SUBSCRIPTION_LIVE) | ENDED | LEFT,
    [SUBSCRIPTION_READING] = BEHIND | MACHINE_TO(SUBSCRIPTION_ENDING) | LEAVING,
    [SUBSCRIPTION_LIVE] = BEHIND | ENDED | LEFT,
    [SUBSCRIPTION_ENDING] = ENDED | LEAVING,
    [SUBSCRIPTION_ENDED] = LEFT,
    [SUBSCRIPTION_LEAVING] = LEFT,
    [SUBSCRIPTION_LEFT] = 0,
};
static const struct machine subscription_machine = MACHINE("subscription", subscription_states, subscription_moves);

bool subscription_may_move(const struct subscription *subscription, enum subscription_state to)
{
    return machine_allows(&subscription_machine, subscription->state, to);
}

void subscription_move(struct subscription *subscription, enum subscription_state to)
{
    machine_move(&subscription_machine, &subscription->state, to);
}

bool subscription_has_ended(const struct subscription *subscription)
{
    return subscription->state == SUBSCRIPTION_ENDING || subscription->state == SUBSCRIPTION_ENDED;
}

bool subscription_has_left(const struct subscription *subscription)
{
    return subscription->state == SUBSCRIPTION_LEAVING || subscription->state == SUBSCRIPTION_LEFT;
}

/* ---- the watcher's side ------------------------------------------------------------------------------------------ */

static const char *const watcher_states[] = {"watches", "ended", "refused"};
static const uint32_t watcher_moves[] = {
    [WATCHER_WATCHES] = MACHINE_TO(WATCHER_ENDED) | MACHINE_TO(WATCHER_REFUSED),
    [WATCHER_ENDED] = 0,
    [WATCHER_REFUSED] = 0,
};
static const struct machine watcher_machine = MACHINE("watcher", watcher_states, watcher_moves);

bool watcher_may_move(const struct subscription *subscription, enum watcher_state to)
{
    return machine_allows(&watcher_machine, subscription->watcher_state, to);
}

void watcher_move(struct subscription *subscription, enum watcher_state to)
{
    machine_move(&watcher_machine, &subscription->watcher_state, to);
}
