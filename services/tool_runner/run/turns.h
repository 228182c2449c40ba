/* Turns: requests of one name come one after the other, whichever loop they arrive in, so that two of the same
 * idempotency key run once and the second finds the record of the first. */
#ifndef RENGA_TOOL_RUNNER_TURNS_H
#define RENGA_TOOL_RUNNER_TURNS_H

#include "loop/loop.h"

#include <stdbool.h>

struct turns;

struct turns *turns_create(void);
void turns_destroy(struct turns **turns);

/* Embedded in its owner, zeroed; kept until turn_leave has returned true or `came` has run after it. */
struct turn {
    struct loop *loop;
    void (*came)(struct turn *turn);

    /* The turns' own. */
    struct work work;
    struct turn *next_name; /* of those whose turn it is */
    struct turn *next;      /* who waits behind */
    const char *tenant, *name;
    enum { TURN_NONE, TURN_WAITING, TURN_COMING, TURN_TAKEN } standing;
};

/* True: it is its turn now; else `came` says so later. Both names are borrowed until turn_leave. */
bool turn_ask(struct turns *turns, struct turn *turn, const char *tenant, const char *name);

/* The next one's turn. False: `came` is on its way; it is to be left there again. */
bool turn_leave(struct turns *turns, struct turn *turn);

#endif
