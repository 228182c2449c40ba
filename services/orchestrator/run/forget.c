#include "forget.h"

#include "orchestrator_priv.h"
#include "run_priv.h"

#define PATIENCE_MS 10000

/* A tool-runner that does not know the method keeps no data of threads. */
static void answered(const Renga__V1__ForgetThreadResponse *answer, void *data)
{
    struct forgetting *forgetting = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer && forgetting->call.status.code != UNIMPLEMENTED)
        fail(&st, UNAVAILABLE, "the tool-runner still has notes and results of the thread, and cannot be asked: %.300s",
             forgetting->call.status.text);
    forgetting->forgotten(forgetting, &st);
}

void forget_elsewhere(struct forgetting *forgetting, const struct thread *thread)
{
    static const struct status nothing;
    const struct orchestrator *orchestrator = thread->home->runner->options.orchestrator;
    ProtobufCService *tools = orchestrator ? orchestrator->peers[PEER_TOOL_RUNNER] : NULL;
    if (!tools) {
        forgetting->forgotten(forgetting, &nothing);
        return;
    }
    rpc_client_call_init(&forgetting->call, thread->home->loop, NULL);
    forgetting->principal = orchestrator_caller(orchestrator, thread->tenant, "");
    forgetting->call.owner = forgetting;
    forgetting->call.principal = &forgetting->principal;
    forgetting->call.timeout_ms = PATIENCE_MS;
    renga__v1__forget_thread_request__init(&forgetting->request);
    forgetting->request.thread_id = thread->id;
    renga__v1__tool_runner__forget_thread(tools, &forgetting->request, answered, &forgetting->call);
}
