/* A server that is reached over HTTP ("streamable HTTP"): each message of ours is a POST, and its answer is JSON or a
 * stream of events.
 *
 *      send ---> POST ---> 200 JSON, or events ---> mcp_received
 *                     |          '--- cut before the result: GET with Last-Event-ID ---> the rest
 *                     '--> 202: no answer
 *                     '--> 404 (some: 400) under a session: it is lost */
#include "base/clock.h"
#include "base/memory.h"
#include "http/client.h"
#include "http/sse.h"
#include "instance/tool_runner_instance.h"
#include "mcp_priv.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MAX     256 /* bytes of a session's id */
#define NOTICE_MS       10000
#define LINGER_MS       1000 /* for further messages of a server after its answer */
#define REAP_MS         500
#define REAP_STEP_MS    10
#define HEADERS_MAX     8
#define UNREAD_TIMES    4   /* output_max: a stream of more that no worker has read yet is cut */
#define RESUMES_MAX     16  /* of a request in a row without an event; its time is bounded besides */
#define RESUME_MS       500 /* before a stream is taken up again, if the server gives no `retry` */
#define RESUME_LEAST_MS 10
#define RESUME_MOST_MS  30000

struct exchange;

struct session {
    struct mcp_server *server; /* NULL: closed */
    struct loop *loop;
    struct http_headers *headers; /* of all requests */
    struct http_url *url;
    char id[SESSION_MAX + 1];
    struct exchange *exchanges;
    void **list; /* the list that holds it, of its server's closed sessions; NULL: not in a list */
    struct session *next;
};

struct exchange {
    struct transfer transfer;
    struct session *session;
    struct mcp_request *request; /* NULL: no request, or it has been answered */
    bool greets, streams, had_session;
    bool over; /* the transfer has ended; its remaining events are still read */
    void *sent;
    struct buffer answer; /* that is no stream */
    struct sse sse;
    struct http_header extra[HEADERS_MAX];
    char id[SESSION_MAX + 1], tool[MCP_HEADER_MAX + 1];
    struct timer linger;
    char event[SSE_ID_MAX + 1]; /* the id of the last event; "": no event had an id */
    struct timer resuming;
    bool rests; /* until the stream is taken up again: no transfer is under way */
    unsigned resumes;
    struct exchange *next;
};

static void streamable_unlist(struct session *session)
{
    struct session *before = *session->list;
    while (before != session && before->next != session)
        before = before->next;
    if (before == session)
        *session->list = session->next;
    else
        before->next = session->next;
    session->list = NULL;
}

static void free_if_through(struct session *session)
{
    if (session->server || session->exchanges)
        return;
    if (session->list)
        streamable_unlist(session);
    http_headers_destroy(&session->headers);
    http_url_destroy(&session->url);
    free(session);
}

static void streamable_destroy(struct exchange *exchange)
{
    struct session *session = exchange->session;
    struct exchange **at = &session->exchanges;
    while (*at != exchange)
        at = &(*at)->next;
    *at = exchange->next;
    loop_disarm(session->loop, &exchange->linger);
    loop_disarm(session->loop, &exchange->resuming);
    if (exchange->streams)
        sse_fini(&exchange->sse);
    buffer_fini(&exchange->answer);
    free(exchange->sent);
    free(exchange);
    free_if_through(session);
}

static void streamable_take_up(struct timer *timer);

/* ---- received messages ------------------------------------------------------------------------------------------- */

static bool streamable_event_received(void *owner, const struct sse_event *event)
{
    struct exchange *exchange = owner;
    struct mcp_server *server = exchange->session->server;
    if (event->id[0] && strcmp(exchange->event, event->id) != 0) {
        exchange->resumes = 0;
        strcpy(exchange->event, event->id);
    }
    if (server && event->size)
        mcp_received(server, event->data, event->size);
    return server && exchange->session->server && server->unread_bytes <= UNREAD_TIMES * server->setup->output_max;
}

