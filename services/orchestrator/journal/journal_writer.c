/* The thread's log: records gather in a batch while the previous batch is written. So a thread has at most one batch in
 * flight, and later records go together. Callers are answered, and events shown, when their batch is on disk. */
#include "journal_writer.h"
#include "cluster/ownership.h"
#include "events.h"
#include "log/keys.h"
#include "log/rows.h"
#include "run_rows.h"
#include "thread/apply.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread/snapshot.h"
#include "thread/thread.h"
#include "thread/thread_hooks.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#define SNAPSHOT_EVERY     256                 /* steps */
#define SNAPSHOT_BYTES_MIN ((size_t)512 << 10) /* of records, before their size alone asks for a snapshot */
#define SNAPSHOT_SHARE     8                   /* bytes of records per snapshot byte, if the step count asks for it */
#define SNAPSHOT_READ_MIN  ((size_t)16 << 10)  /* bytes of records read at a load: enough for a new snapshot */

#define SNAPSHOT_GROWS ((size_t)4 << 10) /* bytes, at most, by the record that it is written behind */

/* The limit of records that a run of durability EXIT may gather. A batch of that size is no burden for a store. The
 * limit is below the count of numbers that are left out after a crash (RECORDS_LOST_MAX). */
#define GATHERED_BYTES_MAX   ((size_t)4 << 20)
#define GATHERED_RECORDS_MAX 10000

#define COMMIT_STORAGE    2048 /* bytes of a batch that need no heap: a step */
#define COMMITS_SPARE_MAX 1024 /* of a shard, kept to be used again */

struct commit {
    struct store_batch batch;
    struct commit *next; /* spare ones */
    struct thread *thread;
    struct request *waiters, *last_waiter;
    struct pending_request *pending_requests; /* whose rows are in it */
    size_t record_bytes;
    bool urgent; /* gathers no longer */
    uint64_t last;
    _Alignas(16) char storage[COMMIT_STORAGE];
};

struct pending_request {
    struct pending_request *next;
    size_t size;
    uint8_t row[1024];
    char id[];
};

static void journal_writer_finished(struct store_batch *batch);

static struct commit *take_commit(struct shard *shard)
{
    struct commit *commit = shard->spare_commits;
    if (!commit)
        return xnonnull(malloc(sizeof *commit));
    shard->spare_commits = commit->next;
    shard->spare_count--;
    return commit;
}

static void give_commit(struct shard *shard, struct commit *commit)
{
    if (shard->spare_count == COMMITS_SPARE_MAX || shard->runner->draining) {
        free(commit);
        return;
    }
    commit->next = shard->spare_commits;
    shard->spare_commits = commit;
    shard->spare_count++;
}

void shard_free_commits(struct shard *shard)
{
    for (struct commit *commit = shard->spare_commits, *next; commit; commit = next) {
        next = commit->next;
        free(commit);
    }
    shard->spare_commits = NULL;
}

static struct commit *filling_commit(struct thread *thread)
{
    if (!thread->filling) {
        struct commit *commit = thread->filling = take_commit(thread->shard);
        memset(commit, 0, offsetof(struct commit, storage));
        commit->thread = thread;
        store_batch_init(&commit->batch, thread->shard->loop, journal_writer_finished);
        store_batch_use(&commit->batch, commit->storage, sizeof commit->storage);
        loop_defer(thread->shard->loop, &thread->go);
    }
    return thread->filling;
}

