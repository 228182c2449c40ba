/* Calls a NodeService, written in any language: a single call per attempt. The answer goes to the engine unchanged. The
 * engine decides on retries. */
#include "addresses.h"
#include "service_call.h"

#include "base/clock.h"
#include "rpc/rpc.h"
#include "json/json.h"

#include <string.h>

#define REMOTE_STATE_MAX      ((size_t)3145728)       /* bytes, as RunNodeRequest.state_json */
#define REMOTE_PARAMETERS_MAX ((size_t)64 << 10)      /* bytes, as RunNodeRequest.parameters_json */
#define REMOTE_TOKEN_MAX      ((size_t)64 << 10)      /* bytes, as NodeToken.text */
#define REMOTE_CHANNEL_MAX    64                      /* bytes, as NodeToken.channel */
#define REMOTE_PROGRESS_MAX   ((size_t)64 << 10)      /* bytes, as RunNodeEvent.progress_json */
#define REMOTE_CALL_MAX_MS    (INT64_C(24) * 3600000) /* if the document sets no timeout */

enum { REMOTE_ADDRESS, REMOTE_FUNCTION, REMOTE_STREAM, REMOTE_PARAMETERS };

static const struct node_parameter parameters[] = {
    [REMOTE_ADDRESS] = {"address", PARAMETER_ADDRESS, REQUIRED,
                        "Where its renga.v1.NodeService listens: \"host:port\"."},
    [REMOTE_FUNCTION] = {"function", PARAMETER_TEXT, OPTIONAL,
                         "What it shall do, where one address serves several nodes; else the node's name."},
    [REMOTE_STREAM] = {"stream", PARAMETER_BOOLEAN, OPTIONAL,
                       "Call RunStream, which may show something while it works, and not Run."},
    [REMOTE_PARAMETERS] = {"parameters", PARAMETER_JSON, OPTIONAL, "An object that it is told each time."},
    {.name = NULL},
};

static bool check_parameters(const char *text, struct status *st)
{
    if (strlen(text) > REMOTE_PARAMETERS_MAX)
        return fail_field(st, "parameters", "has %zu bytes; at most %zu are allowed", strlen(text),
                          REMOTE_PARAMETERS_MAX);
    return text[0] == '{' || fail_field(st, "parameters", "must be an object, {…}");
}

static bool remote_check(const struct node *node, struct status *st)
{
    const char *function = node_argument(node, REMOTE_FUNCTION)->text;
    const char *given = node_argument(node, REMOTE_PARAMETERS)->text;
    if (function && (!*function || strlen(function) > GRAPH_NAME_MAX))
        return fail_field(st, "function", "has %zu bytes; 1 to %d are allowed", strlen(function), GRAPH_NAME_MAX);
    return !given || check_parameters(given, st);
}

/* ---- the attempt ------------------------------------------------------------------------------------------------- */

struct remote {
    struct rpc_client_call call;
    struct task *task;
    struct addresses *addresses;
    const Renga__V1__RunNodeResponse *result; /* of a stream, until it has ended */
    struct status broken;                     /* a rule of the contract that the stream broke */
    bool cancelled;                           /* by us */
};

/* A peer that dies resets its streams, and its status is CANCELLED. If this process did not cancel, it means
 * UNAVAILABLE. */
static void fail_attempt(struct remote *remote)
{
    struct status why = remote->call.status;
    call_spent(remote->task, &remote->call);
    if (why.code == CANCELLED && !remote->cancelled)
        fail(&why, UNAVAILABLE, "the node gave up the call: %s", remote->call.status.text);
    call_judge_size(&why);
    task_fail(remote->task, &why);
}

static void node_ran(const Renga__V1__RunNodeResponse *response, void *data)
{
    struct remote *remote = ((struct rpc_client_call *)data)->owner;
    addresses_call_ended(remote->addresses);
    if (response)
        task_finish(remote->task, response);
    else
        fail_attempt(remote);
}

/* ---- the attempt, with signs of life ----------------------------------------------------------------------------- */

/* Messages live until the closure returns, the result until the stream has ended. */
static bool keep_result(struct remote *remote, const Renga__V1__RunNodeResponse *result, struct status *st)
{
    remote->result = rpc_message_copy(task_arena(remote->task), &result->base);
    return remote->result || fail(st, RESOURCE_EXHAUSTED, "no memory for the result of %zu bytes",
                                  renga__v1__run_node_response__get_packed_size(result));
}

static bool show_token(struct remote *remote, const Renga__V1__NodeToken *token, struct status *st)
{
    size_t size = strlen(token->text), channel = strlen(token->channel);
    if (size > REMOTE_TOKEN_MAX)
        return fail(st, INVALID_ARGUMENT, "token.text has %zu bytes; at most %zu are allowed", size, REMOTE_TOKEN_MAX);
    if (channel > REMOTE_CHANNEL_MAX)
        return fail(st, INVALID_ARGUMENT, "token.channel has %zu bytes; at most %d are allowed", channel,
                    REMOTE_CHANNEL_MAX);
    task_token(remote->task, token->text, token->channel);
    return true;
}

