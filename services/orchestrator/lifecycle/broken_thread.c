/* Threads with a log that cannot be written or read: their requests fail, and they leave memory. A thread with work
 * left to do is read again later (reload_retry.c). */
#include "broken_thread.h"
#include "engine/step.h"
#include "journal/journal_writer.h"
#include "quarantine/crashes.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "watch/subscribers.h"

#include "base/log.h"

#include <stdlib.h>

static void fail_requests(struct request **list, const struct status *why)
{
    while (*list) {
        struct request *request = *list;
        *list = request->next;
        request_fail(request, why, NULL);
    }
}

void thread_unload(struct thread *thread, const struct status *why)
{
    thread_move(thread, THREAD_BROKEN);
    crashes_leave(thread);
    shard_wake_thread(thread);
    shard_remove_thread(thread);
    thread->last_request = NULL;
    fail_requests(&thread->first_request, why);
    subscribers_end(thread, why);
    struct run *run = thread->run;
    if (run) {
        fail_requests(&run->waiters, why);
        fail_requests(&run->quiet_waiters, why);
        loop_disarm(thread->shard->loop, &run->limit);
        loop_disarm(thread->shard->loop, &run->idle_limit);
        run->active_period_ns = 0;
        run->stopping = RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED; /* no more nodes begin */
    }
    for (struct run *queued = thread->queue; queued; queued = queued->next) {
        fail_requests(&queued->waiters, why);
        fail_requests(&queued->quiet_waiters, why);
    }
    thread->holds++;
    if (run && thread->root)
        frame_stop(thread->root);
    thread->holds--;
    commit_drop(&thread->filling, why);
    thread_settle(thread);
}

/* The first of the requests that deletes the thread, or goes on deleting it. */
static struct request *find_deletion(const struct thread *thread)
{
    struct request *request = thread->first_request;
    while (request && !request_erases_thread(request))
        request = request->next;
    return request;
}

/* A thread that cannot be read can be deleted: its rows are found by their keys. Requests before the deletion fail. */
static bool opens_for_deletion(struct thread *thread, const struct status *why)
{
    const struct request *deletion = find_deletion(thread);
    if (thread->phase != THREAD_LOADING || why->code != DATA_LOSS || !deletion)
        return false;
    while (thread->first_request != deletion) {
        struct request *request = thread->first_request;
        thread->first_request = request->next;
        request_fail(request, why, NULL);
    }
    thread_drop_content(thread);
    thread->last = thread->head = thread->committed = 0;
    thread->pending = thread->crashes.parks = false;
    thread->exists = thread->unreadable = true;
    thread_move(thread, THREAD_READY);
    loop_defer(thread->shard->loop, &thread->go);
    return true;
}

void thread_break(struct thread *thread, const struct status *why)
{
    log_error("thread.broken", "thread %s: %s", thread->id, why->text);
    if (opens_for_deletion(thread, why))
        return;
    if (thread->phase != THREAD_BROKEN && why->code == UNAVAILABLE && (run_is_open(thread->run) || thread->queue) &&
        !thread->shard->runner->draining)
        thread_reload_later(thread);
    thread_unload(thread, why);
}
