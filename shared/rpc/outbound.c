#include "rpc/outbound.h"

#include "base/clock.h"
#include "rpc/call.h"
#include "rpc/details.h"
#include "rpc/forwarded.h"
#include "rpc/observe.h"
#include "rpc/traces.h"

#include <assert.h>
#include <string.h>

#define OUTBOUND_STORAGE_SIZE 2048 /* bytes of an answer that need no heap */

void rpc_client_call_init(struct rpc_client_call *call, struct loop *loop, struct rpc_call *parent)
{
    *call = (struct rpc_client_call){.loop = loop, .parent = parent, .timeout_ms = RPC_TIMEOUT_DEFAULT_MS};
}

bool rpc_outbound_may_send(const struct rpc_metadata *metadata)
{
    return strcmp(metadata->key, FORWARDED_KEY) != 0 &&
           rpc_metadata_is_sendable(metadata->key, metadata->value, metadata->size);
}

void rpc_outbound_begin(struct rpc_outbound *outbound, struct rpc_client_call *call, ProtobufCClosure closure)
{
    assert(loop_current() == call->loop && !call->outbound);
    outbound->call = call;
    outbound->closure = closure;
    outbound->began_ns = clock_now_ns();
    outbound->deadline_ns = outbound->began_ns + call->timeout_ms * NS_PER_MS;
    rpc_trace_outbound(outbound);
    status_clear(&call->status);
    call->outbound = outbound;
    if (call->parent) {
        if (call->parent->deadline_ns < outbound->deadline_ns)
            outbound->deadline_ns = call->parent->deadline_ns;
        outbound->link = &call->parent->children;
        outbound->next = call->parent->children;
        if (outbound->next)
            outbound->next->link = &outbound->next;
        call->parent->children = outbound;
    }
    rpc_observe_began(call->loop, RPC_CLIENT, outbound->method);
}

void rpc_outbound_detach(struct rpc_outbound *outbound)
{
    if (!outbound->link)
        return;
    *outbound->link = outbound->next;
    if (outbound->next)
        outbound->next->link = outbound->link;
    outbound->link = NULL;
    outbound->call->parent = NULL;
}

/* Runs the closure with the parent call's id on every log line, if there is a parent call. */
static void run_closure(struct rpc_outbound *outbound, const ProtobufCMessage *message)
{
    struct rpc_client_call *call = outbound->call;
    const struct log_context *before = log_enter(call->parent ? &call->parent->log : NULL);
    outbound->closure(message, call);
    log_enter(before);
}

static ProtobufCMessage *outbound_unpack(struct rpc_outbound *outbound, const uint8_t *bytes, size_t size,
                                         struct arena *arena, struct status *st)
{
    struct status reason = {0};
    ProtobufCMessage *message = rpc_unpack(outbound->output, bytes, size, arena, &reason);
    if (!message)
        fail(st, INTERNAL, "%s answered what cannot be read: %s", outbound->method->path + 1, reason.text);
    return message;
}

bool rpc_outbound_message(struct rpc_outbound *outbound, const uint8_t *bytes, size_t size, struct status *st)
{
    _Alignas(16) char storage[OUTBOUND_STORAGE_SIZE];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, outbound->memory_max);
    outbound->received_bytes += size;
    ProtobufCMessage *message = outbound_unpack(outbound, bytes, size, &arena, st);
    if (message)
        run_closure(outbound, message);
    arena_fini(&arena);
    return message != NULL;
}

void rpc_outbound_conclude(struct rpc_outbound *outbound, const ProtobufCMessage *message, size_t size)
{
    struct rpc_client_call *call = outbound->call;
    outbound->received_bytes += size;
    if (!message && !outbound->method->server_streams && call->status.code == OK)
        fail(&call->status, INTERNAL, "%s ended with OK and no answer", outbound->method->path + 1);
    if (rpc_observed())
        rpc_observe_ended(call->loop, RPC_CLIENT, outbound->method, call->status.code, call->status.text,
                          outbound->began_ns, rpc_trace_of_outbound(outbound), outbound->received_bytes,
                          outbound->sent_bytes);
    struct rpc_call *parent = call->parent;
    rpc_outbound_detach(outbound);
    call->parent = parent;
    call->outbound = NULL;
    call->answer = outbound;
    run_closure(outbound, message);
}

void rpc_outbound_finish(struct rpc_outbound *outbound, const uint8_t *bytes, size_t size)
{
    struct rpc_client_call *call = outbound->call;
    _Alignas(16) char storage[OUTBOUND_STORAGE_SIZE];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, outbound->memory_max);
    const ProtobufCMessage *message =
        bytes && call->status.code == OK ? outbound_unpack(outbound, bytes, size, &arena, &call->status) : NULL;
    rpc_outbound_conclude(outbound, message, size);
    arena_fini(&arena);
}

void rpc_client_call_cancel(struct rpc_client_call *call)
{
    if (call->outbound)
        call->outbound->ops->cancel(call->outbound);
}

void rpc_client_call_pause(struct rpc_client_call *call)
{
    if (call->outbound)
        call->outbound->ops->pause(call->outbound);
}

void rpc_client_call_resume(struct rpc_client_call *call)
{
    if (call->outbound)
        call->outbound->ops->resume(call->outbound);
}

const void *rpc_client_call_metadata(const struct rpc_client_call *call, const char *key, size_t *size)
{
    const struct rpc_outbound *outbound = call->outbound ? call->outbound : call->answer;
    *size = 0;
    return outbound ? outbound->ops->metadata(outbound, key, size) : NULL;
}

size_t rpc_client_call_received_bytes(const struct rpc_client_call *call)
{
    const struct rpc_outbound *outbound = call->outbound ? call->outbound : call->answer;
    return outbound ? outbound->received_bytes : 0;
}

bool rpc_client_call_is_lost(const struct rpc_client_call *call)
{
    size_t size;
    return call->status.code == UNAVAILABLE && !rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
}
