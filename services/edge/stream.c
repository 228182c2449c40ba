#include "stream.h"

#include "base/budget.h"
#include "base/random.h"
#include "edge_metrics.h"
#include "edge_shared.h"
#include "errors.h"
#include "header_list.h"
#include "stream_quota.h"
#include "transcode.h"
#include "writing.h"

#include <stdio.h>
#include <string.h>

#define TYPE_SSE   "text/event-stream"
#define TYPE_LINES "application/x-ndjson"

#define WAITING_MAX (2 * WRITE_MAX) /* bytes of events behind a large one: of each paused call one may still come */

/* ---- its memory -------------------------------------------------------------------------------------------------- */

/* Takes the memory of a large event from the bytes that answers may hold. False: the stream ends with a gap. */
static bool stream_hold(struct edge_stream *stream, size_t size)
{
    struct status st = {0};
    if (writing_hold(stream->edge, stream->request, size, &st))
        return true;
    stream_write_gap(stream, "OVERLOADED", "there is no room for a large event; come back with the last id");
    stream->ops->cancel(stream);
    return false;
}

/* The client has read its events. */
static void stream_unhold(struct edge_stream *stream)
{
    if (!stream->writing && !stream->paused)
        http_request_unhold(stream->request);
}

/* ---- its time ---------------------------------------------------------------------------------------------------- */

static void stream_write_status(struct edge_stream *stream, const struct rpc_client_call *call,
                                const struct status *st);

static void stream_arm_heartbeat(struct edge_stream *stream)
{
    if (stream->is_sse && !stream->silent)
        loop_arm_after(stream->edge->loop, &stream->heartbeat, stream->edge->settings.heartbeat_ms);
}

static void stream_reader_returned(struct http_request *request, void *data)
{
    struct edge_stream *stream = data;
    if (!stream->paused)
        return;
    stream->paused = false;
    stream_unhold(stream);
    loop_disarm(stream->edge->loop, &stream->patience);
    if (!stream->silent && !stream->writing)
        stream->ops->resume(stream);
}

static void stream_send(struct edge_stream *stream, const void *bytes, size_t size)
{
    http_reply_write(stream->request, bytes, size);
    edge_metrics_streamed(stream->edge->metrics, size);
    stream_arm_heartbeat(stream);
    if (stream->paused || stream->silent || http_reply_writable(stream->request))
        return;
    stream->paused = true;
    loop_arm_after(stream->edge->loop, &stream->patience, stream->edge->settings.reader_ms);
    stream->ops->pause(stream);
}

static void stream_begin_answer(struct edge_stream *stream)
{
    struct http_request *request = stream->request;
    char retry[32];
    if (stream->begun)
        return;
    stream->begun = true;
    loop_disarm(stream->edge->loop, &stream->opening);
    http_reply_header(request, "X-Accel-Buffering", "no");
    http_reply_on_writable(request, stream_reader_returned, stream);
    http_reply_begin(request, 200, stream->is_sse ? TYPE_SSE "; charset=utf-8" : TYPE_LINES);
    if (!stream->is_sse)
        return;
    int size = snprintf(retry, sizeof retry, "retry: %d\n\n", STREAM_RETRY_MS);
    stream_send(stream, retry, (size_t)size);
}

static void stream_opening_passed(struct timer *timer)
{
    stream_begin_answer(CONTAINER_OF(timer, struct edge_stream, opening));
}

/* A comment line: clients ignore it, and proxies see traffic. */
static void stream_heartbeat_due(struct timer *timer)
{
    struct edge_stream *stream = CONTAINER_OF(timer, struct edge_stream, heartbeat);
    stream_begin_answer(stream);
    if (stream->paused)
        stream_arm_heartbeat(stream);
    else
        stream_send(stream, ": alive\n\n", 9);
}

static void stream_patience_passed(struct timer *timer)
{
    struct edge_stream *stream = CONTAINER_OF(timer, struct edge_stream, patience);
    stream_write_gap(stream, "SLOW_READER", "the client did not read; come back with the last id");
    stream->ops->cancel(stream);
}

/* A key can be taken away, and a browser can sign out, while a stream is open. */
static void stream_access_due(struct timer *timer)
{
    struct edge_stream *stream = CONTAINER_OF(timer, struct edge_stream, access);
    struct status st = {0};
    if (edge_principal(stream->edge, stream->request, stream->method, &st)) {
        loop_arm_after(stream->edge->loop, &stream->access, stream->edge->settings.heartbeat_ms);
        return;
    }
    stream_write_status(stream, NULL, &st);
    stream->ops->cancel(stream);
}

/* ---- its life ---------------------------------------------------------------------------------------------------- */

