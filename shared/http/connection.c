/* A connection: its states, the time limit of each, and detection of a client that left.
 *
 *      accepted --> IDLE --bytes--> READING --whole--> ANSWERING --sent, kept--> IDLE
 *                                      |  `-refused->--'  | `----sent, not kept-------------------.
 *                                      |                  `--refused, or unread bytes--> LINGERING-+--> CLOSED, freed
 *                                      `--its end, its time, a reset (anywhere)----------->-------'
 *
 * The watch is edge-triggered and stays for the connection's life: a request costs no epoll_ctl. Edges are remembered
 * (`readable`, `fin`, `broken`) until they can be acted upon. Callbacks record events; `go_on` decides from the state.
 * No bytes are received while a request is handled: pipelined ones wait in the kernel. */
#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "http/server_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES_A_SECOND_MIN (16u << 10) /* the slowest client that is borne with */
#define EDGES              (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
#define STEPS_A_TURN       16          /* receives, and requests sent ahead; then others have their turn */
#define LINGER_MS          1000        /* for a client to see that it is answered, and stop sending */
#define LINGER_MAX         (16u << 20) /* bytes */
#define DROPPED_AT_ONCE    (1u << 20)  /* bytes */

/* From the row's state to the column's. */
static const bool moves[CONNECTION_STATES][CONNECTION_STATES] = {
    [CONNECTION_IDLE] = {[CONNECTION_READING] = true, [CONNECTION_CLOSED] = true},
    [CONNECTION_READING] = {[CONNECTION_ANSWERING] = true, [CONNECTION_CLOSED] = true},
    [CONNECTION_ANSWERING] = {[CONNECTION_IDLE] = true, [CONNECTION_LINGERING] = true, [CONNECTION_CLOSED] = true},
    [CONNECTION_LINGERING] = {[CONNECTION_CLOSED] = true},
};

