/* A connection to a server, in our own hands once curl has opened it.
 *
 *                 curl: name, TCP, TLS            its user's                 nobody's
 *      link_open ------------------> OPENING -------------> BUSY <--------------------> IDLE
 *                                       |                     |   link_keep, link_take    |
 *                                       `---------------------+---- link_close -----------'--> CLOSED (freed)
 *
 * A plain one is a socket of ours, which curl has let go; over TLS the easy handle that opened it stays with it, and
 * reads and writes. A link has one user at a time, who is called from the loop only: `opened` once, then `ready`. An
 * idle one belongs to the client: it is closed when its peer closes or says anything, when it is older than
 * LINK_IDLE_S, and when more are idle than may run. Links of different address filters are never mixed. */
#ifndef RENGA_HTTP_LINK_H
#define RENGA_HTTP_LINK_H

#include "http/client_priv.h"

#include <sys/types.h>
#include <sys/uio.h>

enum link_state { LINK_OPENING, LINK_BUSY, LINK_IDLE, LINK_CLOSED, LINK_STATES };

struct link_user {
    /* It is open, where result is CURLE_OK; otherwise `detail` says why not, and it is only good for being closed. */
    void (*opened)(struct link_user *user, CURLcode result, bool forbidden, const char *detail);
    /* EPOLLIN, EPOLLOUT, EPOLLRDHUP; with EPOLLHUP or EPOLLERR what cannot be read now will never come. */
    void (*ready)(struct link_user *user, uint32_t events);
};

/* Opens one for the transfer's URL, address filter and bounds, in its pool; NULL where there is no memory. */
struct link *link_open(struct connection_pool *pool, const struct transfer *transfer, struct link_user *user);
/* An idle one for the same; NULL: none. */
struct link *link_take(struct http_client *client, const struct transfer *transfer, struct link_user *user);
/* Puts a busy one among the idle. */
void link_keep(struct link **link);
void link_close(struct link **link);
void links_close_idle(struct http_client *client);

bool link_is_secure(const struct link *link);
bool link_was_used(const struct link *link); /* by somebody before */
/* What `ready` is to tell of; 0: nothing. The first time is EPOLLIN. */
void link_await(struct link *link, uint32_t events);
/* It turned out to be broken: `ready` will say so. */
void link_lose(struct link *link);

/* As of sockets: -1 with errno, which is EAGAIN where it cannot go on now. Over TLS only the first piece is written,
 * and must be given again unmoved after EAGAIN. */
ssize_t link_send(struct link *link, const struct iovec *pieces, int count);
ssize_t link_receive(struct link *link, char *bytes, size_t room);

#endif
