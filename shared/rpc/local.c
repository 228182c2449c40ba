/* Stubs whose calls stay in the process: a caller and a handler in the same loop, and copies between them.
 *
 *      invoke ---- request ----> (deferred) handler
 *      closure <--- messages --- (deferred) reply, fail
 *
 * Requests and unary answers are cloned into the call's arena; pieces of a stream wait packed, which is smaller.
 * Both sides see the same as over a network: copies of messages, limits, a deadline, cancellation that reaches
 * the handler, a window that closes when the caller does not read. A call is freed when both sides are through. */
#include "rpc/channel.h"

#include "base/log.h"
#include "base/memory.h"
#include "rpc/call.h"
#include "rpc/clone.h"
#include "rpc/forwarded.h"
#include "rpc/outbound.h"
#include "rpc/runtime.h"
#include "rpc/traces.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct local_stub {
    ProtobufCService base; /* first */
    const struct rpc_method *methods;
    ProtobufCService *const *instances;
    size_t message_max;
    struct budget *answers; /* NULL: no bound */
};

struct packed {
    struct packed *next;
    size_t size;
    uint8_t bytes[];
};

struct local {
    struct rpc_outbound base;                /* first */
    struct rpc_call call;                    /* the handler's side */
    const ProtobufCMessage *request, *reply; /* clones; NULL: packed, or no message yet */
    struct packed *packed_request;
    size_t request_size, reply_size; /* as packed */
    struct packed *first, *last;     /* messages on their way to the caller */
    struct rpc_metadata_item *metadata;
    struct work arrive, answer;
    struct timer deadline;
    struct status failure;        /* the caller's, which replaces the handler's status */
    bool arrived, paused, closed; /* closed: the caller has had its last */
};

static atomic_uint calls_alive;

static const struct rpc_call_ops local_call_ops;
static const struct rpc_outbound_ops local_outbound_ops;

static struct local *of_call(const struct rpc_call *call)
{
    return (struct local *)((char *)(uintptr_t)call - offsetof(struct local, call));
}

static struct local *local_of(const struct rpc_outbound *outbound)
{
    return (struct local *)(uintptr_t)outbound;
}

static struct packed *packed_create(size_t size)
{
    struct packed *packed = xmalloc(sizeof *packed + size);
    packed->next = NULL;
    packed->size = size;
    return packed;
}

static void free_when_done(struct local *local)
{
    if (!local->closed || !local->call.ended)
        return;
    loop_undefer(local->call.loop, &local->arrive);
    loop_undefer(local->call.loop, &local->answer);
    loop_disarm(local->call.loop, &local->deadline);
    while (local->first) {
        struct packed *packed = local->first;
        local->first = packed->next;
        free(packed);
    }
    free(local->packed_request);
    rpc_call_fini(&local->call);
    free(local);
    atomic_fetch_sub(&calls_alive, 1);
}

/* ---- to the caller ----------------------------------------------------------------------------------------------- */

static void close_caller(struct local *local, const struct packed *answer)
{
    struct rpc_client_call *call = local->base.call;
    local->closed = true;
    loop_disarm(local->call.loop, &local->deadline);
    if (call->parent)
        call->parent->trace_is_used |= local->call.trace_is_used || !local->call.ended;
    call->status = local->failure.code != OK ? local->failure : local->call.status;
    if (local->reply && call->status.code == OK)
        rpc_outbound_conclude(&local->base, local->reply, local->reply_size);
    else
        rpc_outbound_finish(&local->base, answer ? answer->bytes : NULL, answer ? answer->size : 0);
}

static struct packed *take_first(struct local *local)
{
    struct packed *packed = local->first;
    local->first = packed->next;
    if (!local->first)
        local->last = NULL;
    rpc_call_sent(&local->call, packed->size);
    return packed;
}

static void answer_unary(struct local *local)
{
    struct packed *answer = local->failure.code == OK && local->first ? take_first(local) : NULL;
    if (local->call.ended || local->failure.code != OK)
        close_caller(local, answer);
    free(answer);
}

static void local_answer(struct work *work)
{
    struct local *local = CONTAINER_OF(work, struct local, answer);
    if (!local->closed) {
        if (local->base.method->server_streams) {
            while (local->first && !local->paused && local->failure.code == OK) {
                struct packed *packed = take_first(local);
                if (!rpc_outbound_message(&local->base, packed->bytes, packed->size, &local->failure))
                    rpc_call_abort(&local->call, CANCELLED);
                free(packed);
            }
            if (local->failure.code != OK || (local->call.ended && !local->first))
                close_caller(local, NULL);
        } else
            answer_unary(local);
    }
    free_when_done(local);
}

