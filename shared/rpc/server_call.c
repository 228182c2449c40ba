/* A call that came in through gRPC core.
 *
 *      awaited --arrived--> open ------- handler ends ------> ended ----- status sent -----> finished
 *                            |  ^                               ^
 *                            |  '-- messages, in and out        |
 *                            '---- cut: client gone, deadline, shutdown: the handler is told, and still ends it
 *
 * A handler that replies before it returns costs one batch: metadata, message, status and the watch for cancellation go
 * together. Otherwise that watch becomes a batch of its own and messages go out one batch at a time, in order. */
#include "rpc/serving.h"

#include "base/clock.h"
#include "rpc/auth.h"
#include "rpc/details.h"
#include "rpc/inflate.h"
#include "rpc/observe.h"

#include <assert.h>
#include <grpc/byte_buffer.h>
#include <grpc/support/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX    256 /* finished calls that a lane keeps for reuse */
#define OPS_MAX     4
#define DETAILS_KEY "grpc-status-details-bin"

/* A message on its way out. */
struct outgoing {
    struct outgoing *next;
    grpc_slice slice;
    grpc_byte_buffer *buffer;
    size_t size;
};

struct server_call {
    struct rpc_call call; /* first: the transport finds itself again from it */
    struct rpc_lane *lane;
    struct rpc_binding *binding; /* NULL: unknown method */
    struct server_call *next, *previous;

    grpc_call *grpc;
    grpc_metadata_array metadata;
    gpr_timespec deadline;
    grpc_byte_buffer *incoming;
    grpc_call_details details; /* of an unknown method */

    struct rpc_tag arrived, received, closed, sent;
    struct timer limit; /* our own deadline, where the client set none that is sooner */
    struct outgoing *first, *last;
    struct outgoing embedded;
    struct status cut_status;
    grpc_slice status_text;
    unsigned batches; /* under way */
    int client_gone;
    bool in_handler, embedded_taken, watched, sending, sending_status, initial_sent, finished, cut;
};

static struct server_call *of(const struct rpc_call *call)
{
    return (struct server_call *)(uintptr_t)call;
}

#define from_tag(tag, member) ((struct server_call *)((char *)(tag)-offsetof(struct server_call, member)))

static const struct rpc_call_ops server_call_ops;
static void pump(struct server_call *sc);

/* ---- birth and death ----------------------------------------------------------------------------------------------
 */

static struct server_call *take(struct rpc_lane *lane)
{
    struct server_call *sc = lane->pool;
    if (sc) {
        lane->pool = sc->next;
        lane->pool_count--;
    } else if (!(sc = malloc(sizeof *sc))) {
        fatal("rpc.memory", "no memory for a call");
    }
    memset(sc, 0, offsetof(struct server_call, call.storage));
    memset((char *)sc + sizeof sc->call, 0, sizeof *sc - sizeof sc->call);
    sc->call.ops = &server_call_ops;
    sc->call.loop = lane->loop;
    sc->lane = lane;
    grpc_metadata_array_init(&sc->metadata);
    return sc;
}

static void give_back(struct server_call *sc)
{
    struct rpc_lane *lane = sc->lane;
    grpc_metadata_array_destroy(&sc->metadata);
    if (lane->pool_count == POOL_MAX) {
        free(sc);
        return;
    }
    sc->next = lane->pool;
    lane->pool = sc;
    lane->pool_count++;
}

void server_call_pool_free(struct rpc_lane *lane)
{
    while (lane->pool) {
        struct server_call *sc = lane->pool;
        lane->pool = sc->next;
        free(sc);
    }
    lane->pool_count = 0;
}

static void drop_outgoing(struct server_call *sc)
{
    struct outgoing *message = sc->first;
    sc->first = message->next;
    if (!sc->first)
        sc->last = NULL;
    grpc_byte_buffer_destroy(message->buffer);
    size_t size = message->size;
    if (message == &sc->embedded)
        sc->embedded_taken = false;
    else
        free(message);
    rpc_call_sent(&sc->call, size);
}

