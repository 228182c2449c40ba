/* Has the tool-runner run what the last turn of a conversation calls. A tool that fails is a result, not an error: the
 * model reads what was wrong, and may do better. */
#include "service_call.h"
#include "tool_results.h"
#include "turns.h"

#include "base/text.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define CALLS_MAX        128            /* as RunToolsRequest.calls */
#define OUTPUT_DEFAULT   32768          /* bytes */
#define OUTPUT_MOST      524288         /* bytes: a state keeps them for every try */
#define SHARE_LEAST      256            /* bytes of one result */
#define DEGRADATIONS_MAX 32             /* as RunNodeResponse.degradations */
#define MESSAGE_MAX      ((size_t)1024) /* bytes, as ToolResult.message */
#define AROUND_MAX       ((size_t)2048) /* bytes of a turn beside the text of its tool */
#define CUT_MARK         "\n\n[…]"

enum { RUN_TURNS, RUN_INTO, RUN_TOOLS, RUN_TOOL_TIMEOUT, RUN_OUTPUT };

static const struct node_parameter parameters[] = {
    [RUN_TURNS] = {.name = "turns",
                   .type = PARAMETER_FIELD,
                   .required = true,
                   .help = "The conversation, an object[] that appends: its last turn calls tools, and their results "
                           "become turns behind it."},
    [RUN_INTO] = {.name = "into",
                  .type = PARAMETER_FIELD,
                  .help = "A list that gets what was found, an object for each try (SubtaskToolResults)."},
    [RUN_TOOLS] = {.name = "tools", .type = PARAMETER_JSON, .help = "Names of the tools that may be run; all else."},
    [RUN_TOOL_TIMEOUT] = {.name = "tool_timeout",
                          .type = PARAMETER_DURATION,
                          .help = "How long one tool may run; else its own limit."},
    [RUN_OUTPUT] = {.name = "output_max",
                    .type = PARAMETER_INTEGER,
                    .help =
                        "Most bytes of all results together, 32768 where it is not said: each gets an equal share."},
    {.name = NULL},
};
static const char *const outcomes[] = {"ran", NULL};

static bool check(const struct node *node, struct status *st)
{
    int64_t most = node_argument(node, RUN_OUTPUT)->number;
    if (most > OUTPUT_MOST)
        return fail_field(st, "output_max", "is %lld; at most %d are kept", (long long)most, OUTPUT_MOST);
    return names_check(node, RUN_TOOLS, st) && input_check(node, RUN_TURNS, FIELD_OBJECT, true, st) &&
           output_check(node, RUN_INTO, FIELD_OBJECT, true, st);
}

struct run_tools {
    struct service_call base; /* first */
    Renga__V1__RunToolsRequest request;
    Renga__V1__ToolCall *calls[CALLS_MAX];
    size_t share; /* bytes of one result */
};

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static const Renga__V1__ChatMessage *last_caller(const struct turns *turns)
{
    for (size_t i = turns->count; i > 0; i--)
        if (turns->list[i - 1]->n_tool_calls)
            return turns->list[i - 1];
    return NULL;
}

static bool add_call(struct run_tools *run, Renga__V1__ToolCall *call, struct status *st)
{
    Renga__V1__ToolInvocation *invocation = arena_alloc(task_arena(run->base.task), sizeof *invocation);
    if (!invocation)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the calls of tools");
    renga__v1__tool_invocation__init(invocation);
    invocation->call = call;
    invocation->timeout_ms = node_argument(task_node(run->base.task), RUN_TOOL_TIMEOUT)->number;
    invocation->output_max_bytes = (int32_t)run->share;
    run->calls[run->request.n_calls] = call;
    run->request.calls[run->request.n_calls++] = invocation;
    return true;
}

static bool write_calls(struct run_tools *run, struct status *st)
{
    struct turns turns;
    struct arena *arena = task_arena(run->base.task);
    const cJSON *list = service_call_input(&run->base, RUN_TURNS);
    int64_t most = node_argument(task_node(run->base.task), RUN_OUTPUT)->number;
    if (!turns_init(&turns, arena, (size_t)cJSON_GetArraySize(list), st) || !turns_read(&turns, list, false, st))
        return false;
    const Renga__V1__ChatMessage *caller = last_caller(&turns);
    size_t count = caller ? caller->n_tool_calls : 0;
    count = count < CALLS_MAX ? count : CALLS_MAX;
    run->share = (size_t)(most ? most : OUTPUT_DEFAULT) / (count ? count : 1);
    run->share = run->share > SHARE_LEAST ? run->share : SHARE_LEAST;
    run->request.calls = arena_alloc(arena, CALLS_MAX * sizeof(*run->request.calls));
    if (!run->request.calls)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the calls of tools");
    for (size_t i = 0; i < count; i++)
        if (!add_call(run, caller->tool_calls[i], st))
            return false;
    return true;
}

