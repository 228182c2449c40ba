/* Runs the tool calls of the last turn of a conversation, through the tool-runner. */
#include "tool_round.h"
#include "turns.h"

#include <string.h>

enum { RUN_TURNS, RUN_INTO, RUN_ROUND };

static const struct node_parameter parameters[] = {
    [RUN_TURNS] = {"turns", READS_OBJECTS, REQUIRED,
                   "The conversation, an object[] that appends: its last turn calls tools, and their results become "
                   "turns behind it."},
    [RUN_INTO] = {"into", WRITES_OBJECTS, OPTIONAL,
                  "A list that gets what was found, an object for each try (SubtaskToolResults)."},
    ROUND_ROWS(RUN_ROUND),
    {.name = NULL},
};
static const char *const outcomes[] = {"ran", NULL};
#define RUN_FAILED "failed" /* the outcome if the document has an edge for it: each call failed, or there was none */

static bool run_tools_check(const struct node *node, struct status *st)
{
    return round_check(node, RUN_ROUND, false, st);
}

static const void *run_tools_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    (void)arena;
    for (size_t i = 0; i < node->edge_count; i++)
        if (strcmp(node->edges[i].outcome, outcomes[0]) != 0 && strcmp(node->edges[i].outcome, RUN_FAILED) != 0) {
            fail_field(st, "on", "run_tools has no outcome '%s'; it has ran and failed", node->edges[i].outcome);
            return NULL;
        }
    return node;
}

struct run_tools {
    struct service_call base; /* first */
    struct tool_round round;
};

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static bool run_tools_write_request(struct run_tools *run, struct status *st)
{
    struct turns turns;
    struct service_call *call = &run->base;
    const cJSON *list = service_call_input(call, RUN_TURNS);
    if (!turns_init(&turns, task_arena(call->task), (size_t)cJSON_GetArraySize(list), st) ||
        !turns_read(&turns, list, false, st))
        return false;
    const Renga__V1__ChatMessage *caller = turns_last_caller(&turns);
    size_t count = caller ? caller->n_tool_calls : 0;
    count = count < ROUND_CALLS_MAX ? count : ROUND_CALLS_MAX;
    if (!round_open(&run->round, call, RUN_ROUND, count, st))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!round_add(&run->round, caller->tool_calls[i], st))
            return false;
    return true;
}

/* ---- the results ------------------------------------------------------------------------------------------------- */

static const char *run_tools_outcome(const struct run_tools *run)
{
    for (size_t i = 0; i < run->round.request.n_calls; i++)
        if (run->round.results[i]->status_code == OK)
            return outcomes[0];
    return node_edge(task_node(run->base.task), RUN_FAILED) ? RUN_FAILED : outcomes[0];
}

static bool write_results(struct run_tools *run, struct json_writer *out, struct status *st)
{
    struct task *task = run->base.task;
    json_write_array(out, update_field(task, RUN_TURNS));
    for (size_t i = 0; i < run->round.request.n_calls; i++) {
        const Renga__V1__ChatMessage *turn = round_turn(&run->round, i, st);
        if (!turn)
            return false;
        turn_write(out, turn);
    }
    json_write_end(out);
    if (!update_field(task, RUN_INTO))
        return true;
    json_write_array(out, update_field(task, RUN_INTO));
    if (!round_results(&run->round, out, st))
        return false;
    json_write_end(out);
    return true;
}

static void run_tools_ran(struct run_tools *run)
{
    struct status st = {0};
    struct update update;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    Renga__V1__Degradation *degradations[ROUND_DEGRADATIONS_MAX];
    usage.tool_calls = (int64_t)run->round.request.n_calls;
    update_begin(&update);
    update.response.usage = &usage;
    update.response.degradations = degradations;
    round_degradations(&run->round, degradations, &update.response.n_degradations);
    if (write_results(run, &update.out, &st)) {
        update_finish(&update, run->base.task, run_tools_outcome(run));
    } else {
        buffer_fini(&update.text);
        task_spend(run->base.task, &usage);
        task_fail(run->base.task, &st);
    }
}

static void run_tools_answered(const Renga__V1__RunToolsResponse *answer, void *data)
{
    struct run_tools *run = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer)
        service_call_failed(&run->base);
    else if (!round_take(&run->round, answer, &st))
        task_fail(run->base.task, &st);
    else
        run_tools_ran(run);
}

static void run_tools_start(struct task *task)
{
    struct run_tools *run = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&run->base, task, PEER_TOOL_RUNNER, &st) && run_tools_write_request(run, &st);
    service_call_close(&run->base);
    if (!good)
        task_fail(task, &st);
    else if (!run->round.request.n_calls)
        run_tools_ran(run);
    else
        renga__v1__tool_runner__run_tools(run->base.peer, &run->round.request, run_tools_answered, &run->base.call);
}

extern const struct node_kind run_tools_kind;
const struct node_kind run_tools_kind = {
    .name = "run_tools",
    .help = "Runs the tools that the last turn of a conversation calls.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_outcomes = true,
    .check = run_tools_check,
    .prepare = run_tools_prepare,
    .size = sizeof(struct run_tools),
    .start = run_tools_start,
    .cancel = service_call_cancel,
    .travels = true,
};
