/* A gate: of much work of many owners, a few turns at a time are held, and owners take turns.
 *
 *      turn_take ---> held -------------------------------> turn_give
 *               '---> waits ---> `came` runs, held ---------'
 *               '---> waits ---> withdrawn by turn_give
 *
 * The next turn is of the waiting owner whose turns have cost least, so behind a costly turn of one owner, more turns
 * of the others come. The cost may be set while the turn is held: a read knows its size at its end. An owner that comes
 * anew begins at the cost of the turn that began last. This is start-time fair queueing (Goyal, Vin and Cheng, 1996).
 * Without a lock: all turns of a gate belong to one loop. */
#ifndef RENGA_BASE_TURNS_H
#define RENGA_BASE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turn_owner;

/* Embedded in its owner, zeroed before its first use. */
struct turn {
    uint64_t owner; /* hash of its name (base/hash.h) */
    size_t cost;    /* may be set while it is held; each turn costs TURN_COST_LEAST beside it */
    void (*came)(struct turn *turn);

    /* The gate's. */
    struct turn_owner *place; /* NULL: it neither waits nor is held */
    bool waits;
    struct turn *next, *previous;
};

#define TURN_COST_LEAST 1

struct turn_gate {
    unsigned most; /* held at a time */

    /* The gate's. */
    unsigned held, waiting;
    bool giving;    /* turn_give is at work */
    uint64_t begun; /* the cost of the owner of the turn that began last, before it */
    struct turn_owner *first, *last;
};

void turn_gate_init(struct turn_gate *gate, unsigned most);
/* Turns that are still held or wait are forgotten. */
void turn_gate_fini(struct turn_gate *gate);

/* True: it is held. False: it waits; `came` runs when it is held, from within turn_give of another turn. */
bool turn_take(struct turn_gate *gate, struct turn *turn);
/* Ends a turn, or withdraws one that waits; no effect on others. */
void turn_give(struct turn_gate *gate, struct turn *turn);
bool turn_is_taken(const struct turn *turn); /* it is held or waits */

#endif
