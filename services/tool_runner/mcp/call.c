/* A call to a server's tool, from the loop of its run to the server's loop and back.
 *
 *      run's loop    start ---> post ---.                     .---> write the result, end the run
 *      home                             '--> request ... ----'     (cancelled: no result)
 *
 * Both sides hold the call; either may release it first. */
#include "base/clock.h"
#include "base/log.h"
#include "instance/tool_runner_instance.h"
#include "mcp_priv.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define SENT_MAX 2 /* times: again if the server did not know its session */

struct mcp_call {
    atomic_uint holders;
    struct mcp_tools *list;
    const struct mcp_tool *tool;
    struct trace_context trace;
    char *arguments;
    struct loop *loop; /* the run's */

    /* Of the run's loop. */
    struct tool_run *run; /* NULL: it has ended */
    struct work result_work;
    struct work wanted, unwanted; /* posted to the server's loop */

    /* Of the server's loop. */
    struct mcp_request request; /* `server` of it is there from the beginning */
    struct mcp_server *server;
    struct mcp_call *next; /* of those that wait */
    unsigned sent;
    bool gone, under_way;

    /* Handed over. */
    cJSON *result;
    struct status status;
    bool untouched;
};

static void call_release(struct mcp_call *call, unsigned holds)
{
    if (atomic_fetch_sub(&call->holders, holds) != holds)
        return;
    cJSON_Delete(call->result);
    mcp_tools_release(call->list);
    free(call->arguments);
    free(call);
}

/* ---- in the run's loop ------------------------------------------------------------------------------------------- */

static void call_result_received(struct work *work)
{
    struct mcp_call *call = CONTAINER_OF(work, struct mcp_call, result_work);
    struct tool_run *run = call->run;
    call->run = NULL;
    if (run) {
        if (call->result)
            mcp_result_write(run, call->result);
        else if (call->untouched)
            tool_unavailable(run, "%s", call->status.text);
        else
            tool_fail_status(run, &call->status);
    }
    call_release(call, 1);
}

/* ---- in the server's loop ---------------------------------------------------------------------------------------- */

static void call_hand_over(struct mcp_call *call)
{
    call->result_work.run = call_result_received;
    loop_post(call->loop, &call->result_work);
}

static void mcp_call_refuse(struct mcp_call *call, const struct status *status)
{
    call->status = *status;
    call->untouched = true;
    call_hand_over(call);
}

static void mcp_call_answered(struct mcp_request *request, const cJSON *result, const struct status *status)
{
    struct mcp_call *call = CONTAINER_OF(request, struct mcp_call, request);
    call->under_way = false;
    if (result) {
        mcp_server_works(call->server);
        call->result = mcp_take_result(call->server);
    } else {
        call->status = *status;
        call->untouched = request->unsent;
    }
    call_hand_over(call);
}

static void call_write_call(struct json_writer *params, const void *data)
{
    const struct mcp_call *call = data;
    json_write_string(params, "name", call->tool->remote);
    json_write_raw(params, "arguments", call->arguments, strlen(call->arguments));
}

static void call_wait(struct mcp_call *call)
{
    call->next = NULL;
    *call->server->waiting_end = call;
    call->server->waiting_end = &call->next;
}

static struct mcp_call *take_waiting(struct mcp_server *server)
{
    struct mcp_call *call = server->waiting;
    if (call && !(server->waiting = call->next))
        server->waiting_end = &server->waiting;
    return call;
}

void mcp_calls_send(struct mcp_server *server)
{
    struct mcp_call *call;
    while (server->state == MCP_READY && !server->failing && (call = take_waiting(server))) {
        call->sent++;
        call->under_way = true;
        call->request = (struct mcp_request){.method = "tools/call", .answered = mcp_call_answered};
        mcp_request(call->server, &call->request, call->tool->remote, &call->trace, call_write_call, call);
    }
}

void mcp_calls_refuse(struct mcp_server *server, const struct status *status)
{
    struct mcp_call *call;
    while ((call = take_waiting(server)))
        mcp_call_refuse(call, status);
}

bool mcp_call_requeue(struct mcp_request *request)
{
    struct mcp_call *call = CONTAINER_OF(request, struct mcp_call, request);
    if (request->answered != mcp_call_answered || call->sent >= SENT_MAX)
        return false;
    mcp_request_forget(request);
    call->under_way = false;
    call_wait(call);
    return true;
}

static void call_wanted(struct work *work)
{
    struct mcp_call *call = CONTAINER_OF(work, struct mcp_call, wanted);
    struct mcp_server *server = call->server;
    struct status st = {0};
    if (call->gone) {
        call_release(call, 1);
    } else if (server->request_count >= MCP_WAITING_MAX) {
        fail(&st, UNAVAILABLE, "the tool server '%s' has %d calls under way; call again later", server->setup->name,
             MCP_WAITING_MAX);
        mcp_call_refuse(call, &st);
    } else if (server->failing || !mcp_server_start(server, &st)) {
        mcp_call_refuse(call, server->failing ? &server->failure : &st);
    } else {
        call_wait(call);
        mcp_calls_send(server);
    }
}

static bool call_stop_waiting(struct mcp_call *call)
{
    struct mcp_call **at = &call->server->waiting;
    while (*at && *at != call)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = call->next;
    if (call->server->waiting_end == &call->next)
        call->server->waiting_end = at;
    return true;
}

/* A call that was handed over already comes back by itself. */
static void call_unwanted(struct work *work)
{
    struct mcp_call *call = CONTAINER_OF(work, struct mcp_call, unwanted);
    bool was_under_way = call->under_way;
    call->gone = true;
    call->under_way = false;
    if (was_under_way) {
        mcp_request_cancel(&call->request);
        mcp_probe(call->server);
    }
    call_release(call, was_under_way || call_stop_waiting(call) ? 2 : 1);
}

/* ---- as a tool --------------------------------------------------------------------------------------------------- */

/* A message is a single line: a line end between the values of checked JSON may become a blank. */
static char *copy_arguments(const char *json)
{
    char *copy = strdup(json);
    for (char *c = copy; c && *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return copy;
}

static struct mcp_call *call_make(struct tool_run *run)
{
    const struct mcp_tool *tool = tool_run_tool(run)->owner;
    struct mcp_call *call = calloc(1, sizeof *call);
    char *arguments = copy_arguments(tool_run_arguments_json(run));
    if (!call || !arguments) {
        free(call);
        free(arguments);
        return NULL;
    }
    atomic_init(&call->holders, 1);
    atomic_fetch_add(&tool->list->holders, 1);
    call->list = tool->list;
    call->tool = tool;
    call->server = tool->server;
    call->trace = *tool_run_trace(run);
    call->arguments = arguments;
    call->loop = tool_run_loop(run);
    call->run = run;
    call->wanted.run = call_wanted;
    call->unwanted.run = call_unwanted;
    return call;
}

void mcp_call_start(struct tool_run *run)
{
    struct mcp_call **slot = tool_run_data(run), *call = call_make(run);
    *slot = call;
    if (call)
        loop_post(mcp_server_loop(call->server), &call->wanted);
    else
        tool_unavailable(run, "no memory for the call");
}

void mcp_call_cancel(struct tool_run *run)
{
    struct mcp_call **slot = tool_run_data(run), *call = *slot;
    call->run = NULL;
    atomic_fetch_add(&call->holders, 1);
    loop_post(mcp_server_loop(call->server), &call->unwanted);
    tool_finish(run);
}