static void take_session(struct exchange *exchange)
{
    const char *id = transfer_header(&exchange->transfer, "Mcp-Session-Id");
    if (!exchange->greets || !id || strlen(id) > SESSION_MAX)
        return;
    for (const char *c = id; *c; c++)
        if (*c < 0x21 || *c > 0x7e)
            return;
    strcpy(exchange->session->id, id);
}

static void streamable_headers_received(struct transfer *transfer, int http_status)
{
    struct exchange *exchange = transfer->owner;
    const char *type = transfer_header(transfer, "Content-Type");
    exchange->streams = http_status == 200 && type && strncmp(type, "text/event-stream", 17) == 0;
    if (exchange->streams)
        sse_init(&exchange->sse, exchange->session->server ? exchange->session->server->setup->output_max : SESSION_MAX,
                 streamable_event_received, exchange);
    if (http_status >= 200 && http_status < 300)
        take_session(exchange);
}

static void streamable_body_received(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    struct status st = {0};
    if (!exchange->streams)
        buffer_append(&exchange->answer, bytes, size);
    else if (!sse_feed(&exchange->sse, bytes, size, &st))
        transfer_cancel(transfer);
}

/* ---- its end ----------------------------------------------------------------------------------------------------- */

static void fail_request(struct exchange *exchange, const struct status *status, bool unsent)
{
    struct mcp_request *request = exchange->request;
    if (!request)
        return;
    exchange->request = NULL;
    request->exchange = NULL;
    request->unsent = unsent;
    mcp_request_failed(request, status);
}

/* A status after a cut stream is no lost session: the server has seen the call, so it must not be sent again. */
static bool is_session_lost(const struct exchange *exchange)
{
    int status = exchange->transfer.http_status;
    return exchange->had_session && !exchange->greets && !exchange->resumes && (status == 404 || status == 400);
}

static void lose_session(struct exchange *exchange, const struct status *status)
{
    struct mcp_server *server = exchange->session->server;
    struct mcp_request *request = exchange->request;
    if (strcmp(exchange->session->id, exchange->id) == 0)
        exchange->session->id[0] = '\0';
    if (request) {
        exchange->request = NULL;
        request->exchange = NULL;
        request->unsent = true;
        if (!mcp_call_requeue(request))
            mcp_request_failed(request, status);
    }
    mcp_session_lost(server);
}

/* A failure, or no answer. */
static void streamable_judge(struct exchange *exchange)
{
    const struct transfer *transfer = &exchange->transfer;
    const char *name = exchange->session->server->setup->name;
    struct status st = {0};
    int code = transfer->http_status;
    bool unsent = transfer->end == TRANSFER_UNCONNECTED || transfer->end == TRANSFER_REFUSED;
    if (transfer->end != TRANSFER_COMPLETE)
        fail(&st, UNAVAILABLE, "the tool server '%s': %.400s", name, transfer->status.text);
    else if (code >= 200 && code < 300)
        fail(&st, UNAVAILABLE, "the tool server '%s' ended its answer without a result", name);
    else if (exchange->resumes)
        fail(&st, UNAVAILABLE, "the tool server '%s' broke off without a result and cannot take it up (HTTP %d)", name,
             code);
    else if (code == 401 || code == 403)
        fail(&st, UNAVAILABLE, "the tool server '%s' does not let us in (HTTP %d); look at its headers in the document",
             name, code);
    else
        fail(&st, code >= 500 || code == 429 ? UNAVAILABLE : UNKNOWN, "the tool server '%s' answered with HTTP %d",
             name, code);
    if (is_session_lost(exchange))
        lose_session(exchange, &st);
    else
        fail_request(exchange, &st, unsent);
}

/* Events with ids can be requested again, and so can the rest of them; a stream that is cut in this way is not lost. */
static bool may_resume(const struct exchange *exchange)
{
    const struct transfer *transfer = &exchange->transfer;
    bool stopped = exchange->streams && (transfer->end == TRANSFER_COMPLETE || transfer->end == TRANSFER_CUT);
    bool again = exchange->resumes && transfer->end == TRANSFER_UNCONNECTED;
    return exchange->request && exchange->event[0] && !exchange->session->server->modern &&
           exchange->resumes < RESUMES_MAX && (stopped || again);
}

