/* A curl multi on the loop.
 *
 *      curl wants a socket watched   socket_wanted   ->  loop_watch     ready   \
 *      curl wants to be woken        timer_wanted    ->  loop_arm       expired  > curl_multi_socket_action, collect
 *      ... at once                                   ->  loop_defer  timeout    /
 *
 * A socket leaves epoll as soon as curl has no use for it: curl 7.88 closes one that is given up while it connects
 * without a word, and the next socket may have its number. */
#include "base/log.h"
#include "base/memory.h"
#include "http/client_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SOCKETS_FIRST 64

struct multi {
    struct http_client *client;
    CURLM *curl;
    struct timer timer;
    struct work timeout_work; /* a timeout of curl's that is due at once */
};

/* A descriptor that curl opened, by its number. */
struct client_socket {
    struct watch watch;
    struct multi *multi;    /* that waits for it */
    uint32_t events;        /* watched for; 0: not in epoll */
    bool taken;             /* curl is not to close it */
    struct easy_job *guard; /* notified when it does */
};

static void act(struct multi *multi, curl_socket_t fd, int what)
{
    int running;
    curl_multi_socket_action(multi->curl, fd, what, &running);
    multi_collect(multi);
}

/* ---- sockets ---------------------------------------------------------------------------------------------------- */

static void socket_forget(struct loop *loop, struct client_socket *socket)
{
    socket->multi = NULL;
    socket->events = 0;
    loop_unwatch(loop, &socket->watch);
}

static void socket_ready(struct watch *watch, uint32_t events)
{
    struct client_socket *socket = CONTAINER_OF(watch, struct client_socket, watch);
    int what = 0;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    act(socket->multi, watch->fd, what);
}

static struct client_socket *socket_of(struct http_client *client, int fd)
{
    if (fd >= client->socket_room) {
        int room = client->socket_room ? client->socket_room : SOCKETS_FIRST;
        while (room <= fd)
            room *= 2;
        struct client_socket **sockets = xrealloc(client->sockets, (size_t)room * sizeof(*sockets));
        for (int i = client->socket_room; i < room; i++)
            sockets[i] = NULL;
        client->sockets = sockets;
        client->socket_room = room;
    }
    if (!client->sockets[fd]) {
        client->sockets[fd] = xcalloc(1, sizeof **client->sockets);
        client->sockets[fd]->watch.ready = socket_ready;
    }
    return client->sockets[fd];
}

/* CURLMOPT_SOCKETFUNCTION */
static int socket_wanted(CURL *easy, curl_socket_t fd, int what, void *data, void *assigned)
{
    struct multi *multi = data;
    struct loop *loop = multi->client->loop;
    struct client_socket *socket = socket_of(multi->client, fd);
    if (what == CURL_POLL_REMOVE) {
        socket_forget(loop, socket);
        return 0;
    }
    socket->multi = multi;
    uint32_t events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    if (socket->events == events)
        return 0;
    socket->events = events;
    if (loop_watch(loop, &socket->watch, fd, events))
        return 0;
    socket->events = 0;
    return -1;
}

/* CURLOPT_OPENSOCKETFUNCTION: runs for every connection, at every redirect, when the address is known. */
static curl_socket_t socket_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct easy_job *job = data;
    struct http_client *client = job->client;
    resolver_end(job, true);
    if (job->address_allowed && !job->address_allowed(&address->addr)) {
        job->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    struct client_socket *own = socket_of(client, fd);
    socket_forget(client->loop, own); /* the earlier socket with this number has been closed */
    own->taken = false;
    own->guard = NULL;
    client->connections_opened++;
    return fd;
}

/* CURLOPT_CLOSESOCKETFUNCTION */
static int socket_close(void *data, curl_socket_t fd)
{
    struct http_client *client = data;
    struct client_socket *socket = socket_of(client, fd);
    struct easy_job *guard = socket->guard;
    bool taken = socket->taken;
    socket->guard = NULL;
    socket->taken = false;
    socket_forget(client->loop, socket);
    if (guard)
        guard->socket_lost(guard);
    return taken ? 0 : close(fd);
}