struct store_batch *log_batch(struct thread *thread)
{
    return &filling_commit(thread)->batch;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void take_pending_events(struct run *run, Record *record)
{
    for (size_t i = 0; i < run->pending_event_count; i++) {
        int64_t before = record->time_ms - run->pending_event_ms[i];
        run->pending_events[i]->before_ms = before > 0 ? (uint32_t)before : 0;
    }
    record->shown = run->pending_events;
    record->n_shown = run->pending_event_count;
}

uint64_t log_append(struct thread *thread, struct run *run, Record *record)
{
    struct key key;
    if (thread->run && run != thread->run &&
        thread->run->pending_event_count) { /* its events stay under its own name */
        Record pending = RENGA__V1__LOG_RECORD__INIT;
        log_append(thread, thread->run, &pending);
    }
    uint64_t number = ++thread->last;
    record->time_ms = wall_ms();
    if (run)
        record->run = run->number;
    record->first_event = thread->event_number;
    if (run && run == thread->run)
        take_pending_events(run, record);
    key_numbered(&key, KEY_RECORD, thread->tenant, thread->id, number);
    size_t size = row_put(log_batch(thread), &key, &record->base);
    thread->since_snapshot += size;
    thread->updated_ms = record->time_ms;
    thread->exists = true;
    filling_commit(thread)->last = number;
    filling_commit(thread)->record_bytes += size;
    filling_commit(thread)->urgent |= run != thread->run; /* of other runs, which wait for it */
    if (run) {
        run->updated_ms = record->time_ms;
        if (events_count(record))
            run->last_event = event_last(record, number);
    }
    thread->shard->runner->hooks->recorded(thread, run, record, number);
    if (run && run == thread->run) {
        run->pending_event_count = run->pending_event_bytes = 0;
        arena_reset(&run->pending_event_arena);
    }
    thread->event_number = 0;
    return number;
}

/* ---- rows beside them -------------------------------------------------------------------------------------------- */

static void put_run_row(struct thread *thread, const Renga__V1__RunRow *row)
{
    struct key key;
    key_named(&key, KEY_RUN, thread->tenant, row->run->run_id);
    row_put(log_batch(thread), &key, &row->base);
}

void log_write_thread(struct thread *thread)
{
    struct arena arena;
    struct key key;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    Renga__V1__Thread *row = answer_thread(&arena, thread);
    key_named(&key, KEY_THREAD, thread->tenant, thread->id);
    row_put(log_batch(thread), &key, &row->base);
    arena_fini(&arena);
}

void log_write_rows(struct run *run)
{
    struct arena arena;
    struct key key;
    struct thread *thread = run->thread;
    run->unlisted = false;
    Renga__V1__RunRow row = RENGA__V1__RUN_ROW__INIT;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    row.run = answer_run(&arena, run, ANSWER_ROW);
    row.run->n_interrupts = 0; /* read from the thread */
    if (row.run->stop_reason == RENGA__V1__STOP_REASON__STOP_REASON_COMPLETED &&
        strcmp(row.run->stop_text, RUN_COMPLETED_TEXT) == 0)
        row.run->stop_text = unconst("");
    row.number = run->number;
    row.first_record = run->first_record;
    row.last_checkpoint = run->checkpoint;
    row.migrated = run->migrated;
    put_run_row(thread, &row);
    arena_fini(&arena);
    const char *self = thread->shard->runner->self;
    bool open = run_is_open(run) || run_is_open(thread->run) || thread->queue;
    key_named(&key, KEY_PENDING, thread->tenant, thread->id);
    if (open && !thread->pending)
        store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){self, strlen(self)});
    else if (!open && thread->pending)
        store_delete(log_batch(thread), key_bytes(&key));
    thread->pending = open;
    log_write_pause(run);
    log_write_version(run);
    log_write_thread(thread);
}

void log_change_gone(struct thread *thread, Renga__V1__RunRow *row, Renga__V1__RunChanged *changed)
{
    Record record = RENGA__V1__LOG_RECORD__INIT;
    record.run = row->number;
    record.changed = changed;
    uint64_t number = log_append(thread, NULL, &record);
    row->run->stop_reason = changed->stop_reason;
    row->run->stop_text = changed->stop_text;
    row->run->status_code = changed->status_code;
    row->run->updated_ms = record.time_ms;
    row->run->last_event_id = event_last(&record, number);
    put_run_row(thread, row);
    log_write_thread(thread);
    log_note_gone(thread);
}

void log_note_gone(struct thread *thread)
{
    thread->gone_record = thread->last;
}

bool log_snapshot_fits(const struct thread *thread)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    bool fits = row_size(&snapshot_make(thread, &arena).message->base) <= STORE_VALUE_MAX - SNAPSHOT_GROWS;
    arena_fini(&arena);
    return fits;
}

