/* A call that came in through gRPC core.
 *
 *      awaited --arrived--> open ------- handler ends ------> ended ----- status sent -----> finished
 *                            |  ^                               ^
 *                            |  '-- messages, in and out        |
 *                            '-- abort: client gone, deadline, shutdown: the handler is told, and still ends it
 *
 * A handler that replies before it returns costs a single batch: metadata, message, status and the watch for
 * cancellation go together. Otherwise that watch is a separate batch, and messages leave in sequential batches, in
 * order. */
#include "rpc/server_call.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"

#include <assert.h>
#include <grpc/byte_buffer.h>
#include <grpc/support/alloc.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX 256 /* finished calls that a shard keeps for reuse */
#define OPS_MAX  4

static const struct rpc_call_ops server_call_ops;
static void batch_sent(struct rpc_tag *tag, bool ok);
static void client_closed(struct rpc_tag *tag, bool ok);

static struct server_call *server_call_of(const struct rpc_call *call)
{
    return (struct server_call *)(uintptr_t)call;
}

/* ---- birth and death --------------------------------------------------------------------------------------------- */

struct server_call *server_call_take(struct rpc_shard *shard)
{
    struct server_call *sc = shard->pool;
    if (sc) {
        shard->pool = sc->next;
        shard->pool_count--;
    } else {
        sc = xmalloc(sizeof *sc);
    }
    memset(sc, 0, offsetof(struct server_call, call.storage));
    memset((char *)sc + sizeof sc->call, 0, sizeof *sc - sizeof sc->call);
    sc->call.ops = &server_call_ops;
    sc->call.loop = shard->loop;
    sc->shard = shard;
    sc->sent.completed = batch_sent;
    sc->closed.completed = client_closed;
    grpc_metadata_array_init(&sc->metadata);
    return sc;
}

void server_call_give_back(struct server_call *sc)
{
    struct rpc_shard *shard = sc->shard;
    grpc_metadata_array_destroy(&sc->metadata);
    if (shard->pool_count == POOL_MAX) {
        free(sc);
        return;
    }
    sc->next = shard->pool;
    shard->pool = sc;
    shard->pool_count++;
}

void server_call_pool_free(struct rpc_shard *shard)
{
    while (shard->pool) {
        struct server_call *sc = shard->pool;
        shard->pool = sc->next;
        free(sc);
    }
    shard->pool_count = 0;
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

static void count_change(_Atomic unsigned *number, int change)
{
    unsigned before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + (unsigned)change, memory_order_relaxed);
}

/* Calls of services, which a drain waits for; health watches and reflection are not. */
static void count_busy(const struct server_call *sc, int change)
{
    if (sc->binding && !sc->binding->builtin)
        count_change(&sc->shard->busy, change);
}

void server_call_release_when_done(struct server_call *sc)
{
    if (sc->batches || !sc->finished || !sc->call.ended || sc->in_handler)
        return;
    while (sc->first)
        drop_outgoing(sc);
    if (sc->incoming)
        grpc_byte_buffer_destroy(sc->incoming);
    loop_disarm(sc->call.loop, &sc->limit);
    UNLIST(sc->shard->live, sc);
    sc->shard->live_count--;
    count_busy(sc, -1);
    budget_give(sc->shard->server->options.budget, &sc->hold);
    grpc_slice_unref(sc->status_text);
    grpc_call_unref(sc->grpc);
    rpc_call_fini(&sc->call);
    server_call_give_back(sc);
}

void server_call_enlist(struct server_call *sc)
{
    count_busy(sc, 1);
    count_change(&sc->shard->unanswered, 1);
    LIST_PUSH(sc->shard->live, sc);
    sc->shard->live_count++;
    sc->status_text = grpc_empty_slice();
}

void server_call_start(struct server_call *sc, const grpc_op *ops, size_t count, struct rpc_tag *tag)
{
    sc->batches++;
    rpc_batch_start(sc->shard->loop, sc->grpc, ops, count, tag);
}

/* ---- going out --------------------------------------------------------------------------------------------------- */

