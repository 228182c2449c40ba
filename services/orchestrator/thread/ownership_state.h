/* Private to the orchestrator: the owner of a thread as memory has it. It is changed by cluster/ownership.c alone. From
 * inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_OWNERSHIP_STATE_H
#define RENGA_ORCHESTRATOR_OWNERSHIP_STATE_H

#include "log/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct thread;

struct owner_view { /* the row */
    bool there, at_rest;
    uint64_t token;
    char member[ID_MAX]; /* if it is FREE: its last owner; empty: unknown */
};

struct ownership {
    struct owner_view known, next; /* next: when the batch that is under way is on disk */
    uint64_t known_at, stamped_at; /* requests that came so far: it is new enough for these; so will it be then */
    uint64_t since;                /* the row names us from this token on, without a gap; 0: it names another */
    uint64_t listed;               /* the token with which the pending row lists it as ours */
    unsigned handed;               /* requests that others handed on, and that found it at rest */
    bool asking;                   /* the row is being read */
    bool mine;
    uint64_t term, next_term; /* of our lease (membership.h), when it became so, or is to */
};

/* The fencing token for the next actions of the thread's run; 0: the store is not shared. */
int64_t owner_token(const struct thread *thread);
/* The thread leaves memory. */
void owner_clear(struct thread *thread);

#endif