/* Calls of services, which a drain waits for; health watches and reflection are not. */
static void count_busy(const struct server_call *sc, int change)
{
    if (!sc->binding || sc->binding->builtin)
        return;
    unsigned busy = atomic_load_explicit(&sc->lane->busy, memory_order_relaxed);
    atomic_store_explicit(&sc->lane->busy, busy + (unsigned)change, memory_order_relaxed);
}

static void release_when_done(struct server_call *sc)
{
    if (sc->batches || !sc->finished || !sc->call.ended || sc->in_handler)
        return;
    while (sc->first)
        drop_outgoing(sc);
    if (sc->incoming)
        grpc_byte_buffer_destroy(sc->incoming);
    loop_disarm(sc->call.loop, &sc->limit);
    if (sc->next)
        sc->next->previous = sc->previous;
    if (sc->previous)
        sc->previous->next = sc->next;
    else
        sc->lane->live = sc->next;
    sc->lane->live_count--;
    count_busy(sc, -1);
    grpc_slice_unref(sc->status_text);
    grpc_call_unref(sc->grpc);
    rpc_call_fini(&sc->call);
    give_back(sc);
}

static void enlist(struct server_call *sc)
{
    count_busy(sc, 1);
    sc->next = sc->lane->live;
    if (sc->next)
        sc->next->previous = sc;
    sc->lane->live = sc;
    sc->lane->live_count++;
    sc->status_text = grpc_empty_slice();
}

static void start(struct server_call *sc, const grpc_op *ops, size_t count, struct rpc_tag *tag)
{
    sc->batches++;
    grpc_call_error error = grpc_call_start_batch(sc->grpc, ops, count, tag, NULL);
    if (error != GRPC_CALL_OK)
        fatal("rpc.batch", "gRPC refuses a batch: %s", grpc_call_error_to_string(error));
}

/* ---- going out ----------------------------------------------------------------------------------------------------
 */

static uint8_t *reserve(struct rpc_call *call, size_t size)
{
    struct server_call *sc = of(call);
    struct outgoing *message = &sc->embedded;
    if (sc->embedded_taken && !(message = malloc(sizeof *message)))
        fatal("rpc.memory", "no memory for a message");
    if (message == &sc->embedded)
        sc->embedded_taken = true;
    *message = (struct outgoing){.slice = grpc_slice_malloc(size), .size = size};
    if (sc->last)
        sc->last->next = message;
    else
        sc->first = message;
    sc->last = message;
    return GRPC_SLICE_START_PTR(message->slice);
}

static void commit(struct rpc_call *call)
{
    struct server_call *sc = of(call);
    struct outgoing *message = sc->last;
    message->buffer = grpc_raw_byte_buffer_create(&message->slice, 1);
    grpc_slice_unref(message->slice);
    if (sc->call.method->server_streams)
        pump(sc); /* a unary message leaves with its status */
}

static grpc_metadata *metadata_of(struct server_call *sc, const struct rpc_metadata_item *list, size_t *count)
{
    size_t found = 0;
    for (const struct rpc_metadata_item *item = list; item; item = item->next)
        found++;
    *count = 0;
    grpc_metadata *array = found ? arena_zalloc(&sc->call.arena, found * sizeof *array) : NULL;
    if (!array)
        return NULL;
    for (const struct rpc_metadata_item *item = list; item; item = item->next) {
        array[*count].key = grpc_slice_from_static_string(item->metadata.key);
        array[*count].value = grpc_slice_from_static_buffer(item->metadata.value, item->metadata.size);
        ++*count;
    }
    return array;
}

static void add_details(struct server_call *sc, const struct status *status)
{
    const void *bytes = NULL;
    size_t size = rpc_details_encode(status, &sc->call.arena, &bytes);
    if (size)
        rpc_call_add_trailing(&sc->call, DETAILS_KEY, bytes, size);
}

