#include "cascade_delete.h"
#include "nodes/node_services.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"

#include "renga/v1/log.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define PATIENCE_MS 10000

/* A tool-runner that does not know the method keeps no data of threads. */
static void cascade_delete_answered(const Renga__V1__ForgetThreadResponse *answer, void *data)
{
    struct cascade_delete *cascade = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    if (!answer && cascade->call.status.code != UNIMPLEMENTED)
        fail(&st, UNAVAILABLE, "the tool-runner still has notes and results of the thread, and cannot be asked: %.300s",
             cascade->call.status.text);
    cascade->ended(cascade, &st);
}

void cascade_delete_start(struct cascade_delete *cascade, const struct thread *thread)
{
    static const struct status nothing;
    const struct node_services *services = thread->shard->runner->options.services;
    ProtobufCService *tools = services ? services->peers[PEER_TOOL_RUNNER] : NULL;
    if (!tools) {
        cascade->ended(cascade, &nothing);
        return;
    }
    rpc_client_call_init(&cascade->call, thread->shard->loop, NULL);
    cascade->principal = node_services_caller(services, thread->tenant, "");
    cascade->call.owner = cascade;
    cascade->call.principal = &cascade->principal;
    cascade->call.timeout_ms = PATIENCE_MS;
    renga__v1__forget_thread_request__init(&cascade->request);
    cascade->request.thread_id = thread->id;
    renga__v1__tool_runner__forget_thread(tools, &cascade->request, cascade_delete_answered, &cascade->call);
}
