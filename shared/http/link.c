#include "http/link.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TLS_PIECE     ((size_t)16 << 10) /* bytes: a record */
#define PEEK_AFTER_NS (5 * NS_PER_MS)    /* not polled for longer, it may have been closed meanwhile */
#define ALWAYS_KEPT   INT_MAX            /* idle connections that curl is to keep: all, they are links of ours */

/* An origin and its idle links. It lives as long as it has one. */
struct origin {
    struct origin *next;
    uint64_t hash;
    bool (*address_allowed)(const struct sockaddr *address);
    struct link_list idle;
    unsigned links;
    char name[];
};

/* curl's part in opening a link. */
struct opening {
    struct easy_job job;
    struct link *link;
};

struct link {
    enum link_state state;
    struct http_client *client;
    struct origin *origin;
    struct link_user *user;
    struct opening *opening; /* also afterwards, over TLS */
    struct watch watch;
    int fd; /* -1: not open */
    uint32_t events;
    bool secure, used, lost; /* lost: curl has closed it */
    struct work losing;
    int64_t idle_since_ns;
    struct link *next, *previous;                     /* of all idle ones */
    struct link *next_of_origin, *previous_of_origin; /* of the origin's idle ones */
};

/* ---- origins ---------------------------------------------------------------------------------------------------- */

static struct origin **origin_place(struct http_client *client, const struct transfer *transfer)
{
    const struct http_url *url = transfer->url;
    struct origin **place = &client->origins[url->origin_hash % ORIGIN_BUCKETS];
    while (*place && ((*place)->hash != url->origin_hash || (*place)->address_allowed != transfer->address_allowed ||
                      strcmp((*place)->name, url->origin) != 0))
        place = &(*place)->next;
    return place;
}

static struct origin *origin_hold(struct http_client *client, const struct transfer *transfer)
{
    struct origin **place = origin_place(client, transfer);
    if (!*place) {
        size_t size = strlen(transfer->url->origin) + 1;
        *place = xcalloc(1, sizeof **place + size);
        (*place)->hash = transfer->url->origin_hash;
        (*place)->address_allowed = transfer->address_allowed;
        memcpy((*place)->name, transfer->url->origin, size);
    }
    (*place)->links++;
    return *place;
}

/* ---- the lists follow the states -------------------------------------------------------------------------------- */

/* From the row's state to the column's. */
static const bool moves[LINK_STATES][LINK_STATES] = {
    [LINK_OPENING] = {[LINK_BUSY] = true, [LINK_CLOSED] = true},
    [LINK_BUSY] = {[LINK_IDLE] = true, [LINK_CLOSED] = true},
    [LINK_IDLE] = {[LINK_BUSY] = true, [LINK_CLOSED] = true},
};

static void idle_add(struct link *link)
{
    struct link_list *all = &link->client->idle, *own = &link->origin->idle;
    link->next = link->next_of_origin = NULL;
    link->previous = all->last;
    link->previous_of_origin = own->last;
    *(all->last ? &all->last->next : &all->first) = link;
    *(own->last ? &own->last->next_of_origin : &own->first) = link;
    all->last = own->last = link;
    all->count++;
    own->count++;
}

static void idle_remove(struct link *link)
{
    struct link_list *all = &link->client->idle, *own = &link->origin->idle;
    *(link->previous ? &link->previous->next : &all->first) = link->next;
    *(link->next ? &link->next->previous : &all->last) = link->previous;
    *(link->previous_of_origin ? &link->previous_of_origin->next_of_origin : &own->first) = link->next_of_origin;
    *(link->next_of_origin ? &link->next_of_origin->previous_of_origin : &own->last) = link->previous_of_origin;
    all->count--;
    own->count--;
}

static void link_move(struct link *link, enum link_state state)
{
    bool allowed = moves[link->state][state];
    assert(allowed);
    (void)allowed;
    if (link->state == LINK_IDLE)
        idle_remove(link);
    link->state = state;
    if (state == LINK_IDLE)
        idle_add(link);
}

/* ---- closing ---------------------------------------------------------------------------------------------------- */

static void opening_end(struct link *link)
{
    struct opening *opening = link->opening;
    if (!opening)
        return;
    link->opening = NULL;
    multi_remove(&opening->job);
    curl_easy_cleanup(opening->job.easy);
    free(opening);
}

