/* Turns: requests with the same name run in sequence, in every loop. So two requests with the same idempotency key run
 * once, and the second finds the record of the first. */
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
    struct turn *next;      /* the next waiter of the same name */
    const char *tenant, *name;
    enum { TURN_NONE, TURN_WAITING, TURN_COMING, TURN_TAKEN } standing;
};

/* Asks for the turn. True: it is granted now; otherwise `came` runs when it is. Both names are borrowed until
 * turn_leave. */
bool turn_ask(struct turns *turns, struct turn *turn, const char *tenant, const char *name);

/* Withdraws, or passes the turn on to the next waiter. False: `came` has been posted already; call turn_leave there. */
bool turn_leave(struct turns *turns, struct turn *turn);

#endif
