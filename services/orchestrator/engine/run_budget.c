/* Limits that stop a run: its budget, its timeout, its idle timeout. */
#include "graph/graph.h"
#include "graph/node_kind.h"
#include "run_lifecycle.h"
#include "step.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include <stdio.h>

bool run_budget_left(struct run *run)
{
    Renga__V1__StopReason spent;
    if (run_graph(run)->budget.then == BUDGET_THEN_FAIL ||
        !(spent = run_budget_spent(run, run->stopping_text, sizeof run->stopping_text)))
        return true;
    run->stopping = spent;
    frame_drain(run->thread->root);
    return false;
}

bool run_budget_refuses(struct run *run, const struct node *node, struct status *st)
{
    Renga__V1__StopReason spent;
    char text[STATUS_TEXT_MAX];
    if (run_graph(run)->budget.then != BUDGET_THEN_FAIL || !node->kind->travels || node->kind->unbilled ||
        !(spent = run_budget_spent(run, text, sizeof text)))
        return false;
    run->refused = spent;
    snprintf(run->refused_text, sizeof run->refused_text, "%s", text);
    fail(st, RESOURCE_EXHAUSTED, "%s", text);
    return true;
}

static void run_time_is_over(struct run *run, Renga__V1__StopReason reason, const char *what, int64_t ms)
{
    if (run->stopping)
        return;
    run->stopping = reason;
    run->stopping_code = DEADLINE_EXCEEDED;
    snprintf(run->stopping_text, sizeof run->stopping_text, "%s %lld ms", what, (long long)ms);
    frame_stop(run->thread->root);
}

void run_limit_passed(struct timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, limit);
    run_time_is_over(run, RENGA__V1__STOP_REASON__STOP_REASON_TIMEOUT, "the run has not ended within its timeout of",
                     run_timeout_ms(run));
}

void run_idle_limit_passed(struct timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, idle_limit);
    run_time_is_over(run, RENGA__V1__STOP_REASON__STOP_REASON_IDLE_TIMEOUT, "nothing has happened for", run->idle_ms);
}

void run_alive(struct run *run)
{
    if (run->idle_ms && run->active_period_ns)
        loop_arm_after(run->thread->shard->loop, &run->idle_limit, run->idle_ms);
}
