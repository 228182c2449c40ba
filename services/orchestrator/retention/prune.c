/* The history of a thread, cut off at a checkpoint:
 *
 *      … 7 8 9 | 10 11 12 …        checkpoint 10 is the oldest to be kept
 *            ^   ^
 *            |   '--- a snapshot of the thread as it was there; older snapshots are deleted
 *            '------- records up to here go, the oldest first
 *
 * The remaining checkpoints stay readable as before. No history is cut while a run is at work. A thread that keeps a
 * single checkpoint, and whose run gathered its records, is cut in the batch with the end of the run. The sweep would
 * come a minute later. */
#include "engine/run_lifecycle.h"
#include "journal/checkpoint.h"
#include "journal/journal_writer.h"
#include "journal/replay.h"
#include "log/keys.h"
#include "log/rows.h"
#include "retention.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/retention_limits.h"
#include "thread/run.h"
#include "thread/runner_metrics.h"
#include "thread/shard.h"
#include "thread/snapshot.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define PAGE_ROWS  500
#define PAGE_BYTES ((size_t)1 << 20)

struct pruning {
    struct store_scan scan;
    struct request step;
    struct request *request;
    struct thread *thread;
    struct retention_limits limits;
    int64_t since_ms;   /* older ones go; INT64_MIN: no limit of age */
    int64_t kept_count; /* checkpoints */
    uint64_t cut;       /* the oldest of them */
    uint64_t needed;    /* a parent of these checkpoints that has no snapshot; 0: no parent */
    struct key upto;
};

static void prune_read_page(struct pruning *pruning);
static void read_oldest(struct pruning *pruning);

static void prune_end(struct pruning *pruning, const struct status *st)
{
    struct thread *thread = pruning->thread;
    if (st && st->code != OK)
        request_fail(pruning->request, st, NULL);
    else
        request_answer(pruning->request);
    free(pruning);
    thread->holds--;
    thread_unhold(thread);
}

static bool prune_goes_on(struct pruning *pruning, struct status *st)
{
    if (st->code == OK && pruning->thread->phase == THREAD_READY)
        return true;
    prune_end(pruning, st);
    return false;
}

static void prune_start_scan(struct pruning *pruning, bool backwards, void (*done)(struct store_scan *scan))
{
    struct key from;
    struct thread *thread = pruning->thread;
    key_numbered(&from, KEY_RECORD, thread->tenant, thread->id, 0);
    store_scan_init(&pruning->scan, thread->shard->loop, done);
    pruning->scan.from = key_bytes(&from);
    pruning->scan.to = key_bytes(&pruning->upto);
    pruning->scan.backwards = backwards;
    pruning->scan.limit = PAGE_ROWS;
    pruning->scan.bytes_max = PAGE_BYTES;
    store_scan(thread->shard->runner->options.store, &pruning->scan);
}

/* ---- away with the old ------------------------------------------------------------------------------------------- */

static void prune_oldest_came(struct store_scan *scan)
{
    struct pruning *pruning = (struct pruning *)scan;
    struct thread *thread = pruning->thread;
    struct status st = scan->status;
    size_t count = scan->count;
    for (size_t i = 0; i < count && st.code == OK && thread->phase == THREAD_READY; i++)
        store_delete(log_batch(thread), scan->rows[i].key);
    store_scan_fini(scan);
    runner_metrics_pruned(thread->shard->runner->options.runner_metrics, thread->shard->loop, count);
    if (!prune_goes_on(pruning, &st))
        return;
    if (count)
        log_await(thread, &pruning->step);
    else
        prune_end(pruning, NULL);
}

static void read_oldest(struct pruning *pruning)
{
    key_numbered(&pruning->upto, KEY_RECORD, pruning->thread->tenant, pruning->thread->id, pruning->cut);
    prune_start_scan(pruning, false, prune_oldest_came);
}

static void prune_step_is_retained(struct request *step)
{
    struct pruning *pruning = step->owner;
    struct status st = step->status;
    if (prune_goes_on(pruning, &st))
        read_oldest(pruning);
}

