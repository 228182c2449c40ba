/* How a server leaves without failing a call.
 *
 *      asked ---- NOT_SERVING to every health watch; the listening socket closes to new connections
 *        |
 *      waiting -- clients that watch health are gone at once; the others move on when their connection's age is up
 *        |        (a GOAWAY that lets calls finish), or have seen the health by then. Over when no client is connected,
 *        |        all ages are up and no call runs
 *        |
 *      aborting - only at the limit: calls that still run are answered UNAVAILABLE, and the answers may leave
 *        |
 *      shutting - gRPC core asks the connected clients to leave, and after a moment closes the connections; `drained`
 *                 runs
 *
 * Shutting down at once would lose the calls that are on the wire when core refuses new ones (1 to 5 in each rolling
 * update, measured). The gRPC core has no call to close a listener, so its socket is found among our descriptors and
 * shut down. The kernel then refuses new connections and core stops accepting. */
#include "rpc/serving.h"

#include "base/clock.h"
#include "base/memory.h"
#include "rpc/drain.h"

#include <assert.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define DRAIN_POLL_MS    50
#define QUIET_MS         300 /* no connection and no call for this long: no client is left */
#define AGE_JITTER       1.1 /* core spreads the ages of connections by ten per cent */
#define AGE_MARGIN_MS    500
#define LEAVE_MS         500   /* of the limit, at the least, for services to leave after all ages are up */
#define NO_AGE_MS        10000 /* connections without an age: by then their clients know our health */
#define ABORT_POLL_MS    5
#define ABORT_MOMENT_MS  500 /* for answers to leave, and again for connections to close by themselves */
#define FINISH_LIMIT_SEC 10  /* rpc_server_destroy waits this long for core and handlers */

enum drain_state { DRAIN_WAITING, DRAIN_ABORTING, DRAIN_SHUTTING };

struct drain {
    struct rpc_server *server;
    int64_t began_ns, limit_ns, idle_ns, ages_up_ns, quiet_since_ns, moment_ns;
    enum drain_state state;
    struct timer look;
    struct rpc_tag shut;
    void (*no_new_calls)(void *data); /* NULL once it was called */
    void (*drained)(void *data);
    void *data;
    _Atomic unsigned shards_to_abort;
    struct work begin_work, abort_work;
    pthread_mutex_t lock; /* guards is_shut, for a thread that waits */
    pthread_cond_t changed;
    bool is_shut;
};

/* ---- sockets of ours --------------------------------------------------------------------------------------------- */

struct socket_count {
    unsigned connections;
};

/* True if `address`, the local end of a socket, is a listening address of this server. */
static bool drain_is_ours(const struct rpc_server *server, const struct sockaddr_storage *address, socklen_t size)
{
    if (address->ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)address)->sin_port) == server->port;
    if (address->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)address)->sin6_port) == server->port;
    if (address->ss_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path))
        return false;
    const char *path = strncmp(server->listen, "unix:", 5) == 0 ? server->listen + 5 : "";
    return strcmp(((const struct sockaddr_un *)address)->sun_path, path) == 0;
}

/* A listener that was shut down is a socket of ours too, but has no peer. */
static bool is_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

/* Goes through the process's descriptors: counts the connections of this server and, if asked, shuts its listeners. */
static struct socket_count walk_sockets(const struct rpc_server *server, bool shut_listeners)
{
    struct socket_count count = {0};
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return count;
    for (struct dirent *entry; (entry = readdir(directory));) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address, flag_size = sizeof(int);
        int listening = 0;
        if (entry->d_name[0] == '.' || getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
            !drain_is_ours(server, &address, size) ||
            getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &flag_size) != 0)
            continue;
        if (!listening && is_connected(fd))
            count.connections++;
        else if (listening && shut_listeners)
            shutdown(fd, SHUT_RDWR);
    }
    closedir(directory);
    return count;
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

