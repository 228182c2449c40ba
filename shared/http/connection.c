/* A connection: how long it may take over what it is doing, and whether its client is still there.
 *
 * While the daemon has the connection it sees for itself that a client goes. While a handler is at work, or a stream is
 * sent by us, the connection is suspended and the daemon does not look; then our own watch does. It is edge-triggered
 * and stays for the connection's life, so what happened meanwhile is remembered in `fin` and `broken`. */
#include "base/clock.h"
#include "base/log.h"
#include "http/server_priv.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define BYTES_A_SECOND_MIN (16u << 10) /* the slowest client that is borne with */

/* ---- leaving ---------------------------------------------------------------------------------------------------- */

/* A client that aborts closes its socket; before our next write its FIN is all that shows of it. */
static bool fin_is_leaving(const struct connection *connection)
{
    return !connection->server->options.half_close && connection->request->left;
}

void connection_judge(struct connection *connection)
{
    struct http_request *request = connection->request;
    if (request && request->suspended && (connection->broken || (connection->fin && fin_is_leaving(connection))))
        request_lost(request);
}

static void ready(struct watch *watch, uint32_t events)
{
    struct connection *connection = OWNER_OF(watch, struct connection, watch);
    connection->fin |= (events & EPOLLRDHUP) != 0;
    connection->broken |= (events & (EPOLLERR | EPOLLHUP)) != 0;
    connection_judge(connection);
    struct http_request *request = connection->request;
    if (request && request->sending && events & EPOLLOUT)
        stream_flush(request);
}

void connection_watch(struct connection *connection)
{
    uint32_t edges = EPOLLRDHUP | EPOLLOUT | EPOLLET;
    if (!connection->watched)
        connection->watched = loop_watch(connection->server->loop, &connection->watch, connection->fd, edges);
    connection_judge(connection);
}

void connection_cut(struct connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR); /* which the daemon sees */
    if (connection->request)
        request_lost(connection->request);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* The timer is armed for the earliest time asked for, and looks at the present one when it expires. */
static void deadline_expired(struct timer *timer)
{
    struct connection *connection = OWNER_OF(timer, struct connection, deadline);
    if (clock_now_ns() >= connection->deadline_ns)
        connection_cut(connection);
    else if (connection->deadline_ns != TIME_NEVER)
        loop_arm(connection->server->loop, timer, connection->deadline_ns);
}

void connection_allow(struct connection *connection, uint64_t bytes)
{
    if (bytes == 0)
        connection->since_ns = clock_now_ns();
    connection->deadline_ns = connection->since_ns + connection->server->options.idle_ms * NS_PER_MS +
                              (int64_t)(bytes / BYTES_A_SECOND_MIN) * NS_PER_SEC;
    if (!connection->deadline.place || connection->deadline.at_ns > connection->deadline_ns)
        loop_arm(connection->server->loop, &connection->deadline, connection->deadline_ns);
}

void connection_relax(struct connection *connection)
{
    connection->deadline_ns = TIME_NEVER;
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static struct connection *connection_create(struct http_server *server, struct MHD_Connection *mhd)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        fatal("http.memory", "no memory for a connection");
    connection->server = server;
    connection->mhd = mhd;
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->watch.ready = ready;
    connection->deadline.expired = deadline_expired;
    connection->next = server->connections;
    if (connection->next)
        connection->next->previous = connection;
    server->connections = connection;
    server->connection_count++;
    server->accepted++;
    connection_allow(connection, 0);
    return connection;
}

static void connection_destroy(struct connection *connection)
{
    struct http_server *server = connection->server;
    loop_unwatch(server->loop, &connection->watch);
    loop_disarm(server->loop, &connection->deadline);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    server->connection_count--;
    free(connection);
    server_check_stopped(server);
}

/* MHD_OPTION_NOTIFY_CONNECTION; the socket is still open when the end is told. */
void connection_notified(void *cls, struct MHD_Connection *mhd, void **socket_context,
                         enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = connection_create(cls, mhd);
    } else if (*socket_context) {
        connection_destroy(*socket_context);
        *socket_context = NULL;
    }
}
