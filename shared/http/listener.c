/* The listening socket: accepts connections, and stops accepting at its limits.
 *
 *      watched ---- as many connections as may be -------------> not watched ---- one is closed ----> watched
 *         `-------- no descriptor, no memory for one ----------> not watched ---- one is closed, or RETRY_MS ----^
 *
 * While the socket is not watched, new connections wait in the kernel's backlog, at no cost here. */
#include "base/clock.h"
#include "base/log.h"
#include "http/address_text.h"
#include "http/server_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BACKLOG              1024
#define ACCEPTS_A_TURN       8   /* the rest brings a new event, and loops that share the socket get their share */
#define RETRY_MS             100 /* after there was no descriptor */
#define WARN_EVERY_NS        (10 * NS_PER_SEC)
#define RECEIVE_BUFFER       (128 << 10) /* bytes that the kernel holds for us: it is memory of this process too */
#define KEEPALIVE_IDLE_S     30
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_PROBES     3

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static int listener_listen_on(const char *text, struct status *st)
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
    /* Accepted connections inherit these options. */
    int family = address.ss_family;
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_REUSEADDR, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
    int both = 0; /* [::] also takes IPv4 */
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    fail(st, UNAVAILABLE, "cannot listen on %s: %s", text, strerror(errno));
    close(fd);
    return -1;
}

static int listener_share(const struct http_server *server, struct status *st)
{
    int fd = fcntl(server->listen_fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        fail(st, RESOURCE_EXHAUSTED, "the listening socket cannot be shared: %s", strerror(errno));
    return fd;
}

static int bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return address_port((struct sockaddr *)&address);
}

/* ---- accepting -------------------------------------------------------------------------------------------------- */

static void listener_rest(struct http_server *server)
{
    loop_unwatch(server->loop, &server->listening);
}

static void accept_failed(struct http_server *server, int error)
{
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
        return; /* no connection, or it is gone again: other states bring an event of their own */
    int64_t now_ns = clock_now_ns();
    if (now_ns >= server->quiet_until_ns) {
        server->quiet_until_ns = now_ns + WARN_EVERY_NS;
        log_warn("http.server.accept", "no connection can be taken in: %s; tried again every %d ms, %u are open",
                 strerror(error), RETRY_MS, server->connection_count);
    }
    listener_rest(server);
    loop_arm_after(server->loop, &server->again, RETRY_MS);
}

static void listener_ready(struct watch *watch, uint32_t events)
{
    struct http_server *server = CONTAINER_OF(watch, struct http_server, listening);
    for (int i = 0; i < ACCEPTS_A_TURN && server->connection_count < server->options.connections_max; i++) {
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof from;
        int fd = accept4(server->listen_fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            accept_failed(server, errno);
            return;
        }
        struct source *source = sources_join(server->sources, (struct sockaddr *)&from);
        if (source)
            connection_create(server, fd, source);
        else
            close(fd);
    }
    if (server->connection_count >= server->options.connections_max)
        listener_rest(server);
}

void listener_resume(struct http_server *server)
{
    if (server->listen_fd < 0 || server->listening.slot)
        return;
    loop_disarm(server->loop, &server->again);
    if (!loop_watch(server->loop, &server->listening, server->listen_fd, EPOLLIN))
        fatal("http.descriptors", "the listening socket cannot be watched: %s", strerror(errno));
}

static void listener_again(struct timer *timer)
{
    listener_resume(CONTAINER_OF(timer, struct http_server, again));
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

bool listener_open(struct http_server *server, struct status *st)
{
    const struct http_server_options *options = &server->options;
    server->sources =
        options->shares ? sources_hold(options->shares->sources) : sources_create(options->connections_per_address);
    server->listen_fd = options->shares ? listener_share(options->shares, st) : listener_listen_on(options->listen, st);
    if (server->listen_fd < 0) {
        sources_release(&server->sources);
        return false;
    }
    server->port = bound_port(server->listen_fd);
    server->listening.ready = listener_ready;
    server->again.expired = listener_again;
    listener_resume(server);
    return true;
}

void listener_close(struct http_server *server)
{
    if (server->listen_fd < 0)
        return;
    loop_disarm(server->loop, &server->again);
    listener_rest(server);
    close(server->listen_fd);
    server->listen_fd = -1;
}
