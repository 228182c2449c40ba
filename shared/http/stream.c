/* Streamed answers.
 *
 * The daemon sends the headers and asks for the first piece of the body. Then the connection is suspended and stays so
 * until the stream's end: its pieces are framed here and written to the socket by us, with one system call for all that
 * was written in one turn of the loop. (Through the daemon each piece would cost a resume, which walks over every
 * suspended connection.) At the end the daemon gets the connection back and sends the last chunk. */
#include "http/server_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define OUT_KEPT    (4u << 10) /* bytes of memory that a stream with nothing to send keeps */
#define READER_SIZE (1u << 10) /* the daemon's buffer for a stream, never used */

static size_t pending(const struct http_request *request)
{
    return request->out.length - request->out_sent;
}

/* MHD's reader: asked for the first piece, and again when the connection was given back. */
static ssize_t daemon_reads(void *cls, uint64_t position, char *buffer, size_t max)
{
    struct http_request *request = cls;
    if (request->reply == REPLY_ABORTED) {
        /* MHD_CONTENT_READER_END_WITH_ERROR would leave a chunked connection closed but not cleaned up (0.9.75, epoll).
         * So the socket goes first: the last chunk cannot be sent, which ends the connection. */
        shutdown(request->connection->fd, SHUT_RDWR);
        return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (request->reply == REPLY_ENDED && pending(request) == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    request->sending = true;
    request_suspend(request);
    loop_defer(request->loop, &request->flush);
    return 0;
}

struct MHD_Response *stream_response(struct http_request *request)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, READER_SIZE, daemon_reads, request, NULL);
}

/* ---- to the socket ---------------------------------------------------------------------------------------------- */

/* False where the client has gone. */
static bool send_pending(struct http_request *request)
{
    int fd = request->connection->fd;
    while (pending(request)) {
        ssize_t sent = send(fd, request->out.data + request->out_sent, pending(request), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0)
            return true; /* an edge of EPOLLOUT will come */
        request->out_sent += (size_t)sent;
        connection_allow(request->connection, 0);
    }
    request->out_sent = 0;
    if (request->out.capacity > OUT_KEPT)
        buffer_fini(&request->out);
    buffer_clear(&request->out);
    connection_relax(request->connection);
    return true;
}

void stream_flush(struct http_request *request)
{
    if (!request->sending)
        return;
    if (!send_pending(request)) {
        request_lost(request);
        return;
    }
    if (request->reply == REPLY_ENDED) {
        if (pending(request) == 0)
            request_resume(request);
        return;
    }
    if (request->window_closed && http_reply_writable(request)) {
        request->window_closed = false;
        if (request->writable)
            request->writable(request, request->writable_data);
    }
}

void stream_flush_deferred(struct work *work)
{
    stream_flush(OWNER_OF(work, struct http_request, flush));
}

/* ---- the handler's side ----------------------------------------------------------------------------------------- */

void http_reply_begin(struct http_request *request, int http_status, const char *content_type)
{
    assert(request->received && request->reply != REPLY_STREAMING && !request->handler_done);
    if (request->gone)
        return;
    request->http_status = http_status;
    request->reply = REPLY_STREAMING;
    request->response = stream_response(request);
    if (!request->response) {
        request_lost(request);
        return;
    }
    if (content_type)
        MHD_add_response_header(request->response, "Content-Type", content_type);
    request_resume(request);
}

/* What was sent stays in front until half of the memory is such. */
static void make_room(struct http_request *request)
{
    if (request->out_sent < OUT_KEPT || request->out_sent < request->out.length / 2)
        return;
    size_t rest = pending(request);
    memmove(request->out.data, request->out.data + request->out_sent, rest);
    request->out.length = rest;
    request->out_sent = 0;
}

void http_reply_write(struct http_request *request, const void *bytes, size_t size)
{
    assert(!request->handler_done);
    if (request->gone || !size)
        return;
    assert(request->reply == REPLY_STREAMING);
    make_room(request);
    if (!request->http_1_0) {
        char head[20];
        int length = snprintf(head, sizeof head, "%zx\r\n", size);
        buffer_append(&request->out, head, (size_t)length);
    }
    buffer_append(&request->out, bytes, size);
    if (!request->http_1_0)
        buffer_append(&request->out, "\r\n", 2);
    if (request->out.failed) { /* a client that does not read */
        request->out_sent = 0;
        shutdown(request->connection->fd, SHUT_RDWR);
        request_lost(request);
        return;
    }
    if (!http_reply_writable(request))
        request->window_closed = true;
    if (request->sending)
        loop_defer(request->loop, &request->flush);
}

bool http_reply_writable(const struct http_request *request)
{
    return pending(request) <= HTTP_SEND_WINDOW;
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
        if (request->sending)
            loop_defer(request->loop, &request->flush);
    }
    request_done(request);
}

void http_reply_abort(struct http_request *request)
{
    if (!request->gone) {
        request->reply = REPLY_ABORTED;
        request_resume(request);
    }
    request_done(request);
}
