/* The service Helpdesk: a question becomes a run of the agent "helpdesk". */
#include "helpdesk.h"

#include "base/memory.h"
#include "daemon/service.h"
#include "orchestrator.h"
#include "words/languages.h"
#include "json/writer.h"

#include <stdlib.h>
#include <string.h>

#define AGENT     "helpdesk"
#define INPUT_MAX 262144 /* bytes: JSON may escape a byte of text as six bytes */

struct helpdesk {
    Renga__V1__Helpdesk_Service base; /* first */
    ProtobufCService *orchestrator;   /* in this process */
    ProtobufCService *tool_runner;    /* NULL: its address is not known */
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

static bool helpdesk_check(const Renga__V1__AskRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st);
}

static char *input(const Renga__V1__AskRequest *request, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, INPUT_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "question", request->question);
    json_write_strings(&out, "collections", request->collections, request->n_collections);
    json_write_end(&out);
    char *copy = json_writer_done(&out) ? arena_strdup(arena, buffer_text(&text)) : NULL;
    buffer_fini(&text);
    return copy;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void helpdesk_answer_stream(struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    Renga__V1__AskEvent event = RENGA__V1__ASK_EVENT__INIT;
    event.event_id = call->run.last_event_id;
    event.time_ms = call->run.last_event_ms;
    event.event_case = RENGA__V1__ASK_EVENT__EVENT_RESULT;
    event.result = result;
    call->show(&event, call->run.call);
    call->show(NULL, call->run.call);
}

static void helpdesk_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct helpdesk_call *call = (struct helpdesk_call *)run;
    Renga__V1__AskResponse response = RENGA__V1__ASK_RESPONSE__INIT;
    struct status st = {0};
    response.result = helpdesk_result(call, message, &st);
    if (!response.result)
        rpc_fail(run->call, &st);
    else if (call->show)
        helpdesk_answer_stream(call, response.result);
    else
        call->reply(&response, run->call);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static struct helpdesk_call *call_create(struct helpdesk *desk, const Renga__V1__AskRequest *request,
                                         struct rpc_call *rpc)
{
    struct status st = {0};
    struct arena *arena = rpc_call_arena(rpc);
    struct helpdesk_call *call = helpdesk_check(request, &st) ? arena_zalloc(arena, sizeof *call) : NULL;
    if (!call) {
        if (st.code == OK)
            fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
        rpc_fail(rpc, &st);
        return NULL;
    }
    for (size_t i = 0; i < HELPDESK_SUBTASKS_MAX; i++)
        renga__v1__usage__init(&call->subtasks[i].usage);
    call->request = request;
    call->run = (struct agent_run){
        .call = rpc,
        .orchestrator = desk->orchestrator,
        .tool_runner = desk->tool_runner,
        .collections = request->collections,
        .collection_count = request->n_collections,
        .agent = AGENT,
        .input_json = input(request, arena),
        .language = language_tag(language_of(request->question, strlen(request->question))),
        .options = request->options,
        .came = helpdesk_progress,
        .stopped = helpdesk_stopped,
    };
    return call;
}

static void helpdesk_ask(Renga__V1__Helpdesk_Service *self, const Renga__V1__AskRequest *request,
                         Renga__V1__AskResponse_Closure reply, void *data)
{
    struct helpdesk_call *call = call_create((struct helpdesk *)self, request, data);
    if (!call)
        return;
    call->reply = reply;
    agent_run_begin(&call->run);
}

static void ask_stream(Renga__V1__Helpdesk_Service *self, const Renga__V1__AskRequest *request,
                       Renga__V1__AskEvent_Closure reply, void *data)
{
    struct helpdesk_call *call = call_create((struct helpdesk *)self, request, data);
    if (!call)
        return;
    call->show = reply;
    agent_run_begin(&call->run);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void helpdesk_destroy(ProtobufCService *service)
{
    free(service);
}

static ProtobufCService *helpdesk_create(const struct service_context *context, struct status *st)
{
    struct helpdesk *desk = xcalloc(1, sizeof *desk);
    desk->base = (Renga__V1__Helpdesk_Service){
        .base = {.descriptor = &renga__v1__helpdesk__descriptor, .invoke = rpc_service_invoke},
        .ask = helpdesk_ask,
        .ask_stream = ask_stream,
    };
    desk->orchestrator = context->process ? service_peer(context, &renga__v1__orchestrator__descriptor, st) : NULL;
    desk->tool_runner = agent_tool_runner(context);
    if (desk->orchestrator || !context->process)
        return &desk->base.base;
    free(desk);
    return NULL;
}

const struct service helpdesk_service = {
    .name = "helpdesk",
    .descriptor = &renga__v1__helpdesk__descriptor,
    .create = helpdesk_create,
    .destroy = helpdesk_destroy,
};
