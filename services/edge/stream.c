#include "stream.h"

#include "base/budget.h"
#include "base/random.h"
#include "edge_metrics.h"
#include "edge_shared.h"
#include "errors.h"
#include "stream_quota.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TYPE_SSE   "text/event-stream"
#define TYPE_LINES "application/x-ndjson"

bool edge_accepts(const struct http_request *request, const char *type)
{
    const char *accept = http_request_header(request, "accept");
    size_t kind = strcspn(type, "/") + 1;
    if (!accept || !*accept)
        return true;
    for (const char *at = accept; *at;) {
        size_t length = strcspn(at, ";, ");
        bool all = length == 3 && memcmp(at, "*/*", 3) == 0;
        bool of_kind = length == kind + 1 && at[kind] == '*' && strncasecmp(at, type, kind) == 0;
        if (all || of_kind || (length == strlen(type) && strncasecmp(at, type, length) == 0))
            return true;
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
    return false;
}

/* A client gets events only if it names their type: curl and fetch accept every type. */
static bool stream_wants_sse(const struct http_request *request)
{
    const char *accept = http_request_header(request, "accept");
    return accept && strcasestr(accept, TYPE_SSE);
}

/* ---- its time ---------------------------------------------------------------------------------------------------- */

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
    loop_disarm(stream->edge->loop, &stream->patience);
    if (!stream->silent)
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

/* ---- its life ---------------------------------------------------------------------------------------------------- */

bool stream_open(struct edge_stream *stream, const struct edge_stream_ops *ops, struct edge *edge,
                 struct http_request *request, const struct rpc_principal *principal)
{
    uint64_t owner = budget_owner(principal->tenant, principal->name);
    bool is_sse = stream_wants_sse(request);
    if (!is_sse && !edge_accepts(request, TYPE_LINES) && !edge_accepts(request, EDGE_TYPE_JSON)) {
        edge_refuse(request, 406, "this method streams; accept " TYPE_SSE " or " TYPE_LINES);
        return false;
    }
    if (!stream_quota_take(edge->shared->quota, owner)) {
        struct status st = {0};
        fail(&st, RESOURCE_EXHAUSTED, "this key has %u streams already, as many as it may; close some, or share one",
             edge->settings.streams_per_client);
        st.retry_after_ms = 1000;
        edge_fail(request, &st);
        return false;
    }
    *stream = (struct edge_stream){
        .ops = ops,
        .edge = edge,
        .request = request,
        .owner = owner,
        .is_sse = is_sse,
        .opening.expired = stream_opening_passed,
        .heartbeat.expired = stream_heartbeat_due,
        .patience.expired = stream_patience_passed,
    };
    stream->next = edge->streams;
    stream->link = &edge->streams;
    if (stream->next)
        stream->next->link = &stream->next;
    edge->streams = stream;
    edge_metrics_stream_opened(edge->metrics);
    loop_arm_after(edge->loop, &stream->opening, STREAM_OPEN_MS);
    stream_arm_heartbeat(stream);
    return true;
}

void stream_release(struct edge_stream *stream)
{
    struct loop *loop = stream->edge->loop;
    loop_disarm(loop, &stream->opening);
    loop_disarm(loop, &stream->heartbeat);
    loop_disarm(loop, &stream->patience);
    stream_quota_release(stream->edge->shared->quota, stream->owner);
    edge_metrics_stream_closed(stream->edge->metrics);
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
}

void stream_close(struct edge_stream *stream)
{
    struct http_request *request = stream->request;
    stream_begin_answer(stream);
    stream_release(stream);
    http_reply_end(request);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct json_writer stream_event_begin(struct edge_stream *stream, const char *name, const char *id)
{
    struct buffer *out = &stream->edge->out;
    struct json_writer writer;
    buffer_clear(out);
    if (stream->is_sse) {
        if (id && *id)
            buffer_printf(out, "id: %s\n", id);
        if (name)
            buffer_printf(out, "event: %s\n", name);
        buffer_print(out, "data: ");
    } else if (name) {
        buffer_printf(out, "{\"%s\":", name);
    }
    json_writer_init(&writer, out);
    return writer;
}

void stream_event_end(struct edge_stream *stream, struct json_writer *writer, const char *name)
{
    struct buffer *out = &stream->edge->out;
    buffer_print(out, stream->is_sse ? "\n\n" : name ? "}\n" : "\n");
    if (out->failed) {
        stream_write_gap(stream, "TOO_LARGE", "an event is too large to be sent; read the state instead");
        stream->ops->cancel(stream);
        return;
    }
    stream_begin_answer(stream);
    stream_send(stream, out->data, out->length);
    buffer_clear(out);
}

static void stream_write_last(struct edge_stream *stream, const char *name, struct json_writer *writer)
{
    stream->silent = true;
    loop_disarm(stream->edge->loop, &stream->heartbeat);
    loop_disarm(stream->edge->loop, &stream->patience);
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
