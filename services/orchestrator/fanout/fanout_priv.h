/* Private to fanout/. A station is a loop's part in it, a peer another loop as a station sees it, of this process or
 * far (of another orchestrator): the same two are owner and worker for each other. */
#ifndef RENGA_ORCHESTRATOR_FANOUT_PRIV_H
#define RENGA_ORCHESTRATOR_FANOUT_PRIV_H

#include "fanout/fanout.h"
#include "fanout/mailbox.h"
#include "log/ids.h"
#include "loop/loop.h"
#include "nodes/task.h"
#include "run/tally.h"

#include "renga/v1/fanout.pb-c.h"

#include <stdatomic.h>

#define NEIGHBOURS_MAX   8 /* loops that one asks for work: lines do not grow with the square of loops */
#define WAITING_MAX      ((size_t)4 << 20) /* bytes on a line; beyond, nothing new goes and nothing is shown */
#define ENVELOPE_MAX     ((size_t)4 << 10) /* bytes of a message beside the request or the result */
#define SILENT_BEATS_MAX (FANOUT_SILENCE_MS / FANOUT_BEAT_MS)
#define BARRED_BEATS     40 /* for which a worker that refused an attempt is given no other */

#define FAR_PEERS_MAX ((unsigned)64) /* of a loop */
#define ROUTES_MAX    64             /* addresses that a loop ever writes to: lines are never closed */

typedef Renga__V1__FanoutMessage FanoutMessage; /* generated from a proto */

/* An attempt of another loop, at work here. */
struct guest {
    struct station *station;
    struct peer *owner;
    uint64_t number;
    bool cancelled, in_start, ended;
    bool orphan;         /* nobody waits for it any more: its owner fell silent */
    struct agent *agent; /* held; NULL: it is on its way from the store (document.c) */
    struct guest *next, *previous, *next_waiting;
    struct task task;
};

struct peer {
    struct station *station; /* whose peer it is */
    unsigned index;          /* of its loop, or its place among those that are far */
    struct far *far;         /* NULL: it is of this process, or nobody's place */
    struct line *line;       /* NULL: nothing was ever written to it */
    bool spoken;             /* we have written to it since the last beat */

    /* As a worker. */
    unsigned asked;  /* attempts that it asked for and has not got */
    unsigned away;   /* ours that it has */
    unsigned silent; /* beats since anything came from it */
    unsigned barred; /* beats until it may be given anything */

    /* As an owner. */
    bool neighbour;   /* we ask it for work */
    unsigned offered; /* hands that we have asked it to use, and it has not */
    unsigned guests;  /* of it, here */
    struct guest *first_guest;
};

struct station {
    struct fanout *fanout;
    struct loop *loop;
    unsigned index;
    bool joined;
    struct mailbox *mailbox;
    struct peer *peers;       /* by index of their loops; our own stands unused; behind them places for far ones */
    unsigned peer_count;      /* places */
    unsigned share;           /* hands for each neighbour */
    unsigned at_home, guests; /* hands that are full */
    unsigned offered;         /* that a neighbour may fill */
    struct timer beat;
    int64_t waiting_shown; /* bytes on its lines, as metrics have it */
    struct guest *spare;   /* whose arena the next message is read into */

    /* Other orchestrators (far.c). */
    struct members *members; /* NULL: it shares with none */
    char self[ID_MAX];       /* as they know this orchestrator */
    unsigned far_offered;    /* hands that they may fill */
    unsigned far_share;      /* hands for each that is in session */
    uint32_t sessions;       /* begun with any of them */
    int64_t seen_ns;         /* when it last went round, as a letter or the beat has shown */
    struct route *routes;
    unsigned route_count;
    unsigned unequal; /* members that listen, and take letters of another size or version than we */
    struct inbox *inbox;
    struct renewal *renewal;    /* of certificates */
    struct document *documents; /* that are on their way from the store */

    /* Those away, by the lower half of their number; the upper half tells the uses of a place apart. */
    struct dispatch **places;
    uint32_t *uses;
    uint32_t place_count, *free_places, free_count;
    unsigned away;
};

struct fanout {
    struct fanout_options options;
    unsigned serial; /* in the addresses: mailboxes of an earlier fan-out of this process are still there */
    size_t letter_max, far_letter_max;
    struct station *stations;
    atomic_uint away, guests;
    struct port *port; /* NULL: it does not listen */
    atomic_bool resting;
};

/* fanout.c */
void station_note(struct station *station, enum tally_fanout what, int64_t n);
void station_wake(struct station *station); /* something is away or here: the beat goes */
/* Writes a message to a peer; false where it is larger than may be, or there is no way to it. */
bool peer_write(struct peer *peer, FanoutMessage *message);
void peer_read(struct peer *peer, struct mail *mail); /* what is left of it: messages */

/* far.c */
bool port_open(struct fanout *fanout, struct status *st);
void port_close(struct fanout *fanout);
bool port_attend(struct station *station);
void port_renew(struct fanout *fanout);  /* its certificate */
void far_open(struct station *station);  /* its places and inbox; where the fan-out listens */
void far_close(struct station *station); /* from inside its loop */
void far_abandon(struct station *station);
void far_free(struct station *station);
bool far_is_open(const struct peer *peer);
void far_broken(struct peer *peer);                            /* it has written what cannot be read */
void far_look(struct station *station);                        /* at each beat */
const char *peer_name(const struct peer *peer, char name[64]); /* for logs: "loop 2", "orchestrator o_…" */

/* owner.c */
void owner_received(struct peer *worker, const FanoutMessage *message);
void owner_take_over(struct peer *worker, const char *why); /* all that it has of ours */

/* document.c: the agent comes, or not (NULL), in the loop, never from within. */
void document_ask(struct guest *guest, const char *version);
void documents_drop(struct station *station); /* nobody waits for them any more; from inside its loop */

/* worker.c */
struct guest *guest_create(void);
void guest_destroy(struct guest **guest);
/* True where the spare of the station is at work now. */
bool worker_received(struct peer *owner, const FanoutMessage *message);
void worker_agent_came(struct guest *guest, struct agent *agent, const struct status *st); /* borrowed */
void worker_abandon(struct peer *owner); /* its attempts are cancelled, and it hears no more of them */
/* Of what it was offered, what counts: no more than its share, which may have been larger when it was offered. */
unsigned worker_offered(const struct peer *owner);
unsigned worker_hands(struct peer *owner); /* to be asked for with the message that goes to it now */
void worker_unoffer(struct peer *owner, unsigned hands);
void worker_offer(struct station *station, bool always);
void worker_offer_to(struct peer *owner);

#endif
