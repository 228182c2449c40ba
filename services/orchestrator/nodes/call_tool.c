/* Runs a tool that the document names, through the tool-runner. The arguments are made of the node's inputs by the
 * document's rules: no model is asked. The call has the idempotency key of its task, so that a crash repeats no tool
 * that has run. */
#include "service_call.h"
#include "shape.h"

#include "base/text.h"
#include "rpc/message_json.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <string.h>

#define CALL_ID       "call"
#define OUTPUT_MAX    32768           /* bytes of text and hits, if the document sets no limit */
#define OUTPUT_MOST   524288          /* bytes: a state keeps them */
#define ARGUMENTS_MAX ((size_t)65536) /* bytes */
#define MESSAGE_MAX   ((size_t)1024)  /* bytes, as ToolResult.message */

enum { TOOL_NAME, TOOL_ARGUMENTS, TOOL_HITS, TOOL_TEXT, TOOL_FAILURE, TOOL_TIMEOUT, TOOL_OUTPUT };

static const struct node_parameter parameters[] = {
    [TOOL_NAME] = {"tool", PARAMETER_TEXT, REQUIRED, "The tool: \"fetch_page\"."},
    [TOOL_ARGUMENTS] = {"arguments", PARAMETER_JSON, REQUIRED,
                        "Its arguments, each with the path of its value in the inputs, {\"url\": \"source.url\"}, or a "
                        "number, true or false."},
    [TOOL_HITS] = {"hits", WRITES_OBJECTS, OPTIONAL, "What it found, an object[] (SearchHit)."},
    [TOOL_TEXT] = {"text", WRITES_STRING, OPTIONAL, "Its result as text, a string."},
    [TOOL_FAILURE] = {"failure", WRITES_OBJECT, OPTIONAL,
                      "An object that tells why it failed: \"code\", \"status_code\", \"message\"."},
    [TOOL_TIMEOUT] = {"tool_timeout", PARAMETER_DURATION, OPTIONAL, "How long it may run; else its own limit."},
    [TOOL_OUTPUT] = {"output_max", PARAMETER_INTEGER, OPTIONAL,
                     "Most bytes of its result, 32768 where it is not said."},
    {.name = NULL},
};
static const char *const outcomes[] = {"ran", "failed", NULL};

static bool call_tool_check(const struct node *node, struct status *st)
{
    const char *text = node_argument(node, TOOL_ARGUMENTS)->text, *name = node_argument(node, TOOL_NAME)->text;
    int64_t most = node_argument(node, TOOL_OUTPUT)->number;
    cJSON *arguments = json_parse(text, strlen(text), NULL, st);
    bool good = arguments != NULL;
    if (!*name || strlen(name) > GRAPH_NAME_MAX)
        good = fail_field(st, "tool", "has %zu bytes; 1 to %d are allowed", strlen(name), GRAPH_NAME_MAX);
    else if (most > OUTPUT_MOST)
        good = fail_field(st, "output_max", "is %lld; at most %d are kept", (long long)most, OUTPUT_MOST);
    else if (arguments && !cJSON_IsObject(arguments))
        good = fail_field(st, "arguments", "must be an object of arguments, {\"url\": \"source.url\"}");
    good = good && shape_check(node, "arguments", arguments, st);
    cJSON_Delete(arguments);
    return good;
}

struct tool_calling {
    struct service_call base; /* first */
    Renga__V1__RunToolsRequest request;
    Renga__V1__ToolInvocation invocation, *invocations[1];
    Renga__V1__ToolCall call;
    char *allowed[1];
};

/* ---- the result -------------------------------------------------------------------------------------------------- */

static void tool_write_failure(const struct task *task, const Renga__V1__ToolResult *result, struct json_writer *out)
{
    const char *failure = update_field(task, TOOL_FAILURE);
    if (!failure)
        return;
    json_write_object(out, failure);
    json_write_string(out, "code", status_code_name(result->status_code));
    json_write_int(out, "status_code", result->status_code);
    json_write_text(out, "message", result->message, text_cut(result->message, strlen(result->message), MESSAGE_MAX));
    json_write_end(out);
}

