/* The end of a thread. Its rows leave the store in small batches, the newest first: the rows that a crash leaves behind
 * can be read. A thread of several batches is marked until it is gone, so that it goes on being erased then. */
#include "cascade_delete.h"
#include "engine/run_lifecycle.h"
#include "journal/journal_writer.h"
#include "journal/run_rows.h"
#include "lifecycle/broken_thread.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "retention.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/request_type.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define PAGE_ROWS         500 /* about 2 ms of the store's writer */
#define PAGE_BYTES        ((size_t)1 << 20)
#define REQUEST_RETENTION ((int64_t)24 * 3600 * 1000) /* ms: how long a request is known at least */
#define NAME_ROOM         129                         /* of a request, with its NUL */
#define KINDS_COUNT       (sizeof kinds / sizeof *kinds)
#define DELETED           "its thread is deleted"
#define STOP_CANCELLED    RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED
#define RUN_CANCELLED     RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED

/* Records before snapshots: a snapshot without those behind it is the thread as it was. */
static const enum key_kind kinds[] = {KEY_RECORD, KEY_SNAPSHOT, KEY_THREAD_RUN, KEY_THREAD_REQUEST, KEY_THREAD_CACHED};

struct erasure {
    struct store_scan scan;
    struct cascade_delete cascade;
    struct request step;     /* waits until the last deletion is on disk */
    struct request *request; /* on whose behalf */
    struct thread *thread;
    size_t kind;
    bool marked;
};

static void erase_read_page(struct erasure *erasure);

static void delete_named(struct thread *thread, enum key_kind kind, const char *name)
{
    struct key key;
    key_named(&key, kind, thread->tenant, name);
    store_delete(log_batch(thread), key_bytes(&key));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Reads the name at the end of a key of the thread. */
static void read_last_name(struct store_bytes key, char name[NAME_ROOM])
{
    struct store_bytes last = key_last_name(key);
    size_t size = last.size < NAME_ROOM ? last.size : NAME_ROOM - 1;
    memcpy(name, last.bytes, size);
    name[size] = '\0';
}

static void delete_last_named(struct thread *thread, enum key_kind kind, struct store_bytes key)
{
    char name[NAME_ROOM];
    read_last_name(key, name);
    delete_named(thread, kind, name);
}

/* A request is remembered for a day, though its thread is gone: then the sweep deletes its row. */
static void let_go_request(struct thread *thread, const struct store_row *row)
{
    struct key key;
    uint64_t made = 0;
    char request[NAME_ROOM];
    read_last_name(row->key, request);
    memcpy(&made, row->value.bytes, row->value.size < sizeof made ? row->value.size : sizeof made);
    int64_t until = (int64_t)__builtin_bswap64(made) + REQUEST_RETENTION;
    if (until <= wall_ms()) {
        delete_named(thread, KEY_REQUEST, request);
        return;
    }
    key_timed(&key, KEY_ORPHAN, until, thread->tenant, request);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){"", 0});
}

/* A damaged row may name the run of another thread. The place in a run's id tells. */
static void drop_run(struct thread *thread, const struct store_row *row)
{
    uint32_t place;
    struct status ignored = {0};
    char run_id[ID_MAX] = "", version[ID_VERSION_MAX];
    bool whole = row_read_run_name(row, run_id, version, &ignored);
    uint32_t mask = 0x3FFFFFFF; /* of shard_of_place */
    if (whole || (id_run_place(run_id, &place) && (place & mask) == ((uint32_t)thread->place & mask)))
        delete_named(thread, KEY_RUN, run_id);
}

