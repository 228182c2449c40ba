/* Threads with work left to do whose log could not be written: read again after a while, and carried on. */
#include "run_priv.h"

#include <stdlib.h>

#define REVIVAL_MS 1000

struct revival {
    struct timer timer;
    struct home *home;
    struct revival *next;
    char *tenant, *id;
};

static void end_revival(struct revival *revival)
{
    struct revival **link = &revival->home->revivals;
    while (*link != revival)
        link = &(*link)->next;
    *link = revival->next;
    loop_disarm(revival->home->loop, &revival->timer);
    free(revival->tenant);
    free(revival->id);
    free(revival);
}

void home_end_revivals(struct home *home)
{
    while (home->revivals)
        end_revival(home->revivals);
}

static void revive(struct timer *timer)
{
    struct revival *revival = (struct revival *)timer;
    if (!revival->home->runner->draining)
        thread_settle(thread_get(revival->home, revival->tenant, revival->id, false));
    end_revival(revival);
}

void thread_revive_later(const struct thread *thread)
{
    struct revival *revival = need(calloc(1, sizeof *revival));
    revival->home = thread->home;
    revival->next = thread->home->revivals;
    thread->home->revivals = revival;
    revival->tenant = need(strdup(thread->tenant));
    revival->id = need(strdup(thread->id));
    revival->timer.expired = revive;
    loop_arm_after(thread->home->loop, &revival->timer, REVIVAL_MS);
}
