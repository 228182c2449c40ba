/* Private to the orchestrator: one attempt at a node. It has its task here, or it is dispatched to another loop that
 * has asked for work (fanout/fanout.h); the result is the same. Its activation owns it until it is over. From inside
 * the loop of the shard.
 *
 *      task_begin ---> here, or elsewhere ---> attempt_finished, attempt_failed, attempt_lost     (attempt_end.c)
 *                           '--- task_drop, its limits ---> over: its further events are dropped, and it must still end
 */
#ifndef RENGA_ORCHESTRATOR_ATTEMPT_H
#define RENGA_ORCHESTRATOR_ATTEMPT_H

#include "fanout/fanout.h"
#include "nodes/task.h"
#include "thread/frame.h"

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/usage.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct span;
struct thread;
struct token_buffer;

#define PROGRESS_MAX 65536 /* bytes, as RunNodeEvent.progress_json */

struct attempt {
    struct activation *activation; /* NULL: no result of it counts any more */
    struct thread *thread;
    uint32_t run_number;
    bool ended, held, late; /* held: it is not to be freed yet; late: its time was over */
    bool dispatched;
    int64_t began_ns;
    struct token_buffer *token_buffer; /* tokens so far; NULL: no tokens */
    struct timer limit, idle_limit;
    struct span *span;
    struct dispatch dispatch; /* if it is dispatched */
    struct task task;         /* else; and the request of either */
    _Alignas(16) char data[];
};

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