static uint8_t *server_call_reserve(struct rpc_call *call, size_t size)
{
    struct server_call *sc = server_call_of(call);
    struct outgoing *message = &sc->embedded;
    if (sc->embedded_taken)
        message = xmalloc(sizeof *message);
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

static void server_call_commit(struct rpc_call *call)
{
    struct server_call *sc = server_call_of(call);
    struct outgoing *message = sc->last;
    message->buffer = grpc_raw_byte_buffer_create(&message->slice, 1);
    grpc_slice_unref(message->slice);
    if (sc->call.method->server_streams)
        server_call_pump(sc); /* a unary message leaves with its status */
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

static void server_call_op_status(struct server_call *sc, grpc_op *op)
{
    const struct status *status = sc->aborted ? &sc->abort_status : &sc->call.status;
    sc->sending_status = true;
    op->op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    op->data.send_status_from_server.status = (grpc_status_code)status->code;
    if (status->code != OK) {
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

/* Starts the next outgoing batch, if a batch is due and no other is under way. */
void server_call_pump(struct server_call *sc)
{
    bool ending = sc->call.ended || sc->aborted;
    if (sc->in_handler || sc->sending || sc->sending_status || (!sc->first && !ending))
        return;
    grpc_op ops[OPS_MAX];
    memset(ops, 0, sizeof ops);
    size_t count = 0;
    if (!sc->initial_sent)
        op_initial(sc, &ops[count++]);
    if (sc->first && !sc->aborted) {
        ops[count].op = GRPC_OP_SEND_MESSAGE;
        ops[count++].data.send_message.send_message = sc->first->buffer;
        sc->sending = true;
    }
    if (ending && (!sc->first || !sc->first->next || sc->aborted))
        server_call_op_status(sc, &ops[count++]);
    if (sc->sending_status && !sc->watched)
        op_close(sc, &ops[count++]);
    server_call_start(sc, ops, count, &sc->sent);
}

void server_call_client_left(struct server_call *sc)
{
    bool late = clock_now_ns() >= sc->call.deadline_ns;
    rpc_call_abort(&sc->call, late ? DEADLINE_EXCEEDED : CANCELLED);
}

static void batch_sent(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = server_call_from(tag, sent);
    sc->batches--;
    bool status_sent = sc->sending_status;
    sc->in_handler = true; /* a called handler may send again: not before we are through */
    if (!ok)
        server_call_client_left(sc);
    if (sc->sending) {
        sc->sending = false;
        drop_outgoing(sc);
    }
    while (!ok && sc->first)
        drop_outgoing(sc);
    sc->in_handler = false;
    if (status_sent) {
        sc->finished = true;
        count_change(&sc->shard->unanswered, -1);
    } else {
        server_call_pump(sc);
    }
    server_call_release_when_done(sc);
}

static void server_call_ended(struct rpc_call *call)
{
    struct server_call *sc = server_call_of(call);
    server_call_pump(sc);
    server_call_release_when_done(sc);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void client_closed(struct rpc_tag *tag, bool ok)
{
    struct server_call *sc = server_call_from(tag, closed);
    sc->batches--;
    if (sc->client_gone)
        server_call_client_left(sc);
    server_call_release_when_done(sc);
}

static void server_call_abort_call(struct rpc_call *call, const struct status *status)
{
    struct server_call *sc = server_call_of(call);
    if (call->ended || sc->aborted)
        return;
    sc->aborted = true;
    sc->abort_status = *status;
    server_call_pump(sc);
    rpc_call_abort(call, status->code);
}

static void limit_reached(struct timer *timer)
{
    struct status st = {0};
    fail(&st, DEADLINE_EXCEEDED, "the call took longer than this server allows");
    server_call_abort_call(&server_call_from(timer, limit)->call, &st);
}

void server_call_abort_all(struct rpc_shard *shard)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the server is shutting down; ask another");
    for (struct server_call *sc = shard->live, *next; sc; sc = next) {
        next = sc->next;
        server_call_abort_call(&sc->call, &st);
    }
}

void server_call_watch(struct server_call *sc)
{
    if (sc->call.ended || sc->watched)
        return;
    grpc_op op = {0};
    op_close(sc, &op);
    server_call_start(sc, &op, 1, &sc->closed);
    if (sc->call.deadline_ns < rpc_nanoseconds(sc->deadline)) {
        sc->limit.expired = limit_reached;
        loop_arm(sc->call.loop, &sc->limit, sc->call.deadline_ns);
    }
}

/* ---- queries of a call ------------------------------------------------------------------------------------------- */

static const void *server_call_metadata(const struct rpc_call *call, const char *key, size_t *size)
{
    const grpc_metadata_array *array = &server_call_of(call)->metadata;
    for (size_t i = 0; i < array->count; i++) {
        if (grpc_slice_str_cmp(array->metadata[i].key, key) == 0) {
            *size = GRPC_SLICE_LENGTH(array->metadata[i].value);
            return GRPC_SLICE_START_PTR(array->metadata[i].value);
        }
    }
    *size = 0;
    return NULL;
}

static const char *server_call_peer(struct rpc_call *call)
{
    char *text = grpc_call_get_peer(server_call_of(call)->grpc);
    const char *copy = arena_strdup(&call->arena, text);
    gpr_free(text);
    return copy ? copy : "";
}

static const struct rpc_call_ops server_call_ops = {
    .reserve = server_call_reserve,
    .commit = server_call_commit,
    .end = server_call_ended,
    .abort = server_call_abort_call,
    .metadata = server_call_metadata,
    .peer = server_call_peer,
};
