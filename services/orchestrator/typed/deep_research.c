/* The service DeepResearch: a question becomes a run of the agent "deep_research". A follow-up question becomes another
 * run, which begins at the last checkpoint of the earlier run.
 *
 *      FollowUp:  GetRun, is it one of deep research and finished?  ---> StartRun at its checkpoint ---> as Research */
#include "deep_research.h"

#include "api/refuse.h"
#include "base/memory.h"
#include "daemon/service.h"
#include "orchestrator.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define AGENT "deep_research"

struct deep_research {
    Renga__V1__DeepResearch_Service base; /* first */
    ProtobufCService *orchestrator;       /* in this process */
    ProtobufCService *tool_runner;        /* NULL: its address is not known */
};

/* ---- the answer -------------------------------------------------------------------------------------------------- */

void deep_research_answer(struct deep_research_call *call, Renga__V1__DeepResearchResult *result)
{
    Renga__V1__DeepResearchResponse response = RENGA__V1__DEEP_RESEARCH_RESPONSE__INIT;
    Renga__V1__DeepResearchEvent event = RENGA__V1__DEEP_RESEARCH_EVENT__INIT;
    response.result = result;
    if (call->reply) {
        call->reply(&response, call->run.call);
        return;
    }
    event.event_id = call->run.last_event_id;
    event.time_ms = call->run.last_event_ms;
    event.event_case = RENGA__V1__DEEP_RESEARCH_EVENT__EVENT_RESULT;
    event.result = result;
    call->show(&event, call->run.call);
    call->show(NULL, call->run.call);
}

static void research_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    deep_research_read((struct deep_research_call *)run, message);
}

/* ---- a question -------------------------------------------------------------------------------------------------- */

/* NULL: the call has been ended. */
static struct deep_research_call *research_call_create(struct deep_research *service, const char *question,
                                                       const Renga__V1__AgentOptions *options, struct rpc_call *rpc)
{
    struct deep_research_call *call = arena_zalloc(rpc_call_arena(rpc), sizeof *call);
    if (!call) {
        rpc_fail_with(rpc, RESOURCE_EXHAUSTED, "no memory for the call");
        return NULL;
    }
    call->question = question;
    call->run = (struct agent_run){
        .call = rpc,
        .orchestrator = service->orchestrator,
        .tool_runner = service->tool_runner,
        .agent = AGENT,
        .language = words_language(question, strlen(question)),
        .options = options,
        .came = deep_research_progress,
        .stopped = research_stopped,
    };
    return call;
}

static void research_begin_call(Renga__V1__DeepResearch_Service *self, const Renga__V1__DeepResearchRequest *request,
                                Renga__V1__DeepResearchResponse_Closure reply,
                                Renga__V1__DeepResearchEvent_Closure show, struct rpc_call *rpc)
{
    struct status st = {0};
    if (!deep_research_check(request, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    struct deep_research_call *call =
        research_call_create((struct deep_research *)self, request->question, request->options, rpc);
    if (!call)
        return;
    call->reply = reply;
    call->show = show;
    call->run.input_json = deep_research_input(request, rpc_call_arena(rpc));
    agent_run_look_in(&call->run, request->collections, request->n_collections, request->sources, request->n_sources);
    agent_run_begin(&call->run);
}

static void research_unary(Renga__V1__DeepResearch_Service *self, const Renga__V1__DeepResearchRequest *request,
                           Renga__V1__DeepResearchResponse_Closure reply, void *data)
{
    research_begin_call(self, request, reply, NULL, data);
}

static void research_stream(Renga__V1__DeepResearch_Service *self, const Renga__V1__DeepResearchRequest *request,
                            Renga__V1__DeepResearchEvent_Closure reply, void *data)
{
    research_begin_call(self, request, NULL, reply, data);
}

/* ---- a further question ------------------------------------------------------------------------------------------ */

/* Whether a run can be followed up; if not, `reason` is the name of the error. */
static bool research_is_finished(const Renga__V1__Run *run, const char **reason, struct status *st)
{
    *reason = NULL;
    if (strcmp(run->agent, AGENT) != 0)
        return fail(st, NOT_FOUND, "the run '%s' is one of the agent '%s'; name a run of %s", run->run_id, run->agent,
                    AGENT);
    *reason = "RUN_NOT_FINISHED";
    if (run->state == RENGA__V1__RUN_STATE__RUN_STATE_FAILED || run->state == RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED)
        return fail(st, FAILED_PRECONDITION,
                    "the run '%s' has ended without a report: %.512s; resume the run to go on with it", run->run_id,
                    run->stop_text);
    return run->state == RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED ||
           fail(st, FAILED_PRECONDITION, "the run '%s' is not finished; wait for its report", run->run_id);
}

static void research_asked_run_loaded(const Renga__V1__GetRunResponse *response, void *data)
{
    struct deep_research_call *call = (struct deep_research_call *)((struct rpc_client_call *)data)->owner;
    struct arena *arena = rpc_call_arena(call->run.call);
    struct status st = {0};
    const char *reason;
    if (!response) {
        agent_call_failed(&call->run, &call->get);
        return;
    }
    if (!research_is_finished(response->run, &reason, &st)) {
        refuse(call->run.call, &st, reason);
        return;
    }
    call->run.on_thread = arena_strdup(arena, response->run->thread_id);
    call->run.on_checkpoint = arena_strdup(arena, response->run->checkpoint_id);
    if (call->run.on_thread && call->run.on_checkpoint)
        agent_run_begin(&call->run);
    else
        rpc_fail_with(call->run.call, RESOURCE_EXHAUSTED, "no memory for the call");
}

static void research_follow_up(Renga__V1__DeepResearch_Service *self,
                               const Renga__V1__DeepResearchFollowUpRequest *request,
                               Renga__V1__DeepResearchResponse_Closure reply, void *data)
{
    Renga__V1__GetRunRequest get = RENGA__V1__GET_RUN_REQUEST__INIT;
    struct status st = {0};
    struct rpc_call *rpc = data;
    if (!deep_research_check_follow_up(request, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    struct deep_research_call *call =
        research_call_create((struct deep_research *)self, request->question, request->options, rpc);
    if (!call)
        return;
    call->reply = reply;
    call->asked_run = request->run_id;
    call->run.input_json = deep_research_follow_up_input(request->question, rpc_call_arena(rpc));
    get.run_id = request->run_id;
    agent_call_prepare(&call->run, &call->get);
    renga__v1__orchestrator__get_run(call->run.orchestrator, &get, research_asked_run_loaded, &call->get);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void research_destroy(ProtobufCService *service)
{
    free(service);
}

static ProtobufCService *research_create(const struct service_context *context, struct status *st)
{
    struct deep_research *service = xcalloc(1, sizeof *service);
    service->base = (Renga__V1__DeepResearch_Service){
        .base = {.descriptor = &renga__v1__deep_research__descriptor, .invoke = rpc_service_invoke},
        .research = research_unary,
        .research_stream = research_stream,
        .follow_up = research_follow_up,
    };
    service->orchestrator = context->process ? service_peer(context, &renga__v1__orchestrator__descriptor, st) : NULL;
    service->tool_runner = agent_tool_runner(context);
    if (service->orchestrator || !context->process)
        return &service->base.base;
    free(service);
    return NULL;
}

const struct service deep_research_service = {
    .name = "deep_research",
    .descriptor = &renga__v1__deep_research__descriptor,
    .create = research_create,
    .destroy = research_destroy,
};
