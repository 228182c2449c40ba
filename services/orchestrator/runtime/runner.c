#include "runner.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "engine/run_lifecycle.h"
#include "engine/step.h"
#include "fanout/fanout.h"
#include "interrupt_timeout.h"
#include "journal/journal_writer.h"
#include "lifecycle/broken_thread.h"
#include "lifecycle/handoff.h"
#include "lifecycle/thread_lifecycle.h"
#include "log/ids.h"
#include "monitor/run_trace.h"
#include "quarantine/crashes.h"
#include "quarantine/quarantine.h"
#include "quarantine/session.h"
#include "recovery.h"
#include "retention/retention.h"
#include "thread/event_count.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread/thread_hooks.h"
#include "watch/subscribers.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "loop/loop.h"

#include <stdlib.h>

#define RUNS_FIRST    1024
#define DRAIN_POLL_MS 20

/* ---- calls from lower rooms -------------------------------------------------------------------------------------- */

static void runner_thread_left(struct thread *thread)
{
    trace_run_left(thread);
    crashes_leave(thread);
}

static void runner_recorded(struct thread *thread, struct run *run, const Record *record, uint64_t number)
{
    if (run)
        subscribers_recorded(run, record, number);
    if (run && run == thread->run && events_count(record)) /* repeated retries are no sign of progress */
        run_alive(run);
    crashes_note(thread, run, record, number);
}

static void runner_committed(struct thread *thread)
{
    struct status deleted = {0};
    crashes_committed(thread);
    if (thread->deleted && !thread->filling) {
        fail(&deleted, NOT_FOUND, "thread '%s' was deleted", thread->id);
        thread_unload(thread, &deleted);
        return;
    }
    subscribers_committed(thread);
    thread_begin_steps(thread);
    loop_defer(thread->shard->loop, &thread->go);
}

