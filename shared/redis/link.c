#include "redis/link.h"

#include "base/clock.h"
#include "base/memory.h"
#include "redis/link_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE  ((size_t)64 << 10)
#define OUT_KEPT   ((size_t)1 << 20) /* bytes of memory that stay when all is sent */
#define LOOK_UP_MS 2                 /* between two looks whether a name has been found */

struct redis_link {
    struct redis_link_options options;
    int fd;
    struct redis_tls *tls; /* NULL: no TLS */
    struct redis_replies *replies;
    struct buffer out;
    int64_t busy_ms; /* extra time that the peer may need for the last request */
    char read[READ_SIZE];
};

static bool link_lost(const struct redis_link *link, struct status *st, const char *why)
{
    char place[REDIS_PLACE_MAX];
    return fail(st, UNAVAILABLE, "Redis at %s %s", redis_target_place(link->options.target, place), why);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Waits for `silence_ms` at most, and longer after a large request. */
static bool wait_for(struct redis_link *link, short events, int64_t deadline_ns, struct status *st)
{
    struct pollfd watched = {.fd = link->fd, .events = events};
    int64_t silent_ns = clock_now_ns() + (link->options.silence_ms + link->busy_ms) * NS_PER_MS;
    int64_t until_ns = silent_ns < deadline_ns ? silent_ns : deadline_ns;
    for (;;) {
        int64_t left_ns = until_ns - clock_now_ns();
        if (left_ns <= 0)
            return link_lost(link, st, "does not answer in time");
        int ready = poll(&watched, 1, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return link_lost(link, st, "cannot be waited for");
    }
}

static bool link_again(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static ssize_t link_send_some(struct redis_link *link, const char *bytes, size_t size, short *events)
{
    *events = POLLOUT;
    if (link->tls != NULL)
        return redis_tls_send(link->tls, bytes, size, events);
    return send(link->fd, bytes, size, MSG_NOSIGNAL);
}

static ssize_t receive_some(struct redis_link *link, short *events)
{
    *events = POLLIN;
    if (link->tls != NULL)
        return redis_tls_recv(link->tls, link->read, sizeof link->read, events);
    return recv(link->fd, link->read, sizeof link->read, 0);
}

struct buffer *redis_link_out(struct redis_link *link)
{
    return &link->out;
}

static void empty_out(struct redis_link *link)
{
    buffer_clear(&link->out);
    if (link->out.capacity <= OUT_KEPT)
        return;
    buffer_fini(&link->out);
    buffer_init(&link->out, link->options.request_max);
}

bool redis_link_send(struct redis_link *link, int64_t deadline_ns, struct status *st)
{
    size_t sent = 0;
    short events;
    if (link->out.failed)
        return link_lost(link, st, "is told more than there is memory for here");
    link->busy_ms = redis_link_busy_ms(link->out.length);
    while (sent < link->out.length) {
        ssize_t size = link_send_some(link, link->out.data + sent, link->out.length - sent, &events);
        if (size > 0)
            sent += (size_t)size;
        else if (size == 0 || !link_again())
            return link_lost(link, st, "has closed the connection");
        else if (!wait_for(link, events, deadline_ns, st))
            return false;
    }
    empty_out(link);
    return true;
}

struct redis_reply *redis_link_reply(struct redis_link *link, int64_t deadline_ns, struct status *st)
{
    struct redis_reply *reply;
    short events;
    for (;;) {
        if (!redis_replies_next(link->replies, &reply)) {
            redis_reply_free(&reply);
            link_lost(link, st, "does not speak as Redis does");
            return NULL;
        }
        if (reply != NULL)
            return reply;
        ssize_t size = receive_some(link, &events);
        if (size > 0 && redis_replies_feed(link->replies, link->read, (size_t)size))
            continue;
        if (size >= 0 || !link_again()) {
            link_lost(link, st, size > 0 ? "does not speak as Redis does" : "has closed the connection");
            return NULL;
        }
        if (!wait_for(link, events, deadline_ns, st))
            return NULL;
    }
}

/* ---- the way there ----------------------------------------------------------------------------------------------- */

static bool link_find(const struct redis_link *link, struct sockaddr_storage *address, socklen_t *size,
                      int64_t deadline_ns, struct status *st)
{
    if (redis_target_address(link->options.target, address, size))
        return true;
    struct redis_lookup *lookup = redis_lookup_start(link->options.target);
    bool done = false;
    while (lookup != NULL && !(done = redis_lookup_done(lookup, address, size)) && clock_now_ns() < deadline_ns)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_UP_MS * NS_PER_MS}, NULL);
    if (lookup == NULL)
        return link_lost(link, st, "has a name that cannot be looked up: too many lookups hang");
    redis_lookup_drop(&lookup);
    if (!done)
        return link_lost(link, st, "has a name that is not found in time");
    return *size > 0 || link_lost(link, st, "has a name that is not found");
}

static bool link_connect_to(struct redis_link *link, int64_t deadline_ns, struct status *st)
{
    int yes = 1, error = 0;
    socklen_t size, error_size = sizeof error;
    struct sockaddr_storage address;
    if (!link_find(link, &address, &size, deadline_ns, st))
        return false;
    link->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return link_lost(link, st, "cannot be reached: there is no socket left");
    if (connect(link->fd, (const struct sockaddr *)&address, size) != 0 && errno != EINPROGRESS)
        return link_lost(link, st, "cannot be reached");
    if (!wait_for(link, POLLOUT, deadline_ns, st))
        return false;
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0 || error != 0)
        return link_lost(link, st, "cannot be reached");
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    /* TCP probes an idle connection and gives it up after two seconds, so that its next user does not have to find out.
     * A busy one has its own timeout (wait_for), because a busy Redis may not read. */
    int fd = link->fd;
    static const struct {
        int level, name, value;
    } settings[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 1},
        {IPPROTO_TCP, TCP_KEEPINTVL, 1},
        {IPPROTO_TCP, TCP_KEEPCNT, 1},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setsockopt(fd, settings[i].level, settings[i].name, &settings[i].value, sizeof settings[i].value);
    return true;
}

