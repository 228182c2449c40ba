/* The server: libmicrohttpd's daemon, without threads of its own, driven by the loop.
 *
 *      its epoll becomes readable, a connection is given back, it has more to do  ->  server_run  ->  MHD_run
 *
 * Everything of ours that the daemon calls happens within MHD_run, and so inside the loop. */
#include "base/clock.h"
#include "base/log.h"
#include "http/address_text.h"
#include "http/server_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_DEFAULT_MAX 4096
#define HEADER_DEFAULT_MAX      (16u << 10)
#define BODY_DEFAULT_MAX        (8u << 20)
#define STREAM_DEFAULT_MAX      (16u << 20)
#define IDLE_DEFAULT_MS         30000
#define POOL_BESIDE_HEADERS     (4u << 10) /* bytes of a connection's memory for its answer's headers */
#define BACKLOG                 1024
#define KEEPALIVE_IDLE_S        30
#define KEEPALIVE_INTERVAL_S    10
#define KEEPALIVE_PROBES        3

/* ---- running ---------------------------------------------------------------------------------------------------- */

void server_run(struct http_server *server)
{
    assert(loop_current() == server->loop);
    loop_undefer(server->loop, &server->resumed);
    MHD_run(server->daemon);
    MHD_UNSIGNED_LONG_LONG wait_ms;
    if (MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES && wait_ms == 0)
        loop_arm(server->loop, &server->again, clock_now_ns()); /* not deferred: others have their turn first */
}

static void daemon_ready(struct watch *watch, uint32_t events)
{
    server_run(OWNER_OF(watch, struct http_server, watch));
}

static void again_expired(struct timer *timer)
{
    server_run(OWNER_OF(timer, struct http_server, again));
}

static void resumed(struct work *work)
{
    server_run(OWNER_OF(work, struct http_server, resumed));
}

static void daemon_logged(void *cls, const char *format, va_list arguments)
{
    if (!log_enabled(LOG_DEBUG))
        return;
    char line[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(line, sizeof line, format, arguments);
#pragma GCC diagnostic pop
    line[strcspn(line, "\r\n")] = '\0';
    log_write(LOG_DEBUG, "http.server.daemon", "%s", line);
}

/* ---- listening -------------------------------------------------------------------------------------------------- */

/* What is set here, accepted connections inherit. */
static void socket_options(int fd, int family)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_REUSEADDR, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
        {IPPROTO_TCP, TCP_NODELAY, 1},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
    int both = 0; /* [::] also takes IPv4 */
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
}

static int listen_on(const char *text, struct status *st)
{
    struct sockaddr_storage address;
    socklen_t size;
    if (!address_parse(text, &address, &size, st))
        return -1;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        fail(st, RESOURCE_EXHAUSTED, "no socket to listen on %s: %s", text, strerror(errno));
        return -1;
    }
    socket_options(fd, address.ss_family);
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    fail(st, UNAVAILABLE, "cannot listen on %s: %s", text, strerror(errno));
    close(fd);
    return -1;
}

static int bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return address_port((struct sockaddr *)&address);
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void defaults(struct http_server_options *options)
{
    if (!options->connections_max)
        options->connections_max = CONNECTIONS_DEFAULT_MAX;
    if (!options->header_max)
        options->header_max = HEADER_DEFAULT_MAX;
    if (!options->body_max)
        options->body_max = BODY_DEFAULT_MAX;
    if (!options->stream_max)
        options->stream_max = STREAM_DEFAULT_MAX;
    if (!options->idle_ms)
        options->idle_ms = IDLE_DEFAULT_MS;
}

