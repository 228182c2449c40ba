/* Private to fanout/: loops of other orchestrators. remote_peer.c has them as peers, listener.c their datagrams. */
#ifndef RENGA_ORCHESTRATOR_REMOTE_PEER_H
#define RENGA_ORCHESTRATOR_REMOTE_PEER_H

#include "fanout_priv.h"

#include "cluster/membership.h"
#include "log/ids.h"

#include <pthread.h>

#define FANOUT_WIRE_VERSION                                                                                            \
    1 /* of headers and messages: it grows by 1 with each change that an older reader cannot skip */
#define FANOUT_WIRE_MARK                                                                                               \
    (UINT32_C(0x52464f00) + FANOUT_WIRE_VERSION) /* reads as another on a machine of the other byte order */
#define TOKEN_SIZE 16

/* The header of a datagram between orchestrators. */
struct datagram_header {
    uint32_t mark;
    uint8_t token[TOKEN_SIZE]; /* of the intended reader: it stands only in the reader's row */
    char member[ID_MAX];       /* the writer */
    uint32_t from, to;         /* loops */
    uint32_t mine, theirs;     /* sessions (remote_peer.c) */
    uint32_t number;           /* of the datagram, in this pair of sessions */
};

struct queued_datagram {
    struct queued_datagram *next;
    struct datagram_header header;
    struct mail *mail;
};

/* Datagrams on their way from the loop that reads the listener to their destination loop. */
struct inbox {
    struct work work; /* first */
    pthread_mutex_t lock;
    struct fanout_endpoint *endpoint; /* NULL: it is closed */
    bool posted;
    struct queued_datagram *first, *last;
    size_t bytes;
};

/* A destination of datagrams: as connections are never closed, it outlives the peer that listens there. */
struct route {
    char address[MAIL_ADDRESS_MAX];
    struct mail_connection *connection; /* NULL: it could not be opened */
    unsigned failures, rest;            /* to open it; and checks until the next attempt */
    struct peer *peer;                  /* the peer that listens there now; NULL: no peer */
};

/* The additional fields of a peer in another orchestrator. */
struct remote_peer {
    char member[ID_MAX];
    uint8_t token[TOKEN_SIZE];
    uint32_t loop;         /* of that orchestrator */
    uint32_t mine, theirs; /* sessions; 0: theirs is not known yet */
    uint32_t read;         /* datagrams, in this pair of sessions */
    bool up;
    bool living, chosen; /* in the member list at the last check */
    struct route *route;
};

void remote_peer_received(struct fanout_endpoint *endpoint, const struct datagram_header *header, struct mail *mail);
/* Pairs our loops with theirs so that each loop has at least one partner. */
bool remote_peer_is_pair(unsigned loop, unsigned count, unsigned their_loop, unsigned their_count);

/* renewal.c: certificates of its connections, and of the listener; from inside its loop. */
void renewal_open(struct fanout_endpoint *endpoint);
void renewal_look(struct fanout_endpoint *endpoint);
void renewal_close(struct fanout_endpoint *endpoint);

void inbox_open(struct fanout_endpoint *endpoint);
void inbox_close(struct fanout_endpoint *endpoint);

/* Whether an attempt of this owner may begin here: the owner takes its attempts over when it finds our lease expired.
 * From then on this process does not begin them. */
bool remote_peer_is_sure(const struct peer *owner, struct status *st);

#endif