void link_close(struct link **link_pointer)
{
    struct link *link = *link_pointer;
    if (!link)
        return;
    *link_pointer = NULL;
    struct http_client *client = link->client;
    link_move(link, LINK_CLOSED);
    loop_undefer(client->loop, &link->losing);
    loop_unwatch(client->loop, &link->watch);
    if (!link->opening)
        close(link->fd);
    else if (link->fd >= 0 && !link->lost)
        multi_guard_socket(client, link->fd, NULL);
    opening_end(link);
    struct origin *origin = link->origin;
    if (!--origin->links) {
        struct origin **place = &client->origins[origin->hash % ORIGIN_BUCKETS];
        while (*place != origin)
            place = &(*place)->next;
        *place = origin->next;
        free(origin);
    }
    free(link);
}

/* Those that have been idle since then or before; gives since when the next one is. */
static int64_t close_idle(struct http_client *client, int64_t since_ns)
{
    struct link *link = client->idle.first;
    while (link && link->idle_since_ns <= since_ns) {
        struct link *old = link;
        link = link->next;
        link_close(&old);
    }
    return link ? link->idle_since_ns : TIME_NEVER;
}

void links_close_idle(struct http_client *client)
{
    close_idle(client, TIME_NEVER);
}

/* For an idle TLS link: the peer may have sent TLS records that are no answer. */
static void look_after(struct link *link)
{
    char byte;
    if (!link->secure || link_receive(link, &byte, 1) >= 0 || errno != EAGAIN)
        link_close(&link);
}

static void link_ready(struct watch *watch, uint32_t events)
{
    struct link *link = CONTAINER_OF(watch, struct link, watch);
    if (link->state == LINK_BUSY)
        link->user->ready(link->user, events);
    else
        look_after(link);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* curl closes connections that it takes for dead because their peer closed them. */
static void socket_lost(struct easy_job *job)
{
    struct link *link = CONTAINER_OF(job, struct opening, job)->link;
    link->lost = true;
    loop_unwatch(link->client->loop, &link->watch);
    loop_defer(link->client->loop, &link->losing);
}

static void http_link_lost(struct work *work)
{
    struct link *link = CONTAINER_OF(work, struct link, losing);
    link_ready(&link->watch, EPOLLIN | EPOLLHUP);
}

static void take_over(struct link *link)
{
    struct http_client *client = link->client;
    struct easy_job *job = &link->opening->job;
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(job->easy, CURLINFO_ACTIVESOCKET, &fd);
    link->fd = fd;
    if (link->secure) {
        multi_guard_socket(client, fd, job);
    } else {
        multi_take_socket(client, fd);
        opening_end(link);
    }
    link_move(link, LINK_BUSY);
    link_await(link, EPOLLIN);
}

static void link_opened(struct easy_job *job, CURLcode result)
{
    struct link *link = CONTAINER_OF(job, struct opening, job)->link;
    if (result == CURLE_OK) {
        take_over(link);
        link->user->opened(link->user, CURLE_OK, false, "");
        return;
    }
    const char *detail = job->error[0] ? job->error : curl_easy_strerror(result);
    link->user->opened(link->user, result, job->forbidden, detail);
}

struct link *link_open(struct connection_pool *pool, const struct transfer *transfer, struct link_user *user)
{
    struct http_client *client = pool->client;
    struct link *link = xcalloc(1, sizeof *link);
    link->opening = xcalloc(1, sizeof *link->opening);
    link->client = client;
    link->fd = -1;
    link->user = user;
    link->secure = transfer->url->secure;
    link->watch.ready = link_ready;
    link->losing.run = http_link_lost;
    link->origin = origin_hold(client, transfer);
    link->opening->link = link;
    struct opening *opening = link->opening;
    CURL *easy = easy_create(client, &opening->job);
    opening->job.address_allowed = transfer->address_allowed;
    opening->job.done = link_opened;
    opening->job.socket_lost = socket_lost;
    curl_easy_setopt(easy, CURLOPT_CURLU, transfer->url->parts);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)INT_MAX);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transfer->connect_timeout_ms);
    if (!pool->openings)
        pool->openings = multi_create(client, ALWAYS_KEPT);
    if (!multi_add(pool->openings, &link->opening->job))
        link_close(&link);
    return link;
}

/* ---- from hand to hand ------------------------------------------------------------------------------------------ */