static const struct thread_hooks hooks = {
    .go = thread_go,
    .thread_left = runner_thread_left,
    .frame_left = trace_branch_ended,
    .recorded = runner_recorded,
    .committed = runner_committed,
    .broken = thread_break,
    .lost = thread_lose,
    .expired = expire_serves,
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void lease_lapsed(void *data)
{
    owners_recheck(data);
}

static void runner_member_died(void *data)
{
    struct runner *runner = data;
    quarantine_note_death(runner->quarantine);
    recovery_scan(runner);
}

static void join_membership(struct runner *runner)
{
    const struct runner_options *options = &runner->options;
    struct membership_options own = {.loop = runner->shards[0].loop,
                                     .store = options->store,
                                     .name = options->owner,
                                     .address = options->address ? options->address : "",
                                     .fan_out = fanout_member_row(options->fanout),
                                     .lease_ms = options->lease_ms,
                                     .died = runner_member_died,
                                     .lapsed = lease_lapsed,
                                     .data = runner};
    runner->membership = membership_create(&own);
    runner->self = membership_self(runner->membership);
    membership_start(runner->membership);
}

static void runner_free(struct runner *runner)
{
    membership_release(&runner->membership);
    quarantine_destroy(&runner->quarantine);
    for (unsigned i = 0; i < runner->shard_count; i++) {
        free(runner->shards[i].table);
        free(runner->shards[i].runs);
        turn_gate_fini(&runner->shards[i].list_turns);
        turn_gate_fini(&runner->shards[i].row_turns);
        turn_gate_fini(&runner->shards[i].event_turns);
    }
    free(runner->shards);
    free(runner);
}

struct runner *runner_create(const struct runner_options *options, struct status *st)
{
    struct runner *runner = xnonnull(calloc(1, sizeof *runner));
    runner->options = *options;
    runner->hooks = &hooks;
    runner->holders = 1;
    runner->unheld = runner_free;
    if (!options->owner)
        runner->options.owner = "";
    runner->shard_count = options->loop_count;
    runner->shards = xnonnull(calloc(options->loop_count, sizeof *runner->shards));
    for (unsigned i = 0; i < options->loop_count; i++) {
        struct shard *shard = &runner->shards[i];
        shard->runner = runner;
        shard->loop = options->loops[i];
        turn_gate_init(&shard->list_turns, LISTS_MAX);
        turn_gate_init(&shard->row_turns, ROWS_MAX);
        turn_gate_init(&shard->event_turns, EVENTS_MAX);
        shard->run_room = RUNS_FIRST;
        shard->runs = xnonnull(calloc(shard->run_room, sizeof(*shard->runs)));
    }
    id_make_hashed(runner->session, "s_", random_u64());
    runner->self = runner->session;
    runner->quarantine = quarantine_create();
    if (options->shared)
        join_membership(runner);
    return runner;
}

/* Store operations under way still return, and end in their threads; until then the thread holds the runner and its
 * tables. */
static void unload_threads(struct shard *shard, const char *text)
{
    struct status why = {0};
    fail(&why, UNAVAILABLE, "%s", text);
    for (size_t i = 0; i < shard->room; i++)
        while (shard->table[i])
            thread_unload(shard->table[i], &why);
}

static void shard_clear(struct shard *shard)
{
    shard_end_reload_retries(shard);
    unload_threads(shard, "the server ends");
    shard_clear_bundles(shard);
    shard_free_commits(shard);
}

static void stop_maintenance(struct runner *runner)
{
    recovery_stop(&runner->recovery);
    sweep_stop(&runner->sweep);
    sweep_stop(&runner->interrupt_timeouts);
    membership_stop(runner->membership);
}

void runner_destroy(struct runner **runner_pointer)
{
    struct runner *runner = *runner_pointer;
    if (!runner)
        return;
    *runner_pointer = NULL;
    runner->draining = runner->closing = true;
    for (unsigned i = 0; i < runner->shard_count; i++) {
        struct loop *loop = runner->shards[i].loop, *present = loop_current();
        if (present != loop)
            loop_enter(loop);
        if (i == 0)
            stop_maintenance(runner);
        shard_clear(&runner->shards[i]);
        if (present != loop)
            loop_leave(loop);
    }
    runner_release(runner);
}

void runner_recover(struct runner *runner)
{
    if (!runner->membership)
        session_begin(runner);
    recovery_start(runner);
    runner->sweep = sweep_start_threads(runner);
    runner->interrupt_timeouts = sweep_start_interrupt_timeouts(runner, interrupt_timeout_expire);
}

struct membership *runner_membership(const struct runner *runner)
{
    return runner->membership;
}

/* ---- an orderly end ---------------------------------------------------------------------------------------------- */

struct drain {
    struct work work;
    struct timer timer;
    struct runner *runner;
    unsigned next;
    bool busy, closing; /* closing: waiting requests get an error */
    int64_t until_ns;
};

/* After a node that ends as it begins, no task works and no batch is in flight, until the deferred work has written its
 * result.
 */
static bool thread_works(const struct thread *thread)
{
    return thread->flying || thread->filling || thread->go.queued || (thread->run && thread->run->working);
}

static bool shard_works(const struct shard *shard)
{
    for (size_t i = 0; i < shard->room; i++)
        for (const struct thread *thread = shard->table[i]; thread; thread = thread->next)
            if (thread_works(thread))
                return true;
    return false;
}

/* Steps of runs with durability EXIT gather no longer. */
static void write_gathered(struct shard *shard)
{
    for (size_t i = 0; i < shard->room; i++)
        for (struct thread *thread = shard->table[i]; thread; thread = thread->next)
            if (thread->filling && !thread->flying)
                loop_defer(shard->loop, &thread->go);
}

/* Attempts of other orchestrators that are here count: they would have to be begun again elsewhere. */
static bool is_busy(const struct runner *runner)
{
    return sweep_is_busy(runner->sweep) || sweep_is_busy(runner->interrupt_timeouts) ||
           fanout_dispatched(runner->options.fanout);
}

static void shard_close(struct shard *shard)
{
    unload_threads(shard, "the server is draining; the run goes on when it is back");
    fanout_abandon(shard->runner->options.fanout, shard->loop);
}

static void drain_visit_shard(struct work *work);

static void drain_again(struct timer *timer)
{
    struct drain *drain = CONTAINER_OF(timer, struct drain, timer);
    drain->next = 0;
    drain->busy = false;
    drain_visit_shard(&drain->work);
}

static void drain_visit_shard(struct work *work)
{
    struct drain *drain = (struct drain *)work;
    struct runner *runner = drain->runner;
    if (drain->next < runner->shard_count) {
        struct shard *shard = &runner->shards[drain->next];
        if (loop_current() != shard->loop) {
            loop_post(shard->loop, work);
            return;
        }
        if (!drain->closing)
            write_gathered(shard);
        if (drain->closing)
            shard_close(shard);
        else
            drain->busy |= shard_works(shard) || (shard == runner->shards && is_busy(runner));
        drain->next++;
        struct loop *next = runner->shards[drain->next < runner->shard_count ? drain->next : 0].loop;
        loop_post(next, work);
        return;
    }
    if (!drain->closing && !(drain->busy && clock_now_ns() < drain->until_ns)) {
        drain->closing = true;
        runner->closing = true;
        drain->next = 0;
        drain_visit_shard(work);
        return;
    }
    if (!drain->closing) {
        loop_arm_after(runner->shards[0].loop, &drain->timer, DRAIN_POLL_MS);
        return;
    }
    free(drain);
    if (runner->membership)
        membership_leave(runner->membership, runner->drained, runner->drained_data);
    else
        session_end(runner, runner->drained, runner->drained_data);
}

void runner_drain(struct runner *runner, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct drain *drain = xnonnull(calloc(1, sizeof *drain));
    runner->draining = true;
    fanout_drain(runner->options.fanout);
    runner->drained = drained;
    runner->drained_data = data;
    drain->runner = runner;
    drain->until_ns = clock_now_ns() + limit_ms * NS_PER_MS;
    drain->work.run = drain_visit_shard;
    drain->timer.expired = drain_again;
    loop_post(runner->shards[0].loop, &drain->work);
}