/* All messages of the exchange are understood. */
static void exchange_over(void *data)
{
    struct exchange *exchange = data;
    struct mcp_server *server = exchange->session->server;
    exchange->over = false;
    if (server && may_resume(exchange)) {
        int64_t wait_ms = exchange->streams ? exchange->sse.retry_ms : -1;
        wait_ms = wait_ms < 0 ? RESUME_MS : wait_ms < RESUME_LEAST_MS ? RESUME_LEAST_MS : wait_ms;
        if (exchange->streams)
            sse_fini(&exchange->sse);
        exchange->streams = false;
        exchange->rests = true;
        exchange->resumes++;
        exchange->resuming.expired = streamable_take_up;
        loop_arm_after(exchange->session->loop, &exchange->resuming,
                       wait_ms < RESUME_MOST_MS ? wait_ms : RESUME_MOST_MS);
        return;
    }
    if (server && (exchange->request || is_session_lost(exchange)))
        streamable_judge(exchange);
    streamable_destroy(exchange);
}

static void streamable_finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    struct mcp_server *server = exchange->session->server;
    exchange->over = true;
    if (!server) {
        exchange_over(exchange);
        return;
    }
    bool whole = !exchange->streams && transfer->end == TRANSFER_COMPLETE && !is_session_lost(exchange);
    size_t length = 0;
    char *text = whole && exchange->answer.length ? buffer_take(&exchange->answer, &length) : NULL;
    if (text)
        mcp_received_text(server, text, length);
    mcp_after(server, exchange_over, exchange);
}

static void linger_over(struct timer *timer)
{
    struct exchange *exchange = CONTAINER_OF(timer, struct exchange, linger);
    if (!exchange->over)
        transfer_cancel(&exchange->transfer);
}

static void streamable_stop(struct exchange *exchange)
{
    if (exchange->rests)
        streamable_destroy(exchange);
    else if (!exchange->over)
        transfer_cancel(&exchange->transfer);
}

static void streamable_forget(struct mcp_request *request, bool answered)
{
    struct exchange *exchange = request->exchange;
    request->exchange = NULL;
    exchange->request = NULL;
    if (!answered) {
        streamable_stop(exchange);
        return;
    }
    exchange->linger.expired = linger_over;
    loop_arm_after(exchange->session->loop, &exchange->linger, LINGER_MS);
}

/* ---- sent messages ----------------------------------------------------------------------------------------------- */

static void streamable_add_header(struct exchange *exchange, const char *name, const char *value)
{
    exchange->extra[exchange->transfer.extra_count++] = (struct http_header){name, value};
}

static void streamable_add_headers(struct exchange *exchange, const char *method, const char *tool)
{
    const struct mcp_server *server = exchange->session->server;
    exchange->transfer.extra = exchange->extra;
    if (exchange->session->id[0] && !exchange->greets) {
        strcpy(exchange->id, exchange->session->id);
        exchange->had_session = true;
        streamable_add_header(exchange, "Mcp-Session-Id", exchange->id);
    }
    if (server->modern)
        streamable_add_header(exchange, "MCP-Protocol-Version", MCP_REVISION_MODERN);
    else if (server->revision[0])
        streamable_add_header(exchange, "MCP-Protocol-Version", server->revision);
    if (server->modern && method)
        streamable_add_header(exchange, "Mcp-Method", method);
    if (server->modern && tool && mcp_header_text(tool, exchange->tool))
        streamable_add_header(exchange, "Mcp-Name", exchange->tool);
}

static void streamable_prepare(struct exchange *exchange, const char *verb)
{
    struct session *session = exchange->session;
    transfer_init(&exchange->transfer, session->url, streamable_finished);
    exchange->transfer.method = verb;
    exchange->transfer.headers = session->headers;
    exchange->transfer.owner = exchange;
    exchange->transfer.alias = session->server->setup->name;
    exchange->transfer.headers_received = streamable_headers_received;
    exchange->transfer.body_received = streamable_body_received;
    exchange->transfer.response_max = session->server->setup->output_max;
    exchange->transfer.decompress = true;
    exchange->transfer.timeout_ms = NOTICE_MS;
    exchange->transfer.idle_timeout_ms = 0;
}