static bool is_alive(struct link *link)
{
    char byte;
    int64_t since_ns = clock_now_ns() - PEEK_AFTER_NS;
    if (link->idle_since_ns > since_ns || loop_polled_ns(link->client->loop) > since_ns)
        return true;
    return recv(link->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

struct link *link_take(struct http_client *client, const struct transfer *transfer, struct link_user *user)
{
    struct origin *origin = *origin_place(client, transfer);
    for (struct link *link = origin ? origin->idle.last : NULL, *older; link; link = older) {
        struct link *dead = link;
        older = link->previous_of_origin;
        if (!link->lost && (link->secure || is_alive(link))) {
            link_move(link, LINK_BUSY);
            link->user = user;
            return link;
        }
        link_close(&dead); /* with the last of them the origin goes */
    }
    return NULL;
}

static void idle_expired(struct timer *timer)
{
    struct http_client *client = CONTAINER_OF(timer, struct http_client, idle_timer);
    int64_t next_ns = close_idle(client, clock_now_ns() - LINK_IDLE_S * NS_PER_SEC);
    if (next_ns != TIME_NEVER)
        loop_arm(client->loop, timer, next_ns + LINK_IDLE_S * NS_PER_SEC);
}

void link_keep(struct link **link_pointer)
{
    struct link *link = *link_pointer;
    struct http_client *client = link->client;
    *link_pointer = NULL;
    link->user = NULL;
    link->used = true;
    link->idle_since_ns = clock_now_ns();
    link_await(link, EPOLLIN);
    link_move(link, LINK_IDLE);
    client->idle_timer.expired = idle_expired;
    if (!client->idle_timer.place)
        loop_arm(client->loop, &client->idle_timer, link->idle_since_ns + LINK_IDLE_S * NS_PER_SEC);
    struct link *oldest = client->idle.first;
    if (client->idle.count > client->options.pools_max * POOL_TRANSFERS)
        link_close(&oldest);
}

bool link_is_secure(const struct link *link)
{
    return link->secure;
}

bool link_was_used(const struct link *link)
{
    return link->used;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

void link_await(struct link *link, uint32_t events)
{
    uint32_t wanted = events & EPOLLIN ? events | EPOLLRDHUP : events;
    if (link->events == wanted && link->watch.slot)
        return;
    link->events = wanted;
    if (link->lost) { /* the loss may have come while no event was awaited */
        if (wanted & EPOLLIN)
            link_lose(link);
        return;
    }
    if (!wanted) /* or an end of the peer, which cannot be masked, would be reported again and again */
        loop_unwatch(link->client->loop, &link->watch);
    else if (!loop_watch(link->client->loop, &link->watch, link->fd, wanted))
        link_lose(link);
}

void link_lose(struct link *link)
{
    loop_defer(link->client->loop, &link->losing);
}

static int errno_of(CURLcode result)
{
    return result == CURLE_AGAIN ? EAGAIN : ECONNRESET;
}

ssize_t link_send(struct link *link, const struct iovec *pieces, int count)
{
    if (link->secure) {
        size_t size = pieces->iov_len < TLS_PIECE ? pieces->iov_len : TLS_PIECE, sent = 0;
        CURLcode result = curl_easy_send(link->opening->job.easy, pieces->iov_base, size, &sent);
        errno = errno_of(result);
        return result == CURLE_OK ? (ssize_t)sent : -1;
    }
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = (size_t)count};
    return sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* True if the peer closed the TLS session; a TCP end can be forged. curl 7.88 does not check this. */
static bool end_was_told(CURL *easy)
{
    struct curl_tlssessioninfo *tls = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls || !tls->internals)
        return true;
    return tls->backend != CURLSSLBACKEND_OPENSSL || SSL_get_shutdown(tls->internals) & SSL_RECEIVED_SHUTDOWN;
}

ssize_t link_receive(struct link *link, char *bytes, size_t room)
{
    if (link->secure) {
        CURL *easy = link->opening->job.easy;
        size_t got = 0;
        CURLcode result = curl_easy_recv(easy, bytes, room, &got);
        bool told = result != CURLE_OK || got || end_was_told(easy);
        errno = told ? errno_of(result) : ECONNRESET;
        return result == CURLE_OK && told ? (ssize_t)got : -1;
    }
    return recv(link->fd, bytes, room, MSG_DONTWAIT);
}