/* No timeout of the daemon's own: connection.c has the loop's timers for that. */
static struct MHD_Daemon *daemon_start(struct http_server *server)
{
    const struct http_server_options *options = &server->options;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, request_accessed, server,
        MHD_OPTION_EXTERNAL_LOGGER, daemon_logged, NULL, MHD_OPTION_LISTEN_SOCKET, server->listen_fd,
        MHD_OPTION_NOTIFY_CONNECTION, connection_notified, server, MHD_OPTION_NOTIFY_COMPLETED, request_completed,
        server, MHD_OPTION_CONNECTION_LIMIT, options->connections_max, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        options->connections_per_address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->header_max + POOL_BESIDE_HEADERS,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

static void limit_passed(struct timer *timer);
static void report_stopped(struct work *work);

struct http_server *http_server_create(struct loop *loop, const struct http_server_options *options, struct status *st)
{
    assert(loop_current() == loop);
    int fd = options->shares ? fcntl(options->shares->listen_fd, F_DUPFD_CLOEXEC, 3) : listen_on(options->listen, st);
    if (fd < 0) {
        if (options->shares)
            fail(st, RESOURCE_EXHAUSTED, "the listening socket cannot be shared: %s", strerror(errno));
        return NULL;
    }
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        fatal("http.memory", "no memory for an HTTP server");
    server->loop = loop;
    server->options = *options;
    defaults(&server->options);
    server->listen_fd = fd;
    server->port = bound_port(fd);
    server->again.expired = again_expired;
    server->limit.expired = limit_passed;
    server->watch.ready = daemon_ready;
    server->resumed.run = resumed;
    server->report.run = report_stopped;
    server->daemon = daemon_start(server);
    if (!server->daemon) {
        fail(st, RESOURCE_EXHAUSTED, "the HTTP server on port %d cannot be started", server->port);
        close(fd);
        free(server);
        return NULL;
    }
    int epoll_fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    if (!loop_watch(loop, &server->watch, epoll_fd, EPOLLIN))
        fatal("http.descriptors", "the HTTP server's epoll cannot be watched: %s", strerror(errno));
    return server;
}

int http_server_port(const struct http_server *server)
{
    return server->port;
}

static void stop_listening(struct http_server *server)
{
    if (server->listen_fd < 0)
        return;
    MHD_quiesce_daemon(server->daemon);
    close(server->listen_fd);
    server->listen_fd = -1;
}

static void report_stopped(struct work *work)
{
    struct http_server *server = OWNER_OF(work, struct http_server, report);
    void (*stopped)(void *data) = server->stopped;
    server->stopped = NULL;
    loop_disarm(server->loop, &server->limit);
    if (stopped)
        stopped(server->stopped_data);
}

void server_check_stopped(struct http_server *server)
{
    if (server->stopping && server->connection_count == 0)
        loop_defer(server->loop, &server->report);
}

static void cut_all(struct http_server *server)
{
    for (struct connection *connection = server->connections; connection; connection = connection->next)
        connection_cut(connection);
}

static void limit_passed(struct timer *timer)
{
    cut_all(OWNER_OF(timer, struct http_server, limit));
}

void http_server_stop(struct http_server *server, int64_t limit_ms, void (*stopped)(void *data), void *data)
{
    server->stopping = true;
    server->stopped = stopped;
    server->stopped_data = data;
    stop_listening(server);
    for (struct connection *connection = server->connections; connection; connection = connection->next)
        if (!connection->request)
            connection_cut(connection);
    loop_arm_after(server->loop, &server->limit, limit_ms);
    server_check_stopped(server);
}

void http_server_destroy(struct http_server **server_pointer)
{
    struct http_server *server = *server_pointer;
    if (!server)
        return;
    assert(loop_current() == server->loop);
    *server_pointer = NULL;
    stop_listening(server);
    server->stopped = NULL;
    cut_all(server);
    MHD_run(server->daemon); /* it must have every connection back before it is stopped */
    loop_unwatch(server->loop, &server->watch);
    MHD_stop_daemon(server->daemon);
    loop_disarm(server->loop, &server->again);
    loop_disarm(server->loop, &server->limit);
    loop_undefer(server->loop, &server->resumed);
    loop_undefer(server->loop, &server->report);
    while (server->requests) {
        struct http_request *request = server->requests;
        server->requests = request->next;
        request->server = NULL;
    }
    while (server->tables) {
        struct route_table *table = server->tables;
        server->tables = table->next;
        free(table);
    }
    free(server);
}

void http_server_stats(const struct http_server *server, struct http_server_stats *stats)
{
    *stats = (struct http_server_stats){
        .connections = server->connection_count,
        .requests = server->request_count,
        .accepted = server->accepted,
        .served = server->served,
        .left = server->left,
    };
}