void multi_take_socket(struct http_client *client, int fd)
{
    struct client_socket *socket = socket_of(client, fd);
    socket_forget(client->loop, socket);
    socket->taken = true;
}

void multi_guard_socket(struct http_client *client, int fd, struct easy_job *job)
{
    struct client_socket *socket = socket_of(client, fd);
    socket_forget(client->loop, socket);
    socket->guard = job;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static void multi_expired(struct timer *timer)
{
    act(CONTAINER_OF(timer, struct multi, timer), CURL_SOCKET_TIMEOUT, 0);
}

static void timeout_due(struct work *work)
{
    act(CONTAINER_OF(work, struct multi, timeout_work), CURL_SOCKET_TIMEOUT, 0);
}

/* CURLMOPT_TIMERFUNCTION */
static int timer_wanted(CURLM *curl, long timeout_ms, void *data)
{
    struct multi *multi = data;
    struct loop *loop = multi->client->loop;
    if (timeout_ms == 0) {
        loop_disarm(loop, &multi->timer);
        loop_defer(loop, &multi->timeout_work);
        return 0;
    }
    loop_undefer(loop, &multi->timeout_work);
    if (timeout_ms < 0)
        loop_disarm(loop, &multi->timer);
    else
        loop_arm_after(loop, &multi->timer, timeout_ms);
    return 0;
}

/* ---- easy handles ----------------------------------------------------------------------------------------------- */

CURL *easy_create(struct http_client *client, struct easy_job *job)
{
    if (!client->share) {
        client->share = xnonnull(curl_share_init());
        /* No locks: a client stays in its loop. */
        curl_share_setopt(client->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
        curl_share_setopt(client->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    }
    CURL *easy = xnonnull(curl_easy_init());
    job->easy = easy;
    job->client = client;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, job);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, job->error);
    curl_easy_setopt(easy, CURLOPT_SHARE, client->share);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* or a cancelled name lookup would be waited for */
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, client->proxy); /* "" also switches the environment's off */
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S / 3);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, RESOLVER_CACHE_S);
    resolver_watch(job);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, job);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_close);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, client);
    return easy;
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

struct multi *multi_create(struct http_client *client, long connections_kept)
{
    struct multi *multi = xcalloc(1, sizeof *multi);
    multi->curl = xnonnull(curl_multi_init());
    multi->client = client;
    multi->timer.expired = multi_expired;
    multi->timeout_work.run = timeout_due;
    curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, socket_wanted);
    curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
    curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, timer_wanted);
    curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
    curl_multi_setopt(multi->curl, CURLMOPT_MAXCONNECTS, connections_kept);
    return multi;
}

void multi_destroy(struct multi **multi_pointer)
{
    struct multi *multi = *multi_pointer;
    if (!multi)
        return;
    *multi_pointer = NULL;
    curl_multi_cleanup(multi->curl);
    loop_disarm(multi->client->loop, &multi->timer);
    loop_undefer(multi->client->loop, &multi->timeout_work);
    free(multi);
}

bool multi_add(struct multi *multi, struct easy_job *job)
{
    job->multi = multi;
    job->forbidden = job->refused = false;
    job->error[0] = '\0';
    if (curl_multi_add_handle(multi->curl, job->easy) == CURLM_OK)
        return true;
    job->multi = NULL;
    return false;
}

void multi_remove(struct easy_job *job)
{
    if (!job->multi)
        return;
    resolver_end(job, false);
    curl_multi_remove_handle(job->multi->curl, job->easy);
    job->multi = NULL;
}

void multi_collect(struct multi *multi)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi->curl, &left));) {
        struct easy_job *job;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&job);
        resolver_end(job, result != CURLE_OPERATION_TIMEDOUT);
        job->done(job, job->refused ? RESOLVER_REFUSED : result);
    }
}
