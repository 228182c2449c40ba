/* Sends answers to the socket: the framed bytes in `out`, followed by the rest of a whole answer. One system call takes
 * all; the unsent rest follows when the socket has room again. */
#include "base/clock.h"
#include "http/server_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define OUT_KEPT (1u << 10) /* bytes of memory that an idle stream keeps */

size_t reply_pending(const struct http_request *request)
{
    return request->out.length - request->out_sent + request->answer_size - request->answer_sent;
}

ssize_t reply_send_pieces(const struct http_request *request, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t sent;
    do
        sent = sendmsg(request->connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static ssize_t reply_send_some(struct http_request *request)
{
    size_t out_left = request->out.length - request->out_sent;
    struct iovec pieces[2] = {
        {request->out.data + request->out_sent, out_left},
        {request->answer + request->answer_sent, request->answer_size - request->answer_sent},
    };
    ssize_t sent = out_left ? reply_send_pieces(request, pieces, 2) : reply_send_pieces(request, pieces + 1, 1);
    if (sent > 0) {
        size_t of_out = (size_t)sent < out_left ? (size_t)sent : out_left;
        request->out_sent += of_out;
        request->answer_sent += (size_t)sent - of_out;
    }
    return sent;
}

/* False if the client has gone. A partial write is no failure. */
static bool send_pending(struct http_request *request)
{
    struct connection *connection = request->connection;
    bool goes = connection->deadline_ns != TIME_NEVER;
    while (reply_pending(request)) {
        ssize_t sent = reply_send_some(request);
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0) { /* EPOLLOUT will bring an edge */
            if (!goes)
                connection_begin_wait(connection);
            return true;
        }
        goes = false;
    }
    request->out_sent = 0;
    if (request->out.capacity > OUT_KEPT)
        buffer_fini(&request->out);
    buffer_clear(&request->out);
    connection_relax(request->connection);
    return true;
}

bool reply_send(struct http_request *request)
{
    if (request->out.failed || !send_pending(request)) {
        connection_close(request->connection);
        return false;
    }
    if (request->reply == REPLY_ENDED && !reply_pending(request)) {
        request_answered(request);
        return true;
    }
    if (request->reply == REPLY_STREAMING && request->window_closed && http_reply_writable(request)) {
        request->window_closed = false;
        if (request->writable)
            request->writable(request, request->writable_data);
    }
    return false;
}