bool stream_open(struct edge_stream *stream, const struct edge_stream_ops *ops, struct edge *edge,
                 struct http_request *request, const struct rpc_principal *principal, const char *method,
                 unsigned calls)
{
    uint64_t owner = budget_owner(principal->tenant, principal->name);
    const char *accept = http_request_header(request, "accept");
    bool is_sse = header_list_find(accept, TYPE_SSE) ==
                  HEADER_LIST_ACCEPTED; /* curl and fetch accept every type, and get lines */
    if (!is_sse && !header_list_accepts(accept, TYPE_LINES) && !header_list_accepts(accept, EDGE_TYPE_JSON)) {
        edge_refuse(request, 406, "this method streams; accept " TYPE_SSE " or " TYPE_LINES);
        return false;
    }
    if (!stream_quota_take(edge->shared->quota, owner, calls)) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "this tenant may have %u streams at a time, of %u runs together; close some",
             edge->settings.streams_per_client, edge->settings.streams_per_client * STREAM_QUOTA_CALLS);
        st.retry_after_ms = 1000;
        edge_fail(request, &st);
        return false;
    }
    *stream = (struct edge_stream){
        .ops = ops,
        .edge = edge,
        .request = request,
        .principal = principal,
        .owner = owner,
        .calls = calls,
        .is_sse = is_sse,
        .opening.expired = stream_opening_passed,
        .heartbeat.expired = stream_heartbeat_due,
        .patience.expired = stream_patience_passed,
        .access.expired = stream_access_due,
        .method = arena_strdup(http_request_arena(request), method),
    };
    buffer_init(&stream->waiting, WAITING_MAX);
    stream->next = edge->streams;
    stream->link = &edge->streams;
    if (stream->next)
        stream->next->link = &stream->next;
    edge->streams = stream;
    edge_metrics_stream_opened(edge->metrics);
    loop_arm_after(edge->loop, &stream->opening, STREAM_OPEN_MS);
    if (stream->method)
        loop_arm_after(edge->loop, &stream->access, edge->settings.heartbeat_ms);
    stream_arm_heartbeat(stream);
    return true;
}

void stream_release(struct edge_stream *stream)
{
    struct loop *loop = stream->edge->loop;
    loop_disarm(loop, &stream->opening);
    loop_disarm(loop, &stream->heartbeat);
    loop_disarm(loop, &stream->patience);
    loop_disarm(loop, &stream->access);
    buffer_fini(&stream->waiting);
    stream_quota_release(stream->edge->shared->quota, stream->owner, stream->calls);
    edge_metrics_stream_closed(stream->edge->metrics);
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
}

