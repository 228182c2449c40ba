#include "rpc/exchange.h"

#include "base/clock.h"
#include "rpc/call.h"
#include "rpc/details.h"
#include "rpc/forwarded.h"
#include "rpc/observe.h"
#include "rpc/traces.h"

#include <assert.h>
#include <string.h>

#define EXCHANGE_STORAGE_SIZE 2048 /* bytes of an answer that need no heap */

void rpc_client_call_init(struct rpc_client_call *call, struct loop *loop, struct rpc_call *parent)
{
    *call = (struct rpc_client_call){.loop = loop, .parent = parent, .timeout_ms = RPC_TIMEOUT_DEFAULT_MS};
}

bool exchange_may_send(const struct rpc_metadata *metadata)
{
    return strcmp(metadata->key, FORWARDED_KEY) != 0 &&
           rpc_metadata_may_travel(metadata->key, metadata->value, metadata->size);
}

void rpc_exchange_begin(struct rpc_exchange *exchange, struct rpc_client_call *call, ProtobufCClosure closure)
{
    assert(loop_current() == call->loop && !call->exchange);
    exchange->call = call;
    exchange->closure = closure;
    exchange->began_ns = clock_now_ns();
    exchange->deadline_ns = exchange->began_ns + call->timeout_ms * NS_PER_MS;
    rpc_trace_exchange(exchange);
    status_clear(&call->status);
    call->exchange = exchange;
    if (call->parent) {
        if (call->parent->deadline_ns < exchange->deadline_ns)
            exchange->deadline_ns = call->parent->deadline_ns;
        exchange->link = &call->parent->children;
        exchange->next = call->parent->children;
        if (exchange->next)
            exchange->next->link = &exchange->next;
        call->parent->children = exchange;
    }
    rpc_observe_began(call->loop, RPC_CLIENT, exchange->method);
}

void rpc_exchange_detach(struct rpc_exchange *exchange)
{
    if (!exchange->link)
        return;
    *exchange->link = exchange->next;
    if (exchange->next)
        exchange->next->link = exchange->link;
    exchange->link = NULL;
    exchange->call->parent = NULL;
}

/* Runs the closure with the parent call's id on every log line, if there is a parent call. */
static void run_closure(struct rpc_exchange *exchange, const ProtobufCMessage *message)
{
    struct rpc_client_call *call = exchange->call;
    const struct log_context *before = log_enter(call->parent ? &call->parent->log : NULL);
    exchange->closure(message, call);
    log_enter(before);
}

static ProtobufCMessage *unpack(struct rpc_exchange *exchange, const uint8_t *bytes, size_t size, struct arena *arena,
                                struct status *st)
{
    struct status reason = {0};
    ProtobufCMessage *message = rpc_unpack(exchange->output, bytes, size, arena, &reason);
    if (!message)
        fail(st, INTERNAL, "%s answered what cannot be read: %s", exchange->method->path + 1, reason.text);
    return message;
}

bool rpc_exchange_message(struct rpc_exchange *exchange, const uint8_t *bytes, size_t size, struct status *st)
{
    _Alignas(16) char storage[EXCHANGE_STORAGE_SIZE];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, exchange->memory_max);
    exchange->received_bytes += size;
    ProtobufCMessage *message = unpack(exchange, bytes, size, &arena, st);
    if (message)
        run_closure(exchange, message);
    arena_fini(&arena);
    return message != NULL;
}

void rpc_exchange_conclude(struct rpc_exchange *exchange, const ProtobufCMessage *message, size_t size)
{
    struct rpc_client_call *call = exchange->call;
    exchange->received_bytes += size;
    if (!message && !exchange->method->server_streams && call->status.code == OK)
        fail(&call->status, INTERNAL, "%s ended with OK and no answer", exchange->method->path + 1);
    if (rpc_observed())
        rpc_observe_ended(call->loop, RPC_CLIENT, exchange->method, call->status.code, call->status.text,
                          exchange->began_ns, rpc_trace_of_exchange(exchange), exchange->received_bytes,
                          exchange->sent_bytes);
    struct rpc_call *parent = call->parent;
    rpc_exchange_detach(exchange);
    call->parent = parent;
    call->exchange = NULL;
    call->answer = exchange;
    run_closure(exchange, message);
}

void rpc_exchange_finish(struct rpc_exchange *exchange, const uint8_t *bytes, size_t size)
{
    struct rpc_client_call *call = exchange->call;
    _Alignas(16) char storage[EXCHANGE_STORAGE_SIZE];
    struct arena arena;
    arena_init(&arena, storage, sizeof storage, exchange->memory_max);
    const ProtobufCMessage *message =
        bytes && call->status.code == OK ? unpack(exchange, bytes, size, &arena, &call->status) : NULL;
    rpc_exchange_conclude(exchange, message, size);
    arena_fini(&arena);
}

void rpc_client_call_cancel(struct rpc_client_call *call)
{
    if (call->exchange)
        call->exchange->ops->cancel(call->exchange);
}

void rpc_client_call_pause(struct rpc_client_call *call)
{
    if (call->exchange)
        call->exchange->ops->pause(call->exchange);
}

void rpc_client_call_resume(struct rpc_client_call *call)
{
    if (call->exchange)
        call->exchange->ops->resume(call->exchange);
}

const void *rpc_client_call_metadata(const struct rpc_client_call *call, const char *key, size_t *size)
{
    const struct rpc_exchange *exchange = call->exchange ? call->exchange : call->answer;
    *size = 0;
    return exchange ? exchange->ops->metadata(exchange, key, size) : NULL;
}

bool rpc_client_call_is_lost(const struct rpc_client_call *call)
{
    size_t size;
    return call->status.code == UNAVAILABLE && !rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
}
