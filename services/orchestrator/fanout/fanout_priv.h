/* Private to fanout/. An endpoint is a loop's part in it, a peer another loop as an endpoint sees it, of this process
 * or remote (of another orchestrator): the same two are owner and worker for each other. */
#ifndef RENGA_ORCHESTRATOR_FANOUT_PRIV_H
#define RENGA_ORCHESTRATOR_FANOUT_PRIV_H

#include "fanout/fanout.h"
#include "fanout/mailbox.h"
#include "log/ids.h"
#include "loop/loop.h"
#include "nodes/task.h"
#include "thread/runner_metrics.h"

#include "renga/v1/fanout.pb-c.h"

#include <stdatomic.h>

#define NEIGHBOURS_MAX        8 /* loops that one asks for work: connections do not grow with the square of loops */
#define WAITING_MAX           ((size_t)4 << 20) /* bytes on a connection; beyond, no new attempt and no progress is sent */
#define ENVELOPE_MAX          ((size_t)4 << 10) /* bytes of a message beside the request or the result */
#define MISSED_HEARTBEATS_MAX (FANOUT_PEER_TIMEOUT_MS / FANOUT_HEARTBEAT_MS)
#define BARRED_HEARTBEATS     40 /* for which a worker that refused an attempt is given no other */

#define REMOTE_PEERS_MAX ((unsigned)64) /* of a loop */
#define ROUTES_MAX       64             /* addresses that a loop ever writes to: connections are never closed */

typedef Renga__V1__FanoutMessage FanoutMessage; /* generated from a proto */

/* An attempt of another loop, at work here. */
struct remote_attempt {
    struct fanout_endpoint *endpoint;
    struct peer *owner;
    uint64_t number;
    bool cancelled, in_start, ended;
    bool orphan;         /* its owner has failed: the result is dropped */
    struct agent *agent; /* held; NULL: it is on its way from the store (document.c) */
    struct remote_attempt *next, *previous, *next_waiting;
    struct task task;
};

struct peer {
    struct fanout_endpoint *endpoint;   /* the loop that has this peer */
    unsigned index;                     /* of its loop, or its place among those that are remote */
    struct remote_peer *remote;         /* NULL: a loop of this process, or a free place */
    struct mail_connection *connection; /* NULL: no message was written to it yet */
    bool wrote_since_heartbeat;         /* we have written to it since the last heartbeat */

    /* As a worker. */
    unsigned asked;             /* attempts that it asked for and has not got */
    unsigned dispatched;        /* ours that it has */
    unsigned missed_heartbeats; /* heartbeats since its last message */
    unsigned barred;            /* heartbeats until it may be given an attempt */

    /* As an owner. */
    bool neighbour;           /* we ask it for work */
    unsigned offered;         /* slots that we have asked it to use, and it has not */
    unsigned remote_attempts; /* of it, here */
    struct remote_attempt *first_remote_attempt;
};

struct fanout_endpoint {
    struct fanout *fanout;
    struct loop *loop;
    unsigned index;
    bool joined;
    struct mailbox *mailbox;
    struct peer *peers;  /* by index of their loops; our own stands unused; behind them places for remote ones */
    unsigned peer_count; /* places */
    unsigned share;      /* slots for each neighbour */
    unsigned local_attempts, remote_attempts; /* slots that are full */
    unsigned offered;                         /* that a neighbour may fill */
    struct timer heartbeat;
    int64_t waiting_reported;     /* bytes on its connections, as metrics have it */
    struct remote_attempt *spare; /* its arena receives the next message */

    /* Other orchestrators (remote_peer.c). */
    struct membership *membership; /* NULL: a single orchestrator */
    char self[ID_MAX];             /* as they know this orchestrator */
    unsigned remote_offered;       /* slots that they may fill */
    unsigned remote_share;         /* slots for each that is in session */
    uint32_t sessions;             /* begun with any of them */
    int64_t seen_ns;               /* time of its last turn, by a datagram or the heartbeat */
    struct route *routes;
    unsigned route_count;
    unsigned unequal; /* members that listen, and take datagrams of another size or version than we */
    struct inbox *inbox;
    struct renewal *renewal;    /* of certificates */
    struct document *documents; /* that are on their way from the store */

    /* Dispatched attempts, by the lower half of their number; the upper half tells the uses of a place apart. */
    struct dispatch **places;
    uint32_t *uses;
    uint32_t place_count, *free_places, free_count;
    unsigned dispatched;
};

struct fanout {
    struct fanout_options options;
    unsigned serial; /* in the addresses: mailboxes of an earlier fan-out of this process are still there */
    size_t datagram_max, remote_datagram_max;
    struct fanout_endpoint *endpoints;
    atomic_uint dispatched, remote_attempts;
    struct fanout_listener *listener; /* NULL: it does not listen */
    atomic_bool draining;
};

/* fanout.c */
void fanout_endpoint_note(struct fanout_endpoint *endpoint, enum fanout_metric what, int64_t n);
/* Starts the heartbeat: an attempt is dispatched or remote. */
void fanout_endpoint_wake(struct fanout_endpoint *endpoint);
/* Writes a message to a peer; false if it is larger than the limit, or the peer has no connection. */
bool peer_write(struct peer *peer, FanoutMessage *message);
void peer_read(struct peer *peer, struct mail *mail); /* the messages behind the header */

/* remote_peer.c */
bool fanout_listener_open(struct fanout *fanout, struct status *st);
void fanout_listener_close(struct fanout *fanout);
bool fanout_listener_attend(struct fanout_endpoint *endpoint);
void fanout_listener_renew(struct fanout *fanout);        /* its certificate */
void remote_peer_open(struct fanout_endpoint *endpoint);  /* its places and inbox, if the fan-out listens */
void remote_peer_close(struct fanout_endpoint *endpoint); /* from inside its loop */
void remote_peer_abandon(struct fanout_endpoint *endpoint);
void remote_peer_free(struct fanout_endpoint *endpoint);
bool remote_peer_is_open(const struct peer *peer);
void remote_peer_broken(struct peer *peer);                    /* its datagram cannot be read */
void remote_peer_look(struct fanout_endpoint *endpoint);       /* at each heartbeat */
const char *peer_name(const struct peer *peer, char name[64]); /* for logs: "loop 2", "orchestrator o_…" */

/* owner.c */
void owner_received(struct peer *worker, const FanoutMessage *message);
void owner_take_over(struct peer *worker, const char *why); /* all that it has of ours */

/* document.c: the agent comes, or not (NULL), in the loop, never from within. */
void document_ask(struct remote_attempt *remote_attempt, const char *version);
void documents_drop(struct fanout_endpoint *endpoint); /* cancels the requests for them; from inside its loop */

/* worker.c */
struct remote_attempt *remote_attempt_create(void);
void remote_attempt_destroy(struct remote_attempt **remote_attempt);
/* True if the message started an attempt in endpoint->spare. */
bool worker_received(struct peer *owner, const FanoutMessage *message);
void worker_agent_came(struct remote_attempt *remote_attempt, struct agent *agent,
                       const struct status *st); /* borrowed */
void worker_abandon(struct peer *owner);         /* its attempts are cancelled, and it hears no more of them */
/* The slots that count of those offered to it: at most its share, which may have shrunk since the offer. */
unsigned worker_offered(const struct peer *owner);
unsigned worker_slots(struct peer *owner); /* to be asked for with the message that goes to it now */
void worker_unoffer(struct peer *owner, unsigned slots);
void worker_offer(struct fanout_endpoint *endpoint, bool always);
void worker_offer_to(struct peer *owner);

#endif
