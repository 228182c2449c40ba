/* Streamed answers: the handler's side. Pieces are framed as they are written, and sent with one system call for all
 * that was written in one turn of the loop. */
#include "http/server_priv.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define SENT_KEPT (4u << 10) /* bytes that were sent and may stay in front of the others */

void http_reply_begin(struct http_request *request, int http_status, const char *content_type)
{
    assert(request->received && request->reply != REPLY_STREAMING && !request->handler_done);
    if (request->gone)
        return;
    request->reply = REPLY_STREAMING;
    reply_write_head(request, &request->out, http_status, content_type, SIZE_MAX);
    connection_continue(request->connection);
}

/* Sent bytes stay in front until they fill half of the memory. */
static void stream_make_room(struct http_request *request)
{
    if (request->out_sent < SENT_KEPT || request->out_sent < request->out.length / 2)
        return;
    size_t rest = request->out.length - request->out_sent;
    memmove(request->out.data, request->out.data + request->out_sent, rest);
    request->out.length = rest;
    request->out_sent = 0;
}

static void write_chunk_size(struct buffer *out, size_t size)
{
    char line[20], *at = line + sizeof line;
    *--at = '\n';
    *--at = '\r';
    do
        *--at = "0123456789abcdef"[size & 15];
    while (size >>= 4);
    buffer_append(out, at, (size_t)(line + sizeof line - at));
}

void http_reply_write(struct http_request *request, const void *bytes, size_t size)
{
    assert(!request->handler_done);
    if (request->gone || !size)
        return;
    assert(request->reply == REPLY_STREAMING);
    if (request->bodyless)
        return;
    stream_make_room(request);
    if (request->chunked)
        write_chunk_size(&request->out, size);
    buffer_append(&request->out, bytes, size);
    if (request->chunked)
        buffer_append(&request->out, "\r\n", 2);
    if (request->out.failed) { /* a client that does not read */
        request->out_sent = 0;
        connection_close(request->connection);
        return;
    }
    if (!http_reply_writable(request))
        request->window_closed = true;
    connection_continue(request->connection);
}

bool http_reply_writable(const struct http_request *request)
{
    return reply_pending(request) <= HTTP_SEND_WINDOW;
}

void http_reply_on_writable(struct http_request *request, void (*writable)(struct http_request *request, void *data),
                            void *data)
{
    request->writable = writable;
    request->writable_data = data;
}

void http_reply_end(struct http_request *request)
{
    if (!request->gone) {
        assert(request->reply == REPLY_STREAMING);
        request->reply = REPLY_ENDED;
        if (request->chunked && !request->bodyless)
            buffer_append(&request->out, "0\r\n\r\n", 5);
        connection_continue(request->connection);
    }
    request_done(request);
}

void http_reply_abort(struct http_request *request)
{
    struct connection *connection = request->connection;
    request_done(request);
    if (connection)
        connection_close(connection);
}
