/* CopyThread: the whole log of a thread under another name, in a single batch. Its runs get new names, and with them
 * its interrupts and checkpoints. */
#include "cluster/ownership.h"
#include "engine/run_lifecycle.h"
#include "journal/journal_writer.h"
#include "journal/load.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/access_control.h"
#include "thread/apply.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/run_message.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "thread_requests.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define PAGE_ROWS  1000
#define PAGE_BYTES ((size_t)8 << 20)
#define RUNS_MAX   1000000 /* of a thread; more are damage */

struct copying {
    struct store_scan scan;
    struct store_batch batch;
    struct request *request;
    struct thread *thread; /* the new thread */
    const char *from;
    enum key_kind kind;
    uint64_t next;
    size_t records, id_count;
    char (*ids)[ID_MAX]; /* of runs, by their number */
};

static void scan_page(struct copying *copying);

static void copy_thread_end(struct copying *copying, const struct status *st)
{
    struct thread *thread = copying->thread;
    if (st)
        request_fail(copying->request, st, NULL);
    store_batch_fini(&copying->batch);
    free(copying->ids);
    free(copying);
    thread->holds--;
    thread_unhold(thread);
}

/* A thread that is not served here any more gets no further write: no caller would get the answer. */
static bool copy_thread_is_served(const struct copying *copying, struct status *st)
{
    return copying->thread->phase == THREAD_READY ||
           fail(st, UNAVAILABLE, "thread '%s' is being read again", copying->thread->id);
}

static const char *id_of_run(struct copying *copying, uint32_t number)
{
    if (number >= copying->id_count) {
        size_t count = number + 64;
        copying->ids = xnonnull(realloc(copying->ids, count * sizeof(*copying->ids)));
        memset(copying->ids + copying->id_count, 0, (count - copying->id_count) * sizeof(*copying->ids));
        copying->id_count = count;
    }
    if (!*copying->ids[number])
        id_make_run(copying->ids[number], wall_ms(), copying->thread->place);
    return copying->ids[number];
}

static void copy_thread_put_message(struct copying *copying, uint64_t number, const ProtobufCMessage *message)
{
    struct key key;
    key_numbered(&key, copying->kind, copying->thread->tenant, copying->thread->id, number);
    row_put(&copying->batch, &key, message);
}

static void copy_thread_put_name(struct copying *copying, uint32_t number, const char *version)
{
    struct key key;
    key_numbered(&key, KEY_THREAD_RUN, copying->thread->tenant, copying->thread->id, number);
    row_put_run_name(&copying->batch, &key, id_of_run(copying, number), version);
}

/* A caller that may not use the agent of the old thread may not get its content under another name. */
static bool copy_record(struct copying *copying, Record *record, uint64_t number, struct status *st)
{
    if (record->begun && !access_control_check(&copying->request->access, record->begun->request->agent, st))
        return false;
    copying->records++;
    if (record->run > RUNS_MAX)
        return fail(st, DATA_LOSS, "record %llu of thread '%s' is about run %u; %d are possible",
                    (unsigned long long)number, copying->from, record->run, RUNS_MAX);
    if (record->begun) {
        copy_thread_put_name(copying, record->run, record->begun->graph_version);
        record->begun->run_id = unconst(id_of_run(copying, record->run));
    }
    if (record->migrated)
        copy_thread_put_name(copying, record->run, record->migrated->graph_version);
    copy_thread_put_message(copying, number, &record->base);
    return true;
}

static bool copy_snapshot(struct copying *copying, Renga__V1__ThreadSnapshot *snapshot, uint64_t number,
                          struct status *st)
{
    if (!access_control_check(&copying->request->access, snapshot->agent, st))
        return false;
    for (size_t i = 0; i < snapshot->n_runs; i++) {
        Renga__V1__RunSnapshot *run = snapshot->runs[i];
        if (run->number > RUNS_MAX)
            return fail(st, DATA_LOSS, "snapshot %llu of thread '%s' has a run %u; %d are possible",
                        (unsigned long long)number, copying->from, run->number, RUNS_MAX);
        if (run->number >= copying->id_count || !*copying->ids[run->number]) /* its first record was pruned */
            copy_thread_put_name(copying, run->number, run->begun->graph_version);
        run->begun->run_id = run->run->run_id = unconst(id_of_run(copying, run->number));
    }
    copy_thread_put_message(copying, number, &snapshot->base);
    return true;
}

static void copy_thread_loaded(struct loader *loader)
{
    struct copying *copying = loader->owner;
    struct thread *thread = copying->thread;
    struct request *request = copying->request;
    struct status st = loader->status;
    free(loader);
    if (st.code != OK || !copy_thread_is_served(copying, &st)) {
        copy_thread_end(copying, &st);
        return;
    }
    thread->committed = thread->last;
    if (thread->run)
        log_write_rows(thread->run);
    else
        log_write_thread(thread);
    const Renga__V1__CopyThreadRequest *message = (const void *)request->message;
    request_remember(request, thread, message->request_id, "", thread->head);
    Renga__V1__CopyThreadResponse *response = xnonnull(arena_alloc(request->arena, sizeof *response));
    renga__v1__copy_thread_response__init(response);
    response->thread = answer_thread(request->arena, thread);
    request_answer_on_commit(request, thread, response);
    copy_thread_end(copying, NULL);
}

