/* A connection to a server, in our own hands once curl has opened it.
 *
 *                 curl: name, TCP, TLS            its user's                 nobody's
 *      link_open ------------------> OPENING -------------> BUSY <--------------------> IDLE
 *                                       |                     |   link_keep, link_take    |
 *                                       `---------------------+---- link_close -----------'--> CLOSED (freed)
 *
 * A plain link is a socket of ours, which curl has released. Over TLS the easy handle that opened it stays and reads
 * and writes. A link has one user at a time, called only from the loop: `opened` once, then `ready`. An idle link
 * belongs to the client. The client closes it when its peer closes or sends, when it is older than LINK_IDLE_S, or when
 * too many are idle. Links of different address filters are never mixed. */
#ifndef RENGA_HTTP_LINK_H
#define RENGA_HTTP_LINK_H

#include "http/client_priv.h"

#include <sys/types.h>
#include <sys/uio.h>

enum link_state { LINK_OPENING, LINK_BUSY, LINK_IDLE, LINK_CLOSED, LINK_STATES };

struct link_user {
    /* The link is open if result is CURLE_OK. Otherwise `detail` gives the reason, and the link can only be closed. */
    void (*opened)(struct link_user *user, CURLcode result, bool forbidden, const char *detail);
    /* EPOLLIN, EPOLLOUT, EPOLLRDHUP; after EPOLLHUP or EPOLLERR no further bytes will come. */
    void (*ready)(struct link_user *user, uint32_t events);
};

/* Opens one for the transfer's URL, address filter and bounds, in its pool; NULL when memory runs out. */
struct link *link_open(struct connection_pool *pool, const struct transfer *transfer, struct link_user *user);
/* An idle link for the same URL, filter and bounds; NULL: there is no idle one. */
struct link *link_take(struct http_client *client, const struct transfer *transfer, struct link_user *user);
/* Puts a busy one among the idle. */
void link_keep(struct link **link);
void link_close(struct link **link);
void links_close_idle(struct http_client *client);

bool link_is_secure(const struct link *link);
bool link_was_used(const struct link *link); /* an earlier user has sent a request over it */
/* The events that `ready` reports; 0: no events. Initially EPOLLIN. */
void link_await(struct link *link, uint32_t events);
/* It turned out to be broken: `ready` will say so. */
void link_lose(struct link *link);

/* As for sockets: -1 with errno; EAGAIN means that it must wait. Over TLS only the first piece is written, and after
 * EAGAIN the same unmoved bytes must be given again. */
ssize_t link_send(struct link *link, const struct iovec *pieces, int count);
ssize_t link_receive(struct link *link, char *bytes, size_t room);

#endif
