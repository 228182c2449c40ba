/* A run that is under suspicion works alone, after a time in which no orchestrator died.
 *
 *      WAITING ---- no orchestrator died for quiet_ms ----> IN_LINE ---- its turn ----> AT_WORK
 *        ^                                                     |                          |
 *        '--------- an orchestrator died since ----------------'          no death for trial_ms, or its end: free
 *
 * Kills from outside come in series: while they go on, no trial begins, and no run gets its last death. */
#include "cluster/ownership.h"
#include "crashes.h"
#include "crashes_priv.h"
#include "journal/journal_writer.h"
#include "quarantine.h"
#include "thread/apply.h"
#include "thread/crash_state.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define QUIET_LIVES         4 /* times the longest life of its owners */
#define QUIET_MIN_MS        8000
#define QUIET_MAX_MS        (5 * 60 * 1000)
#define TRIAL_LIVES         2
#define TRIAL_MIN_MS        5000
#define TRIAL_IN_LINE_MS    (60 * 1000) /* while others wait in line */
#define TRIAL_MAX_MS        (10 * 60 * 1000)
#define TRIAL_CHECK_MS      500
#define QUARANTINE_RETRY_MS 1000

static struct runner *trial_runner(const struct thread *thread)
{
    return thread->shard->runner;
}

static void count_quarantine(struct thread *thread, int64_t n)
{
    runner_metrics_owner(trial_runner(thread)->options.runner_metrics, thread->shard->loop, OWNER_QUARANTINE, n);
}