static void op_initial(struct server_call *sc, grpc_op *op)
{
    sc->initial_sent = true;
    op->op = GRPC_OP_SEND_INITIAL_METADATA;
    if (sc->call.initial)
        op->data.send_initial_metadata.metadata =
            metadata_of(sc, sc->call.initial, &op->data.send_initial_metadata.count);
    if (sc->call.compress) {
        op->data.send_initial_metadata.maybe_compression_level.is_set = 1;
        op->data.send_initial_metadata.maybe_compression_level.level = GRPC_COMPRESS_LEVEL_MED;
    }
}

static void op_status(struct server_call *sc, grpc_op *op)
{
    const struct status *status = sc->cut ? &sc->cut_status : &sc->call.status;
    sc->sending_status = true;
    op->op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    op->data.send_status_from_server.status = (grpc_status_code)status->code;
    if (status->code != OK) {
        add_details(sc, status);
        sc->status_text = grpc_slice_from_copied_string(status->text);
        op->data.send_status_from_server.status_details = &sc->status_text;
    }
    if (sc->call.trailing)
        op->data.send_status_from_server.trailing_metadata =
            metadata_of(sc, sc->call.trailing, &op->data.send_status_from_server.trailing_metadata_count);
}

static void op_close(struct server_call *sc, grpc_op *op)
{
    sc->watched = true;
    op->op = GRPC_OP_RECV_CLOSE_ON_SERVER;
    op->data.recv_close_on_server.cancelled = &sc->client_gone;
}

/* Starts the next batch that goes out, if one is due and none is under way. */
static void pump(struct server_call *sc)
{
    bool ending = sc->call.ended || sc->cut;
    if (sc->in_handler || sc->sending || sc->sending_status || (!sc->first && !ending))
        return;
    grpc_op ops[OPS_MAX];
    memset(ops, 0, sizeof ops);
    size_t count = 0;
    if (!sc->initial_sent)
        op_initial(sc, &ops[count++]);
    if (sc->first && !sc->cut) {
        ops[count].op = GRPC_OP_SEND_MESSAGE;
        ops[count++].data.send_message.send_message = sc->first->buffer;
        sc->sending = true;
    }
    if (ending && (!sc->first || !sc->first->next || sc->cut))
        op_status(sc, &ops[count++]);
    if (sc->sending_status && !sc->watched)
        op_close(sc, &ops[count++]);
    start(sc, ops, count, &sc->sent);
}

/* Tells the handler that nobody waits any more. */
static void client_left(struct server_call *sc)
{
    bool late = clock_now_ns() >= sc->call.deadline_ns;
    rpc_call_cut(&sc->call, late ? DEADLINE_EXCEEDED : CANCELLED);
}

static void batch_sent(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = from_tag(tag, sent);
    sc->batches--;
    bool status_sent = sc->sending_status;
    sc->in_handler = true; /* a handler that is told something may send again: not before we are through */
    if (!ok)
        client_left(sc);
    if (sc->sending) {
        sc->sending = false;
        drop_outgoing(sc);
    }
    while (!ok && sc->first)
        drop_outgoing(sc);
    sc->in_handler = false;
    if (status_sent)
        sc->finished = true;
    else
        pump(sc);
    release_when_done(sc);
}

static void ended(struct rpc_call *call)
{
    struct server_call *sc = of(call);
    pump(sc);
    release_when_done(sc);
}

/* ---- coming in ----------------------------------------------------------------------------------------------------
 */

static void receive(struct server_call *sc)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &sc->incoming};
    start(sc, &op, 1, &sc->received);
}

static void hand_over(struct server_call *sc, const void *bytes, size_t size)
{
    if (sc->binding->builtin)
        sc->binding->builtin->handle(sc->lane, &sc->call, bytes, size);
    else if (bytes)
        rpc_call_deliver(&sc->call, bytes, size);
    else
        rpc_call_deliver_end(&sc->call);
}