static struct exchange *streamable_make(struct session *session, const char *verb)
{
    struct exchange *exchange = xcalloc(1, sizeof *exchange);
    exchange->session = session;
    exchange->next = session->exchanges;
    session->exchanges = exchange;
    buffer_init(&exchange->answer, session->server->setup->output_max);
    streamable_prepare(exchange, verb);
    return exchange;
}

/* Requests the rest of a stream that was cut. */
static void streamable_take_up(struct timer *timer)
{
    struct exchange *exchange = CONTAINER_OF(timer, struct exchange, resuming);
    exchange->rests = false;
    streamable_prepare(exchange, "GET");
    streamable_add_headers(exchange, NULL, NULL);
    streamable_add_header(exchange, "Last-Event-ID", exchange->event);
    exchange->transfer.timeout_ms = 0; /* the owner of the request looks at the time */
    transfer_start(exchange->session->server->runner->http, &exchange->transfer);
}

static void streamable_send(struct mcp_server *server, const struct buffer *message, struct mcp_request *request,
                            const char *method, const char *tool)
{
    struct session *session = server->wire;
    struct exchange *exchange = streamable_make(session, "POST");
    exchange->greets = method && (strcmp(method, "initialize") == 0 || strcmp(method, "server/discover") == 0);
    if (exchange->greets)
        session->id[0] = '\0';
    exchange->request = request;
    if (request) {
        request->exchange = exchange;
        exchange->transfer.timeout_ms = 0; /* the owner of the request looks at the time */
    }
    streamable_add_headers(exchange, method, tool);
    exchange->sent = xmalloc(message->length + 1);
    if (message->length)
        memcpy(exchange->sent, message->data, message->length);
    exchange->transfer.body = exchange->sent;
    exchange->transfer.body_size = message->length;
    transfer_start(server->runner->http, &exchange->transfer);
}

/* ---- its life ---------------------------------------------------------------------------------------------------- */

static bool streamable_open(struct mcp_server *server, struct status *st)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the tool server '%s'", server->setup->name);
    session->loop = server->loop;
    session->headers = http_headers_create();
    session->url = http_url_parse(server->setup->url_text, st);
    if (!session->url || !mcp_add_headers(session->headers, server->setup, st)) {
        free_if_through(session);
        return false;
    }
    session->server = server;
    server->wire = session;
    return true;
}

static void streamable_close(struct mcp_server *server)
{
    struct session *session = server->wire;
    for (struct exchange *exchange = session->exchanges, *next; exchange; exchange = next) {
        next = exchange->next;
        if (exchange->request)
            exchange->request->exchange = NULL;
        exchange->request = NULL;
        streamable_stop(exchange);
    }
    if (session->id[0]) {
        struct exchange *ending = streamable_make(session, "DELETE");
        streamable_add_headers(ending, NULL, NULL);
        transfer_start(server->runner->http, &ending->transfer);
    }
    session->server = NULL;
    session->list = &server->closed;
    session->next = server->closed;
    server->closed = session;
    free_if_through(session);
}

/* Waits a moment for the DELETE requests; then the sessions leave the server, but keep their exchanges. */
static void streamable_reap_all(struct mcp_server *server)
{
    struct loop *loop = server->loop;
    for (int waited_ms = 0; server->closed && waited_ms < REAP_MS; waited_ms += REAP_STEP_MS) {
        loop_leave(loop);
        poll(NULL, 0, REAP_STEP_MS);
        loop_enter(loop);
    }
    while (server->closed)
        streamable_unlist(server->closed);
}

const struct mcp_transport mcp_streamable = {
    .open = streamable_open,
    .send = streamable_send,
    .forget = streamable_forget,
    .close = streamable_close,
    .reap = streamable_reap_all,
};
