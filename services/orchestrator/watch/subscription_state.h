/* Private to the orchestrator: the states of a subscription. Each side has its own and changes it in its own loop.
 *
 * The shard's:
 *
 *     ASKED ---> BEHIND <---> READING ---> ENDING        a page of the log is on its way: READING, ENDING
 *                  ^  |                      |
 *         too slow |  |                      |
 *                  |  v                      v
 *                  LIVE -----------------> ENDED         BEHIND ends, too
 *
 * From each of them the watcher may leave: at once it has LEFT, but while its thread (ASKED) or a page is awaited it is
 * LEAVING until that has come.
 *
 * The watcher's: WATCHES ---> ENDED or REFUSED, when it has been told the end. */
#ifndef RENGA_ORCHESTRATOR_SUBSCRIPTION_STATE_H
#define RENGA_ORCHESTRATOR_SUBSCRIPTION_STATE_H

#include <stdbool.h>

struct subscription;

enum subscription_state {
    SUBSCRIPTION_ASKED,  /* its thread is being read, or serves other requests */
    SUBSCRIPTION_BEHIND, /* there are records that it has not read, or its packet is full */
    SUBSCRIPTION_READING,
    SUBSCRIPTION_LIVE, /* it gets events as they happen */
    SUBSCRIPTION_ENDING,
    SUBSCRIPTION_ENDED, /* its last packet is made */
    SUBSCRIPTION_LEAVING,
    SUBSCRIPTION_LEFT, /* in no list; it is freed in the watcher's loop */
};

enum watcher_state { WATCHER_WATCHES, WATCHER_ENDED, WATCHER_REFUSED };

bool subscription_may_move(const struct subscription *subscription, enum subscription_state to);
bool watcher_may_move(const struct subscription *subscription, enum watcher_state to);

/* The only way to change a state. A move that is not allowed is asserted. */
void subscription_move(struct subscription *subscription, enum subscription_state to);
void watcher_move(struct subscription *subscription, enum watcher_state to);

bool subscription_has_ended(const struct subscription *subscription);
bool subscription_has_left(const struct subscription *subscription);

#endif