/* ---- from the handler -------------------------------------------------------------------------------------------- */

static uint8_t *local_reserve(struct rpc_call *call, size_t size)
{
    struct local *local = of_call(call);
    struct packed *packed = packed_create(size);
    if (local->last)
        local->last->next = packed;
    else
        local->first = packed;
    local->last = packed;
    return packed->bytes;
}

static void local_commit(struct rpc_call *call)
{
    struct local *local = of_call(call);
    if (local->base.method->server_streams)
        loop_defer(call->loop, &local->answer);
}

static bool local_pass(struct rpc_call *call, const ProtobufCMessage *message, size_t size)
{
    struct local *local = of_call(call);
    local->reply = rpc_clone(message, &call->arena);
    local->reply_size = size;
    return local->reply;
}

static void local_ended(struct rpc_call *call)
{
    loop_defer(call->loop, &of_call(call)->answer);
}

static const void *local_request_metadata(const struct rpc_call *call, const char *key, size_t *size)
{
    for (const struct rpc_metadata_item *item = of_call(call)->metadata; item; item = item->next) {
        if (strcmp(item->metadata.key, key) == 0) {
            *size = item->metadata.size;
            return item->metadata.value;
        }
    }
    *size = 0;
    return NULL;
}

static const char *local_peer(struct rpc_call *call)
{
    return "inproc";
}

/* ---- from the caller --------------------------------------------------------------------------------------------- */

static void fail_caller(struct local *local, enum status_code code, const char *text)
{
    if (local->closed || local->failure.code != OK)
        return;
    fail(&local->failure, code, "%s", text);
    loop_defer(local->call.loop, &local->answer);
    if (local->arrived) {
        rpc_call_abort(&local->call, code);
    } else { /* the handler never gets it */
        loop_undefer(local->call.loop, &local->arrive);
        rpc_fail(&local->call, &local->failure);
    }
}

static void local_abort_call(struct rpc_call *call, const struct status *status)
{
    fail_caller(of_call(call), status->code, status->text);
}

static void local_cancel(struct rpc_outbound *outbound)
{
    fail_caller(local_of(outbound), CANCELLED, "the call was cancelled here");
}

static void deadline_passed(struct timer *timer)
{
    struct local *local = CONTAINER_OF(timer, struct local, deadline);
    fail_caller(local, DEADLINE_EXCEEDED, "the deadline passed");
}

static void local_pause_stream(struct rpc_outbound *outbound)
{
    local_of(outbound)->paused = true;
}

static void local_resume_stream(struct rpc_outbound *outbound)
{
    struct local *local = local_of(outbound);
    local->paused = false;
    loop_defer(local->call.loop, &local->answer);
}

static const void *answer_metadata(const struct rpc_outbound *outbound, const char *key, size_t *size)
{
    const struct rpc_metadata_item *lists[] = {local_of(outbound)->call.initial, local_of(outbound)->call.trailing};
    for (size_t i = 0; i < 2; i++) {
        for (const struct rpc_metadata_item *item = lists[i]; item; item = item->next) {
            if (strcmp(item->metadata.key, key) == 0) {
                *size = item->metadata.size;
                return item->metadata.value;
            }
        }
    }
    return NULL;
}

static const struct rpc_call_ops local_call_ops = {
    .pass = local_pass,
    .reserve = local_reserve,
    .commit = local_commit,
    .end = local_ended,
    .abort = local_abort_call,
    .metadata = local_request_metadata,
    .peer = local_peer,
};

bool rpc_call_is_local(const struct rpc_call *call)
{
    return call->ops == &local_call_ops;
}

