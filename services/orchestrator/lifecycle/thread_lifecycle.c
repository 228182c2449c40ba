/* Threads: read on demand; their requests are served in sequence. */
#include "thread_lifecycle.h"
#include "broken_thread.h"
#include "cluster/ownership.h"
#include "engine/run_lifecycle.h"
#include "engine/step.h"
#include "handoff.h"
#include "journal/journal_writer.h"
#include "journal/load.h"
#include "quarantine/crashes.h"
#include "request_queue.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"

#include <stdlib.h>

/* ---- its log is read --------------------------------------------------------------------------------------------- */

static void note_listed(struct run *run)
{
    if (!run || run->state >= RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED)
        return;
    text_cut_copy(run->listed_version, sizeof run->listed_version, run->begun->graph_version);
    run->listed_before = true;
}

static void thread_lifecycle_loaded(struct loader *loader)
{
    struct thread *thread = loader->owner;
    struct status st = loader->status;
    free(loader);
    thread->loader = NULL;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN) {
        thread_settle(thread);
        return;
    }
    if (st.code != OK) {
        if (!owner_doubts(thread, &st))
            thread_break(thread, &st);
        return;
    }
    if (owner_was_overtaken(thread)) {
        thread_lose(thread);
        return;
    }
    thread_move(thread, THREAD_READY);
    thread->committed = thread->last;
    thread->read_since = thread->since_snapshot;
    thread->pending = run_is_open(thread->run) || thread->queue;
    note_listed(thread->run);
    for (struct run *run = thread->queue; run; run = run->next)
        note_listed(run);
    if (!thread->pending)
        crashes_leave(thread);
    if (thread->crashes.parks && thread->pending) {
        crashes_park(thread);
    } else if (thread->run && thread->run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING) {
        thread->last += RECORDS_LOST_MAX; /* lost events, shown after the last record, keep their ids */
        run_resume(thread->run, &(struct resumption){.recovered = true});
    } else {
        run_next(thread);
    }
    loop_defer(thread->shard->loop, &thread->go);
}

/* The store has no rows under its name: a thread has an owner's row from its first batch to its last. */
static void thread_is_new(struct thread *thread)
{
    thread_move(thread, THREAD_READY);
    loop_defer(thread->shard->loop, &thread->go);
}

static void thread_read(struct thread *thread)
{
    struct loader *loader = thread->loader = xnonnull(calloc(1, sizeof *loader));
    *loader = (struct loader){.thread = thread, .loaded = thread_lifecycle_loaded, .owner = thread};
    thread->holds++;
    loader_start(loader);
}

static void thread_judged(struct thread *thread, const struct status *st)
{
    if (crashes_is_in_quarantine(thread))
        request_refuse_in_quarantine(thread);
    else if (st->code == OK)
        thread_read(thread);
    else
        thread_break(thread, st);
}

static void owner_is_known(struct owner_query *query)
{
    struct thread *thread = query->thread;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN)
        thread_settle(thread);
    else if (query->status.code == ABORTED)
        thread_hand_off(thread, &query->status, query->address);
    else if (query->status.code != OK)
        thread_break(thread, &query->status);
    else if (!thread->own.known.there)
        thread_is_new(thread);
    else if (!thread_stays_handed_off(thread))
        crashes_ask(thread, thread_judged);
    free(query);
}

static void find_owner(struct thread *thread)
{
    struct owner_query *query = xnonnull(calloc(1, sizeof *query));
    query->thread = thread;
    query->asked = owner_is_known;
    thread->holds++;
    owner_ask(query);
}

struct thread *thread_get(struct shard *shard, const char *tenant, const char *id, bool drawn)
{
    struct thread *thread = shard_find_thread(shard, tenant, id);
    if (thread) {
        shard_wake_thread(thread);
        return thread;
    }
    thread = thread_new(shard, tenant, id);
    shard_add_thread(thread);
    if (drawn) {
        thread->unread = true;
        thread->own.known_at = shard->arrivals;
        thread_is_new(thread);
    } else if (shard->runner->membership) {
        find_owner(thread);
    } else {
        crashes_ask(thread, thread_judged);
    }
    return thread;
}

/* ---- its turn ---------------------------------------------------------------------------------------------------- */

void thread_serve(struct thread *thread)
{
    while (thread->phase == THREAD_READY && !thread->held && thread->first_request &&
           owner_vouches(thread, thread->first_request)) {
        struct request *request = thread->first_request;
        thread->first_request = request->next;
        if (!thread->first_request)
            thread->last_request = NULL;
        request->next = NULL;
        if (thread_serves(thread, request))
            request_serve(request, thread);
    }
}

/* Long steps and long batches have visits of the loop of their own. */
static void thread_flush(struct thread *thread)
{
    thread->flush_waits =
        thread->filling && !thread->flying && !thread->flush_waits && loop_should_yield(thread->shard->loop);
    if (thread->flush_waits)
        loop_defer(thread->shard->loop, &thread->go);
    else
        log_flush(thread);
}

void thread_go(struct work *work)
{
    struct thread *thread = CONTAINER_OF(work, struct thread, go);
    if (thread->phase == THREAD_READY) {
        thread->holds++;
        thread_serve(thread);
        thread_evaluate_frames(thread);
        if (thread->run)
            run_pump(thread->run); /* work that was held back until the lease was sure */
        thread_serve(thread);
        thread_flush(thread);
        if (log_gathers(thread))
            thread_begin_steps(thread);
        thread->holds--;
    }
    thread_settle(thread);
}
