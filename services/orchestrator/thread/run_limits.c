/* The limits of a run: steps, time, and its budget. */
#include "graph/agents.h"
#include "graph/graph.h"
#include "memory.h"
#include "run.h"

#include "base/clock.h"

#include "renga/v1/budget.pb-c.h"
#include "renga/v1/log.pb-c.h"

#include <stdio.h>

#define RECURSION_LIMIT_DEFAULT 100

const struct graph *run_graph(const struct run *run)
{
    return run->agent ? run->agent->graph : NULL;
}

bool run_is_at_work(const struct run *run)
{
    return run && run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING;
}

bool run_is_open(const struct run *run)
{
    return run && (run->state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED ||
                   run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING);
}

unsigned run_recursion_limit(const struct run *run)
{
    if (run->resumed && run->resumed->recursion_limit)
        return (unsigned)run->resumed->recursion_limit;
    if (run->request->recursion_limit)
        return (unsigned)run->request->recursion_limit;
    return run_graph(run)->recursion_limit ? run_graph(run)->recursion_limit : RECURSION_LIMIT_DEFAULT;
}

int64_t run_timeout_ms(const struct run *run)
{
    if (run->resumed && run->resumed->timeout_ms)
        return run->resumed->timeout_ms;
    return run->request->timeout_ms ? run->request->timeout_ms : run_graph(run)->timeout_ms;
}

static int64_t lower_limit(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* -1: no limit. A resumption's budget counts from there on: earlier usage is added when it is stored. */
static struct graph_budget budget_of(const struct run *run)
{
    struct graph_budget most = run_graph(run)->budget;
    const Renga__V1__Budget *asked = run->resumed && run->resumed->budget ? run->resumed->budget : run->request->budget;
    if (run->resumed && run->resumed->budget)
        most = (struct graph_budget){-1, -1, -1, -1, -1, most.then};
    if (!asked)
        return most;
    if (asked->maybe_model_calls_case)
        most.model_calls = lower_limit(most.model_calls, asked->model_calls);
    if (asked->maybe_tokens_case)
        most.tokens = lower_limit(most.tokens, asked->tokens);
    if (asked->maybe_tool_calls_case)
        most.tool_calls = lower_limit(most.tool_calls, asked->tool_calls);
    if (asked->maybe_duration_ms_case)
        most.duration_ms = lower_limit(most.duration_ms, asked->duration_ms);
    if (asked->maybe_cost_micros_case)
        most.cost_micros = lower_limit(most.cost_micros, asked->cost_micros);
    return most;
}

int64_t run_worked_ms(const struct run *run)
{
    return run->worked_ms + (run->active_period_ns ? (clock_now_ns() - run->active_period_ns) / NS_PER_MS : 0);
}

int64_t run_tokens(const struct run *run)
{
    return run->usage.input_tokens + run->usage.output_tokens;
}

static int64_t run_limits_left(int64_t most, int64_t used)
{
    return most > used ? most - used : 0;
}

Renga__V1__Budget *run_budget_message(const struct run *run, struct arena *arena)
{
    struct graph_budget most = budget_of(run);
    if (most.model_calls < 0 && most.tokens < 0 && most.tool_calls < 0 && most.duration_ms < 0 && most.cost_micros < 0)
        return NULL;
    Renga__V1__Budget *budget = xnonnull(arena_alloc(arena, sizeof *budget));
    renga__v1__budget__init(budget);
    if (most.model_calls >= 0) {
        budget->maybe_model_calls_case = RENGA__V1__BUDGET__MAYBE_MODEL_CALLS_MODEL_CALLS;
        budget->model_calls = run_limits_left(most.model_calls, run->usage.model_calls);
    }
    if (most.tokens >= 0) {
        budget->maybe_tokens_case = RENGA__V1__BUDGET__MAYBE_TOKENS_TOKENS;
        budget->tokens = run_limits_left(most.tokens, run_tokens(run));
    }
    if (most.tool_calls >= 0) {
        budget->maybe_tool_calls_case = RENGA__V1__BUDGET__MAYBE_TOOL_CALLS_TOOL_CALLS;
        budget->tool_calls = run_limits_left(most.tool_calls, run->usage.tool_calls);
    }
    if (most.duration_ms >= 0) {
        budget->maybe_duration_ms_case = RENGA__V1__BUDGET__MAYBE_DURATION_MS_DURATION_MS;
        budget->duration_ms = run_limits_left(most.duration_ms, run_worked_ms(run));
    }
    if (most.cost_micros >= 0) {
        budget->maybe_cost_micros_case = RENGA__V1__BUDGET__MAYBE_COST_MICROS_COST_MICROS;
        budget->cost_micros = run_limits_left(most.cost_micros, run->usage.cost_micros);
    }
    return budget;
}

Renga__V1__StopReason run_budget_spent(const struct run *run, char *text, size_t size)
{
    struct graph_budget most = budget_of(run);
    const struct {
        int64_t most, used;
        Renga__V1__StopReason reason;
        const char *what;
    } rows[] = {
        {most.model_calls, run->usage.model_calls, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_MODEL_CALLS,
         "calls to models"},
        {most.tokens, run_tokens(run), RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_TOKENS, "tokens"},
        {most.tool_calls, run->usage.tool_calls, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_TOOL_CALLS,
         "calls to tools"},
        {most.duration_ms, most.duration_ms < 0 ? 0 : run_worked_ms(run),
         RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_DURATION, "milliseconds"},
        {most.cost_micros, run->usage.cost_micros, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_COST, "micro-USD"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].most < 0 || rows[i].used < rows[i].most)
            continue;
        snprintf(text, size, "the budget of %lld %s is spent: %lld were used", (long long)rows[i].most, rows[i].what,
                 (long long)rows[i].used);
        return rows[i].reason;
    }
    return RENGA__V1__STOP_REASON__STOP_REASON_UNSPECIFIED;
}

int64_t run_pause_expires_ms(const struct run *run, int64_t asked_ms)
{
    const Renga__V1__InterruptTimeout *limit = run->request->interrupt_timeout;
    return limit && run->reason != RENGA__V1__STOP_REASON__STOP_REASON_QUESTION ? asked_ms + limit->after_ms : 0;
}
