#include "base/turns.h"

#include "base/list.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

/* Kept while it has turns; behind them, while others wait that have cost less. */
struct turn_owner {
    uint64_t id;
    uint64_t cost; /* of its turns, from the cost on at which it came */
    unsigned held;
    struct turn *first, *last; /* that wait */
    struct turn_owner *next, *previous;
};

void turn_gate_init(struct turn_gate *gate, unsigned most)
{
    *gate = (struct turn_gate){.most = most};
}

static void turn_gate_forget(struct turn_gate *gate, struct turn_owner *owner)
{
    LIST_REMOVE(gate->first, gate->last, owner);
    free(owner);
}

void turn_gate_fini(struct turn_gate *gate)
{
    for (struct turn_owner *owner = gate->first, *next; owner; owner = next) {
        next = owner->next;
        free(owner);
    }
}

static struct turn_owner *turn_gate_owner(struct turn_gate *gate, uint64_t id)
{
    struct turn_owner *owner = gate->first;
    while (owner && owner->id != id)
        owner = owner->next;
    if (!owner) {
        owner = xcalloc(1, sizeof *owner);
        owner->id = id;
        LIST_APPEND(gate->first, gate->last, owner);
    }
    if (owner->cost < gate->begun && !owner->held && !owner->first)
        owner->cost = gate->begun;
    return owner;
}

static void turn_begin(struct turn_gate *gate, struct turn *turn)
{
    struct turn_owner *owner = turn->place;
    gate->held++;
    owner->held++;
    if (gate->begun < owner->cost)
        gate->begun = owner->cost;
    owner->cost += TURN_COST_LEAST;
}

bool turn_take(struct turn_gate *gate, struct turn *turn)
{
    assert(!turn->place);
    turn->place = turn_gate_owner(gate, turn->owner);
    turn->cost = 0;
    turn->waits = gate->held >= gate->most || gate->waiting;
    if (turn->waits) {
        gate->waiting++;
        LIST_APPEND(turn->place->first, turn->place->last, turn);
    } else {
        turn_begin(gate, turn);
    }
    return !turn->waits;
}

static void turn_leave_queue(struct turn_gate *gate, struct turn *turn)
{
    turn->waits = false;
    gate->waiting--;
    LIST_REMOVE(turn->place->first, turn->place->last, turn);
}

/* The first turn of the owner that has cost least; NULL: none waits. */
static struct turn *turn_gate_next(struct turn_gate *gate)
{
    struct turn_owner *least = NULL;
    for (struct turn_owner *owner = gate->first, *next; owner; owner = next) {
        next = owner->next;
        if (owner->first && (!least || owner->cost < least->cost))
            least = owner;
        else if (!owner->first && !owner->held && (!gate->waiting || owner->cost <= gate->begun))
            turn_gate_forget(gate, owner);
    }
    return least ? least->first : NULL;
}

void turn_give(struct turn_gate *gate, struct turn *turn)
{
    struct turn_owner *owner = turn->place;
    if (!owner)
        return;
    if (turn->waits) {
        turn_leave_queue(gate, turn);
    } else {
        gate->held--;
        owner->held--;
        owner->cost += turn->cost;
    }
    turn->place = NULL;
    if (gate->giving) /* from within `came`: the loop below goes on, so that nothing recurses */
        return;
    gate->giving = true;
    for (struct turn *next; gate->held < gate->most && (next = turn_gate_next(gate));) {
        turn_leave_queue(gate, next);
        turn_begin(gate, next);
        next->came(next);
    }
    gate->giving = false;
}

bool turn_is_taken(const struct turn *turn)
{
    return turn->place;
}
