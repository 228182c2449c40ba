/* A lane: one curl multi on the loop.
 *
 *      curl wants a socket watched   socket_wanted   ->  loop_watch     ready   \
 *      curl wants to be woken        timer_wanted    ->  loop_arm       expired  > curl_multi_socket_action,
 * lane_collect
 *      ... at once                                   ->  loop_defer     kick    /
 *
 * A socket of ours stays in epoll while its connection is idle, which saves two system calls a request; it leaves when
 * it becomes ready with nobody to listen, or is closed. One that is given up while it connects (it waits to write then)
 * leaves at once: curl 7.88 closes it without a word, and the next socket may have its number. Sockets that curl makes
 * for itself (its resolver's) leave as soon as curl says so, because nothing tells of their end. */
#include "base/log.h"
#include "http/client_priv.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LANE_CONNECTIONS_KEPT 256L /* idle ones; more than run at once, for many hosts */
#define SOCKETS_FIRST         64

#define OWNER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static void act(struct lane *lane, curl_socket_t fd, int what)
{
    int running;
    curl_multi_socket_action(lane->multi, fd, what, &running);
    lane_collect(lane);
}

/* ---- sockets ---------------------------------------------------------------------------------------------------- */

static void socket_forget(struct loop *loop, struct client_socket *socket)
{
    socket->events = 0;
    loop_unwatch(loop, &socket->watch);
}

static void socket_ready(struct watch *watch, uint32_t events)
{
    struct client_socket *socket = OWNER_OF(watch, struct client_socket, watch);
    struct lane *lane = socket->lane;
    if (!lane) { /* an idle connection that its peer closed or spoke on: curl looks at it before using it again */
        socket_forget(loop_current(), socket);
        return;
    }
    int what = 0;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    act(lane, watch->fd, what);
}

static struct client_socket *socket_of(struct http_client *client, int fd)
{
    if (fd >= client->socket_room) {
        int room = client->socket_room ? client->socket_room : SOCKETS_FIRST;
        while (room <= fd)
            room *= 2;
        struct client_socket **sockets = realloc(client->sockets, (size_t)room * sizeof(*sockets));
        if (!sockets)
            fatal("http.memory", "no memory for %d sockets", room);
        for (int i = client->socket_room; i < room; i++)
            sockets[i] = NULL;
        client->sockets = sockets;
        client->socket_room = room;
    }
    if (!client->sockets[fd]) {
        client->sockets[fd] = calloc(1, sizeof **client->sockets);
        if (!client->sockets[fd])
            fatal("http.memory", "no memory for a socket");
        client->sockets[fd]->watch.ready = socket_ready;
    }
    return client->sockets[fd];
}

/* CURLMOPT_SOCKETFUNCTION */
static int socket_wanted(CURL *easy, curl_socket_t fd, int what, void *data, void *assigned)
{
    struct lane *lane = data;
    struct loop *loop = lane->client->loop;
    struct client_socket *socket = socket_of(lane->client, fd);
    if (what == CURL_POLL_REMOVE) {
        socket->lane = NULL;
        if (!socket->opened_here || (socket->events & EPOLLOUT))
            socket_forget(loop, socket);
        return 0;
    }
    socket->lane = lane;
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
curl_socket_t socket_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_slot *slot = data;
    struct http_client *client = slot->lane->client;
    if (slot->lane->address_allowed && !slot->lane->address_allowed(&address->addr)) {
        slot->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    struct client_socket *own = socket_of(client, fd);
    socket_forget(client->loop, own); /* whatever had this number has been closed */
    own->opened_here = true;
    client->connections_opened++;
    return fd;
}

/* CURLOPT_CLOSESOCKETFUNCTION */
int socket_close(void *data, curl_socket_t fd)
{
    struct http_client *client = data;
    struct client_socket *socket = socket_of(client, fd);
    socket->opened_here = false;
    socket->lane = NULL;
    socket_forget(client->loop, socket);
    return close(fd);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static void expired(struct timer *timer)
{
    act(OWNER_OF(timer, struct lane, timer), CURL_SOCKET_TIMEOUT, 0);
}

static void kicked(struct work *work)
{
    act(OWNER_OF(work, struct lane, kick), CURL_SOCKET_TIMEOUT, 0);
}

/* CURLMOPT_TIMERFUNCTION */
static int timer_wanted(CURLM *multi, long timeout_ms, void *data)
{
    struct lane *lane = data;
    struct loop *loop = lane->client->loop;
    if (timeout_ms == 0) {
        loop_disarm(loop, &lane->timer);
        loop_defer(loop, &lane->kick);
        return 0;
    }
    loop_undefer(loop, &lane->kick);
    if (timeout_ms < 0)
        loop_disarm(loop, &lane->timer);
    else
        loop_arm_after(loop, &lane->timer, timeout_ms);
    return 0;
}

/* ---- transfers -------------------------------------------------------------------------------------------------- */

struct lane *lane_create(struct http_client *client, bool (*address_allowed)(const struct sockaddr *address))
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane || !(lane->multi = curl_multi_init()))
        fatal("http.memory", "no memory for HTTP transfers");
    lane->client = client;
    lane->address_allowed = address_allowed;
    lane->timer.expired = expired;
    lane->kick.run = kicked;
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, LANE_CONNECTIONS_KEPT);
    return lane;
}

void lane_destroy(struct lane *lane)
{
    curl_multi_cleanup(lane->multi);
    loop_disarm(lane->client->loop, &lane->timer);
    loop_undefer(lane->client->loop, &lane->kick);
    free(lane);
}

bool lane_add(struct lane *lane, struct http_slot *slot)
{
    slot->lane = lane;
    lane->running++;
    if (curl_multi_add_handle(lane->multi, slot->easy) == CURLM_OK)
        return true;
    slot->lane = NULL;
    lane->running--;
    return false;
}

/* Where the answer is not complete, this closes the connection, or the stream where several share one. */
void lane_remove(struct http_slot *slot)
{
    struct lane *lane = slot->lane;
    if (!lane)
        return;
    curl_multi_remove_handle(lane->multi, slot->easy);
    slot->lane = NULL;
    lane->running--;
}

void lane_collect(struct lane *lane)
{
    struct http_client *client = lane->client;
    int left;
    bool some = false;
    for (CURLMsg *message; (message = curl_multi_info_read(lane->multi, &left));) {
        if (message->msg != CURLMSG_DONE)
            continue;
        struct http_slot *slot;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
        slot_judge(slot, message->data.result);
        transfer_conclude(slot->transfer);
        some = true;
    }
    if (some && client->queue.first)
        client_dispatch(client);
}