/* Gives the handler what has come in and takes the buffer away. */
static void deliver(struct server_call *sc)
{
    if (!sc->incoming) {
        if (sc->call.method->client_streams)
            hand_over(sc, NULL, 0);
        else
            rpc_fail_with(&sc->call, INVALID_ARGUMENT, "the call carries no request message");
        return;
    }
    struct rpc_incoming incoming;
    struct status st = {0};
    bool ok = rpc_incoming_take(&incoming, &sc->incoming, sc->call.message_max, &st);
    sc->call.was_compressed = incoming.compressed;
    if (ok)
        hand_over(sc, incoming.bytes, incoming.size);
    else
        rpc_fail(&sc->call, &st);
    rpc_incoming_fini(&incoming);
}

/* Runs the handler on what has come; what it replies before it returns leaves in one batch. */
static void run_handler(struct server_call *sc)
{
    sc->in_handler = true;
    deliver(sc);
    sc->in_handler = false;
    pump(sc);
}

static void message_received(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = from_tag(tag, received);
    sc->batches--;
    bool at_end = sc->incoming == NULL;
    if (ok && !sc->call.ended && !sc->cut && !(at_end && sc->client_gone)) {
        run_handler(sc);
        if (!at_end && !sc->call.ended && !sc->cut)
            receive(sc);
    }
    release_when_done(sc);
}

static void client_closed(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = from_tag(tag, closed);
    sc->batches--;
    if (sc->client_gone)
        client_left(sc);
    release_when_done(sc);
}

static void cut(struct rpc_call *call, const struct status *status)
{
    struct server_call *sc = of(call);
    if (call->ended || sc->cut)
        return;
    sc->cut = true;
    sc->cut_status = *status;
    pump(sc);
    rpc_call_cut(call, status->code);
}

static void limit_reached(struct timer *timer)
{
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "the call took longer than this server allows");
    cut(&from_tag(timer, limit)->call, &st);
}

void server_call_cut_all(struct rpc_lane *lane)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the server is shutting down; ask another");
    for (struct server_call *sc = lane->live, *next; sc; sc = next) {
        next = sc->next;
        cut(&sc->call, &st);
    }
}

/* ---- arrival ------------------------------------------------------------------------------------------------------
 */

static const void *metadata(const struct rpc_call *call, const char *key, size_t *size)
{
    const grpc_metadata_array *array = &of(call)->metadata;
    for (size_t i = 0; i < array->count; i++) {
        if (grpc_slice_str_cmp(array->metadata[i].key, key) == 0) {
            *size = GRPC_SLICE_LENGTH(array->metadata[i].value);
            return GRPC_SLICE_START_PTR(array->metadata[i].value);
        }
    }
    *size = 0;
    return NULL;
}

static const char *peer(struct rpc_call *call)
{
    char *text = grpc_call_get_peer(of(call)->grpc);
    const char *copy = arena_strdup(&call->arena, text);
    gpr_free(text);
    return copy ? copy : "";
}

static void read_trace(struct server_call *sc)
{
    size_t size;
    const char *header = metadata(&sc->call, "traceparent", &size);
    if (!header || !trace_continue(&sc->call.trace, header, size))
        trace_begin(&sc->call.trace, rpc_observe_sample());
}

static bool admit(struct server_call *sc, struct status *st)
{
    const struct rpc_auth *auth = sc->lane->server->options.auth;
    if (!auth)
        return true;
    size_t size;
    const void *header = metadata(&sc->call, "authorization", &size);
    const struct rpc_principal *principal = rpc_auth_check(auth, header, size, sc->call.method->path + 1, st);
    if (principal)
        sc->call.principal = *principal;
    return principal != NULL;
}

static void set_deadline(struct server_call *sc)
{
    sc->call.deadline_ns = rpc_nanoseconds(sc->deadline);
    int64_t longest_ms = sc->lane->server->options.call_max_ms;
    if (!longest_ms || sc->call.method->server_streams || sc->call.method->client_streams)
        return;
    int64_t longest_ns = sc->call.began_ns + longest_ms * NS_PER_MS;
    if (longest_ns < sc->call.deadline_ns)
        sc->call.deadline_ns = longest_ns;
}

