/* A request: from its headers to the handler, and until both the handler and the daemon are done with it.
 *
 *      accessed (headers)  ->  accessed (body)*  ->  accessed (whole): handle
 *                                                        |-- answered at once ---------------------> reply_queue
 *                                                        `-- suspend ... answered, resume: accessed -> reply_queue */
#include "base/log.h"
#include "http/server_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REQUEST_ARENA_MAX (1u << 20)  /* bytes of headers of the answer, and whatever the handler puts there */
#define DROPPED_MAX       (16u << 20) /* bytes of a refused body that are read, so that the client sees the refusal */

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void tell_left(struct work *work)
{
    struct http_request *request = OWNER_OF(work, struct http_request, leaving);
    void (*left)(struct http_request *, void *) = request->left;
    request->left = NULL;
    if (left && !request->handler_done)
        left(request, request->left_data);
}

static struct http_request *request_create(struct http_server *server, struct connection *connection)
{
    struct http_request *request = malloc(sizeof *request);
    if (!request)
        fatal("http.memory", "no memory for a request");
    memset(request, 0, offsetof(struct http_request, storage));
    arena_init(&request->arena, request->storage, sizeof request->storage, REQUEST_ARENA_MAX);
    buffer_init(&request->body, server->options.body_max);
    buffer_init(&request->out, server->options.stream_max);
    request->loop = server->loop;
    request->server = server;
    request->connection = connection;
    request->leaving.run = tell_left;
    request->flush.run = stream_flush_deferred;
    request->next = server->requests;
    if (request->next)
        request->next->previous = request;
    server->requests = request;
    server->request_count++;
    connection->request = request;
    return request;
}

static void unlink_request(struct http_request *request)
{
    struct http_server *server = request->server;
    if (!server)
        return;
    if (request->previous)
        request->previous->next = request->next;
    else
        server->requests = request->next;
    if (request->next)
        request->next->previous = request->previous;
    server->request_count--;
}

static void release(struct http_request *request)
{
    if (request->connection || (request->received && !request->handler_done))
        return;
    unlink_request(request);
    loop_undefer(request->loop, &request->leaving);
    loop_undefer(request->loop, &request->flush);
    if (request->response)
        MHD_destroy_response(request->response);
    buffer_fini(&request->body);
    buffer_fini(&request->out);
    arena_fini(&request->arena);
    free(request);
}

void request_done(struct http_request *request)
{
    assert(!request->handler_done);
    request->handler_done = true;
    release(request);
}

void request_suspend(struct http_request *request)
{
    request->suspended = true;
    MHD_suspend_connection(request->connection->mhd);
    connection_watch(request->connection);
}

void request_resume(struct http_request *request)
{
    if (!request->suspended)
        return;
    request->suspended = request->sending = false;
    MHD_resume_connection(request->connection->mhd);
    loop_defer(request->loop, &request->server->resumed);
}

void request_lost(struct http_request *request)
{
    if (request->gone)
        return;
    request->gone = true;
    if (request->received && !request->handler_done) {
        request->server->left++;
        if (request->left)
            loop_defer(request->loop, &request->leaving);
    }
    request->reply = REPLY_ABORTED;
    if (request->connection)
        request_resume(request);
}

/* MHD_OPTION_NOTIFY_COMPLETED */
void request_completed(void *cls, struct MHD_Connection *mhd, void **request_cls, enum MHD_RequestTerminationCode code)
{
    struct http_request *request = *request_cls;
    if (!request)
        return;
    *request_cls = NULL;
    struct connection *connection = request->connection;
    connection->request = NULL;
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        request->server->served++;
    if (request->server->stopping)
        connection_cut(connection);
    else
        connection_allow(connection, 0);
    request->connection = NULL;
    request->suspended = request->sending = false;
    if (!request->handler_done)
        request_lost(request);
    release(request);
}

/* ---- headers and body ------------------------------------------------------------------------------------------- */

struct framing {
    unsigned lengths, encodings;
    bool chunked, expects;
    unsigned long long length;
};

static enum MHD_Result framing_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct framing *framing = cls;
    if (!value)
        return MHD_YES;
    if (strcasecmp(name, "Content-Length") == 0) {
        framing->lengths++;
        framing->length = strtoull(value, NULL, 10); /* the daemon has seen that it is a number */
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        framing->encodings++;
        framing->chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, "Expect") == 0) {
        framing->expects = true;
    }
    return MHD_YES;
}

static enum MHD_Result refuse_now(struct http_request *request);

