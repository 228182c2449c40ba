/* A request: from its first byte to its handler, and until both the handler and the connection are done with it.
 *
 *      begin -> feed* -> head ---> body* ---> whole: handle ------------------> answered
 *                 |        |         `-- too large: dropped to its end, 413 ---^
 *                 `--------+-- refused: an answer at once, and the connection goes --^
 */
#include "base/list.h"
#include "base/memory.h"
#include "http/hosts.h"
#include "http/server_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define REQUEST_ARENA_MAX (1u << 20)  /* bytes of answer headers and of the handler's own allocations */
#define BODY_FIRST_MAX    (16u << 10) /* bytes of a body that get memory because they were announced */
#define DROPPED_MAX       (16u << 20) /* bytes of a refused body that are read, so that the client sees the refusal */

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void tell_left(struct work *work)
{
    struct http_request *request = CONTAINER_OF(work, struct http_request, leaving);
    void (*left)(struct http_request *, void *) = request->left;
    request->left = NULL;
    if (left && !request->handler_done)
        left(request, request->left_data);
}

void request_begin(struct connection *connection)
{
    struct http_server *server = connection->server;
    struct http_request *request = xmalloc(sizeof *request);
    memset(request, 0, offsetof(struct http_request, storage));
    arena_init(&request->arena, request->storage, sizeof request->storage, REQUEST_ARENA_MAX);
    http1_begin_request(&request->reader, server->options.header_max);
    buffer_init(&request->body, server->options.body_max);
    buffer_init(&request->out, server->options.stream_max);
    request->headers_end = &request->headers;
    request->loop = server->loop;
    request->budget = server->options.budget;
    request->server = server;
    request->connection = connection;
    request->leaving.run = tell_left;
    LIST_PUSH(server->requests, request);
    server->request_count++;
    connection->request = request;
}

static void unlink_request(struct http_request *request)
{
    struct http_server *server = request->server;
    if (!server)
        return;
    UNLIST(server->requests, request);
    server->request_count--;
}

static void request_release(struct http_request *request)
{
    if (request->connection || (request->received && !request->handler_done))
        return;
    unlink_request(request);
    loop_undefer(request->loop, &request->leaving);
    http1_fini(&request->reader);
    buffer_fini(&request->body);
    budget_give(request->budget, &request->hold);
    http_request_unhold(request);
    buffer_fini(&request->out);
    free(request->answer);
    arena_fini(&request->arena);
    free(request);
}

void request_done(struct http_request *request)
{
    assert(!request->handler_done);
    request->handler_done = true;
    request_release(request);
}

void request_lost(struct http_request *request)
{
    request->gone = true;
    request->connection = NULL;
    if (request->received && !request->handler_done) {
        request->server->left++;
        if (request->left)
            loop_defer(request->loop, &request->leaving);
    }
    request_release(request);
}

void request_answered(struct http_request *request)
{
    struct connection *connection = request->connection;
    request->server->served++;
    connection->request = NULL;
    request->connection = NULL;
    connection_answered(connection, request);
    request_release(request);
}

/* ---- results of a request --------------------------------------------------------------------------------------- */

static void request_received(struct http_request *request)
{
    request->received = true;
    connection_await_answer(request->connection);
}

/* No further bytes of it are read: its end is unknown or too far away. */
static void http_request_refuse(struct http_request *request, int http_status, const char *why)
{
    request_received(request);
    request->refused = true;
    http_reply_error(request, http_status, "the request cannot be read: %s", why);
}

static void request_refuse_size(struct http_request *request)
{
    http_reply_error(request, 413, "the request's body is larger than the %zu bytes allowed",
                     request->server->options.body_max);
}

static void refuse_size_now(struct http_request *request)
{
    request_received(request);
    request->refused = true;
    request_refuse_size(request);
}

static void refuse_with(struct http_request *request, const struct status *st)
{
    const struct http_access *access = &request->server->access;
    request_received(request);
    request->refused = request->reader.state != HTTP1_DONE; /* a body without a reader is on its way */
    if (access->refuse)
        access->refuse(request, st, access->data);
    else
        http_reply_status(request, st);
}

static bool host_is_served(const struct http_request *request, const char *host, struct status *st)
{
    const struct http_server_options *options = &request->server->options;
    if (!request->server->checks_host || host_is_allowed(host, options->listen, options->hosts))
        return true;
    return fail(
        st, PERMISSION_DENIED,
        "'%.100s' (the host of the URL, else the field Host) is no name of this server; ask for localhost or the "
        "address that it listens on, or have the operator allow the name",
        host);
}

/* RFC 9112 §3.2.2: the host of an absolute target is the one that is asked, with any Host. */
static const char *asked_host(const struct http_request *request)
{
    const char *host = request->authority ? request->authority : http1_field(&request->reader, "host");
    return host ? host : "";
}

static bool head_is_well(struct http_request *request, const char *expects)
{
    const char *host = http1_field(&request->reader, "host");
    struct status st = {0};
    if (!target_read(request))
        http_request_refuse(request, 400, "its target is no path that is encoded as it should be, nor a URL of one");
    else if (expects && strcasecmp(expects, "100-continue") != 0)
        http_request_refuse(request, 417, "it expects what is not known here");
    else if (host && !host_is_valid(host))
        http_request_refuse(request, 400, "its Host is no name or address with a port");
    else if (request->authority && (!*request->authority || !host_is_valid(request->authority)))
        http_request_refuse(request, 400, "the host of its URL is no name or address with a port");
    else if (!host_is_served(request, asked_host(request), &st))
        refuse_with(request, &st);
    else
        return true;
    return false;
}