static void core_shut(struct rpc_tag *tag, bool ok)
{
    struct drain *drain = CONTAINER_OF(tag, struct drain, shut);
    loop_disarm(drain->server->shards[0].loop, &drain->look);
    log_info("rpc.drained", "port %d is closed after %lld ms", drain->server->port,
             (long long)((clock_now_ns() - drain->began_ns) / NS_PER_MS));
    pthread_mutex_lock(&drain->lock);
    drain->is_shut = true;
    pthread_cond_broadcast(&drain->changed);
    pthread_mutex_unlock(&drain->lock);
    if (drain->drained)
        drain->drained(drain->data);
}

static void move_to(struct drain *drain, enum drain_state state)
{
    drain->state = state;
    drain->moment_ns = clock_now_ns() + ABORT_MOMENT_MS * NS_PER_MS;
}

static void all_aborted(struct work *work)
{
    struct drain *drain = CONTAINER_OF(work, struct drain, abort_work);
    drain->look.expired(&drain->look);
}

static void abort_shard(struct work *work)
{
    struct rpc_shard *shard = CONTAINER_OF(work, struct rpc_shard, abort_work);
    rpc_health_end_watches(shard);
    server_call_abort_all(shard);
    if (atomic_fetch_sub(&shard->server->drain->shards_to_abort, 1) == 1)
        loop_post(shard->server->shards[0].loop, &shard->server->drain->abort_work);
}

/* Ends the calls that still run in every shard. In loop 0. */
static void abort_calls(struct drain *drain)
{
    struct rpc_server *server = drain->server;
    move_to(drain, DRAIN_ABORTING);
    loop_disarm(server->shards[0].loop, &drain->look);
    drain->abort_work.run = all_aborted;
    atomic_store(&drain->shards_to_abort, server->options.loop_count);
    for (unsigned i = 0; i < server->options.loop_count; i++) {
        server->shards[i].abort_work.run = abort_shard;
        loop_post(server->shards[i].loop, &server->shards[i].abort_work);
    }
}

static unsigned calls_running(struct rpc_server *server)
{
    unsigned running = 0;
    for (unsigned i = 0; i < server->options.loop_count; i++)
        running += atomic_load_explicit(&server->shards[i].busy, memory_order_relaxed);
    return running;
}

static unsigned calls_unanswered(struct rpc_server *server)
{
    unsigned unanswered = 0;
    for (unsigned i = 0; i < server->options.loop_count; i++)
        unanswered += atomic_load_explicit(&server->shards[i].unanswered, memory_order_relaxed);
    return unanswered;
}

static void look_while_waiting(struct drain *drain)
{
    struct rpc_server *server = drain->server;
    int64_t now_ns = clock_now_ns();
    bool connected = walk_sockets(server, false).connections > 0;
    bool running = calls_running(server) > 0;
    bool reachable = connected && now_ns < drain->ages_up_ns;
    if (running || reachable)
        drain->quiet_since_ns = now_ns;
    if (!reachable || now_ns >= drain->idle_ns) {
        void (*no_new_calls)(void *data) = drain->no_new_calls;
        drain->no_new_calls = NULL;
        if (no_new_calls)
            no_new_calls(drain->data);
    }
    if (now_ns >= drain->limit_ns && running)
        log_warn("rpc.drain_cut", "the drain's limit is over: calls that still run are aborted");
    if (now_ns >= drain->limit_ns || now_ns - drain->quiet_since_ns >= QUIET_MS * NS_PER_MS)
        abort_calls(drain);
    else
        loop_arm_after(server->shards[0].loop, &drain->look, DRAIN_POLL_MS);
}

