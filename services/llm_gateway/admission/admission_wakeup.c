/* Brings a ticket's result from any thread to the loop of the ticket.
 *
 * Work posted to a loop cannot be taken back, but a waiting ticket may be withdrawn and freed at any time. Therefore
 * a ticket is never posted. It stands in the wake-up queue of its loop, and that queue is posted; the ticket can be
 * removed under the lock. The queues belong to the admission, which therefore outlives its last post. */
#include "admission_priv.h"

#include <assert.h>

static void wakeup_queue_run(struct work *work);

void admission_wakeup_init(struct admission *admission)
{
    for (int i = 0; i < LOOPS_MAX; i++) {
        admission->wakeup_queues[i].work.run = wakeup_queue_run;
        admission->wakeup_queues[i].admission = admission;
        admission_list_init(&admission->wakeup_queues[i].tickets);
    }
}

void admission_wakeup_append(struct admission *admission, struct ticket *ticket, enum ticket_state state)
{
    unsigned index = loop_index(ticket->loop);
    struct admission_wakeup_queue *wakeup_queue = &admission->wakeup_queues[index];
    ticket->state = (int)state;
    admission_list_append(&wakeup_queue->tickets, &ticket->link);
    wakeup_queue->count++;
    if (wakeup_queue->posted)
        return;
    wakeup_queue->posted = true;
    wakeup_queue->loop = ticket->loop;
    admission->posts++;
    admission->calls |= UINT64_C(1) << index;
}

void admission_wakeup_remove(struct ticket *ticket)
{
    admission_list_remove(&ticket->link);
    ticket->admission->wakeup_queues[loop_index(ticket->loop)].count--;
}

void admission_unlock(struct admission *admission)
{
    uint64_t calls = admission->calls;
    admission->calls = 0;
    pthread_mutex_unlock(&admission->lock);
    for (; calls; calls &= calls - 1) {
        struct admission_wakeup_queue *wakeup_queue = &admission->wakeup_queues[__builtin_ctzll(calls)];
        loop_post(wakeup_queue->loop, &wakeup_queue->work);
    }
}

/* ---- in the ticket's loop ---------------------------------------------------------------------------------------- */

static struct ticket *wakeup_queue_take(struct admission_wakeup_queue *wakeup_queue)
{
    struct ticket *ticket = NULL;
    pthread_mutex_lock(&wakeup_queue->admission->lock);
    if (wakeup_queue->count) {
        ticket = admission_ticket_of(wakeup_queue->tickets.next);
        admission_wakeup_remove(ticket);
        ticket->state = ticket->state == TICKET_CALLED ? TICKET_INSIDE : TICKET_OUTSIDE;
    }
    pthread_mutex_unlock(&wakeup_queue->admission->lock);
    return ticket;
}

/* Tickets that arrive during the run have posted the queue again: tickets that call one another do not block the
 * loop. */
static void wakeup_queue_run(struct work *work)
{
    struct admission_wakeup_queue *wakeup_queue = (struct admission_wakeup_queue *)work;
    struct admission *admission = wakeup_queue->admission;
    pthread_mutex_lock(&admission->lock);
    wakeup_queue->posted = false;
    unsigned count = wakeup_queue->count;
    pthread_mutex_unlock(&admission->lock);
    for (struct ticket *ticket; count > 0 && (ticket = wakeup_queue_take(wakeup_queue)); count--) {
        loop_disarm(ticket->loop, &ticket->wait_timer);
        ticket->admitted(ticket);
    }
    pthread_mutex_lock(&admission->lock);
    bool last = --admission->posts == 0 && admission->abandoned;
    pthread_mutex_unlock(&admission->lock);
    if (last)
        admission_free(admission);
}