static bool request_is_admitted(struct http_request *request)
{
    const struct http_access *access = &request->server->access;
    struct status st = {0};
    if (!access->admits || access->admits(request, &request->hold.owner, &st, access->data))
        return true;
    refuse_with(request, &st);
    return false;
}

/* The memory of the body, and of the handler's data from it, is the budget's. False: the budget has no
 * room, and the request was refused. */
static bool request_charge(struct http_request *request)
{
    size_t wanted = request->body.capacity * request->server->options.body_weight, held = request->hold.bytes;
    if (budget_take(request->budget, &request->hold, request->body.length, wanted > held ? wanted - held : 0))
        return true;
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the requests under way leave no room for a body of this size; try again later");
    st.retry_after_ms = BUDGET_RETRY_MS;
    buffer_fini(&request->body);
    refuse_with(request, &st);
    return false;
}

static void request_head_received(struct http_request *request, bool body_came_too)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct http1 *reader = &request->reader;
    struct connection *connection = request->connection;
    const char *expects = http1_field(reader, "expect");
    request->head_whole = true;
    if (!head_is_well(request, expects) || !request_is_admitted(request))
        return;
    request->too_big = reader->has_length && reader->length > request->server->options.body_max;
    if (request->too_big && (expects || reader->length > DROPPED_MAX)) {
        refuse_size_now(request);
        return;
    }
    if (reader->state == HTTP1_DONE)
        return;
    connection->dropped = 0;
    connection_begin_reading(connection);
    if (reader->has_length && !request->too_big) {
        request->body.limit = (size_t)reader->length; /* a buffer that doubles stops there */
        buffer_reserve(&request->body, reader->length < BODY_FIRST_MAX ? (size_t)reader->length : BODY_FIRST_MAX);
    }
    if (!request_charge(request))
        return;
    if (expects && !reader->minor_0 && !body_came_too)
        send(connection->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void request_body_received(struct http_request *request, const char *bytes, size_t size)
{
    struct connection *connection = request->connection;
    size_t kept = request->body.length; /* which a buffer that is too small frees */
    if (!request->too_big)
        buffer_append(&request->body, bytes, size);
    request->too_big |= request->body.failed;
    if (!request_charge(request))
        return;
    if (request->too_big)
        connection->dropped += kept + size;
    if (connection->dropped > DROPPED_MAX)
        refuse_size_now(request);
    else if (request->reader.state != HTTP1_DONE)
        connection_read_on(connection, request->body.length + connection->dropped);
}

void request_expire(struct http_request *request)
{
    request_received(request);
    request->reader.keeps = false;
    http_reply_error(request, 408,
                     "the request did not come in time: its headers may take %lld ms, and so may any "
                     "silence within its body",
                     (long long)request->server->options.read_ms);
}

/* After an event that ends it, the request may be gone. */
size_t request_feed(struct http_request *request, const char *bytes, size_t size)
{
    struct connection *connection = request->connection;
    size_t at = 0;
    while (connection->state == CONNECTION_READING) {
        size_t taken;
        enum http1_event event = http1_next(&request->reader, bytes + at, size - at, &taken);
        at += taken;
        switch (event) {
        case HTTP1_MORE:
            if (at == size)
                return at;
            break;
        case HTTP1_HEAD:
            request_head_received(request, size > at);
            break;
        case HTTP1_BODY:
            request_body_received(request, bytes + at - taken, taken);
            break;
        case HTTP1_END:
            request_received(request);
            buffer_text(&request->body); /* puts the NUL behind it */
            if (request->too_big)
                request_refuse_size(request);
            else
                server_handle(request->server, request);
            return at;
        case HTTP1_INVALID:
        case HTTP1_TOO_LARGE:
            http_request_refuse(request, request->reader.refusal, request->reader.why);
            return size;
        }
    }
    return size;
}

/* ---- the handler's getters -------------------------------------------------------------------------------------- */

const char *http_request_method(const struct http_request *request)
{
    return http1_method(&request->reader);
}

const char *http_request_path(const struct http_request *request)
{
    return request->path;
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    return http1_field(&request->reader, name);
}

const char *http_request_body(const struct http_request *request, size_t *size)
{
    if (size)
        *size = request->body.length;
    return request->body.length ? request->body.data : "";
}

void http_request_forget_body(struct http_request *request)
{
    buffer_fini(&request->body);
}

bool http_request_hold(struct http_request *request, struct budget *budget, size_t size)
{
    request->answers = budget;
    request->answer_hold.owner = request->hold.owner;
    return budget_take(budget, &request->answer_hold, size, size);
}

void http_request_unhold(struct http_request *request)
{
    budget_give(request->answers, &request->answer_hold);
}

void http_request_set_subject(struct http_request *request, const void *subject)
{
    request->subject = subject;
}

const void *http_request_subject(const struct http_request *request)
{
    return request->subject;
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
        connection_check_peer(request->connection);
}

bool http_request_left(const struct http_request *request)
{
    return request->gone;
}
