/* Private to fanout/: loops of other orchestrators. far.c has them as peers, port.c their letters. */
#ifndef RENGA_ORCHESTRATOR_FAR_H
#define RENGA_ORCHESTRATOR_FAR_H

#include "fanout_priv.h"

#include "log/ids.h"
#include "run/members.h"

#include <pthread.h>

#define FAR_VERSION 1 /* of heads and messages: it grows by 1 with each change that an older reader cannot skip */
#define FAR_MARK    (UINT32_C(0x52464f00) + FAR_VERSION) /* reads as another on a machine of the other byte order */
#define TOKEN_SIZE  16

/* The head of a letter between orchestrators. */
struct head {
    uint32_t mark;
    uint8_t token[TOKEN_SIZE]; /* of the intended reader: it stands only in the reader's row */
    char member[ID_MAX];       /* the writer */
    uint32_t from, to;         /* loops */
    uint32_t mine, theirs;     /* sessions (far.c) */
    uint32_t number;           /* of the letter, in this pair of sessions */
};

struct parcel {
    struct parcel *next;
    struct head head;
    struct mail *mail;
};

/* Letters on their way from the loop that reads the port to their destination loop. */
struct inbox {
    struct work work; /* first */
    pthread_mutex_t lock;
    struct station *station; /* NULL: it is closed */
    bool posted;
    struct parcel *first, *last;
    size_t bytes;
};

/* A destination of letters: as lines are never closed, it outlives the peer that listens there. */
struct route {
    char address[MAIL_ADDRESS_MAX];
    struct line *line;       /* NULL: it could not be opened */
    unsigned failures, rest; /* to open it; and looks until it is tried again */
    struct peer *peer;       /* the peer that listens there now; NULL: no peer */
};

/* The additional fields of a peer in another orchestrator. */
struct far {
    char member[ID_MAX];
    uint8_t token[TOKEN_SIZE];
    uint32_t loop;         /* of that orchestrator */
    uint32_t mine, theirs; /* sessions; 0: theirs is not known yet */
    uint32_t read;         /* letters, in this pair of sessions */
    bool up;
    bool living, chosen; /* as members had it at the last look */
    struct route *route;
};

void far_received(struct station *station, const struct head *head, struct mail *mail);
/* Pairs our loops with theirs so that each loop has at least one partner. */
bool far_is_pair(unsigned loop, unsigned count, unsigned their_loop, unsigned their_count);

/* renewal.c: certificates of its lines, and of the port; from inside its loop. */
void renewal_open(struct station *station);
void renewal_look(struct station *station);
void renewal_close(struct station *station);

void inbox_open(struct station *station);
void inbox_close(struct station *station);

/* Whether an attempt of this owner may begin here: it takes its attempts over when it finds our lease over. From then
 * on this process does not begin them. */
bool far_is_sure(const struct peer *owner, struct status *st);

#endif
