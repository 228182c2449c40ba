/* The service Orchestrator. The typed services of the agents are in typed/. */
#include "orchestrator.h"
#include "thread/runner_options.h"

#include "api/api.h"
#include "base/clock.h"
#include "base/memory.h"
#include "fanout/fanout.h"
#include "nodes/addresses.h"
#include "process/process.h"
#include "runtime/runner.h"

#include "renga/v1/orchestrator.pb-c.h"
#include "rpc/rpc.h"

#include <stdlib.h>

#define CALLS_LOOK_MS 5
#define CALLS_WAIT_MS 2000 /* for calls of nodes that were cancelled, at the end of a drain */

/* ---- the functions ----------------------------------------------------------------------------------------------- */

#define ERRAND(function, Type)                                                                                         \
    static void function(Renga__V1__Orchestrator_Service *self, const Renga__V1__##Type##Request *request,             \
                         Renga__V1__##Type##Response_Closure reply, void *data)                                        \
    {                                                                                                                  \
        unary_call_begin((struct api *)self, data, &request->base, (ProtobufCClosure)reply);                           \
    }

ERRAND(start_run, StartRun)
ERRAND(get_run, GetRun)
ERRAND(list_runs, ListRuns)
ERRAND(cancel_run, CancelRun)
ERRAND(resume_run, ResumeRun)
ERRAND(get_state, GetState)
ERRAND(update_state, UpdateState)
ERRAND(list_checkpoints, ListCheckpoints)
ERRAND(fork_thread, ForkThread)
ERRAND(copy_thread, CopyThread)
ERRAND(delete_thread, DeleteThread)
ERRAND(list_threads, ListThreads)
ERRAND(migrate_run, MigrateRun)

static void watch_run(Renga__V1__Orchestrator_Service *self, const Renga__V1__WatchRunRequest *request,
                      Renga__V1__RunEvent_Closure reply, void *data)
{
    watch_begin((struct api *)self, data, request, reply);
}

static void list_all_agents(Renga__V1__Orchestrator_Service *self, const Renga__V1__ListAgentsRequest *request,
                            Renga__V1__ListAgentsResponse_Closure reply, void *data)
{
    list_agents((struct api *)self, data, reply);
}

static void service_describe(Renga__V1__Orchestrator_Service *self, const Renga__V1__DescribeAgentRequest *request,
                             Renga__V1__DescribeAgentResponse_Closure reply, void *data)
{
    describe_agent((struct api *)self, data, request, reply);
}

static const Renga__V1__Orchestrator_Service functions = {
    .base = {.descriptor = &renga__v1__orchestrator__descriptor, .invoke = rpc_service_invoke},
    .start_run = start_run,
    .watch_run = watch_run,
    .get_run = get_run,
    .list_runs = list_runs,
    .cancel_run = cancel_run,
    .resume_run = resume_run,
    .get_state = get_state,
    .update_state = update_state,
    .list_checkpoints = list_checkpoints,
    .fork_thread = fork_thread,
    .copy_thread = copy_thread,
    .delete_thread = delete_thread,
    .list_threads = list_threads,
    .list_agents = list_all_agents,
    .describe_agent = service_describe,
    .migrate_run = migrate_run,
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void api_destroy(ProtobufCService *service)
{
    struct api *api = (struct api *)service;
    if (!api)
        return;
    if (api->orchestrator)
        orchestrator_leave(&api->orchestrator);
    free(api);
}

/* One a process: made by the first instance, shared by all. */
static ProtobufCService *api_create(const struct service_context *context, struct status *st)
{
    const struct api *first = context->instances ? (const struct api *)context->instances[0] : NULL;
    struct api *api = xcalloc(1, sizeof *api);
    api->base = functions;
    api->loop = context->loop;
    api->auth = context->auth;
    struct orchestrator *orchestrator = first ? first->orchestrator : orchestrator_create(context, st);
    if (!orchestrator) {
        free(api);
        return NULL;
    }
    api->orchestrator = orchestrator_join(orchestrator, context->loop);
    return &api->base.base;
}

/* What was left behind goes on when the process serves; never for a command that only asks something. */
static bool api_serve(ProtobufCService *service, const struct service_context *context, struct status *st)
{
    struct api *api = (struct api *)service;
    if (!orchestrator_open(api->orchestrator, st) || !orchestrator_share(api->orchestrator, api->loop, st))
        return false;
    if (service == context->instances[0])
        runner_recover(api->orchestrator->runner);
    return true;
}

/* SIGHUP */
static void api_reload(ProtobufCService *service)
{
    orchestrator_reload(((struct api *)service)->orchestrator);
}

/* ---- drain ------------------------------------------------------------------------------------------------------- */

struct drain {
    struct api *api;
    struct timer look;
    int64_t until_ns;
    void (*drained)(void *data);
    void *data;
};

/* Calls of nodes that the runner has given up still have to hear of it, and what is away in other loops has to end. */
static void calls_end(struct timer *timer)
{
    struct drain *drain = CONTAINER_OF(timer, struct drain, look);
    const struct orchestrator *orchestrator = drain->api->orchestrator;
    if ((addresses_calls(orchestrator->services.addresses) || addresses_calls(orchestrator->orchestrators) ||
         fanout_dispatched(orchestrator->fanout)) &&
        clock_now_ns() < drain->until_ns) {
        loop_arm_after(drain->api->loop, &drain->look, CALLS_LOOK_MS);
        return;
    }
    drain->drained(drain->data);
    free(drain);
}

static void runner_drained(void *data)
{
    struct drain *drain = data;
    drain->until_ns = clock_now_ns() + CALLS_WAIT_MS * NS_PER_MS;
    loop_arm_after(drain->api->loop, &drain->look, 0);
}

static void api_drain(ProtobufCService *service, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct api *api = (struct api *)service;
    api->draining = true;
    watches_end(api);
    if (api->loop != api->orchestrator->loops[0] || !api->orchestrator->runner) {
        drained(data);
        return;
    }
    struct drain *drain = xcalloc(1, sizeof *drain);
    *drain = (struct drain){.api = api, .look.expired = calls_end, .drained = drained, .data = data};
    runner_drain(api->orchestrator->runner, limit_ms, runner_drained, drain);
}

const struct service orchestrator_service = {
    .name = "orchestrator",
    .descriptor = &renga__v1__orchestrator__descriptor,
    .options = orchestrator_options,
    .create = api_create,
    .destroy = api_destroy,
    .serve = api_serve,
    .drain = api_drain,
    .reload = api_reload,
};
