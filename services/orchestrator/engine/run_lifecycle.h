/* Private to the orchestrator: the life of a run: it goes to work, is resumed, changes its state, stops. Its thread
 * owns it. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_RUN_LIFECYCLE_H
#define RENGA_ORCHESTRATOR_RUN_LIFECYCLE_H

#include "renga/v1/log.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>

struct node;
struct run;
struct status;
struct thread;
struct timer;

/* run_lifecycle.c */
/* Goes to work for the first time, at its turn, from the state of `from`, which is then taken over or freed. */
void run_go(struct run *run, struct thread *from);
struct resumption {
    bool recovered;                             /* after a crash; the rest is empty */
    bool timed_out;                             /* by interrupt_timeout */
    const char *client;                         /* that asked for it; NULL: no client */
    const char *node;                           /* the node at which it waited; NULL: it did not wait */
    const Renga__V1__ResumeRunRequest *request; /* without it the budget and the limits stay */
    Renga__V1__HandUpdate *update;              /* the update that came with it, and is in the state; NULL: no update */
};
void run_resume(struct run *run, const struct resumption *resumption);
void run_change(struct run *run, Renga__V1__RunState state, Renga__V1__StopReason reason, int code, const char *format,
                ...) __attribute__((format(printf, 5, 6)));
void run_halt(struct run *run); /* takes all its tasks out of work */
void run_root_stopped(struct run *run);
void run_orphan_ended(struct run *run);
void run_next(struct thread *thread);
void thread_unhold(struct thread *thread); /* the request that had it for itself is done */
void thread_begin_run(struct thread *thread, struct run *run);

/* run_budget.c: limits that stop a run. */
void run_alive(struct run *run);
void run_limit_passed(struct timer *timer);
void run_idle_limit_passed(struct timer *timer);
bool run_budget_left(struct run *run); /* else it comes to an end */
/* Whether the node is not to begin: it calls another service that is paid for, the budget is spent, and the document
 * says "then": "fail". `st` names the part that is spent. */
bool run_budget_refuses(struct run *run, const struct node *node, struct status *st);
#define RUN_BUDGET_SPENT "BUDGET_SPENT" /* the reason of its failure */

#endif
