/* Stubs whose calls go through gRPC core.
 *
 * A unary call is a single batch. A stream has three kinds of batches: opened (metadata and request out, metadata in),
 * the status, and a batch per message. It is over when the status has arrived and no messages are left. */
#include "rpc/remote.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "rpc/call.h"
#include "rpc/details.h"
#include "rpc/forwarded.h"
#include "rpc/inflate.h"
#include "rpc/outbound.h"
#include "rpc/queue.h"
#include "rpc/traces.h"

#include <assert.h>
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <stdlib.h>
#include <string.h>

#define METADATA_ROOM    17 /* keys of a request, ours included */
#define OPS_MAX          6
#define NO_ROOM_RETRY_MS 1000

struct remote {
    struct rpc_outbound base; /* first */
    struct remote_stub *stub;
    grpc_call *grpc;
    struct rpc_tag opened, received, ended;
    grpc_metadata_array initial, trailing;
    grpc_byte_buffer *outgoing, *incoming;
    grpc_status_code code;
    grpc_slice text;
    char traceparent[TRACEPARENT_LENGTH + 1], tracestate[TRACESTATE_LENGTH + 1];
    unsigned channel;                                      /* its number in the pool */
    unsigned batches;                                      /* under way */
    bool has_status, drained, paused, receiving, finished; /* drained: the messages have run out */
    struct status failure;                                 /* ours, which replaces the peer's status */
    struct work cancelled;
};

static const struct rpc_outbound_ops remote_ops;

static struct remote *remote_of(const struct rpc_outbound *outbound)
{
    return (struct remote *)(uintptr_t)outbound;
}

#define from_tag(tag, member) CONTAINER_OF(tag, struct remote, member)

