/* Threads under suspicion, of all loops: a single thread is at work, the others wait in line. So the next life knows
 * the thread that kills its owner. */
#include "quarantine.h"
#include "thread/memory.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct quarantine {
    pthread_mutex_t lock;
    struct thread *present, *first, *last; /* `present`: on trial, or about to be */
    int64_t death_ns;                      /* when the last death was seen, or this orchestrator began */
};

struct quarantine *quarantine_create(void)
{
    struct quarantine *quarantine = xnonnull(calloc(1, sizeof *quarantine));
    pthread_mutex_init(&quarantine->lock, NULL);
    quarantine->death_ns = clock_now_ns();
    return quarantine;
}

void quarantine_destroy(struct quarantine **quarantine)
{
    if (!*quarantine)
        return;
    pthread_mutex_destroy(&(*quarantine)->lock);
    free(*quarantine);
    *quarantine = NULL;
}

/* Its work lives in the thread, which is held until the work has run. */
static void call_next(struct quarantine *quarantine)
{
    struct thread *next = quarantine->first;
    if (quarantine->present || !next)
        return;
    quarantine->first = next->crashes.next_in_line;
    if (!quarantine->first)
        quarantine->last = NULL;
    quarantine->present = next;
    loop_post(next->shard->loop, &next->crashes.turn);
}

void quarantine_enter(struct quarantine *quarantine, struct thread *thread)
{
    pthread_mutex_lock(&quarantine->lock);
    thread->crashes.next_in_line = NULL;
    if (quarantine->last)
        quarantine->last->crashes.next_in_line = thread;
    else
        quarantine->first = thread;
    quarantine->last = thread;
    call_next(quarantine);
    pthread_mutex_unlock(&quarantine->lock);
}

/* True if it was in line. */
static bool quarantine_take_out(struct quarantine *quarantine, const struct thread *thread)
{
    struct thread *before = NULL, **link = &quarantine->first;
    while (*link && *link != thread) {
        before = *link;
        link = &before->crashes.next_in_line;
    }
    if (!*link)
        return false;
    *link = thread->crashes.next_in_line;
    if (quarantine->last == thread)
        quarantine->last = before;
    return true;
}

bool quarantine_leave(struct quarantine *quarantine, struct thread *thread)
{
    pthread_mutex_lock(&quarantine->lock);
    bool was_in_line = quarantine_take_out(quarantine, thread);
    if (quarantine->present == thread)
        quarantine->present = NULL;
    call_next(quarantine);
    pthread_mutex_unlock(&quarantine->lock);
    return was_in_line;
}

bool quarantine_has_line(struct quarantine *quarantine)
{
    pthread_mutex_lock(&quarantine->lock);
    bool has = quarantine->first != NULL;
    pthread_mutex_unlock(&quarantine->lock);
    return has;
}

void quarantine_note_death(struct quarantine *quarantine)
{
    pthread_mutex_lock(&quarantine->lock);
    quarantine->death_ns = clock_now_ns();
    pthread_mutex_unlock(&quarantine->lock);
}

int64_t quarantine_quiet_ms(struct quarantine *quarantine)
{
    pthread_mutex_lock(&quarantine->lock);
    int64_t since_ns = quarantine->death_ns;
    pthread_mutex_unlock(&quarantine->lock);
    return (clock_now_ns() - since_ns) / NS_PER_MS;
}