/* ---- the cut ----------------------------------------------------------------------------------------------------- */

/* A graph in dataflow mode may have no boundary between two steps here: then a later sweep tries another cut. */
static bool write_base(struct pruning *pruning, const struct thread *past)
{
    struct key first, key;
    struct thread *thread = pruning->thread;
    if (!snapshot_possible(past) || !log_put_snapshot(log_batch(thread), thread, past, pruning->cut))
        return false;
    key_numbered(&first, KEY_SNAPSHOT, thread->tenant, thread->id, 0);
    key_numbered(&key, KEY_SNAPSHOT, thread->tenant, thread->id, pruning->cut);
    store_delete_range(log_batch(thread), key_bytes(&first), key_bytes(&key));
    return true;
}

static void prune_past_came(void *owner, struct thread *past, const struct status *st)
{
    struct pruning *pruning = owner;
    bool good = past && write_base(pruning, past);
    if (past)
        thread_free(past);
    if (good)
        log_await(pruning->thread, &pruning->step);
    else
        prune_end(pruning, st);
}

/* ---- the place of the cut ---------------------------------------------------------------------------------------- */

/* False if it is older than the checkpoints to keep. */
static bool prune_keeps(struct pruning *pruning, const Record *record, uint64_t number)
{
    bool first = pruning->kept_count == 0, needed = pruning->needed && number >= pruning->needed;
    bool enough = pruning->limits.max_checkpoints > 0 && pruning->kept_count >= pruning->limits.max_checkpoints;
    if (!first && !needed && (enough || record->time_ms < pruning->since_ms))
        return false;
    pruning->kept_count++;
    pruning->cut = number;
    if (record->goes_back && record->parent && (!pruning->needed || record->parent < pruning->needed))
        pruning->needed = record->parent;
    return true;
}

static void prune_page_came(struct store_scan *scan)
{
    struct pruning *pruning = (struct pruning *)scan;
    struct status st = scan->status;
    bool found = false, more = scan->more;
    for (size_t i = 0; i < scan->count && st.code == OK && !found; i++) {
        struct arena arena;
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, &scan->rows[i], &st);
        if (record && record_is_checkpoint(record) && !(record->step && record->step->n_place))
            found = !prune_keeps(pruning, record, key_number(scan->rows[i].key));
        arena_fini(&arena);
    }
    if (more) {
        struct store_bytes last = scan->rows[scan->count - 1].key;
        memcpy(pruning->upto.bytes, last.bytes, last.size);
        pruning->upto.size = last.size;
    }
    store_scan_fini(scan);
    if (!prune_goes_on(pruning, &st))
        return;
    if (found)
        thread_replay(pruning->thread, pruning->cut, prune_past_came, pruning);
    else if (more)
        prune_read_page(pruning);
    else
        prune_end(pruning, NULL);
}

static void prune_read_page(struct pruning *pruning)
{
    prune_start_scan(pruning, true, prune_page_came);
}

void prune_thread(struct request *request, struct thread *thread)
{
    struct retention_limits limits = retention_limits_of(thread->shard->runner, thread->retention);
    if (!thread->exists || thread_busy(thread) || thread->holds > 1 || thread->deleted) { /* 1: its turn */
        request_answer(request);
        return;
    }
    struct pruning *pruning = xnonnull(calloc(1, sizeof *pruning));
    pruning->request = request;
    pruning->thread = thread;
    pruning->limits = limits;
    pruning->since_ms = limits.max_age_ms > 0 ? wall_ms() - limits.max_age_ms : INT64_MIN;
    pruning->step = (struct request){.loop = thread->shard->loop, .answered = prune_step_is_retained, .owner = pruning};
    pruning->needed = thread_rolls_back(thread) ? thread->run->began_on : 0; /* there the next run begins */
    thread->held = true;
    thread->holds++;
    key_numbered(&pruning->upto, KEY_RECORD, thread->tenant, thread->id, UINT64_MAX);
    prune_read_page(pruning);
}
