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
    if (!api_enter(api, call, request))
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
        .request = request,
        .arena = rpc_call_arena(call),
        .answered = answered,
        .owner = self,
    };
    runner_run(api->orchestrator->runner, &self->errand);
    rpc_call_on_cancel(call, client_left, self);
}