static void tool_write_result(const struct task *task, const Renga__V1__ToolResult *result, struct json_writer *out)
{
    const char *hits = update_field(task, TOOL_HITS), *text = update_field(task, TOOL_TEXT);
    if (hits)
        json_write_array(out, hits);
    for (size_t i = 0; hits && i < result->n_hits; i++)
        message_write_json(out, NULL, &result->hits[i]->base);
    if (hits)
        json_write_end(out);
    if (text)
        json_write_string(out, text, result->text);
}

static void tool_ran(const Renga__V1__RunToolsResponse *answer, void *data)
{
    struct tool_calling *calling = ((struct rpc_client_call *)data)->owner;
    struct task *task = calling->base.task;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    struct status st = {0};
    struct update update;
    if (!answer) {
        service_call_failed(&calling->base);
        return;
    }
    if (answer->n_results != 1) {
        fail(&st, DATA_LOSS, "the tool-runner gave %zu results for one call", answer->n_results);
        task_fail(task, &st);
        return;
    }
    bool good = answer->results[0]->status_code == OK;
    usage.tool_calls = 1;
    update_begin(&update);
    update.response.usage = &usage;
    if (good)
        tool_write_result(task, answer->results[0], &update.out);
    else
        tool_write_failure(task, answer->results[0], &update.out);
    update_finish(&update, task, outcomes[good ? 0 : 1]);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static char *tool_arguments(const struct tool_calling *calling, struct status *st)
{
    const struct task *task = calling->base.task;
    const char *text = node_argument(task_node(task), TOOL_ARGUMENTS)->text;
    cJSON *shape = json_parse(text, strlen(text), NULL, st), *made = shape_make(calling->base.inputs, shape);
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, ARGUMENTS_MAX);
    json_writer_init(&writer, &out);
    json_write_tree(&writer, NULL, made);
    char *copy = json_writer_done(&writer) ? arena_strdup(task_arena(calling->base.task), buffer_text(&out)) : NULL;
    if (!copy)
        fail(st, INVALID_ARGUMENT, "the arguments of '%s' have more than %zu bytes",
             node_argument(task_node(task), TOOL_NAME)->text, ARGUMENTS_MAX);
    buffer_fini(&out);
    cJSON_Delete(made);
    cJSON_Delete(shape);
    return copy;
}

static bool tool_write_request(struct tool_calling *calling, struct status *st)
{
    const struct node *node = task_node(calling->base.task);
    const Renga__V1__RunNodeRequest *told = task_request(calling->base.task);
    int64_t most = node_argument(node, TOOL_OUTPUT)->number;
    renga__v1__run_tools_request__init(&calling->request);
    renga__v1__tool_invocation__init(&calling->invocation);
    renga__v1__tool_call__init(&calling->call);
    calling->allowed[0] = (char *)(uintptr_t)node_argument(node, TOOL_NAME)->text;
    calling->call.id = (char *)(uintptr_t)CALL_ID;
    calling->call.name = calling->allowed[0];
    calling->call.arguments_json = tool_arguments(calling, st);
    calling->invocation.call = &calling->call;
    calling->invocation.timeout_ms = node_argument(node, TOOL_TIMEOUT)->number;
    calling->invocation.output_max_bytes = (int32_t)(most ? most : OUTPUT_MAX);
    calling->invocations[0] = &calling->invocation;
    calling->request.calls = calling->invocations;
    calling->request.n_calls = 1;
    calling->request.allowed_tools = calling->allowed;
    calling->request.n_allowed_tools = 1;
    calling->request.idempotency_key = told->idempotency_key;
    calling->request.attempt = told->attempt;
    calling->request.fencing_token = told->fencing_token;
    calling->request.origin = &calling->base.origin;
    return calling->call.arguments_json;
}

static void call_tool_start(struct task *task)
{
    struct tool_calling *calling = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&calling->base, task, PEER_TOOL_RUNNER, &st) && tool_write_request(calling, &st);
    service_call_close(&calling->base);
    if (good)
        renga__v1__tool_runner__run_tools(calling->base.peer, &calling->request, tool_ran, &calling->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind call_tool_kind;
const struct node_kind call_tool_kind = {
    .name = "call_tool",
    .help = "Runs one tool that the document names.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = call_tool_check,
    .size = sizeof(struct tool_calling),
    .start = call_tool_start,
    .cancel = service_call_cancel,
    .travels = true,
};
