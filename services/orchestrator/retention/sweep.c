/* The sweep: periodically it reads the rows of all threads, page by page, and sends the work to the shard of the
 * thread, as a single maintenance request at a time.
 *
 *      marks of threads that were being erased -> threads -> rows of requests that are to be deleted
 *             ^                                                 |
 *             |                                                 v
 *           a rest <---------------------------------- cached results
 *
 * A second sweep has the pauses whose time is over alone. Their rows are sorted by their times, so it reads
 * only the rows whose time has come, and rests for INTERRUPT_TIMEOUTS_EVERY_MS at most. */
#include "cluster/membership.h"
#include "engine/node_cache.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "retention.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/retention_limits.h"
#include "thread/shard.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "loop/loop.h"
#include "store/store.h"

#include <stdlib.h>

#define PAGE_ROWS     200
#define PAGE_BYTES    ((size_t)1 << 20)
#define PAGE_REST_MS  2 /* so that others have the store too */
#define MESSAGE_BYTES ((size_t)1 << 20)

#define INTERRUPT_TIMEOUTS_EVERY_MS 500 /* a pause ends at most this late */

struct sweep {
    struct store_scan scan;   /* a page */
    struct store_scan oldest; /* the oldest record of a thread */
    struct store_batch batch;
    struct request maintenance;
    struct timer timer;
    struct runner *runner;
    struct loop *loop;
    void (*pause_ended)(struct request *request, struct thread *thread); /* of the sweep of interrupt timeouts */
    const struct area *areas;
    size_t area_count;
    int64_t every_ms;   /* 0: a single sweep at the start */
    struct arena arena; /* of a page */
    struct key from;
    size_t area, row;
    unsigned out;  /* scans, batches, maintenance requests under way */
    bool has_page; /* rows are being gone through */
    bool stopped, deletes;
    struct store_bytes done_with; /* key of a row that goes when the maintenance request is done; empty: it stays */
    char tenant[TENANT_MAX + 1], thread[THREAD_MAX + 1];
    int64_t marked_ms;
    const Renga__V1__Thread *visited;
};

static void go_through(struct sweep *sweep);
static void sweep_delete_row(struct sweep *sweep, struct store_bytes key);
static void sweep_read_page(struct sweep *sweep);
static void sweep_begin(struct timer *timer);

/* ---- under way --------------------------------------------------------------------------------------------------- */

static void sweep_clear(struct sweep *sweep)
{
    if (sweep->has_page)
        store_scan_fini(&sweep->scan);
    arena_fini(&sweep->arena);
    free(sweep);
}

/* An operation under way has returned. False if the sweep is over; then it may be freed. */
static bool sweep_came_back(struct sweep *sweep)
{
    sweep->out--;
    if (!sweep->stopped)
        return true;
    if (!sweep->out)
        sweep_clear(sweep);
    return false;
}

static void maintenance_done(struct request *request)
{
    struct sweep *sweep = request->owner;
    if (request->status.code != OK)
        log_warn("sweep.maintenance", "thread %s: %s", sweep->thread, request->status.text);
    if (!sweep_came_back(sweep))
        return;
    if (request->status.code == OK && sweep->done_with.size)
        sweep_delete_row(sweep, sweep->done_with);
    sweep->done_with.size = 0;
    go_through(sweep);
}