static void drain_look(struct timer *timer)
{
    struct drain *drain = CONTAINER_OF(timer, struct drain, look);
    bool moment_over = clock_now_ns() >= drain->moment_ns;
    if (drain->state == DRAIN_WAITING)
        look_while_waiting(drain);
    else if (drain->state == DRAIN_ABORTING && (moment_over || !calls_unanswered(drain->server))) {
        struct rpc_server *server = drain->server;
        move_to(drain, DRAIN_SHUTTING);
        atomic_store(&server->refusing, true);
        drain->shut.completed = core_shut;
        grpc_server_shutdown_and_notify(server->grpc, server->shards[0].cq, &drain->shut);
        loop_arm_after(server->shards[0].loop, &drain->look, ABORT_POLL_MS);
    } else if (drain->state == DRAIN_SHUTTING && moment_over)
        grpc_server_cancel_all_calls(drain->server->grpc);
    else
        loop_arm_after(drain->server->shards[0].loop, timer, ABORT_POLL_MS);
}

static void drain_begin(struct work *work)
{
    struct drain *drain = CONTAINER_OF(work, struct drain, begin_work);
    if (drain->state == DRAIN_WAITING)
        drain_look(&drain->look);
}

static struct drain *drain_create(struct rpc_server *server)
{
    struct drain *drain = xcalloc(1, sizeof *drain);
    drain->server = server;
    drain->look.expired = drain_look;
    drain->began_ns = drain->quiet_since_ns = clock_now_ns();
    pthread_mutex_init(&drain->lock, NULL);
    pthread_cond_init(&drain->changed, NULL);
    return drain;
}

static int64_t drain_ages_up_ms(int64_t age_ms)
{
    return age_ms ? (int64_t)((double)age_ms * AGE_JITTER) + AGE_MARGIN_MS : NO_AGE_MS;
}

int64_t rpc_drain_idle_ms(int64_t limit_ms, int64_t age_ms)
{
    int64_t half_ms = limit_ms / 2, last_ms = drain_ages_up_ms(age_ms);
    bool fits = last_ms + LEAVE_MS <= limit_ms;
    return fits && last_ms > half_ms ? last_ms : half_ms;
}

void rpc_server_drain(struct rpc_server *server, int64_t limit_ms, void (*no_new_calls)(void *data),
                      void (*drained)(void *data), void *data)
{
    assert(server->started && !server->drain);
    struct drain *drain = server->drain = drain_create(server);
    int64_t age_ms = server->options.connection_age_ms;
    drain->limit_ns = drain->began_ns + limit_ms * NS_PER_MS;
    drain->ages_up_ns = drain->began_ns + drain_ages_up_ms(age_ms) * NS_PER_MS;
    drain->idle_ns = drain->began_ns + rpc_drain_idle_ms(limit_ms, age_ms) * NS_PER_MS;
    drain->no_new_calls = no_new_calls;
    drain->drained = drained;
    drain->data = data;
    atomic_store(&server->leaving, true);
    for (size_t i = 0; i < server->service_count; i++)
        atomic_store(&server->serving[i], false);
    rpc_server_set_serving(server, "", false);
    struct socket_count sockets = walk_sockets(server, true);
    log_info("rpc.draining", "port %d: %u connections, at most %lld ms", server->port, sockets.connections,
             (long long)limit_ms);
    drain->begin_work.run = drain_begin;
    loop_post(server->shards[0].loop, &drain->begin_work);
}

bool rpc_drain_finish(struct rpc_server *server)
{
    if (!server->drain)
        server->drain = drain_create(server);
    struct drain *drain = server->drain;
    loop_enter(server->shards[0].loop);
    if (drain->state == DRAIN_WAITING)
        abort_calls(drain);
    loop_leave(server->shards[0].loop);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FINISH_LIMIT_SEC;
    pthread_mutex_lock(&drain->lock);
    while (!drain->is_shut && pthread_cond_clockwait(&drain->changed, &drain->lock, CLOCK_MONOTONIC, &until) == 0)
        continue;
    bool is_shut = drain->is_shut;
    pthread_mutex_unlock(&drain->lock);
    return is_shut;
}

void rpc_drain_free(struct drain *drain)
{
    if (!drain)
        return;
    pthread_mutex_destroy(&drain->lock);
    pthread_cond_destroy(&drain->changed);
    free(drain);
}