static bool remote_show_progress(struct remote *remote, const char *json, struct status *st)
{
    struct status why = {0};
    size_t size = strlen(json);
    if (size > REMOTE_PROGRESS_MAX)
        return fail(st, INVALID_ARGUMENT, "progress_json has %zu bytes; at most %zu are allowed", size,
                    REMOTE_PROGRESS_MAX);
    if (!json_check(json, size, NULL, &why))
        return fail(st, INVALID_ARGUMENT, "progress_json is not JSON: %s", why.text);
    task_progress(remote->task, json);
    return true;
}

static bool remote_take_event(struct remote *remote, const Renga__V1__RunNodeEvent *event, struct status *st)
{
    if (remote->result)
        return fail(st, INVALID_ARGUMENT, "something came after the result, which is to be the last message");
    switch (event->event_case) {
    case RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN:
        return show_token(remote, event->token, st);
    case RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON:
        return remote_show_progress(remote, event->progress_json, st);
    case RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT:
        return keep_result(remote, event->result, st);
    default:
        return true;
    }
}

static void remote_node_stream_ended(struct remote *remote)
{
    addresses_call_ended(remote->addresses);
    if (remote->broken.code != OK)
        task_fail(remote->task, &remote->broken);
    else if (remote->call.status.code != OK)
        fail_attempt(remote);
    else if (remote->result)
        task_finish(remote->task, remote->result);
    else
        task_fail(remote->task, &(struct status){.code = DATA_LOSS, .text = "the stream ended without a result"});
}

static void remote_event_came(const Renga__V1__RunNodeEvent *event, void *data)
{
    struct remote *remote = ((struct rpc_client_call *)data)->owner;
    if (!event) {
        remote_node_stream_ended(remote);
        return;
    }
    if (remote->cancelled || remote->broken.code != OK)
        return;
    task_alive(remote->task);
    if (!remote_take_event(remote, event, &remote->broken))
        rpc_client_call_cancel(&remote->call);
}

/* ---- how it begins and is stopped -------------------------------------------------------------------------------- */

static bool remote_prepare(struct remote *remote, struct status *st)
{
    struct task *task = remote->task;
    int64_t now_ns = clock_now_ns(), deadline_ns = task_deadline_ns(task);
    rpc_client_call_init(&remote->call, task_loop(task), NULL);
    remote->call.owner = remote;
    remote->call.trace = task_trace(task);
    remote->call.timeout_ms = REMOTE_CALL_MAX_MS;
    if (deadline_ns <= now_ns)
        return fail(st, DEADLINE_EXCEEDED, "the time was over before the node could be called");
    if (deadline_ns != TIME_NEVER && (deadline_ns - now_ns) / NS_PER_MS < REMOTE_CALL_MAX_MS)
        remote->call.timeout_ms = (deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return true;
}

/* The engine's request, with the function and the parameters of the document. */
static Renga__V1__RunNodeRequest request_of(struct task *task)
{
    const struct node *node = task_node(task);
    const char *function = node_argument(node, REMOTE_FUNCTION)->text;
    const char *given = node_argument(node, REMOTE_PARAMETERS)->text;
    Renga__V1__RunNodeRequest request = *task_request(task);
    request.function = (char *)(uintptr_t)(function ? function : node->name);
    if (given)
        request.parameters_json = (char *)(uintptr_t)given;
    return request;
}

static void remote_node_start(struct task *task)
{
    struct remote *remote = task_data(task);
    const struct node_services *services = task_services(task);
    struct status st = {0};
    remote->task = task;
    if (!services) {
        fail(&st, FAILED_PRECONDITION, "this process cannot call remote nodes");
        task_fail(task, &st);
        return;
    }
    remote->addresses = services->addresses;
    const char *address = node_argument(task_node(task), REMOTE_ADDRESS)->text;
    ProtobufCService *node = addresses_stub(remote->addresses, address, &st);
    if (!node || !remote_prepare(remote, &st)) {
        task_fail(task, &st);
        return;
    }
    Renga__V1__RunNodeRequest request = request_of(task);
    addresses_call_began(remote->addresses);
    if (node_argument(task_node(task), REMOTE_STREAM)->flag)
        renga__v1__node_service__run_stream(node, &request, remote_event_came, &remote->call);
    else
        renga__v1__node_service__run(node, &request, node_ran, &remote->call);
}

static void remote_node_cancel(struct task *task)
{
    struct remote *remote = task_data(task);
    remote->cancelled = true;
    rpc_client_call_cancel(&remote->call);
}

extern const struct node_kind remote_kind;
const struct node_kind remote_kind = {
    .name = "remote",
    .help = "Asks a NodeService, in whatever language it is written.",
    .parameters = parameters,
    .outcomes = NULL,
    .check = remote_check,
    .size = sizeof(struct remote),
    .start = remote_node_start,
    .cancel = remote_node_cancel,
    .travels = true,
    .inputs_max = REMOTE_STATE_MAX,
};
