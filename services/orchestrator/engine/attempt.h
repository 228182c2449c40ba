/* Private to the orchestrator: one attempt at a node. It has its task here, or it is dispatched to another loop that
 * has asked for work (fanout/fanout.h); the result is the same. Its activation owns it until it is over. From inside
 * the loop of the shard.
 *
 *      task_begin ---> here, or elsewhere ---> attempt_finished, attempt_failed, attempt_lost     (attempt_end.c)
 *                           '--- task_drop, its limits ---> over: its further events are dropped, and it must still end
 */
#ifndef RENGA_ORCHESTRATOR_ATTEMPT_H
#define RENGA_ORCHESTRATOR_ATTEMPT_H

#include "fanout/attempt_data.h"

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/usage.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* attempt.c */
void task_begin(struct activation *activation);
void task_drop(struct activation *activation); /* it does not count any more */
bool attempt_ends(struct attempt *attempt);    /* true if it still counts; else it may be freed */
/* It is over, by this code; it may still have to end. */
void attempt_detach(struct attempt *attempt, enum status_code code);

/* attempt_end.c: its end. */
void attempt_finished(struct attempt *attempt, const Response *response);
/* `reason`: the cause as a constant, alive as long as the agent; "": no cause. */
void attempt_failed(struct attempt *attempt, const struct status *status, const Renga__V1__Usage *spent,
                    const char *reason);
void attempt_lost(struct attempt *attempt, const struct status *why);
void attempt_limit_passed(struct timer *timer);
void attempt_idle_limit_passed(struct timer *timer);

#endif
