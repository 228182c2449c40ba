/* The service AutonomousResearch: a theme becomes a run of the agent "autonomous_research". With human_intervention the
 * run stops before its supervisor and its writer, and the call ends with the result so far; Resume resumes it. */
#include "autonomous_research.h"

#include "base/memory.h"
#include "daemon/service.h"
#include "orchestrator.h"
#include "words/words.h"

#include <stdlib.h>
#include <string.h>

#define AGENT "autonomous_research"

struct autonomous_research {
    Renga__V1__AutonomousResearch_Service base; /* first */
    ProtobufCService *orchestrator;             /* in this process */
    ProtobufCService *tool_runner;              /* NULL: its address is not known */
};

static char *const autonomous_asks_before[] = {(char[]){"supervisor"}, (char[]){"writer"}};

/* ---- the answer -------------------------------------------------------------------------------------------------- */

void autonomous_answer(struct autonomous_call *call)
{
    Renga__V1__AutonomousResearchResponse response = RENGA__V1__AUTONOMOUS_RESEARCH_RESPONSE__INIT;
    Renga__V1__AutonomousResearchEvent event = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__INIT;
    response.result = call->result;
    if (call->reply) {
        call->reply(&response, call->run.call);
        return;
    }
    event.event_id = call->run.last_event_id;
    event.time_ms = call->run.last_event_ms;
    event.event_case = RENGA__V1__AUTONOMOUS_RESEARCH_EVENT__EVENT_RESULT;
    event.result = call->result;
    call->show(&event, call->run.call);
    call->show(NULL, call->run.call);
}

static void autonomous_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    autonomous_read((struct autonomous_call *)run, message);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* NULL: the call has been ended. */
static struct autonomous_call *autonomous_call_create(Renga__V1__AutonomousResearch_Service *self,
                                                      const Renga__V1__AgentOptions *options, struct rpc_call *rpc)
{
    struct autonomous_call *call = arena_zalloc(rpc_call_arena(rpc), sizeof *call);
    if (!call) {
        rpc_fail_with(rpc, RESOURCE_EXHAUSTED, "no memory for the call");
        return NULL;
    }
    call->run = (struct agent_run){
        .call = rpc,
        .orchestrator = ((struct autonomous_research *)self)->orchestrator,
        .tool_runner = ((struct autonomous_research *)self)->tool_runner,
        .agent = AGENT,
        .options = options,
        .came = autonomous_progress,
        .stopped = autonomous_stopped,
        .reads_whole_run = true, /* its resumptions: those that no person answered in time */
    };
    return call;
}

static void autonomous_research_begin(Renga__V1__AutonomousResearch_Service *self,
                                      const Renga__V1__AutonomousResearchRequest *request,
                                      Renga__V1__AutonomousResearchResponse_Closure reply,
                                      Renga__V1__AutonomousResearchEvent_Closure show, struct rpc_call *rpc)
{
    struct status st = {0};
    struct arena *arena = rpc_call_arena(rpc);
    if (!autonomous_check(request, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    struct autonomous_call *call = autonomous_call_create(self, request->options, rpc);
    if (!call)
        return;
    call->reply = reply;
    call->show = show;
    call->run.language = words_language(request->theme, strlen(request->theme));
    call->run.input_json = autonomous_input(request, arena);
    agent_run_look_in(&call->run, request->collections, request->n_collections, request->sources, request->n_sources);
    if (request->human_intervention) {
        call->run.interrupt_before = autonomous_asks_before;
        call->run.interrupt_count = sizeof autonomous_asks_before / sizeof *autonomous_asks_before;
    }
    if (request->human_timeout_ms) {
        call->run.interrupt_timeout = autonomous_timeout(request, arena);
        if (!call->run.interrupt_timeout)
            call->run.input_json = NULL; /* no memory */
    }
    agent_run_begin(&call->run);
}

static void autonomous_research(Renga__V1__AutonomousResearch_Service *self,
                                const Renga__V1__AutonomousResearchRequest *request,
                                Renga__V1__AutonomousResearchResponse_Closure reply, void *data)
{
    autonomous_research_begin(self, request, reply, NULL, data);
}

static void autonomous_research_stream(Renga__V1__AutonomousResearch_Service *self,
                                       const Renga__V1__AutonomousResearchRequest *request,
                                       Renga__V1__AutonomousResearchEvent_Closure show, void *data)
{
    autonomous_research_begin(self, request, NULL, show, data);
}

static void autonomous_begin_resume(Renga__V1__AutonomousResearch_Service *self,
                                    const Renga__V1__ResumeResearchRequest *request,
                                    Renga__V1__AutonomousResearchResponse_Closure reply,
                                    Renga__V1__AutonomousResearchEvent_Closure show, struct rpc_call *rpc)
{
    struct status st = {0};
    if (!autonomous_check_resume(request, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    struct autonomous_call *call = autonomous_call_create(self, request->options, rpc);
    if (!call)
        return;
    call->reply = reply;
    call->show = show;
    call->answer = request;
    autonomous_resume(call);
}

static void autonomous_resume_unary(Renga__V1__AutonomousResearch_Service *self,
                                    const Renga__V1__ResumeResearchRequest *request,
                                    Renga__V1__AutonomousResearchResponse_Closure reply, void *data)
{
    autonomous_begin_resume(self, request, reply, NULL, data);
}

static void autonomous_resume_stream(Renga__V1__AutonomousResearch_Service *self,
                                     const Renga__V1__ResumeResearchRequest *request,
                                     Renga__V1__AutonomousResearchEvent_Closure show, void *data)
{
    autonomous_begin_resume(self, request, NULL, show, data);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void autonomous_destroy(ProtobufCService *service)
{
    free(service);
}

static ProtobufCService *autonomous_create(const struct service_context *context, struct status *st)
{
    struct autonomous_research *service = xcalloc(1, sizeof *service);
    service->base = (Renga__V1__AutonomousResearch_Service){
        .base = {.descriptor = &renga__v1__autonomous_research__descriptor, .invoke = rpc_service_invoke},
        .research = autonomous_research,
        .research_stream = autonomous_research_stream,
        .resume = autonomous_resume_unary,
        .resume_stream = autonomous_resume_stream,
    };
    service->orchestrator = context->process ? service_peer(context, &renga__v1__orchestrator__descriptor, st) : NULL;
    service->tool_runner = agent_tool_runner(context);
    if (service->orchestrator || !context->process)
        return &service->base.base;
    free(service);
    return NULL;
}

const struct service autonomous_research_service = {
    .name = "autonomous_research",
    .descriptor = &renga__v1__autonomous_research__descriptor,
    .create = autonomous_create,
    .destroy = autonomous_destroy,
};