static bool send_maintenance(struct sweep *sweep, void (*maintenance)(struct request *request, struct thread *thread))
{
    sweep->maintenance = (struct request){.loop = sweep->loop,
                                          .tenant = sweep->tenant,
                                          .arena = &sweep->arena,
                                          .answered = maintenance_done,
                                          .owner = sweep,
                                          .maintenance = maintenance,
                                          .erases = maintenance == erase_marked,
                                          .place = &sweep->marked_ms};
    sweep->out++;
    request_do_maintenance(sweep->runner, &sweep->maintenance, sweep->thread);
    return true;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static bool has_too_much(const struct sweep *sweep, const struct store_row *oldest)
{
    struct arena arena;
    struct status ignored;
    uint64_t head = 0, place = id_of_place(sweep->tenant, sweep->thread);
    struct retention_limits limits = retention_limits_of(sweep->runner, sweep->visited->retention);
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Record *record = row_read(&arena, &renga__v1__log_record__descriptor, oldest, &ignored);
    bool old = record && limits.max_age_ms > 0 && wall_ms() - record->time_ms > limits.max_age_ms;
    arena_fini(&arena);
    return old || (limits.max_checkpoints > 0 && id_checkpoint_number(sweep->visited->checkpoint_id, place, &head) &&
                   head - key_number(oldest->key) >= (uint64_t)limits.max_checkpoints);
}

static void sweep_oldest_came(struct store_scan *scan)
{
    struct sweep *sweep = CONTAINER_OF(scan, struct sweep, oldest);
    bool prunes = !sweep->stopped && scan->status.code == OK && scan->count && has_too_much(sweep, &scan->rows[0]);
    store_scan_fini(scan);
    if (!sweep_came_back(sweep))
        return;
    if (!prunes || !send_maintenance(sweep, prune_thread))
        go_through(sweep);
}

static bool sweep_read_oldest(struct sweep *sweep)
{
    struct key from, to;
    key_numbered(&from, KEY_RECORD, sweep->tenant, sweep->thread, 0);
    key_numbered(&to, KEY_RECORD, sweep->tenant, sweep->thread, UINT64_MAX);
    store_scan_init(&sweep->oldest, sweep->loop, sweep_oldest_came);
    sweep->oldest.from = key_bytes(&from);
    sweep->oldest.to = key_bytes(&to);
    sweep->oldest.limit = 1;
    sweep->out++;
    store_scan(sweep->runner->options.store, &sweep->oldest);
    return true;
}

/* True if an operation is under way for it. */
static bool sweep_visit_thread(struct sweep *sweep, const struct store_row *row)
{
    struct status ignored;
    const Renga__V1__Thread *thread = row_read(&sweep->arena, &renga__v1__thread__descriptor, row, &ignored);
    if (!thread || thread->queued_runs || thread->run_state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED ||
        thread->run_state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING)
        return false;
    struct retention_limits limits = retention_limits_of(sweep->runner, thread->retention);
    if (retention_is_over(sweep->runner, thread->retention, thread->updated_ms))
        return send_maintenance(sweep, expire_thread); /* in its shard, which decides with certainty */
    sweep->visited = thread;
    return (limits.max_checkpoints > 0 || limits.max_age_ms > 0) && sweep_read_oldest(sweep);
}

/* ---- marks, requests, results
 * ----------------------------------------------------------------------------------------- */

static bool sweep_visit_mark(struct sweep *sweep, const struct store_row *row)
{
    sweep->marked_ms = 0;
    if (row->value.size == sizeof sweep->marked_ms)
        memcpy(&sweep->marked_ms, row->value.bytes, sizeof sweep->marked_ms);
    return send_maintenance(sweep, erase_marked);
}

static void sweep_rows_deleted(struct store_batch *batch)
{
    struct sweep *sweep = CONTAINER_OF(batch, struct sweep, batch);
    if (batch->status.code != OK)
        log_warn("sweep.requests", "%s", batch->status.text);
    store_batch_fini(batch);
    if (sweep_came_back(sweep))
        go_through(sweep);
}

static void sweep_delete_row(struct sweep *sweep, struct store_bytes key)
{
    if (!sweep->deletes)
        store_batch_init(&sweep->batch, sweep->loop, sweep_rows_deleted);
    sweep->deletes = true;
    store_delete(&sweep->batch, key);
}

static bool sweep_visit_request_id(struct sweep *sweep, const struct store_row *row)
{
    struct key key;
    key_named(&key, KEY_REQUEST, sweep->tenant, sweep->thread); /* a request's name here */
    sweep_delete_row(sweep, key_bytes(&key));
    sweep_delete_row(sweep, row->key);
    return false;
}

static bool sweep_visit_interrupt_timeout(struct sweep *sweep, const struct store_row *row)
{
    sweep->done_with = row->key;
    return send_maintenance(sweep, sweep->pause_ended);
}

static bool sweep_visit_result(struct sweep *sweep, const struct store_row *row)
{
    if (cache_is_over(row))
        sweep_delete_row(sweep, row->key);
    return false;
}

/* ---- page by page ------------------------------------------------------------------------------------------------ */

struct area {
    enum key_kind kind;
    bool timed; /* only rows whose time has come */
    bool (*visit)(struct sweep *sweep, const struct store_row *row);
};
static const struct area areas_of_threads[] = {{KEY_ERASED, false, sweep_visit_mark},
                                               {KEY_THREAD, false, sweep_visit_thread},
                                               {KEY_ORPHAN, true, sweep_visit_request_id},
                                               {KEY_CACHED, false, sweep_visit_result}};
static const struct area areas_of_interrupt_timeouts[] = {{KEY_INTERRUPT_TIMEOUT, true, sweep_visit_interrupt_timeout}};

static void sweep_rest(struct sweep *sweep)
{
    sweep->timer.expired = sweep_begin;
    sweep->area = 0;
    if (sweep->every_ms)
        loop_arm_after(sweep->loop, &sweep->timer, sweep->every_ms);
}

static void sweep_rested(struct timer *timer)
{
    sweep_read_page(CONTAINER_OF(timer, struct sweep, timer));
}

static void sweep_end_page(struct sweep *sweep)
{
    bool more = sweep->scan.more;
    if (more) {
        struct store_bytes last = sweep->scan.rows[sweep->scan.count - 1].key;
        memcpy(sweep->from.bytes, last.bytes, last.size);
        sweep->from.bytes[last.size] = '\0';
        sweep->from.size = last.size + 1;
    }
    store_scan_fini(&sweep->scan);
    arena_reset(&sweep->arena);
    sweep->has_page = false;
    if (!more) {
        sweep->area++;
        sweep->from.size = 0;
    }
    if (sweep->area == sweep->area_count) {
        sweep_rest(sweep);
        return;
    }
    sweep->timer.expired = sweep_rested;
    loop_arm_after(sweep->loop, &sweep->timer, more ? PAGE_REST_MS : 0);
}

/* In keys of timed rows the time comes before the names. */
static bool sweep_read_names(struct sweep *sweep, struct store_bytes key)
{
    size_t before = sweep->areas[sweep->area].timed ? sizeof(uint64_t) : 0;
    if (key.size < before + 2)
        return false;
    struct store_bytes rest = {(const char *)key.bytes + before, key.size - before};
    return key_names(rest, sweep->tenant, sizeof sweep->tenant, sweep->thread, sizeof sweep->thread);
}

static void go_through(struct sweep *sweep)
{
    while (sweep->row < sweep->scan.count && !sweep->runner->draining) {
        const struct store_row *row = &sweep->scan.rows[sweep->row++];
        if (sweep_read_names(sweep, row->key) && sweep->areas[sweep->area].visit(sweep, row))
            return;
    }
    if (sweep->deletes) {
        sweep->deletes = false;
        sweep->out++;
        store_commit(sweep->runner->options.store, &sweep->batch);
        return;
    }
    sweep_end_page(sweep);
}

static void sweep_page_came(struct store_scan *scan)
{
    struct sweep *sweep = (struct sweep *)scan;
    sweep->row = 0;
    sweep->has_page = true;
    if (scan->status.code != OK)
        log_warn("sweep.page", "%s", scan->status.text);
    if (sweep_came_back(sweep))
        go_through(sweep);
}

static void sweep_read_page(struct sweep *sweep)
{
    struct key to;
    enum key_kind kind = sweep->areas[sweep->area].kind;
    if (sweep->runner->draining)
        return;
    if (!sweep->from.size) {
        sweep->from.size = 1;
        sweep->from.bytes[0] = (char)kind;
    }
    if (sweep->areas[sweep->area].timed)
        key_timed(&to, kind, wall_ms(), NULL, NULL);
    else
        key_behind(&to, kind, NULL);
    store_scan_init(&sweep->scan, sweep->loop, sweep_page_came);
    sweep->scan.from = key_bytes(&sweep->from);
    sweep->scan.to = key_bytes(&to);
    sweep->scan.limit = PAGE_ROWS;
    sweep->scan.bytes_max = PAGE_BYTES;
    sweep->out++;
    store_scan(sweep->runner->options.store, &sweep->scan);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void sweep_begin(struct timer *timer)
{
    struct sweep *sweep = CONTAINER_OF(timer, struct sweep, timer);
    struct membership *membership = sweep->runner->membership;
    sweep->area = 0;
    sweep->from.size = 0;
    if (membership && !membership_is_first(membership, 0)) /* a single member sweeps for all */
        sweep_rest(sweep);
    else
        sweep_read_page(sweep);
}

static struct sweep *sweep_start(struct runner *runner, const struct area *areas, size_t count, int64_t every_ms)
{
    struct sweep *sweep = xnonnull(calloc(1, sizeof *sweep));
    sweep->runner = runner;
    sweep->loop = runner->shards[0].loop;
    sweep->areas = areas;
    sweep->area_count = count;
    sweep->every_ms = every_ms;
    arena_init(&sweep->arena, NULL, 0, MESSAGE_BYTES * 64);
    sweep->timer.expired = sweep_begin;
    loop_arm_after(sweep->loop, &sweep->timer, 0);
    return sweep;
}

struct sweep *sweep_start_threads(struct runner *runner)
{
    return sweep_start(runner, areas_of_threads, sizeof areas_of_threads / sizeof *areas_of_threads,
                       runner->options.sweep_every_ms);
}

struct sweep *sweep_start_interrupt_timeouts(struct runner *runner,
                                             void (*pause_ended)(struct request *request, struct thread *thread))
{
    int64_t every_ms = runner->options.sweep_every_ms;
    struct sweep *sweep = sweep_start(runner, areas_of_interrupt_timeouts, 1,
                                      every_ms < INTERRUPT_TIMEOUTS_EVERY_MS ? every_ms : INTERRUPT_TIMEOUTS_EVERY_MS);
    sweep->pause_ended = pause_ended;
    return sweep;
}

bool sweep_is_busy(const struct sweep *sweep)
{
    return sweep && sweep->out;
}

void sweep_stop(struct sweep **sweep_pointer)
{
    struct sweep *sweep = *sweep_pointer;
    *sweep_pointer = NULL;
    if (!sweep)
        return;
    loop_disarm(sweep->loop, &sweep->timer);
    sweep->stopped = true;
    if (!sweep->out) /* else the last operation under way frees it */
        sweep_clear(sweep);
}