static int64_t trial_clamp_ms(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

int64_t crashes_quiet_ms(const struct crash_record *record)
{
    return trial_clamp_ms(QUIET_LIVES * record->life_ms, QUIET_MIN_MS, QUIET_MAX_MS);
}

static int64_t quiet_ms(const struct thread *thread)
{
    return crashes_quiet_ms(thread->crashes.record);
}

static int64_t trial_ms(const struct thread *thread)
{
    bool has_line = quarantine_has_line(trial_runner(thread)->quarantine);
    return trial_clamp_ms(TRIAL_LIVES * thread->crashes.trial_life_ms, TRIAL_MIN_MS,
                          has_line ? TRIAL_IN_LINE_MS : TRIAL_MAX_MS);
}

/* ---- at work alone ----------------------------------------------------------------------------------------------- */

struct mark { /* its crash row, written in a batch of its own */
    struct store_batch batch;
    struct thread *thread;
};

static struct mark *mark_create(struct thread *thread, void (*written)(struct store_batch *batch))
{
    struct mark *mark = xnonnull(calloc(1, sizeof *mark));
    mark->thread = thread;
    thread->holds++;
    store_batch_init(&mark->batch, thread->shard->loop, written);
    owner_expect(thread, &mark->batch);
    return mark;
}

/* The thread; NULL if it left memory meanwhile. */
static struct thread *mark_end(struct store_batch *batch, struct status *st)
{
    struct mark *mark = CONTAINER_OF(batch, struct mark, batch);
    struct thread *thread = mark->thread;
    *st = batch->status;
    store_batch_fini(batch);
    free(mark);
    thread->holds--;
    if (thread->phase != THREAD_BROKEN)
        return thread;
    thread_settle(thread);
    return NULL;
}

static void end_trial(struct thread *thread)
{
    if (thread->crashes.trial != TRIAL_AT_WORK)
        return;
    thread->crashes.trial = TRIAL_NONE;
    loop_disarm(thread->shard->loop, &thread->crashes.timer);
    quarantine_leave(trial_runner(thread)->quarantine, thread);
}

static void trial_check_later(struct thread *thread)
{
    loop_arm_after(thread->shard->loop, &thread->crashes.timer, TRIAL_CHECK_MS);
}

/* The next in line begins when the row is gone: so a death is charged to a single run. */
static void trial_acquitted(struct store_batch *batch)
{
    struct status st;
    struct thread *thread = mark_end(batch, &st);
    if (!thread || thread->crashes.trial != TRIAL_AT_WORK)
        return;
    if (st.code != OK) {
        trial_check_later(thread);
        return;
    }
    log_info("thread.acquitted", "thread %s: its run works alone, and no orchestrator died of it", thread->id);
    free(thread->crashes.record);
    thread->crashes.record = NULL;
    end_trial(thread);
}

static void trial_checked(struct timer *timer)
{
    struct thread *thread = CONTAINER_OF(timer, struct thread, crashes.timer);
    struct crashes *crashes = &thread->crashes;
    bool is_over = clock_now_ns() - crashes->trial_ns >= trial_ms(thread) * NS_PER_MS;
    if (!is_over || thread->phase != THREAD_READY || crashes->cleared_at) {
        trial_check_later(thread);
        return;
    }
    if (!crashes->record) {
        end_trial(thread);
        return;
    }
    struct mark *mark = mark_create(thread, trial_acquitted);
    crashes_delete_row(thread, &mark->batch);
    store_commit(trial_runner(thread)->options.store, &mark->batch);
}

static void trial_marked(struct store_batch *batch)
{
    struct status st;
    struct thread *thread = mark_end(batch, &st);
    if (!thread)
        return;
    if (st.code != OK) {
        st.code = UNAVAILABLE; /* also if another orchestrator has it by now */
        thread->crashes.judged(thread, &st);
        return;
    }
    thread->crashes.trial_ns = clock_now_ns();
    thread->crashes.timer.expired = trial_checked;
    trial_check_later(thread);
    thread->crashes.judged(thread, &(struct status){0});
}

static void trial_begin(struct thread *thread)
{
    struct mark *mark = mark_create(thread, trial_marked);
    thread->crashes.trial = TRIAL_AT_WORK;
    thread->crashes.trial_life_ms = thread->crashes.record->life_ms;
    count_quarantine(thread, -1);
    crashes_put_row(thread, &mark->batch, thread->crashes.record, true);
    store_commit(trial_runner(thread)->options.store, &mark->batch);
}

/* ---- before its turn --------------------------------------------------------------------------------------------- */

static void wait_for_quiet(struct thread *thread);

static void trial_turn_came(struct work *work)
{
    struct thread *thread = CONTAINER_OF(work, struct thread, crashes.turn);
    struct quarantine *quarantine = trial_runner(thread)->quarantine;
    thread->holds--;
    if (thread->phase == THREAD_BROKEN) {
        quarantine_leave(quarantine, thread);
        thread_settle(thread);
    } else if (quarantine_quiet_ms(quarantine) < quiet_ms(thread)) {
        quarantine_leave(quarantine, thread);
        wait_for_quiet(thread);
    } else {
        trial_begin(thread);
    }
}

static void quiet_expired(struct timer *timer)
{
    wait_for_quiet(CONTAINER_OF(timer, struct thread, crashes.timer));
}

/* In line it is held until its turn has come. */
static void wait_for_quiet(struct thread *thread)
{
    struct crashes *crashes = &thread->crashes;
    struct quarantine *quarantine = trial_runner(thread)->quarantine;
    int64_t left_ms = quiet_ms(thread) - quarantine_quiet_ms(quarantine);
    if (left_ms > 0) {
        crashes->trial = TRIAL_WAITING;
        crashes->timer.expired = quiet_expired;
        loop_arm_after(thread->shard->loop, &crashes->timer, left_ms);
        return;
    }
    crashes->trial = TRIAL_IN_LINE;
    crashes->turn.run = trial_turn_came;
    thread->holds++;
    quarantine_enter(quarantine, thread);
}

void quarantine_begin(struct thread *thread)
{
    count_quarantine(thread, 1);
    log_warn(
        "thread.quarantine",
        "thread %s: its owners died %u times while its run was at work; it is taken up alone, when no orchestrator "
        "has died for %lld ms",
        thread->id, thread->crashes.record->count, (long long)quiet_ms(thread));
    wait_for_quiet(thread);
    struct status why = crashes_quarantine_status(thread);
    thread->crashes.judged(thread, &why);
}

void crashes_leave(struct thread *thread)
{
    struct crashes *crashes = &thread->crashes;
    end_trial(thread);
    if (crashes_is_in_quarantine(thread))
        count_quarantine(thread, -1);
    if (crashes->trial == TRIAL_WAITING)
        loop_disarm(thread->shard->loop, &crashes->timer);
    if (crashes->trial == TRIAL_IN_LINE && quarantine_leave(trial_runner(thread)->quarantine, thread))
        thread->holds--;
    crashes->trial = TRIAL_NONE;
}

bool crashes_is_in_quarantine(const struct thread *thread)
{
    return thread->crashes.trial == TRIAL_WAITING || thread->crashes.trial == TRIAL_IN_LINE;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static bool tells_of_progress(const struct thread *thread, const struct run *run, const Record *record)
{
    return record->step || (record->n_kept && record->kept[0]->n_results) || (record->changed && run == thread->run);
}

void crashes_clear(struct thread *thread, uint64_t number)
{
    struct crashes *crashes = &thread->crashes;
    crashes_delete_row(thread, log_batch(thread));
    free(crashes->record);
    crashes->record = NULL;
    crashes->cleared_at = number;
}

void crashes_note(struct thread *thread, const struct run *run, const Record *record, uint64_t number)
{
    if (thread->crashes.record && tells_of_progress(thread, run, record))
        crashes_clear(thread, number);
}

/* After progress it works alone for the rest of its time: if its next step kills its owner, no other is charged. */
void crashes_committed(struct thread *thread)
{
    struct crashes *crashes = &thread->crashes;
    if (crashes->cleared_at && thread->committed >= crashes->cleared_at)
        crashes->cleared_at = 0;
    if (!crashes->record && !thread->pending && thread->committed == thread->last)
        end_trial(thread);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct status crashes_quarantine_status(const struct thread *thread)
{
    struct status why = {0};
    fail(
        &why, UNAVAILABLE,
        "thread '%s' is in quarantine: orchestrators died %u times while its run was at work, so it is taken up alone, "
        "when no orchestrator has died for %lld ms and those before it are done; ask again",
        thread->id, thread->crashes.record->count, (long long)quiet_ms(thread));
    why.retry_after_ms = QUARANTINE_RETRY_MS;
    return why;
}