size_t log_put_snapshot(struct store_batch *batch, const struct thread *thread, const struct thread *past,
                        uint64_t number)
{
    struct arena arena;
    struct key key;
    arena_init(&arena, NULL, 0, FRAME_MEMORY_MAX);
    struct snapshot snapshot = snapshot_make(past, &arena);
    size_t size = row_size(&snapshot.message->base);
    uint8_t *row = NULL;
    key_numbered(&key, KEY_SNAPSHOT, thread->tenant, thread->id, number);
    if (size > STORE_VALUE_MAX)
        size = 0;
    else
        row = row_reserve(batch, &key, size);
    if (row) {
        snapshot_pack(&snapshot, row + STORE_CHECKSUM_BYTES);
        row_seal(&key, row, size);
    }
    arena_fini(&arena);
    return size;
}

void log_snapshot_now(struct thread *thread)
{
    size_t size = log_put_snapshot(log_batch(thread), thread, thread, thread->last);
    if (size) {
        thread->snapshot = thread->last;
        thread->snapshot_size = size;
        thread->ways_back = 0;
    }
    thread->steps_since = 0;
    thread->since_snapshot = thread->read_since = 0;
}

/* Snapshots shall take little space beside the records between them. For a state that grows with each step, they come
 * at doubling sizes; for a small state, after a fixed number of steps. A log that had to be read will be read again;
 * with a shared store, at each turn. */