static bool redis_link_handshake(struct redis_link *link, int64_t deadline_ns, struct status *st)
{
    short events;
    if (!link->options.target->tls)
        return true;
    link->tls = redis_tls_create(&link->options, link->fd, st);
    if (link->tls == NULL)
        return false;
    while (redis_tls_handshake(link->tls, &events) != 0) {
        if (!link_again() && redis_tls_distrusts(link->tls))
            return fail(st, UNAUTHENTICATED, "the certificate of Redis at %s is not to be trusted, or another's",
                        link->options.target->host);
        if (!link_again())
            return link_lost(link, st, "refuses TLS");
        if (!wait_for(link, events, deadline_ns, st))
            return false;
    }
    return true;
}

struct redis_link *redis_link_open(const struct redis_link_options *options, int64_t deadline_ns, struct status *st)
{
    struct redis_link *link = calloc(1, sizeof *link);
    if (link == NULL || (link->replies = redis_replies_create(options->reply_max, options->list_max)) == NULL) {
        free(link);
        fail_memory(st, "a connection to Redis");
        return NULL;
    }
    link->options = *options;
    link->fd = -1;
    buffer_init(&link->out, options->request_max);
    if (!link_connect_to(link, deadline_ns, st) || !redis_link_handshake(link, deadline_ns, st))
        redis_link_close(&link);
    return link;
}

void redis_link_close(struct redis_link **link_pointer)
{
    struct redis_link *link = *link_pointer;
    if (link == NULL)
        return;
    *link_pointer = NULL;
    redis_tls_destroy(&link->tls);
    if (link->fd >= 0)
        close(link->fd);
    redis_replies_destroy(&link->replies);
    buffer_fini(&link->out);
    free(link);
}