static bool write_request(struct run_tools *run, struct status *st)
{
    const Renga__V1__RunNodeRequest *told = task_request(run->base.task);
    Renga__V1__RunToolsRequest *request = &run->request;
    renga__v1__run_tools_request__init(request);
    request->idempotency_key = told->idempotency_key;
    request->attempt = told->attempt;
    request->fencing_token = told->fencing_token;
    request->origin = &run->base.origin;
    return write_calls(run, st) &&
           names_read(&run->base, RUN_TOOLS, &request->allowed_tools, &request->n_allowed_tools, st);
}

/* ---- the results ------------------------------------------------------------------------------------------------- */

static void write_turn(struct json_writer *out, struct run_tools *run, size_t i, const Renga__V1__ToolResult *result)
{
    Renga__V1__ChatMessage turn = RENGA__V1__CHAT_MESSAGE__INIT;
    struct buffer text;
    size_t length = strlen(result->text), most = text_cut(result->text, length, run->share);
    buffer_init(&text, run->share + AROUND_MAX);
    if (result->status_code != OK)
        buffer_printf(&text, "%s: %.*s%s", status_code_name(result->status_code),
                      (int)text_cut(result->message, strlen(result->message), MESSAGE_MAX), result->message,
                      most ? "\n" : "");
    buffer_append(&text, result->text, most);
    if (most < length || result->truncated)
        buffer_print(&text, CUT_MARK);
    turn.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    turn.tool_call_id = run->calls[i]->id;
    turn.tool_failed = result->status_code != OK;
    turn.content = (char *)(uintptr_t)buffer_text(&text);
    turn_write(out, &turn);
    buffer_fini(&text);
}

static void add_degradation(struct run_tools *run, Renga__V1__RunNodeResponse *response,
                            const Renga__V1__ToolResult *result)
{
    Renga__V1__Degradation *degradation = arena_alloc(task_arena(run->base.task), sizeof *degradation);
    if (!degradation || response->n_degradations == DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = result->name;
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    degradation->reason = result->message;
    degradation->status_code = result->status_code;
    response->degradations[response->n_degradations++] = degradation;
}

/* What stands in the update until it is finished. */
struct outcome {
    Renga__V1__Usage usage;
    Renga__V1__Degradation *degradations[DEGRADATIONS_MAX];
};

static void ran(struct run_tools *run, Renga__V1__ToolResult *const *results, size_t count)
{
    struct task *task = run->base.task;
    struct status st = {0};
    struct update update;
    struct outcome outcome = {.usage = RENGA__V1__USAGE__INIT};
    bool good = true;
    update_begin(&update);
    update.response.usage = &outcome.usage;
    update.response.degradations = outcome.degradations;
    outcome.usage.tool_calls = (int64_t)count;
    json_write_array(&update.out, update_field(task, RUN_TURNS));
    for (size_t i = 0; i < count; i++) {
        write_turn(&update.out, run, i, results[i]);
        if (results[i]->status_code != OK)
            add_degradation(run, &update.response, results[i]);
    }
    json_write_end(&update.out);
    if (update_field(task, RUN_INTO)) {
        json_write_array(&update.out, update_field(task, RUN_INTO));
        good = tool_results_write(&update.out, run->calls, results, count, run->share, task_arena(task), &st);
        if (good)
            json_write_end(&update.out);
    }
    if (good) {
        update_finish(&update, task, outcomes[0]);
    } else {
        buffer_fini(&update.text);
        task_fail(task, &st);
    }
}

static void answered(const Renga__V1__RunToolsResponse *answer, void *data)
{
    struct run_tools *run = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer) {
        service_call_failed(&run->base);
    } else if (answer->n_results != run->request.n_calls) {
        fail(&st, DATA_LOSS, "the tool-runner gave %zu results for %zu calls", answer->n_results, run->request.n_calls);
        task_fail(run->base.task, &st);
    } else {
        ran(run, answer->results, answer->n_results);
    }
}

static void start(struct task *task)
{
    struct run_tools *run = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&run->base, task, PEER_TOOL_RUNNER, &st) && write_request(run, &st);
    service_call_close(&run->base);
    if (!good)
        task_fail(task, &st);
    else if (!run->request.n_calls)
        ran(run, NULL, 0);
    else
        renga__v1__tool_runner__run_tools(run->base.peer, &run->request, answered, &run->base.call);
}

extern const struct node_kind run_tools_kind;
const struct node_kind run_tools_kind = {
    .name = "run_tools",
    .help = "Runs the tools that the last turn of a conversation calls.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .size = sizeof(struct run_tools),
    .start = start,
    .cancel = service_call_cancel,
    .travels = true,
};
