/* Private to fanout/. A station is a loop's part in it, a peer another loop as a station sees it: the same two are
 * owner and worker for each other. */
#ifndef RENGA_ORCHESTRATOR_FANOUT_PRIV_H
#define RENGA_ORCHESTRATOR_FANOUT_PRIV_H

#include "fanout/fanout.h"
#include "fanout/mailbox.h"
#include "loop/loop.h"
#include "nodes/task.h"
#include "run/tally.h"

#include "renga/v1/fanout.pb-c.h"

#include <stdatomic.h>

#define NEIGHBOURS_MAX   8 /* loops that one asks for work: lines do not grow with the square of loops */
#define WAITING_MAX      ((size_t)4 << 20) /* bytes on a line; beyond, nothing new goes and nothing is shown */
#define ENVELOPE_MAX     ((size_t)4 << 10) /* bytes of a message beside the request or the result */
#define SILENT_BEATS_MAX (FANOUT_SILENCE_MS / FANOUT_BEAT_MS)

typedef Renga__V1__FanoutMessage FanoutMessage; /* generated from a proto */

/* An attempt of another loop, at work here. */
struct guest {
    struct station *station;
    struct peer *owner;
    uint64_t number;
    bool cancelled, in_start, ended;
    struct agent *agent; /* held */
    struct guest *next, *previous;
    struct task task;
};

struct peer {
    struct station *station; /* whose peer it is */
    unsigned index;          /* of its loop */
    struct line *line;       /* NULL: nothing was ever written to it */
    bool spoken;             /* we have written to it since the last beat */

    /* As a worker. */
    unsigned asked;  /* attempts that it asked for and has not got */
    unsigned away;   /* ours that it has */
    unsigned silent; /* beats since anything came from it */

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
    struct peer *peers;                /* by index of their loops; our own stands unused */
    unsigned share;                    /* hands for each neighbour */
    unsigned at_home, guests, offered; /* hands that are full, or that somebody may fill */
    struct timer beat;
    int64_t waiting_shown; /* bytes on its lines, as metrics have it */
    struct guest *spare;   /* whose arena the next message is read into */

    /* Those away, by the lower half of their number; the upper half tells the uses of a place apart. */
    struct dispatch **places;
    uint32_t *uses;
    uint32_t place_count, *free_places, free_count;
    unsigned away;
};

struct fanout {
    struct fanout_options options;
    unsigned serial; /* in the addresses: mailboxes of an earlier fan-out of this process are still there */
    size_t letter_max;
    struct station *stations;
    atomic_uint away, guests;
};

/* fanout.c */
void station_note(struct station *station, enum tally_fanout what, int64_t n);
void station_wake(struct station *station); /* something is away or here: the beat goes */
/* Writes a message to a peer; false where it is larger than may be. */
bool peer_write(struct peer *peer, FanoutMessage *message);

/* owner.c */
void owner_received(struct peer *worker, const FanoutMessage *message);
void owner_take_over(struct peer *worker); /* all that it has of ours */

/* worker.c */
struct guest *guest_create(void);
void guest_destroy(struct guest **guest);
/* True where the spare of the station is at work now. */
bool worker_received(struct peer *owner, const FanoutMessage *message);
unsigned worker_hands(struct peer *owner); /* to be asked for with the message that goes to it now */
void worker_unoffer(struct peer *owner, unsigned hands);
void worker_offer(struct station *station, bool always);

#endif
