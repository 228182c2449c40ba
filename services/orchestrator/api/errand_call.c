/* A unary call and the errand it sends to the home of a thread.
 *
 *      checked ---> runner_run ---> answered ---> a reply, or a refusal with its reason
 *                        ^
 *      the client leaves '--- runner_forget: the answer comes all the same, soon, and goes nowhere */
#include "api.h"

#include "check.h"
#include "refuse.h"
#include "rpc/rpc.h"
#include "run/runner.h"

struct errand_call {
    struct errand errand; /* first */
    struct rpc_call *call;
    ProtobufCClosure reply;
};

bool api_enter(struct api *api, struct rpc_call *call, const ProtobufCMessage *request)
{
    struct status st = {0};
    if (check_request(request, &st) && orchestrator_open(api->orchestrator, &st))
        return true;
    rpc_fail(call, &st);
    return false;
}

struct rights api_rights(const struct api *api, struct rpc_call *call)
{
    return (struct rights){.auth = api->auth, .principal = *rpc_call_principal(call)};
}

/* A list is of one agent, where the key may not use them all. */
static bool may_list(const struct api *api, struct rpc_call *call, const ProtobufCMessage *request)
{
    const struct rights rights = api_rights(api, call);
    const char *agent = NULL;
    struct status st = {0};
    if (request->descriptor == &renga__v1__list_runs_request__descriptor)
        agent = ((const Renga__V1__ListRunsRequest *)request)->agent;
    else if (request->descriptor == &renga__v1__list_threads_request__descriptor)
        agent = ((const Renga__V1__ListThreadsRequest *)request)->agent;
    if (!agent || !rights_are_limited(&rights))
        return true;
    if (*agent ? rights_check(&rights, agent, &st)
               : fail(&st, PERMISSION_DENIED, "key '%s' may use some agents alone; name one of them in agent",
                      rights.principal.name))
        return true;
    rpc_fail(call, &st);
    return false;
}

static void answered(struct errand *errand)
{
    struct errand_call *self = (struct errand_call *)errand;
    if (errand->status.code == OK)
        self->reply(errand->response, self->call);
    else
        refuse(self->call, &errand->status, errand->reason);
}

static void client_left(struct rpc_call *call, void *data)
{
    struct errand_call *self = data;
    runner_forget(&self->errand);
}

void errand_call_begin(struct api *api, struct rpc_call *call, const ProtobufCMessage *request, ProtobufCClosure reply)
{
    if (!api_enter(api, call, request) || !may_list(api, call, request))
        return;
    struct errand_call *self = arena_zalloc(rpc_call_arena(call), sizeof *self);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    self->call = call;
    self->reply = reply;
    self->errand = (struct errand){
        .loop = api->loop,
        .tenant = rpc_call_principal(call)->tenant,
        .rights = api_rights(api, call),
        .request = request,
        .trace = rpc_call_trace(call),
        .arena = rpc_call_arena(call),
        .answered = answered,
        .owner = self,
    };
    runner_run(api->orchestrator->runner, &self->errand);
    rpc_call_on_cancel(call, client_left, self);
}