static const struct rpc_outbound_ops local_outbound_ops = {
    .cancel = local_cancel,
    .pause = local_pause_stream,
    .resume = local_resume_stream,
    .metadata = answer_metadata,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void copy_metadata(struct local *local, struct status *unsendable)
{
    const struct rpc_client_call *call = local->base.call;
    struct arena *arena = &local->call.arena;
    struct rpc_metadata_item **link = &local->metadata;
    for (size_t i = 0; i < call->metadata_count; i++) {
        const struct rpc_metadata *given = &call->metadata[i];
        if (!rpc_outbound_may_send(given)) {
            fail(unsendable, INVALID_ARGUMENT, METADATA_UNSENDABLE, given->key);
            continue;
        }
        struct rpc_metadata_item *item = arena_zalloc(arena, sizeof *item);
        char *key = arena_strdup(arena, call->metadata[i].key);
        void *value = arena_copy(arena, call->metadata[i].value, call->metadata[i].size);
        if (!item || !key || !value)
            return;
        item->metadata = (struct rpc_metadata){.key = key, .value = value, .size = call->metadata[i].size};
        *link = item;
        link = &item->next;
    }
}

static void local_arrive(struct work *work)
{
    struct local *local = CONTAINER_OF(work, struct local, arrive);
    local->arrived = true;
    if (local->request)
        rpc_call_deliver_message(&local->call, local->request, local->request_size);
    else
        rpc_call_deliver(&local->call, local->packed_request->bytes, local->packed_request->size);
}

/* `unsendable` says why the request cannot go out. */
static void prepare_call(struct local *local, struct local_stub *stub, struct loop *loop, struct status *unsendable)
{
    struct rpc_call *call = &local->call;
    call->ops = &local_call_ops;
    call->loop = loop;
    call->method = local->base.method;
    call->service = stub->instances[loop_index(loop)];
    call->message_max = stub->message_max;
    call->memory_max = stub->message_max * CALL_MEMORY_FACTOR;
    call->answers = stub->answers;
    call->deadline_ns = local->base.deadline_ns;
    rpc_trace_local(call, &local->base);
    rpc_call_begin(call);
    /* Copied: the handler may outlive its caller. */
    const struct rpc_principal *caller = forwarded_caller(&local->base);
    const char *name = caller ? arena_strdup(&local->call.arena, caller->name) : NULL;
    const char *tenant = caller ? arena_strdup(&local->call.arena, caller->tenant) : NULL;
    if (name && tenant)
        local->call.principal = (struct rpc_principal){.name = name, .tenant = tenant};
    else if (caller)
        fail_memory(unsendable, "the call");
    copy_metadata(local, unsendable);
}

static void copy_request(struct local *local, const ProtobufCMessage *request)
{
    local->base.sent_bytes = local->request_size = protobuf_c_message_get_packed_size(request);
    if (local->request_size > local->call.message_max)
        return;
    local->request = rpc_clone(request, &local->call.arena);
    if (local->request)
        return;
    local->packed_request = packed_create(local->request_size);
    protobuf_c_message_pack(request, local->packed_request->bytes);
}

static void invoke(ProtobufCService *service, unsigned index, const ProtobufCMessage *input, ProtobufCClosure closure,
                   void *data)
{
    struct local_stub *stub = (struct local_stub *)service;
    struct rpc_client_call *call = data;
    struct local *local = xmalloc(sizeof *local);
    struct status unsendable = {0};
    atomic_fetch_add(&calls_alive, 1);
    memset(local, 0, offsetof(struct local, call.storage)); /* all but the arena's storage */
    memset((char *)&local->call + sizeof local->call, 0,
           sizeof *local - offsetof(struct local, call) - sizeof local->call);
    local->base.ops = &local_outbound_ops;
    local->base.method = &stub->methods[index];
    assert(!local->base.method->client_streams);
    local->base.output = service->descriptor->methods[index].output;
    local->base.memory_max = stub->message_max * CALL_MEMORY_FACTOR;
    local->arrive.run = local_arrive;
    local->answer.run = local_answer;
    local->deadline.expired = deadline_passed;
    rpc_outbound_begin(&local->base, call, closure);
    prepare_call(local, stub, call->loop, &unsendable);
    copy_request(local, input);
    loop_arm(call->loop, &local->deadline, local->base.deadline_ns);
    if (local->request_size > stub->message_max)
        fail_caller(local, RESOURCE_EXHAUSTED, "the request is larger than a message may be");
    else if (unsendable.code != OK)
        fail_caller(local, unsendable.code, unsendable.text);
    else
        loop_defer(call->loop, &local->arrive);
}

unsigned rpc_local_calls_alive(void)
{
    return atomic_load(&calls_alive);
}

static void local_destroy_stub(ProtobufCService *service)
{
    free(service);
}

ProtobufCService *rpc_local_stub(const struct rpc_schema *schema, ProtobufCService *const *instances,
                                 size_t message_max, struct budget *answers)
{
    const ProtobufCServiceDescriptor *descriptor = instances[0]->descriptor;
    size_t count;
    const struct rpc_method *methods = rpc_schema_service(schema, descriptor->name, &count);
    if (!methods || count != descriptor->n_methods)
        fatal("rpc.schema", "service %s is not in the descriptor set as it was compiled", descriptor->name);
    struct local_stub *stub = xcalloc(1, sizeof *stub);
    stub->base = (ProtobufCService){.descriptor = descriptor, .invoke = invoke, .destroy = local_destroy_stub};
    stub->methods = methods;
    stub->instances = instances;
    stub->message_max = message_max ? message_max : RPC_MESSAGE_DEFAULT_MAX;
    stub->answers = answers;
    return &stub->base;
}
