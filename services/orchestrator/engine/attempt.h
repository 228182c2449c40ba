/* Private to the orchestrator: one attempt at a node. It has its task here, or it is dispatched to another loop that
 * has asked for work (fanout/fanout.h); the result is the same.
 *
 *      task_begin ---> here, or elsewhere ---> attempt_finished, attempt_failed, attempt_lost     (attempt_end.c)
 *                           '--- task_drop, its limits ---> over: its further events are dropped, and it must still end
 */
#ifndef RENGA_ORCHESTRATOR_ATTEMPT_H
#define RENGA_ORCHESTRATOR_ATTEMPT_H

#include "fanout/fanout.h"
#include "nodes/task.h"
#include "thread/run_priv.h"
#include "watch/token_buffer.h"

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
bool attempt_ends(struct attempt *attempt); /* true if it still counts; else it may be freed */
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

/* node_response.c */
bool response_check(const struct activation *activation, const Response *response, struct status *st);
/* One value of at most so many bytes; `first`: the character it begins with, or NUL. */
bool response_check_json(const char *what, const char *text, size_t most, char first, struct status *st);

/* node_failures.c: the failures of a step's nodes, as a write of the error node; without fields if there is no write.
 * `alone`: of the first node only. */
bool failures_write(struct frame *frame, const struct activation *first, bool alone, struct write *write,
                    struct status *st);

/* model_retries.c: the run's budget of requests to models that fail. */
/* An attempt begins: sets activation->allowed_requests. The attempt holds them until activation_release_requests. */
void activation_take_requests(struct activation *activation);
/* It has ended, or its node is taken out of work. May be called again. */
void activation_release_requests(struct activation *activation);
/* For RunNodeRequest.model_requests. */
int32_t activation_model_requests(const struct activation *activation);
/* It has failed, and activation->spent is set. `unknown`: it was cut off, and may have sent all that it was allowed. */
void activation_requests_failed(struct activation *activation, bool unknown);
/* After activation_requests_failed: whether the node's policy and the budget allow another attempt, which then begins.
 */
bool activation_may_retry(struct activation *activation);
/* It has finished, and activation->response is set. */
void activation_requests_answered(struct activation *activation);

/* Whether another attempt of the run is at work, or may begin, beside a running attempt. */
static inline bool run_is_parallel(const struct run *run)
{
    return run->working > 1 || run->ready_first || run->openers_first;
}

#endif