/* Where two readers could see different ends of the body (RFC 9112 §6.3) the request is refused and the connection
 * closed. */
static enum MHD_Result headers_received(struct http_request *request, struct MHD_Connection *mhd)
{
    struct framing framing = {0};
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, framing_header, &framing);
    bool ambiguous = framing.lengths + framing.encodings > 1 || (framing.encodings && !framing.chunked);
    if (ambiguous) {
        request->refusal = MHD_HTTP_BAD_REQUEST;
        return refuse_now(request);
    }
    if (framing.length <= request->server->options.body_max) {
        if (framing.length)
            connection_allow(request->connection, 0);
        return MHD_YES;
    }
    request->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
    return framing.expects || framing.length > DROPPED_MAX ? refuse_now(request) : MHD_YES;
}

static enum MHD_Result body_received(struct http_request *request, const char *bytes, size_t size)
{
    if (!request->refusal) {
        buffer_append(&request->body, bytes, size);
        if (request->body.failed)
            request->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
        connection_allow(request->connection, request->body.length + 1);
        return MHD_YES;
    }
    request->dropped += size;
    return request->dropped > DROPPED_MAX ? MHD_NO : MHD_YES;
}

/* ---- the daemon's calls ----------------------------------------------------------------------------------------- */

static void refuse(struct http_request *request)
{
    if (request->refusal == MHD_HTTP_CONTENT_TOO_LARGE)
        http_reply_error(request, request->refusal, "the request's body is larger than the %zu bytes allowed",
                         request->server->options.body_max);
    else
        http_reply_error(request, request->refusal, "the length of the request's body is ambiguous");
}

static enum MHD_Result refuse_now(struct http_request *request)
{
    request->received = true;
    http_reply_header(request, "Connection", "close");
    refuse(request);
    return reply_queue(request);
}

static enum MHD_Result answer_or_wait(struct http_request *request)
{
    switch (request->reply) {
    case REPLY_NONE:
        connection_relax(request->connection);
        request_suspend(request);
        return MHD_YES;
    case REPLY_ABORTED:
        return MHD_NO;
    default:
        return reply_queue(request);
    }
}

static struct http_request *begin(struct http_server *server, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version)
{
    struct connection *connection = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct http_request *request = request_create(server, connection);
    request->method = arena_strdup(&request->arena, method);
    request->path = arena_strdup(&request->arena, url);
    request->http_1_0 = strcmp(version, "HTTP/1.0") == 0;
    return request;
}

enum MHD_Result request_accessed(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                 const char *version, const char *upload, size_t *upload_size, void **request_cls)
{
    struct http_server *server = cls;
    struct http_request *request = *request_cls;
    if (!request) {
        *request_cls = request = begin(server, mhd, url, method, version);
        return headers_received(request, mhd);
    }
    if (*upload_size) {
        size_t size = *upload_size;
        *upload_size = 0;
        return body_received(request, upload, size);
    }
    if (!request->received) {
        request->received = true;
        buffer_text(&request->body); /* puts the NUL behind it */
        if (request->refusal)
            refuse(request);
        else
            server_handle(server, request);
    }
    return answer_or_wait(request);
}

/* ---- what a handler asks ---------------------------------------------------------------------------------------- */

const char *http_request_method(const struct http_request *request)
{
    return request->method;
}

const char *http_request_path(const struct http_request *request)
{
    return request->path;
}

const char *http_request_query(const struct http_request *request, const char *name)
{
    const char *value = NULL;
    size_t size;
    if (!request->connection || MHD_lookup_connection_value_n(request->connection->mhd, MHD_GET_ARGUMENT_KIND, name,
                                                              strlen(name), &value, &size) != MHD_YES)
        return NULL;
    return value ? value : "";
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    if (!request->connection)
        return NULL;
    return MHD_lookup_connection_value(request->connection->mhd, MHD_HEADER_KIND, name);
}

const char *http_request_body(const struct http_request *request, size_t *size)
{
    if (size)
        *size = request->body.length;
    return request->body.length ? request->body.data : "";
}

struct arena *http_request_arena(struct http_request *request)
{
    return &request->arena;
}

void http_request_on_left(struct http_request *request, void (*left)(struct http_request *request, void *data),
                          void *data)
{
    request->left = left;
    request->left_data = data;
    if (!left)
        return;
    if (request->gone)
        loop_defer(request->loop, &request->leaving);
    else if (request->connection)
        connection_judge(request->connection);
}

bool http_request_left(const struct http_request *request)
{
    return request->gone;
}