static void drop_row(struct erasure *erasure, const struct store_row *row)
{
    struct thread *thread = erasure->thread;
    enum key_kind kind = kinds[erasure->kind];
    if (kind == KEY_THREAD_RUN)
        drop_run(thread, row);
    if (kind == KEY_THREAD_REQUEST)
        let_go_request(thread, row);
    if (kind == KEY_THREAD_CACHED)
        delete_last_named(thread, KEY_CACHED, row->key);
    store_delete(log_batch(thread), row->key);
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static void fail_erasure(struct erasure *erasure, struct status *st)
{
    struct thread *thread = erasure->thread;
    struct request *request = erasure->request;
    bool marked = erasure->marked;
    free(erasure);
    if (st->code == OK)
        fail(st, UNAVAILABLE, "thread '%s' is being read again", thread->id);
    request_fail(request, st, NULL);
    thread->holds--;
    if ((marked || thread->unreadable) && thread->phase == THREAD_READY)
        thread_unload(thread, st); /* it differs from the store now */
    else
        thread_unhold(thread);
}

static void erase_finish(struct erasure *erasure)
{
    struct thread *thread = erasure->thread;
    struct request *request = erasure->request;
    delete_named(thread, KEY_THREAD, thread->id);
    delete_named(thread, KEY_PENDING, thread->id);
    delete_named(thread, KEY_CRASHES, thread->id);
    delete_named(thread, KEY_ERASED, thread->id);
    store_forget(log_batch(thread));
    free(erasure);
    thread->holds--;
    thread->deleted = true; /* it is unloaded when this is on disk */
    log_await(thread, request);
    loop_defer(thread->shard->loop, &thread->go);
}

static void erase_mark(struct erasure *erasure)
{
    struct key key;
    struct thread *thread = erasure->thread;
    erasure->marked = true;
    int64_t now_ms = wall_ms();
    key_named(&key, KEY_ERASED, thread->tenant, thread->id);
    store_put(log_batch(thread), key_bytes(&key), (struct store_bytes){&now_ms, sizeof now_ms});
    delete_named(thread, KEY_THREAD, thread->id);
}

/* The rows of the kind: from its first key up to, and without, the key behind them. */
static void set_range(const struct erasure *erasure, struct key *from, struct key *to)
{
    key_under(from, kinds[erasure->kind], erasure->thread->tenant, erasure->thread->id, "");
    *to = *from;
    to->bytes[to->size - 1]++;
}

/* For rows with unreadable values. Only records and snapshots are large enough to lose their value. */
static bool drop_unread(struct erasure *erasure, const struct status *why)
{
    struct key from, to;
    enum key_kind kind = kinds[erasure->kind];
    if (why->code != DATA_LOSS || (kind != KEY_RECORD && kind != KEY_SNAPSHOT))
        return false;
    set_range(erasure, &from, &to);
    store_delete_range(log_batch(erasure->thread), key_bytes(&from), key_bytes(&to));
    return true;
}

static void erase_page_came(struct store_scan *scan)
{
    struct erasure *erasure = (struct erasure *)scan;
    struct thread *thread = erasure->thread;
    struct status st = scan->status;
    bool ready = thread->phase == THREAD_READY, more = st.code == OK && scan->more;
    bool good = ready && (st.code == OK || drop_unread(erasure, &st));
    for (size_t i = 0; good && st.code == OK && i < scan->count; i++)
        drop_row(erasure, &scan->rows[i]);
    store_scan_fini(scan);
    if (!good) {
        fail_erasure(erasure, &st);
        return;
    }
    if (more) {
        if (!erasure->marked)
            erase_mark(erasure);
        log_await(thread, &erasure->step);
    } else if (++erasure->kind < KINDS_COUNT) {
        erase_read_page(erasure);
    } else {
        erase_finish(erasure);
    }
}

static void erase_step_is_retained(struct request *step)
{
    struct erasure *erasure = step->owner;
    struct status st = step->status;
    if (st.code == OK && erasure->thread->phase == THREAD_READY)
        erase_read_page(erasure);
    else
        fail_erasure(erasure, &st);
}

static void erase_read_page(struct erasure *erasure)
{
    struct key from, to;
    struct thread *thread = erasure->thread;
    set_range(erasure, &from, &to);
    store_scan_init(&erasure->scan, thread->shard->loop, erase_page_came);
    erasure->scan.from = key_bytes(&from);
    erasure->scan.to = key_bytes(&to);
    erasure->scan.backwards = true;
    erasure->scan.limit = PAGE_ROWS;
    erasure->scan.bytes_max = PAGE_BYTES;
    store_scan(thread->shard->runner->options.store, &erasure->scan);
}

/* Comes first, so that no data stays behind after the thread is erased. */
static void cascade_delete_ended(struct cascade_delete *cascade, const struct status *st)
{
    struct erasure *erasure = CONTAINER_OF(cascade, struct erasure, cascade);
    struct status why = *st;
    if (why.code != OK || erasure->thread->phase != THREAD_READY) {
        fail_erasure(erasure, &why);
        return;
    }
    if (erasure->thread->run)
        log_unlist_version(erasure->thread->run);
    /* Records that a run gathered until now (DURABILITY_EXIT) must be in the store to be found there. */
    if (erasure->thread->filling)
        log_hurry(erasure->thread);
    log_await(erasure->thread, &erasure->step);
}

void erase_thread(struct request *request, struct thread *thread)
{
    struct erasure *erasure = xnonnull(calloc(1, sizeof *erasure));
    erasure->request = request;
    erasure->thread = thread;
    erasure->step = (struct request){.loop = thread->shard->loop, .answered = erase_step_is_retained, .owner = erasure};
    thread->held = true;
    thread->holds++;
    erasure->cascade.ended = cascade_delete_ended;
    cascade_delete_start(&erasure->cascade, thread);
}

void erase_marked(struct request *request, struct thread *thread)
{
    const int64_t *marked_ms = request->place;
    if (!thread_busy(thread) && !(thread->exists && thread->updated_ms > *marked_ms)) {
        erase_thread(request, thread);
        return;
    }
    delete_named(thread, KEY_ERASED, thread->id); /* no caller heard of the deletion; the thread was used since */
    log_write_thread(thread);
    log_await(thread, request);
}

/* ---- DeleteThread ------------------------------------------------------------------------------------------------ */

void history_delete(struct request *request, struct thread *thread)
{
    const Renga__V1__DeleteThreadRequest *message = (const void *)request->message;
    if (thread_busy(thread) && !message->cancel_runs) {
        request_refuse(request, "THREAD_BUSY", ABORTED, "a run is at work on thread '%s'; set cancel_runs", thread->id);
        return;
    }
    thread->held = true;
    while (thread->queue)
        run_change(thread->queue, RUN_CANCELLED, STOP_CANCELLED, CANCELLED, DELETED);
    if (run_is_open(thread->run))
        run_halt(thread->run);
    if (run_is_open(thread->run))
        run_change(thread->run, RUN_CANCELLED, STOP_CANCELLED, CANCELLED, DELETED);
    Renga__V1__DeleteThreadResponse *response = xnonnull(arena_alloc(request->arena, sizeof *response));
    renga__v1__delete_thread_response__init(response);
    response->deleted = response->cleaning = true;
    request->response = &response->base;
    erase_thread(request, thread);
}