static void copy_thread_committed(struct store_batch *batch)
{
    struct copying *copying = CONTAINER_OF(batch, struct copying, batch);
    struct status st = batch->status;
    bool ours = owner_stamped(copying->thread, &st);
    if (!ours || st.code == ABORTED)
        fail(&st, UNAVAILABLE, "thread '%s' went on meanwhile, or there is a thread '%s' now; ask again", copying->from,
             copying->thread->id);
    if (st.code != OK) {
        copy_thread_end(copying, &st);
        return;
    }
    struct loader *loader = xnonnull(calloc(1, sizeof *loader));
    *loader = (struct loader){.thread = copying->thread, .loaded = copy_thread_loaded, .owner = copying};
    loader_start(loader);
}

static void copy_thread_page_came(struct store_scan *scan)
{
    struct copying *copying = (struct copying *)scan;
    struct status st = scan->status;
    bool records = copying->kind == KEY_RECORD, more = scan->more;
    for (size_t i = 0; i < scan->count && st.code == OK; i++) {
        struct arena arena;
        uint64_t number = key_number(scan->rows[i].key);
        arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
        void *message =
            row_read(&arena, records ? &renga__v1__log_record__descriptor : &renga__v1__thread_snapshot__descriptor,
                     &scan->rows[i], &st);
        if (message && records)
            copy_record(copying, message, number, &st);
        else if (message)
            copy_snapshot(copying, message, number, &st);
        copying->next = number + 1;
        arena_fini(&arena);
    }
    store_scan_fini(scan);
    if (st.code == OK && records && !more && !copying->records)
        fail(&st, NOT_FOUND, "there is no thread '%s'", copying->from);
    if (st.code != OK || !copy_thread_is_served(copying, &st)) {
        copy_thread_end(copying, &st);
    } else if (more || records) {
        copying->kind = more ? copying->kind : KEY_SNAPSHOT;
        copying->next = more ? copying->next : 0;
        scan_page(copying);
    } else {
        log_expect_new(copying->thread, &copying->batch);
        owner_stamp(copying->thread, &copying->batch);
        store_commit(copying->thread->shard->runner->options.store, &copying->batch);
    }
}

static void scan_keys(struct copying *copying, const struct key *from, const struct key *to,
                      void (*done)(struct store_scan *scan))
{
    store_scan_init(&copying->scan, copying->thread->shard->loop, done);
    copying->scan.from = key_bytes(from);
    copying->scan.to = key_bytes(to);
    copying->scan.limit = PAGE_ROWS;
    copying->scan.bytes_max = PAGE_BYTES;
    store_scan(copying->thread->shard->runner->options.store, &copying->scan);
}

static void scan_page(struct copying *copying)
{
    struct key from, to;
    key_numbered(&from, copying->kind, copying->thread->tenant, copying->from, copying->next);
    key_numbered(&to, copying->kind, copying->thread->tenant, copying->from, UINT64_MAX);
    scan_keys(copying, &from, &to, copy_thread_page_came);
}

/* Reads a single row, if it exists. */
static void copy_thread_scan_row(struct copying *copying, enum key_kind kind, void (*done)(struct store_scan *scan))
{
    struct key from, to;
    key_named(&from, kind, copying->thread->tenant, copying->from);
    to = from;
    to.bytes[to.size++] = '\0';
    scan_keys(copying, &from, &to, done);
}

/* Whether a run is at work is in the store too: the shard of the old thread need not be asked. */
static void pending_came(struct store_scan *scan)
{
    struct copying *copying = (struct copying *)scan;
    struct status st = scan->status;
    bool busy = scan->count > 0;
    store_scan_fini(scan);
    if (st.code == OK && !busy) {
        scan_page(copying);
        return;
    }
    if (st.code != OK) {
        copy_thread_end(copying, &st);
        return;
    }
    request_refuse(copying->request, "THREAD_BUSY", ABORTED, "a run is at work on thread '%s'", copying->from);
    copy_thread_end(copying, NULL);
}

/* It changes whenever a run begins or ends, and goes with the thread: the copy is written only if the row is still the
 * same. */
static void copy_thread_row_came(struct store_scan *scan)
{
    struct copying *copying = (struct copying *)scan;
    struct status st = scan->status;
    struct key key;
    key_named(&key, KEY_THREAD, copying->thread->tenant, copying->from);
    store_expect(&copying->batch, key_bytes(&key),
                 scan->count ? scan->rows[0].value : (struct store_bytes){.bytes = NULL});
    store_scan_fini(scan);
    if (st.code == OK)
        copy_thread_scan_row(copying, KEY_PENDING, pending_came);
    else
        copy_thread_end(copying, &st);
}

void history_copy(struct request *request, struct thread *thread)
{
    const Renga__V1__CopyThreadRequest *message = (const void *)request->message;
    if (!request_is_new(request, thread, message->request_id))
        return;
    if (thread->exists) {
        request_refuse(request, NULL, ALREADY_EXISTS, "there is a thread '%s' already", thread->id);
        return;
    }
    struct copying *copying = xnonnull(calloc(1, sizeof *copying));
    copying->request = request;
    copying->thread = thread;
    copying->from = message->thread_id;
    copying->kind = KEY_RECORD;
    store_batch_init(&copying->batch, thread->shard->loop, copy_thread_committed);
    thread->held = true;
    thread->holds++;
    copy_thread_scan_row(copying, KEY_THREAD, copy_thread_row_came);
}
