/* The way to Redis: its name looked up, its socket connected, bytes out in one write for each visit of the loop. */
#include "redis_priv.h"

#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define OUT_KEPT   ((size_t)64 << 10)       /* bytes of memory that stay when all is written */
#define REPLY_MAX  (REDIS_VALUE_MAX + 1024) /* bytes of one reply, its line included */
#define READ_SIZE  ((size_t)32 << 10)
#define LOOK_UP_MS 10 /* between two looks whether a name has been found */

static void watch_socket(struct response_cache_redis *redis, bool writes)
{
    if (!loop_watch(redis->loop, &redis->watch, redis->fd, EPOLLIN | (writes ? EPOLLOUT : 0)))
        redis_give_up(redis, "cannot be watched");
}

/* Written bytes are dropped, so that the buffer holds only the waiting ones. */
static void wait_or_give_up(struct response_cache_redis *redis)
{
    if (errno != EAGAIN) {
        redis_give_up(redis, "has closed the connection");
        return;
    }
    redis->out.length = redis_backlog(redis);
    memmove(redis->out.data, redis->out.data + redis->written, redis->out.length);
    redis->written = 0;
    watch_socket(redis, true);
}

static void redis_socket_flush(struct work *work)
{
    struct response_cache_redis *redis = CONTAINER_OF(work, struct response_cache_redis, flushing);
    if (redis->state < REDIS_GREETS)
        return;
    while (redis_backlog(redis)) {
        ssize_t sent = send(redis->fd, redis->out.data + redis->written, redis_backlog(redis), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            wait_or_give_up(redis);
            return;
        }
        redis->written += (size_t)sent;
    }
    redis->written = 0;
    buffer_clear(&redis->out);
    if (redis->out.capacity > OUT_KEPT) {
        buffer_fini(&redis->out);
        buffer_init(&redis->out, 2 * REDIS_OUT_MAX);
    }
}

static void redis_socket_feed(struct response_cache_redis *redis, const char *bytes, size_t size)
{
    struct redis_reply *reply = NULL;
    bool good = redis_replies_feed(redis->replies, bytes, size);
    while (good && (good = redis_replies_next(redis->replies, &reply)) && reply) {
        bool goes_on = redis_take_reply(redis, reply);
        redis_reply_free(&reply);
        if (!goes_on)
            return;
    }
    if (!good)
        redis_give_up(redis, "does not speak as Redis does");
}

static void connected(struct response_cache_redis *redis)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(redis->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error) {
        redis_give_up(redis, "cannot be reached");
        return;
    }
    redis->state = REDIS_GREETS;
    watch_socket(redis, false);
}

static void redis_socket_ready(struct watch *watch, uint32_t events)
{
    struct response_cache_redis *redis = CONTAINER_OF(watch, struct response_cache_redis, watch);
    bool connects = redis->state == REDIS_CONNECTS;
    if (connects)
        connected(redis);
    else if (events & EPOLLOUT)
        watch_socket(redis, false);
    if (redis->state >= REDIS_GREETS && (connects || events & EPOLLOUT))
        redis_socket_flush(&redis->flushing);
    if (redis->state >= REDIS_GREETS && events & ~(uint32_t)EPOLLOUT) {
        char bytes[READ_SIZE];
        ssize_t size = recv(redis->fd, bytes, sizeof bytes, 0);
        if (size > 0)
            redis_socket_feed(redis, bytes, (size_t)size);
        else if (size == 0 || (errno != EAGAIN && errno != EINTR))
            redis_give_up(redis, "has closed the connection");
    }
}

static void redis_socket_connect_to(struct response_cache_redis *redis, const struct sockaddr_storage *address,
                                    socklen_t size)
{
    int yes = 1;
    redis->fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (redis->fd < 0 || (connect(redis->fd, (const struct sockaddr *)address, size) != 0 && errno != EINPROGRESS)) {
        redis_give_up(redis, "cannot be reached");
        return;
    }
    setsockopt(redis->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(redis->fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    redis->replies = redis_replies_create(REPLY_MAX, 0);
    if (!redis->replies) {
        redis_give_up(redis, "finds no memory here");
        return;
    }
    buffer_init(&redis->out, 2 * REDIS_OUT_MAX);
    redis->state = REDIS_CONNECTS;
    loop_disarm(redis->loop, &redis->timer);
    redis_greet(redis);
    watch_socket(redis, true);
}

void redis_socket_open(struct response_cache_redis *redis)
{
    struct sockaddr_storage address;
    socklen_t size;
    redis->state = REDIS_LOOKS_UP;
    redis->found_by_ns = clock_now_ns() + REDIS_GREET_MS * NS_PER_MS;
    if (redis_target_address(redis->target, &address, &size)) {
        redis_socket_connect_to(redis, &address, size);
        return;
    }
    redis->lookup = redis_lookup_start(redis->target);
    if (redis->lookup)
        loop_arm_after(redis->loop, &redis->timer, LOOK_UP_MS);
    else
        redis_give_up(redis, "has a name that cannot be looked up: too many lookups hang");
}

void redis_socket_look_up(struct response_cache_redis *redis)
{
    struct sockaddr_storage address;
    socklen_t size;
    if (!redis_lookup_done(redis->lookup, &address, &size)) {
        if (clock_now_ns() < redis->found_by_ns)
            loop_arm_after(redis->loop, &redis->timer, LOOK_UP_MS);
        else
            redis_give_up(redis, "has a name that is not found in time");
        return;
    }
    redis_lookup_drop(&redis->lookup);
    if (size)
        redis_socket_connect_to(redis, &address, size);
    else
        redis_give_up(redis, "has a name that is not found");
}

void redis_socket_init(struct response_cache_redis *redis)
{
    redis->fd = -1;
    redis->watch.ready = redis_socket_ready;
    redis->flushing.run = redis_socket_flush;
}

void redis_socket_close(struct response_cache_redis *redis)
{
    loop_unwatch(redis->loop, &redis->watch);
    loop_undefer(redis->loop, &redis->flushing);
    redis_lookup_drop(&redis->lookup);
    if (redis->fd >= 0)
        close(redis->fd);
    redis->fd = -1;
    redis_replies_destroy(&redis->replies);
    buffer_fini(&redis->out);
    redis->written = 0;
}