static void remote_start(struct remote *remote, const grpc_op *ops, size_t count, struct rpc_tag *tag)
{
    remote->batches++;
    rpc_batch_start(remote->base.call->loop, remote->grpc, ops, count, tag);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Core's own words when no connection could be made; they go on with names and addresses. */
static bool tells_addresses(const char *text)
{
    static const char *const beginnings[] = {"failed to connect to all addresses",
                                             "connections to all backends failing", "DNS resolution failed",
                                             "empty address list", "errors resolving"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return strstr(text, "ipv4:") || strstr(text, "ipv6:");
}

static void take_status(struct remote *remote, struct status *status)
{
    if (remote->failure.code != OK) {
        *status = remote->failure;
        return;
    }
    status_clear(status);
    if (remote->code == GRPC_STATUS_OK)
        return;
    int length = (int)GRPC_SLICE_LENGTH(remote->text);
    fail(status, (int)remote->code < STATUS_CODES_COUNT ? (enum status_code)remote->code : UNKNOWN, "%.*s", length,
         (const char *)GRPC_SLICE_START_PTR(remote->text));
    /* The caller of this service must not learn the addresses of our services; the log has the whole text. */
    if (status->code == UNAVAILABLE && tells_addresses(status->text)) {
        const struct rpc_method *method = remote->base.method;
        char *target = grpc_call_get_peer(remote->grpc);
        log_warn("rpc.unconnected", "%s at %s: %s", method->service, target ? target : "?", status->text);
        gpr_free(target);
        fail(status, UNAVAILABLE, "no connection to the service %s", method->service);
    }
    size_t size;
    const void *details = remote_ops.metadata(&remote->base, "grpc-status-details-bin", &size);
    if (details)
        rpc_details_decode(details, size, status);
}

static void free_remote(struct remote *remote)
{
    grpc_metadata_array_destroy(&remote->initial);
    grpc_metadata_array_destroy(&remote->trailing);
    if (remote->outgoing)
        grpc_byte_buffer_destroy(remote->outgoing);
    if (remote->incoming)
        grpc_byte_buffer_destroy(remote->incoming);
    grpc_slice_unref(remote->text);
    grpc_call_unref(remote->grpc);
    free(remote);
}

static void remote_finish(struct remote *remote)
{
    loop_undefer(remote->base.call->loop, &remote->cancelled);
    remote->finished = true;
    struct rpc_client_call *call = remote->base.call;
    take_status(remote, &call->status);
    struct rpc_channel *channel = remote->stub->channel; /* its owner may destroy it as soon as the call has ended */
    channel_pool_release(&channel->pool, remote->channel);
    if (!remote->incoming) {
        rpc_outbound_finish(&remote->base, NULL, 0);
    } else {
        struct rpc_incoming incoming;
        struct status st = {0};
        if (!rpc_incoming_take(&incoming, &remote->incoming, channel->message_max, &st))
            call->status = st;
        rpc_outbound_finish(&remote->base, incoming.bytes, incoming.size);
        rpc_incoming_fini(&incoming);
    }
    free_remote(remote);
}

static void unary_ended(struct rpc_tag *tag, bool ok)
{
    remote_finish(from_tag(tag, ended));
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void remote_receive(struct remote *remote)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &remote->incoming};
    remote->receiving = true;
    remote_start(remote, &op, 1, &remote->received);
}

static void finish_when_over(struct remote *remote)
{
    bool unread = remote->paused && remote->code == GRPC_STATUS_OK && remote->failure.code == OK;
    if (remote->has_status && !remote->batches && (remote->drained || !unread))
        remote_finish(remote);
}

static void stream_opened(struct rpc_tag *tag, bool ok)
{
    struct remote *remote = from_tag(tag, opened);
    remote->batches--;
    finish_when_over(remote);
}

static void remote_stream_ended(struct rpc_tag *tag, bool ok)
{
    struct remote *remote = from_tag(tag, ended);
    remote->batches--;
    remote->has_status = true;
    finish_when_over(remote);
}

static void remote_message_received(struct rpc_tag *tag, bool ok)
{
    struct remote *remote = from_tag(tag, received);
    remote->batches--;
    remote->receiving = false;
    if (!remote->incoming || remote->failure.code != OK) {
        remote->drained = true;
        if (remote->incoming)
            grpc_byte_buffer_destroy(remote->incoming);
        remote->incoming = NULL;
        finish_when_over(remote);
        return;
    }
    struct rpc_incoming incoming;
    remote->batches++; /* the closure may cancel or resume: no memory is freed under it */
    if (!rpc_incoming_take(&incoming, &remote->incoming, remote->stub->channel->message_max, &remote->failure) ||
        !rpc_outbound_message(&remote->base, incoming.bytes, incoming.size, &remote->failure))
        grpc_call_cancel(remote->grpc, NULL);
    remote->batches--;
    rpc_incoming_fini(&incoming);
    if (remote->failure.code != OK)
        remote->drained = true;
    else if (!remote->paused && !remote->receiving)
        remote_receive(remote);
    finish_when_over(remote);
}

static void remote_pause_stream(struct rpc_outbound *outbound)
{
    remote_of(outbound)->paused = true;
}

static void remote_resume_stream(struct rpc_outbound *outbound)
{
    struct remote *remote = remote_of(outbound);
    remote->paused = false;
    if (outbound->method->server_streams && !remote->receiving && !remote->drained && !remote->finished)
        remote_receive(remote);
}

/* A paused stream whose status has come already waits for no batch that would end it. */
static void remote_was_cancelled(struct work *work)
{
    struct remote *remote = CONTAINER_OF(work, struct remote, cancelled);
    if (remote->base.method->server_streams)
        finish_when_over(remote);
}

static void remote_cancel(struct rpc_outbound *outbound)
{
    struct remote *remote = remote_of(outbound);
    if (remote->finished || remote->failure.code != OK)
        return;
    bool late = clock_now_ns() >= outbound->deadline_ns;
    fail(&remote->failure, late ? DEADLINE_EXCEEDED : CANCELLED, "the call was cancelled here");
    grpc_call_cancel(remote->grpc, NULL);
    loop_defer(outbound->call->loop, &remote->cancelled);
}

static const void *remote_metadata(const struct rpc_outbound *outbound, const char *key, size_t *size)
{
    const grpc_metadata_array *arrays[] = {&remote_of(outbound)->initial, &remote_of(outbound)->trailing};
    for (size_t a = 0; a < 2; a++) {
        for (size_t i = 0; i < arrays[a]->count; i++) {
            const grpc_metadata *item = &arrays[a]->metadata[i];
            if (grpc_slice_str_cmp(item->key, key) == 0) {
                *size = GRPC_SLICE_LENGTH(item->value);
                return GRPC_SLICE_START_PTR(item->value);
            }
        }
    }
    return NULL;
}

static const struct rpc_outbound_ops remote_ops = {
    .cancel = remote_cancel,
    .pause = remote_pause_stream,
    .resume = remote_resume_stream,
    .metadata = remote_metadata,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* The caller for which the call is made; 0 if the process calls for itself. */
static size_t add_forwarded(struct remote *remote, grpc_metadata *metadata)
{
    char value[FORWARDED_MAX];
    size_t size;
    const struct rpc_principal *caller = remote->stub->channel->foreign ? NULL : forwarded_caller(&remote->base);
    if (!caller || !forwarded_write(caller, value, &size, &remote->failure))
        return 0;
    metadata->key = grpc_slice_from_static_string(FORWARDED_KEY);
    metadata->value = grpc_slice_from_copied_buffer(value, size);
    return 1;
}

/* Adds the position in the trace; 0 if the process has no trace to send. */
static size_t add_trace(struct remote *remote, grpc_metadata *metadata)
{
    const struct trace_context *trace = &remote->base.trace;
    if (!trace_is_set(trace))
        return 0;
    trace_format(trace, remote->traceparent);
    metadata[0].key = grpc_slice_from_static_string("traceparent");
    metadata[0].value = grpc_slice_from_static_buffer(remote->traceparent, TRACEPARENT_LENGTH);
    if (remote->stub->channel->foreign || !rpc_trace_tells_state(trace))
        return 1;
    trace_state_format(trace, remote->tracestate);
    metadata[1].key = grpc_slice_from_static_string("tracestate");
    metadata[1].value = grpc_slice_from_static_buffer(remote->tracestate, TRACESTATE_LENGTH);
    return 2;
}

static size_t remote_request_metadata(struct remote *remote, grpc_metadata metadata[METADATA_ROOM])
{
    size_t count = 0;
    memset(metadata, 0, METADATA_ROOM * sizeof *metadata);
    count += add_trace(remote, metadata);
    if (remote->stub->channel->authorization) {
        metadata[count].key = grpc_slice_from_static_string("authorization");
        metadata[count++].value = grpc_slice_from_static_string(remote->stub->channel->authorization);
    }
    count += add_forwarded(remote, &metadata[count]);
    const struct rpc_client_call *call = remote->base.call;
    assert(count + call->metadata_count <= METADATA_ROOM);
    for (size_t i = 0; i < call->metadata_count; i++) {
        if (!rpc_outbound_may_send(&call->metadata[i])) {
            fail(&remote->failure, INVALID_ARGUMENT, METADATA_UNSENDABLE, call->metadata[i].key);
            continue;
        }
        metadata[count].key = grpc_slice_from_copied_string(call->metadata[i].key);
        metadata[count++].value = grpc_slice_from_copied_buffer(call->metadata[i].value, call->metadata[i].size);
    }
    return count;
}

static size_t ops_out(struct remote *remote, grpc_op *ops, grpc_metadata *out, size_t out_count)
{
    size_t count = 0;
    ops[count].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[count].data.send_initial_metadata.metadata = out;
    ops[count++].data.send_initial_metadata.count = out_count;
    ops[count].op = GRPC_OP_SEND_MESSAGE;
    ops[count++].data.send_message.send_message = remote->outgoing;
    ops[count++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[count].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[count++].data.recv_initial_metadata.recv_initial_metadata = &remote->initial;
    return count;
}

static void remote_op_status(struct remote *remote, grpc_op *op)
{
    op->op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    op->data.recv_status_on_client.trailing_metadata = &remote->trailing;
    op->data.recv_status_on_client.status = &remote->code;
    op->data.recv_status_on_client.status_details = &remote->text;
}

static void remote_begin(struct remote *remote)
{
    grpc_metadata out[METADATA_ROOM];
    size_t out_count = remote_request_metadata(remote, out);
    grpc_op ops[OPS_MAX];
    memset(ops, 0, sizeof ops);
    size_t count = ops_out(remote, ops, out, out_count);
    if (remote->base.method->server_streams) {
        remote_start(remote, ops, count, &remote->opened);
        grpc_op status = {0};
        remote_op_status(remote, &status);
        remote_start(remote, &status, 1, &remote->ended);
        remote_receive(remote);
    } else {
        ops[count].op = GRPC_OP_RECV_MESSAGE;
        ops[count++].data.recv_message.recv_message = &remote->incoming;
        remote_op_status(remote, &ops[count++]);
        remote_start(remote, ops, count, &remote->ended);
    }
    for (size_t i = 0; i < out_count; i++) {
        grpc_slice_unref(out[i].key);
        grpc_slice_unref(out[i].value);
    }
}

/* On a channel of the pool with room for it; a call without room ends at once instead of waiting for its deadline. */
static grpc_call *remote_create_call(struct remote *remote, unsigned index)
{
    const struct remote_stub *stub = remote->stub;
    const struct rpc_method *method = remote->base.method;
    struct channel_pool *pool = &stub->channel->pool;
    grpc_completion_queue *queue = rpc_queue(remote->base.call->loop);
    gpr_timespec deadline = rpc_timespec(remote->base.deadline_ns);
    if (!channel_pool_take(pool, method->server_streams, &remote->channel)) {
        fail(&remote->failure, RESOURCE_EXHAUSTED, "this process has as many calls to %s under way as it may",
             method->service);
        remote->failure.retry_after_ms = NO_ROOM_RETRY_MS;
    }
    grpc_channel *channel = pool->channels[remote->channel].grpc;
    if (remote->channel == 0)
        return grpc_channel_create_registered_call(channel, NULL, 0, queue, stub->registered[index], deadline, NULL);
    return grpc_channel_create_call(channel, NULL, 0, queue, grpc_slice_from_static_string(method->path), NULL,
                                    deadline, NULL);
}

void remote_invoke(ProtobufCService *service, unsigned index, const ProtobufCMessage *input, ProtobufCClosure closure,
                   void *data)
{
    struct remote_stub *stub = (struct remote_stub *)service;
    struct rpc_client_call *call = data;
    struct remote *remote = xcalloc(1, sizeof *remote);
    remote->stub = stub;
    remote->base.ops = &remote_ops;
    remote->base.method = &stub->methods[index];
    remote->base.output = service->descriptor->methods[index].output;
    remote->base.memory_max = stub->channel->message_max * CALL_MEMORY_FACTOR;
    remote->text = grpc_empty_slice();
    grpc_metadata_array_init(&remote->initial);
    grpc_metadata_array_init(&remote->trailing);
    remote->opened.completed = stream_opened;
    remote->received.completed = remote_message_received;
    remote->cancelled.run = remote_was_cancelled;
    remote->ended.completed = remote->base.method->server_streams ? remote_stream_ended : unary_ended;
    rpc_outbound_begin(&remote->base, call, closure);
    if (call->parent)
        call->parent->trace_is_used = true;
    remote->grpc = remote_create_call(remote, index);
    remote->base.sent_bytes = protobuf_c_message_get_packed_size(input);
    grpc_slice slice = grpc_slice_malloc(remote->base.sent_bytes);
    protobuf_c_message_pack(input, GRPC_SLICE_START_PTR(slice));
    remote->outgoing = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    remote_begin(remote);
    if (remote->failure.code != OK)
        grpc_call_cancel(remote->grpc, NULL);
}