static void connection_move(struct connection *connection, enum connection_state state)
{
    bool allowed = moves[connection->state][state];
    assert(allowed);
    (void)allowed;
    connection->state = state;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* The timer is armed for the earliest requested time; when it expires it checks the present one. */
static void deadline_expired(struct timer *timer)
{
    struct connection *connection = CONTAINER_OF(timer, struct connection, deadline);
    bool passed = clock_now_ns() >= connection->deadline_ns;
    if (passed && connection->state == CONNECTION_READING)
        request_expire(connection->request);
    else if (passed)
        connection_close(connection);
    else if (connection->deadline_ns != TIME_NEVER)
        loop_arm(connection->server->loop, timer, connection->deadline_ns);
}

static void connection_set_deadline(struct connection *connection, int64_t at_ns)
{
    connection->deadline_ns = at_ns;
    if (!connection->deadline.place || connection->deadline.at_ns > at_ns)
        loop_arm(connection->server->loop, &connection->deadline, at_ns);
}

static void begin_phase(struct connection *connection, int64_t limit_ms)
{
    connection->since_ns = clock_now_ns();
    connection_set_deadline(connection, connection->since_ns + limit_ms * NS_PER_MS);
}

void connection_begin_wait(struct connection *connection)
{
    begin_phase(connection, connection->server->options.idle_ms);
}

void connection_begin_reading(struct connection *connection)
{
    begin_phase(connection, connection->server->options.read_ms);
}

/* A fast start does not extend a later silence. */
void connection_read_on(struct connection *connection, uint64_t bytes)
{
    int64_t limit_ns = connection->server->options.read_ms * NS_PER_MS;
    int64_t in_all_ns = connection->since_ns + limit_ns + (int64_t)(bytes / BYTES_A_SECOND_MIN) * NS_PER_SEC;
    int64_t silent_ns = clock_now_ns() + limit_ns;
    connection_set_deadline(connection, in_all_ns < silent_ns ? in_all_ns : silent_ns);
}

void connection_relax(struct connection *connection)
{
    connection->deadline_ns = TIME_NEVER;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

void connection_close(struct connection *connection)
{
    if (connection->state == CONNECTION_CLOSED)
        return;
    struct http_server *server = connection->server;
    struct http_request *request = connection->request;
    connection_move(connection, CONNECTION_CLOSED);
    loop_unwatch(server->loop, &connection->watch);
    loop_disarm(server->loop, &connection->deadline);
    if (request && request->reply == REPLY_STREAMING && !request->chunked) {
        /* Without chunks, only a reset tells a client that the body was cut. */
        int fd = connection->fd;
        struct linger none = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    close(connection->fd);
    buffer_fini(&connection->ahead);
    connection->request = NULL;
    if (request)
        request_lost(request);
    loop_defer(server->loop, &connection->turn);
}

void connection_free(struct connection *connection)
{
    struct http_server *server = connection->server;
    assert(!connection->going); /* a handler that it has called destroys the server */
    loop_undefer(server->loop, &connection->turn);
    UNLIST(server->connections, connection);
    server->connection_count--;
    sources_leave(server->sources, connection->source);
    free(connection);
    listener_resume(server);
    server_check_stopped(server);
}

/* A client that aborts closes its socket; before our next write its FIN is all that shows of it. */
static bool fin_is_leaving(const struct connection *connection)
{
    const struct http_request *request = connection->request;
    return !connection->server->options.half_close && request->left && !request->handler_done;
}

void connection_check_peer(struct connection *connection)
{
    if (connection->state == CONNECTION_ANSWERING &&
        (connection->broken || (connection->fin && fin_is_leaving(connection))))
        connection_close(connection);
}

bool connection_is_resting(const struct connection *connection)
{
    return connection->state == CONNECTION_IDLE || connection->state == CONNECTION_LINGERING ||
           (connection->state == CONNECTION_READING && !connection->request->head_whole);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* Into `memory`, or with NULL to nowhere: then the kernel throws the bytes away without a copy. False: there are no
 * bytes now. */
static bool connection_receive(struct connection *connection, char *memory, size_t room, size_t *size)
{
    if (!connection->readable)
        return false;
    ssize_t got;
    do
        got = recv(connection->fd, memory, room, MSG_DONTWAIT | (memory ? 0 : MSG_TRUNC));
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) {
        connection->readable = false;
        return false;
    }
    if (got <= 0) {
        connection_close(connection);
        return false;
    }
    /* After a short read, further bytes bring an edge of their own. */
    connection->readable = got == (ssize_t)room || connection->fin;
    *size = (size_t)got;
    return true;
}

static size_t connection_feed(struct connection *connection, const char *bytes, size_t size)
{
    if (connection->state == CONNECTION_IDLE) {
        connection_move(connection, CONNECTION_READING);
        request_begin(connection);
        connection_begin_reading(connection);
    }
    return request_feed(connection->request, bytes, size);
}

static void feed_ahead(struct connection *connection)
{
    struct buffer *ahead = &connection->ahead;
    connection->ahead_at +=
        connection_feed(connection, ahead->data + connection->ahead_at, ahead->length - connection->ahead_at);
    if (connection->ahead_at < ahead->length)
        return;
    buffer_fini(ahead);
    connection->ahead_at = 0;
}

static void keep_ahead(struct connection *connection, const char *bytes, size_t size)
{
    if (!size || connection->state == CONNECTION_CLOSED || connection->state == CONNECTION_LINGERING)
        return;
    buffer_append(&connection->ahead, bytes, size);
    if (connection->ahead.failed)
        connection_close(connection);
}

static bool drop_some(struct connection *connection)
{
    size_t size;
    if (!connection_receive(connection, NULL, DROPPED_AT_ONCE, &size))
        return false;
    connection->dropped += size;
    if (connection->dropped > LINGER_MAX)
        connection_close(connection);
    return true;
}

/* ---- turns ------------------------------------------------------------------------------------------------------ */

/* False: it waits, for the socket, the handler or its end. */
static bool connection_step(struct connection *connection)
{
    switch (connection->state) {
    case CONNECTION_IDLE:
    case CONNECTION_READING:
        if (connection->ahead.length) {
            feed_ahead(connection);
            return true;
        }
        size_t size;
        char *input = connection->server->input;
        if (!connection_receive(connection, input, SERVER_INPUT_SIZE, &size))
            return false;
        size_t own = connection_feed(connection, input, size);
        keep_ahead(connection, input + own, size - own);
        return true;
    case CONNECTION_ANSWERING:
        return reply_send(connection->request);
    case CONNECTION_LINGERING:
        return drop_some(connection);
    default:
        return false;
    }
}

static void connection_go_on(struct connection *connection)
{
    int steps = 0;
    connection->going = true;
    while (steps < STEPS_A_TURN && connection_step(connection))
        steps++;
    connection->going = false;
    if (steps == STEPS_A_TURN && connection->state != CONNECTION_CLOSED) {
        /* Watching the socket again turns its readiness into new edges at the loop's next poll. */
        if (!loop_watch(connection->server->loop, &connection->watch, connection->fd, EDGES))
            connection_close(connection);
    }
}

static void connection_ready(struct watch *watch, uint32_t events)
{
    struct connection *connection = CONTAINER_OF(watch, struct connection, watch);
    connection->fin |= (events & EPOLLRDHUP) != 0;
    connection->broken |= (events & (EPOLLERR | EPOLLHUP)) != 0;
    connection->readable |= (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0;
    connection_check_peer(connection);
    connection_go_on(connection);
}

static void turn(struct work *work)
{
    struct connection *connection = CONTAINER_OF(work, struct connection, turn);
    if (connection->state == CONNECTION_CLOSED)
        connection_free(connection);
    else
        connection_go_on(connection);
}

void connection_continue(struct connection *connection)
{
    loop_defer(connection->server->loop, &connection->turn);
}

/* ---- begin and end of requests ---------------------------------------------------------------------------------- */

void connection_create(struct http_server *server, int fd, struct source *source)
{
    struct connection *connection = xcalloc(1, sizeof *connection);
    connection->server = server;
    connection->fd = fd;
    connection->source = source;
    connection->watch.ready = connection_ready;
    connection->turn.run = turn;
    connection->deadline.expired = deadline_expired;
    buffer_init(&connection->ahead, SERVER_INPUT_SIZE);
    LIST_PUSH(server->connections, connection);
    server->connection_count++;
    server->accepted++;
    connection_begin_wait(connection);
    if (!loop_watch(server->loop, &connection->watch, fd, EDGES))
        connection_close(connection);
}

void connection_await_answer(struct connection *connection)
{
    connection_move(connection, CONNECTION_ANSWERING);
    connection_relax(connection);
}

static void linger(struct connection *connection)
{
    shutdown(connection->fd, SHUT_WR);
    connection_move(connection, CONNECTION_LINGERING);
    connection->dropped = 0;
    connection_set_deadline(connection, clock_now_ns() + LINGER_MS * NS_PER_MS);
    if (!connection->going)
        connection_continue(connection);
}

/* Closing a socket with unread bytes resets the connection, and the end of the answer may be lost. */
void connection_answered(struct connection *connection, const struct http_request *request)
{
    bool more = connection->ahead.length || connection->readable;
    if (!request->closes && !connection->server->stopping) {
        connection_move(connection, CONNECTION_IDLE);
        connection_begin_wait(connection);
        if (more && !connection->going)
            connection_continue(connection);
    } else if (request->refused || more) {
        linger(connection);
    } else {
        connection_close(connection);
    }
}