/* The handler has not ended the call in one go: from now on we want to know when the client goes. */
static void watch(struct server_call *sc)
{
    if (sc->call.ended || sc->watched)
        return;
    grpc_op op = {0};
    op_close(sc, &op);
    start(sc, &op, 1, &sc->closed);
    if (sc->call.deadline_ns < rpc_nanoseconds(sc->deadline)) {
        sc->limit.expired = limit_reached;
        loop_arm(sc->call.loop, &sc->limit, sc->call.deadline_ns);
    }
}

static void call_arrived(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = from_tag(tag, arrived);
    sc->lane->awaited_count--;
    if (!ok) { /* the server shuts down */
        give_back(sc);
        return;
    }
    server_call_await(sc->lane, sc->binding);
    enlist(sc);
    read_trace(sc);
    rpc_call_begin(&sc->call);
    set_deadline(sc);
    struct status st = {0};
    if (!admit(sc, &st)) {
        rpc_fail(&sc->call, &st);
        return;
    }
    if (sc->call.method->client_streams) {
        watch(sc);
        receive(sc);
        return;
    }
    run_handler(sc);
    watch(sc);
    release_when_done(sc);
}

void server_call_await(struct rpc_lane *lane, struct rpc_binding *binding)
{
    struct rpc_server *server = lane->server;
    if (atomic_load_explicit(&server->refusing, memory_order_relaxed))
        return;
    struct server_call *sc = take(lane);
    sc->binding = binding;
    sc->call.method = binding->method;
    sc->call.service = binding->instances ? binding->instances[loop_index(lane->loop)] : NULL;
    sc->call.message_max = server->options.message_max;
    sc->call.memory_max = server->options.call_memory_max;
    sc->arrived.completed = call_arrived;
    sc->received.completed = message_received;
    sc->closed.completed = client_closed;
    sc->sent.completed = batch_sent;
    lane->awaited_count++;
    grpc_byte_buffer **payload = binding->method->client_streams ? NULL : &sc->incoming;
    grpc_server_request_registered_call(server->grpc, binding->registered, &sc->grpc, &sc->deadline, &sc->metadata,
                                        payload, lane->cq, lane->cq, &sc->arrived);
}

static void unknown_arrived(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = from_tag(tag, arrived);
    sc->lane->awaited_count--;
    if (!ok) {
        grpc_call_details_destroy(&sc->details);
        give_back(sc);
        return;
    }
    server_call_await_unknown(sc->lane);
    enlist(sc);
    rpc_call_begin(&sc->call);
    sc->call.deadline_ns = rpc_nanoseconds(sc->details.deadline);
    char *path = grpc_slice_to_c_string(sc->details.method);
    grpc_call_details_destroy(&sc->details);
    const char *slash = strrchr(path, '/');
    int service_length = slash && slash > path ? (int)(slash - path - 1) : 0;
    char service[128];
    snprintf(service, sizeof service, "%.*s", service_length, path + 1);
    bool known = false;
    for (size_t i = 0; i < sc->lane->server->service_count; i++)
        known |= strcmp(sc->lane->server->services[i], service) == 0;
    if (known)
        rpc_fail_with(&sc->call, UNIMPLEMENTED, "service %s has no method '%.100s'", service, slash + 1);
    else
        rpc_fail_with(&sc->call, UNIMPLEMENTED, "no service serves '%.200s' here", path);
    gpr_free(path);
}

void server_call_await_unknown(struct rpc_lane *lane)
{
    struct rpc_server *server = lane->server;
    if (atomic_load_explicit(&server->refusing, memory_order_relaxed))
        return;
    struct server_call *sc = take(lane);
    grpc_call_details_init(&sc->details);
    sc->call.memory_max = server->options.call_memory_max;
    sc->arrived.completed = unknown_arrived;
    sc->sent.completed = batch_sent;
    lane->awaited_count++;
    grpc_server_request_call(server->grpc, &sc->grpc, &sc->details, &sc->metadata, lane->cq, lane->cq, &sc->arrived);
}

static const struct rpc_call_ops server_call_ops = {
    .reserve = reserve,
    .commit = commit,
    .end = ended,
    .cut = cut,
    .metadata = metadata,
    .peer = peer,
};
