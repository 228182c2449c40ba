/* Private to run/: one attempt at a node. It has its task here, or it is away, in another loop that has asked for work
 * (fanout/fanout.h); what comes of it is the same.
 *
 *      task_begin ---> at home, or away ---> attempt_finished, attempt_failed, attempt_lost     (task.c)
 *                           '--- task_drop, its limits ---> over: whatever it says is dropped, and it has still to end
 */
#ifndef RENGA_ORCHESTRATOR_ATTEMPT_H
#define RENGA_ORCHESTRATOR_ATTEMPT_H

#include "fanout/fanout.h"
#include "nodes/task.h"
#include "run_priv.h"
#include "said.h"

#define PROGRESS_MAX 65536 /* bytes, as RunNodeEvent.progress_json */

struct attempt {
    struct due *due; /* NULL: nothing of it counts any more */
    struct thread *thread;
    uint32_t run_number;
    bool ended, held, late; /* held: it is not to be freed yet; late: its time was over */
    bool away;
    int64_t began_ns;
    struct said *said; /* tokens so far; NULL: none */
    struct timer limit, idle_limit;
    struct span *span;
    struct dispatch dispatch; /* where it is away */
    struct task task;         /* else; and the request of either */
    _Alignas(16) char data[];
};

/* attempt.c */
bool attempt_ends(struct attempt *attempt); /* true where it still counts; else it may be gone */
/* It is over, by this code; it may still have to end. */
void attempt_detach(struct attempt *attempt, enum status_code code);

/* task.c: its end. */
void attempt_finished(struct attempt *attempt, const Response *response);
void attempt_failed(struct attempt *attempt, const struct status *status, const Renga__V1__Usage *spent);
void attempt_lost(struct attempt *attempt, const struct status *why);
void attempt_limit_passed(struct timer *timer);
void attempt_idle_limit_passed(struct timer *timer);

#endif