void stream_close(struct edge_stream *stream)
{
    struct http_request *request = stream->request;
    if (stream->writing) {
        stream->closing = true;
        return;
    }
    stream_begin_answer(stream);
    stream_release(stream);
    http_reply_end(request);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void stream_write_head(const struct edge_stream *stream, const char *name, const char *id, struct buffer *out)
{
    if (stream->is_sse) {
        if (id && *id)
            buffer_printf(out, "id: %s\n", id);
        if (name)
            buffer_printf(out, "event: %s\n", name);
        buffer_print(out, "data: ");
    } else if (name) {
        buffer_printf(out, "{\"%s\":", name);
    }
}

static void stream_write_tail(const struct edge_stream *stream, const char *name, struct buffer *out)
{
    buffer_print(out, stream->is_sse ? "\n\n" : name ? "}\n" : "\n");
}

static void stream_is_too_large(struct edge_stream *stream)
{
    stream_write_gap(stream, "TOO_LARGE", "an event is too large to be sent; read the state instead");
    stream->ops->cancel(stream);
}

struct json_writer stream_event_begin(struct edge_stream *stream, const char *name, const char *id)
{
    struct buffer *out = &stream->edge->out;
    struct json_writer writer;
    buffer_clear(out);
    stream_write_head(stream, name, id, out);
    json_writer_init(&writer, out);
    return writer;
}

void stream_event_end(struct edge_stream *stream, struct json_writer *writer, const char *name)
{
    struct buffer *out = &stream->edge->out;
    stream_write_tail(stream, name, out);
    if (stream->writing && !out->failed)
        buffer_append(&stream->waiting, out->data, out->length);
    if (out->failed || stream->waiting.failed) {
        stream_is_too_large(stream);
        return;
    }
    if (!stream->writing) {
        stream_begin_answer(stream);
        stream_send(stream, out->data, out->length);
    }
    buffer_clear(out);
}

/* ---- large events ------------------------------------------------------------------------------------------------ */

/* The events behind the large one, and what has happened since it began. */
static void stream_go_on(struct edge_stream *stream)
{
    struct buffer waiting = stream->waiting;
    stream->writing = false;
    buffer_init(&stream->waiting, WAITING_MAX);
    if (waiting.length)
        stream_send(stream, waiting.data, waiting.length);
    buffer_fini(&waiting);
    stream_unhold(stream);
    if (stream->closing)
        stream_close(stream);
    else if (!stream->paused && !stream->silent)
        stream->ops->resume(stream);
}

static void stream_large_written(struct writing *writing, void *data)
{
    struct edge_stream *stream = data;
    struct buffer *out = &writing->out;
    stream_write_tail(stream, NULL, out);
    if (writing->job.status.code == OK && !out->failed) {
        stream_send(stream, out->data, out->length);
        stream_go_on(stream);
        return;
    }
    buffer_clear(&stream->waiting); /* an event that is lost is the last one */
    stream->writing = false;
    if (out->failed)
        stream_is_too_large(stream);
    else {
        stream_write_gap(stream, "OVERLOADED", "there is no room to write an event; come back with the last id");
        stream->ops->cancel(stream);
    }
    stream_go_on(stream);
}

static void stream_write_large(struct edge_stream *stream, const char *id, const ProtobufCMessage *message, size_t size)
{
    struct writing *writing = writing_create(stream->edge, stream->principal);
    stream_begin_answer(stream);
    stream->writing = true;
    stream->ops->pause(stream);
    stream_write_head(stream, NULL, id, &writing->out);
    writing_start(writing, message, size, stream_large_written, stream);
}

void stream_write_message(struct edge_stream *stream, const char *id, const ProtobufCMessage *message)
{
    char number[STREAM_ID_MAX];
    size_t size = protobuf_c_message_get_packed_size(message);
    if (!id) {
        stream_event_id(message, number);
        id = number;
    }
    if (size > WRITE_INLINE_MAX && !stream_hold(stream, size))
        return;
    if (size > WRITE_INLINE_MAX && !stream->writing) {
        stream_write_large(stream, id, message, size);
        return;
    }
    struct json_writer writer = stream_event_begin(stream, NULL, id);
    transcode_write(&writer, NULL, message);
    stream_event_end(stream, &writer, NULL);
}

static void stream_write_last(struct edge_stream *stream, const char *name, struct json_writer *writer)
{
    stream->silent = true;
    loop_disarm(stream->edge->loop, &stream->heartbeat);
    loop_disarm(stream->edge->loop, &stream->patience);
    loop_disarm(stream->edge->loop, &stream->access);
    stream_event_end(stream, writer, name);
}

void stream_write_end(struct edge_stream *stream, const char *reason)
{
    if (stream->silent)
        return;
    struct json_writer writer = stream_event_begin(stream, "end", NULL);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "reason", reason);
    json_write_end(&writer);
    stream_write_last(stream, "end", &writer);
}

void stream_write_gap(struct edge_stream *stream, const char *reason, const char *text)
{
    if (stream->silent)
        return;
    edge_metrics_cut(stream->edge->metrics, reason);
    struct json_writer writer = stream_event_begin(stream, "gap", NULL);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "reason", reason);
    json_write_string(&writer, "message", text);
    json_write_end(&writer);
    stream_write_last(stream, "gap", &writer);
}

/* Spreads the reconnects of the clients when a server stops. */
static void stream_write_retry(struct edge_stream *stream)
{
    char retry[32];
    if (!stream->is_sse)
        return;
    stream_begin_answer(stream);
    int size = snprintf(retry, sizeof retry, "retry: %d\n\n", 1000 + (int)random_below(STREAM_LEAVE_MS));
    http_reply_write(stream->request, retry, (size_t)size);
}

static void stream_write_status(struct edge_stream *stream, const struct rpc_client_call *call, const struct status *st)
{
    if (stream->silent)
        return;
    if (st->code == UNAVAILABLE)
        stream_write_retry(stream);
    struct json_writer writer = stream_event_begin(stream, "error", NULL);
    if (stream->is_sse)
        json_write_object(&writer, NULL);
    if (call)
        edge_error_write_call(&writer, stream->is_sse ? "error" : NULL, call);
    else
        edge_error_write(&writer, stream->is_sse ? "error" : NULL, 0, st, NULL, 0);
    if (stream->is_sse)
        json_write_end(&writer);
    stream_write_last(stream, "error", &writer);
}

void stream_write_error(struct edge_stream *stream, const struct rpc_client_call *call)
{
    stream_write_status(stream, call, &call->status);
}

void stream_leave_all(struct edge *edge)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the server is leaving; come back with the last id");
    for (struct edge_stream *stream = edge->streams, *next; stream; stream = next) {
        next = stream->next;
        stream_write_status(stream, NULL, &st);
        stream->ops->cancel(stream);
    }
}
