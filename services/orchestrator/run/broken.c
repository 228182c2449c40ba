/* Threads with a log that cannot be written or read: their requests fail, and they leave memory. A thread with work
 * left to do is read again later (revival.c). */
#include "errand.h"
#include "keep.h"
#include "run_priv.h"

#include "base/log.h"

#include <stdlib.h>

static void fail_errands(struct errand **list, const struct status *why)
{
    while (*list) {
        struct errand *errand = *list;
        *list = errand->next;
        errand_fail(errand, why, NULL);
    }
}

void thread_forget(struct thread *thread, const struct status *why)
{
    thread->phase = THREAD_BROKEN;
    crashes_leave(thread);
    home_wake_thread(thread);
    home_remove_thread(thread);
    thread->last_errand = NULL;
    fail_errands(&thread->first_errand, why);
    audience_ended(thread, why);
    struct run *run = thread->run;
    if (run) {
        fail_errands(&run->waiters, why);
        fail_errands(&run->quiet_waiters, why);
        loop_disarm(thread->home->loop, &run->limit);
        loop_disarm(thread->home->loop, &run->idle_limit);
        run->spell_ns = 0;
        run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED; /* no more nodes begin */
    }
    for (struct run *queued = thread->queue; queued; queued = queued->next) {
        fail_errands(&queued->waiters, why);
        fail_errands(&queued->quiet_waiters, why);
    }
    thread->holds++;
    if (run && thread->root)
        frame_stop(thread->root);
    thread->holds--;
    commit_drop(&thread->filling, why);
    thread_settle(thread);
}

/* The first of the requests that deletes the thread, or goes on deleting it. */
static struct errand *find_deletion(const struct thread *thread)
{
    struct errand *errand = thread->first_errand;
    while (errand && !erase_is_asked_by(errand))
        errand = errand->next;
    return errand;
}

/* A thread that cannot be read can be deleted: its rows are found by their keys. Requests before the deletion fail. */
static bool opens_for_deletion(struct thread *thread, const struct status *why)
{
    const struct errand *deletion = find_deletion(thread);
    if (thread->phase != THREAD_LOADING || why->code != DATA_LOSS || !deletion)
        return false;
    while (thread->first_errand != deletion) {
        struct errand *errand = thread->first_errand;
        thread->first_errand = errand->next;
        errand_fail(errand, why, NULL);
    }
    thread_drop_content(thread);
    thread->last = thread->head = thread->committed = 0;
    thread->pending = thread->crashes.parks = false;
    thread->exists = thread->unreadable = true;
    thread->phase = THREAD_READY;
    loop_defer(thread->home->loop, &thread->go);
    return true;
}

void thread_break(struct thread *thread, const struct status *why)
{
    log_error("thread.broken", "thread %s: %s", thread->id, why->text);
    if (opens_for_deletion(thread, why))
        return;
    if (thread->phase != THREAD_BROKEN && why->code == UNAVAILABLE && (run_is_open(thread->run) || thread->queue) &&
        !thread->home->runner->draining)
        thread_revive_later(thread);
    thread_forget(thread, why);
}