static bool wants_snapshot(const struct thread *thread)
{
    unsigned every = thread->shard->runner->options.snapshot_every;
    size_t most = 2 * thread->snapshot_size;
    if (every && thread->steps_since >= every)
        return true;
    if (thread->read_since > (most > SNAPSHOT_READ_MIN ? most : SNAPSHOT_READ_MIN))
        return true;
    if (thread->since_snapshot > (most > SNAPSHOT_BYTES_MIN ? most : SNAPSHOT_BYTES_MIN))
        return true;
    return thread->steps_since >= SNAPSHOT_EVERY && thread->snapshot_size &&
           thread->since_snapshot > SNAPSHOT_SHARE * thread->snapshot_size;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

void log_put_request(struct thread *thread, const char *request_id, const Renga__V1__RequestRow *row)
{
    struct key key;
    struct commit *commit = filling_commit(thread);
    struct pending_request *request = xnonnull(malloc(sizeof *request + strlen(request_id) + 1));
    request->size = renga__v1__request_row__pack(row, request->row);
    memcpy(request->id, request_id, strlen(request_id) + 1);
    request->next = commit->pending_requests;
    commit->pending_requests = request;
    key_named(&key, KEY_REQUEST, thread->tenant, request_id);
    row_put(&commit->batch, &key, &row->base);
    uint64_t made = __builtin_bswap64((uint64_t)wall_ms());
    key_under(&key, KEY_THREAD_REQUEST, thread->tenant, thread->id, request_id);
    store_put(&commit->batch, key_bytes(&key), (struct store_bytes){&made, sizeof made});
}

static struct store_bytes journal_writer_find_request(const struct commit *commit, const char *request_id)
{
    for (const struct pending_request *request = commit ? commit->pending_requests : NULL; request;
         request = request->next)
        if (strcmp(request->id, request_id) == 0)
            return (struct store_bytes){request->row, request->size};
    return (struct store_bytes){NULL, 0};
}

struct store_bytes log_pending_request(const struct thread *thread, const char *request_id)
{
    struct store_bytes found = journal_writer_find_request(thread->filling, request_id);
    return found.bytes ? found : journal_writer_find_request(thread->flying, request_id);
}

/* ---- on disk ----------------------------------------------------------------------------------------------------- */

void log_await(struct thread *thread, struct request *request)
{
    if (!thread->filling && !thread->flying) {
        request_answer(request);
        return;
    }
    struct commit *commit = thread->filling ? thread->filling : thread->flying;
    request->next = NULL;
    if (commit->last_waiter)
        commit->last_waiter->next = request;
    else
        commit->waiters = request;
    commit->last_waiter = request;
}

/* With a shared store this is not needed: owner_stamp lets the batch expect that the owner's row is absent. */
void log_expect_new(struct thread *thread, struct store_batch *batch)
{
    struct key key;
    if (!thread->unread)
        return;
    thread->unread = false;
    if (thread->shard->runner->membership)
        return;
    key_named(&key, KEY_THREAD, thread->tenant, thread->id);
    store_expect(batch, key_bytes(&key), (struct store_bytes){NULL, 0});
}

bool log_gathers(const struct thread *thread)
{
    const struct run *run = thread->run;
    return run && run->request->durability == RENGA__V1__DURABILITY__DURABILITY_EXIT &&
           run->state == RENGA__V1__RUN_STATE__RUN_STATE_RUNNING && run->gathers_from &&
           thread->committed >= run->gathers_from && !thread->shard->runner->draining;
}

void log_hurry(struct thread *thread)
{
    filling_commit(thread)->urgent = true;
    loop_defer(thread->shard->loop, &thread->go); /* the batch may have gathered for long */
}

static bool may_gather_more(const struct thread *thread)
{
    const struct commit *commit = thread->filling;
    return log_gathers(thread) && !commit->urgent && !commit->waiters && !commit->pending_requests &&
           commit->record_bytes < GATHERED_BYTES_MAX && thread->last - thread->committed < GATHERED_RECORDS_MAX;
}

void log_flush(struct thread *thread)
{
    if (thread->flying || thread->phase != THREAD_READY)
        return;
    if (!thread->filling && owner_must_release(thread))
        log_batch(thread);
    if (!thread->filling || may_gather_more(thread))
        return;
    if (thread->run && thread->run->unlisted)
        log_write_rows(thread->run);
    if (wants_snapshot(thread) && snapshot_possible(thread))
        log_snapshot_now(thread);
    log_expect_new(thread, &thread->filling->batch);
    owner_stamp(thread, &thread->filling->batch);
    thread->flying = thread->filling;
    thread->filling = NULL;
    thread->holds++;
    store_commit(thread->shard->runner->options.store, &thread->flying->batch);
}

static void answer_waiters(struct commit *commit, const struct status *st)
{
    for (struct request *request = commit->waiters, *next; request; request = next) {
        next = request->next;
        if (st->code != OK)
            request_fail(request, st, NULL);
        else
            request_answer(request);
    }
}

struct request *commit_take_waiters(struct commit *commit)
{
    struct request *first = commit ? commit->waiters : NULL;
    if (commit)
        commit->waiters = commit->last_waiter = NULL;
    return first;
}

void commit_drop(struct commit **commit_pointer, const struct status *why)
{
    struct commit *commit = *commit_pointer;
    if (!commit)
        return;
    *commit_pointer = NULL;
    answer_waiters(commit, why);
    for (struct pending_request *request = commit->pending_requests, *next; request; request = next) {
        next = request->next;
        free(request);
    }
    store_batch_fini(&commit->batch);
    give_commit(commit->thread->shard, commit);
}

static void journal_writer_finished(struct store_batch *batch)
{
    struct commit *commit = (struct commit *)batch;
    struct thread *thread = commit->thread;
    struct status st = batch->status;
    thread->holds--;
    if (!owner_stamped(thread, &st) && thread->phase == THREAD_READY) {
        thread->shard->runner->hooks->lost(thread);
        return;
    }
    thread->flying = NULL;
    if (st.code == OK && thread->phase == THREAD_READY) {
        if (thread->gone_record > thread->committed && thread->gone_record <= commit->last)
            thread->gone_committed = ++thread->shard->arrivals;
        thread->committed = commit->last > thread->committed ? commit->last : thread->committed;
        commit_drop(&commit, &st);
        thread->shard->runner->hooks->committed(thread);
        return;
    }
    if (st.code == OK)
        fail(&st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    log_error("store.commit", "thread %s: %s", thread->id, st.text);
    shard_clear_bundles(thread->shard); /* a bundle may have been in it */
    if (batch->status.code != OK)       /* of a run that was accepted before, and of a commit with an unknown end */
        fail(&st, UNAVAILABLE, "%s; what was asked for may have been done: repeat it under its request_id", st.text);
    commit_drop(&commit, &st);
    thread->shard->runner->hooks->broken(thread, &st);
}
