/* From whichever thread a ticket's fate is decided to the loop that it belongs to.
 *
 * What is posted to a loop cannot be taken back, but a ticket that waits may be withdrawn and freed at any time. So a
 * ticket is never posted itself: it stands in the porch of its loop, from where it can be taken under the lock, and the
 * porch is posted. The porches are the gate's, which therefore outlives its last post. */
#include "gate_priv.h"

#include <assert.h>

static void porch_run(struct work *work);

void gate_porch_init(struct gate *gate)
{
    for (int i = 0; i < LOOPS_MAX; i++) {
        gate->porches[i].work.run = porch_run;
        gate->porches[i].gate = gate;
        gate_list_init(&gate->porches[i].tickets);
    }
}

void gate_porch_append(struct gate *gate, struct ticket *ticket, enum ticket_state state)
{
    unsigned index = loop_index(ticket->loop);
    struct gate_porch *porch = &gate->porches[index];
    ticket->state = (int)state;
    gate_list_append(&porch->tickets, &ticket->link);
    porch->count++;
    if (porch->posted)
        return;
    porch->posted = true;
    porch->loop = ticket->loop;
    gate->posts++;
    gate->calls |= UINT64_C(1) << index;
}

void gate_porch_remove(struct ticket *ticket)
{
    gate_list_remove(&ticket->link);
    ticket->gate->porches[loop_index(ticket->loop)].count--;
}

void gate_unlock(struct gate *gate)
{
    uint64_t calls = gate->calls;
    gate->calls = 0;
    pthread_mutex_unlock(&gate->lock);
    for (; calls; calls &= calls - 1) {
        struct gate_porch *porch = &gate->porches[__builtin_ctzll(calls)];
        loop_post(porch->loop, &porch->work);
    }
}

/* ---- in the ticket's loop ---------------------------------------------------------------------------------------- */

static struct ticket *porch_take(struct gate_porch *porch)
{
    struct ticket *ticket = NULL;
    pthread_mutex_lock(&porch->gate->lock);
    if (porch->count) {
        ticket = gate_ticket_of(porch->tickets.next);
        gate_porch_remove(ticket);
        ticket->state = ticket->state == TICKET_CALLED ? TICKET_INSIDE : TICKET_OUTSIDE;
    }
    pthread_mutex_unlock(&porch->gate->lock);
    return ticket;
}

static void porch_left(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    bool last = --gate->posts == 0 && gate->abandoned;
    pthread_mutex_unlock(&gate->lock);
    if (last)
        gate_free(gate);
}

/* Those who come while it runs have posted it again: a loop is not held up by tickets that call one another. */
static void porch_run(struct work *work)
{
    struct gate_porch *porch = (struct gate_porch *)work;
    struct gate *gate = porch->gate;
    pthread_mutex_lock(&gate->lock);
    porch->posted = false;
    unsigned count = porch->count;
    pthread_mutex_unlock(&gate->lock);
    for (struct ticket *ticket; count > 0 && (ticket = porch_take(porch)); count--) {
        loop_disarm(ticket->loop, &ticket->patience);
        ticket->admitted(ticket);
    }
    porch_left(gate);
}
