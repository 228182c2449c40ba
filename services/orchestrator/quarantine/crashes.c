#include "crashes.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "crashes_priv.h"
#include "log/ids.h"
#include "log/keys.h"
#include "log/rows.h"
#include "thread/crash_state.h"
#include "thread/memory.h"
#include "thread/shard.h"
#include "thread/thread.h"

#include "base/arena.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define ROW_ROOM    1024
#define LIFE_MAX_MS (INT64_C(24) * 3600 * 1000) /* more is a clock that was set */

enum verdict { GOES_ON, QUARANTINED, PARKED, LEFT_ALONE };

struct inquiry {
    struct store_scan scan;
    struct store_batch batch;
    struct thread *thread;
    char previous[ID_MAX]; /* the previous owner */
    struct crash_record record;
    bool alone;   /* it was at work alone */
    bool crashed; /* the previous owner */
    enum verdict verdict;
};

static struct runner *crashes_runner(const struct thread *thread)
{
    return thread->shard->runner;
}

unsigned crashes_max(const struct thread *thread)
{
    unsigned most = crashes_runner(thread)->options.crashes_max;
    return most < CRASH_OWNERS_MAX ? most : CRASH_OWNERS_MAX;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

void crashes_put_row(struct thread *thread, struct store_batch *batch, const struct crash_record *record, bool alone)
{
    struct key key;
    char *owners[CRASH_OWNERS_MAX];
    Renga__V1__CrashRow row = RENGA__V1__CRASH_ROW__INIT;
    for (unsigned i = 0; i < record->count; i++)
        owners[i] = unconst(record->owners[i]);
    row.owners = owners;
    row.n_owners = record->count;
    row.parkings = record->parkings;
    row.alone = alone;
    row.taken_ms = record->taken_ms;
    row.life_ms = record->life_ms;
    key_named(&key, KEY_CRASHES, thread->tenant, thread->id);
    row_put(batch, &key, &row.base);
}

void crashes_delete_row(const struct thread *thread, struct store_batch *batch)
{
    struct key key;
    key_named(&key, KEY_CRASHES, thread->tenant, thread->id);
    store_delete(batch, key_bytes(&key));
}

/* An unreadable row counts as absent. */
static void inquiry_take_row(struct inquiry *inquiry, const struct store_row *stored)
{
    struct arena arena;
    struct status ignored = {0};
    struct crash_record *record = &inquiry->record;
    arena_init(&arena, NULL, 0, RECORD_MEMORY_MAX);
    const Renga__V1__CrashRow *row = row_read(&arena, &renga__v1__crash_row__descriptor, stored, &ignored);
    for (size_t i = 0; row && i < row->n_owners && record->count < CRASH_OWNERS_MAX; i++)
        if (strlen(row->owners[i]) < ID_MAX)
            text_cut_copy(record->owners[record->count++], ID_MAX, row->owners[i]);
    record->parkings = row ? row->parkings : 0;
    record->taken_ms = row ? row->taken_ms : 0;
    record->life_ms = row && row->life_ms > 0 && row->life_ms < LIFE_MAX_MS ? row->life_ms : 0;
    inquiry->alone = row && row->alone;
    arena_fini(&arena);
}

static void put_pending(struct thread *thread, struct store_batch *batch)
{
    struct key key;
    const char *self = crashes_runner(thread)->self;
    key_named(&key, KEY_PENDING, thread->tenant, thread->id);
    store_put(batch, key_bytes(&key), (struct store_bytes){self, strlen(self)});
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static bool owner_is_alive(const struct thread *thread, const char *owner)
{
    struct membership *membership = crashes_runner(thread)->membership;
    return membership && membership_lives(membership, owner);
}

/* An owner that was declared dead, and has shown life since, did not die. */
static void drop_living(struct inquiry *inquiry)
{
    struct crash_record *record = &inquiry->record;
    unsigned kept = 0;
    for (unsigned i = 0; i < record->count; i++)
        if (!owner_is_alive(inquiry->thread, record->owners[i]))
            memmove(record->owners[kept++], record->owners[i], ID_MAX);
    record->count = kept;
}

/* The last crash counts only for a thread that was alone on trial. */
static void add_previous(struct inquiry *inquiry)
{
    struct crash_record *record = &inquiry->record;
    unsigned most = crashes_max(inquiry->thread);
    bool is_last = record->count + 1 == most && most > 1;
    if (inquiry->crashed && record->count < most && (inquiry->alone || !is_last))
        text_cut_copy(record->owners[record->count++], ID_MAX, inquiry->previous);
}

/* The previous owner lived no longer than from its take-up until now. Of lives in which the run was in quarantine,
 * those that ended before a trial began show the pace of kills from outside; the others may have ended by a trial. */
static void note_life(struct inquiry *inquiry, bool was_in_quarantine)
{
    struct crash_record *record = &inquiry->record;
    int64_t now_ms = wall_ms();
    bool is_known = inquiry->crashed && record->taken_ms > 0 && record->taken_ms <= now_ms;
    int64_t life_ms = is_known ? now_ms - record->taken_ms : 0;
    bool counts = !was_in_quarantine || life_ms < crashes_quiet_ms(record);
    if (counts && life_ms > record->life_ms)
        record->life_ms = life_ms < LIFE_MAX_MS ? life_ms : LIFE_MAX_MS - 1;
    record->taken_ms = now_ms;
}

static enum verdict inquiry_judge(struct inquiry *inquiry)
{
    struct crash_record *record = &inquiry->record;
    unsigned most = crashes_max(inquiry->thread);
    note_life(inquiry, record->count + 1 == most && !inquiry->alone);
    drop_living(inquiry);
    add_previous(inquiry);
    if (record->count + 1 < most || !record->count)
        return GOES_ON;
    if (record->count < most)
        return QUARANTINED;
    return ++record->parkings > most ? LEFT_ALONE : PARKED;
}

/* ---- consequences ------------------------------------------------------------------------------------------------ */

static void inquiry_end(struct inquiry *inquiry)
{
    inquiry->thread->holds--;
    free(inquiry);
}

static void inquiry_fail(struct inquiry *inquiry, const struct status *st)
{
    struct thread *thread = inquiry->thread;
    struct status why = *st;
    inquiry_end(inquiry);
    if (thread->phase == THREAD_BROKEN) {
        thread_settle(thread);
        return;
    }
    if (why.code == ABORTED)
        fail(&why, UNAVAILABLE, "thread '%s' goes from one orchestrator to another; ask again", thread->id);
    thread->crashes.judged(thread, &why);
}

static void leave_alone(struct thread *thread)
{
    struct status why = {0};
    fail(&why, DATA_LOSS,
         "thread '%s' has killed %u orchestrators, and more that read its log to let its run fail; nobody reads it as "
         "long as orchestrator.crashes_max is not 0",
         thread->id, crashes_max(thread));
    thread->crashes.judged(thread, &why);
}

static void inquiry_counted(struct store_batch *batch)
{
    struct inquiry *inquiry = CONTAINER_OF(batch, struct inquiry, batch);
    struct thread *thread = inquiry->thread;
    struct status st = batch->status;
    enum verdict verdict = inquiry->verdict;
    store_batch_fini(batch);
    if (st.code != OK || thread->phase == THREAD_BROKEN) {
        inquiry_fail(inquiry, &st);
        return;
    }
    thread->crashes.parks = verdict == PARKED;
    if (inquiry->record.count && !thread->crashes.record)
        thread->crashes.record = xnonnull(malloc(sizeof *thread->crashes.record));
    if (inquiry->record.count)
        *thread->crashes.record = inquiry->record;
    inquiry_end(inquiry);
    if (verdict == QUARANTINED)
        quarantine_begin(thread);
    else if (verdict == LEFT_ALONE)
        leave_alone(thread);
    else
        thread->crashes.judged(thread, &(struct status){0});
}

static void inquiry_count_crashes(struct inquiry *inquiry)
{
    struct thread *thread = inquiry->thread;
    struct store_batch *batch = &inquiry->batch;
    inquiry->verdict = inquiry_judge(inquiry);
    store_batch_init(batch, thread->shard->loop, inquiry_counted);
    owner_expect(thread, batch);
    put_pending(thread, batch);
    if (inquiry->record.count)
        crashes_put_row(thread, batch, &inquiry->record, false);
    store_commit(crashes_runner(thread)->options.store, batch);
}

/* ---- known facts ------------------------------------------------------------------------------------------------- */

static void inquiry_read_key(struct inquiry *inquiry, enum key_kind kind, const char *tenant, const char *name,
                             void (*done)(struct store_scan *scan))
{
    struct key from, to;
    struct thread *thread = inquiry->thread;
    key_named(&from, kind, tenant, name);
    to = from;
    to.bytes[to.size++] = '\0';
    store_scan_init(&inquiry->scan, thread->shard->loop, done);
    inquiry->scan.from = key_bytes(&from);
    inquiry->scan.to = key_bytes(&to);
    inquiry->scan.limit = 1;
    inquiry->scan.bytes_max = ROW_ROOM;
    store_scan(crashes_runner(thread)->options.store, &inquiry->scan);
}

static bool is_usable(struct inquiry *inquiry)
{
    struct status st = inquiry->scan.status;
    if (st.code == OK && inquiry->thread->phase != THREAD_BROKEN)
        return true;
    store_scan_fini(&inquiry->scan);
    inquiry_fail(inquiry, &st);
    return false;
}

static void session_read(struct store_scan *scan)
{
    struct inquiry *inquiry = CONTAINER_OF(scan, struct inquiry, scan);
    if (!is_usable(inquiry))
        return;
    inquiry->crashed = scan->count && strcmp(inquiry->previous, crashes_runner(inquiry->thread)->self) != 0;
    store_scan_fini(scan);
    inquiry_count_crashes(inquiry);
}

static void crashes_read(struct store_scan *scan)
{
    struct inquiry *inquiry = CONTAINER_OF(scan, struct inquiry, scan);
    struct membership *membership = crashes_runner(inquiry->thread)->membership;
    const char *previous = inquiry->previous;
    if (!is_usable(inquiry))
        return;
    if (scan->count)
        inquiry_take_row(inquiry, &scan->rows[0]);
    store_scan_fini(scan);
    if (!membership) {
        inquiry_read_key(inquiry, KEY_SESSION, "", previous, session_read);
        return;
    }
    inquiry->crashed = *previous && !membership_left(membership, previous) && !membership_lives(membership, previous);
    inquiry_count_crashes(inquiry);
}

static void pending_read(struct store_scan *scan)
{
    struct inquiry *inquiry = CONTAINER_OF(scan, struct inquiry, scan);
    struct thread *thread = inquiry->thread;
    if (!is_usable(inquiry))
        return;
    bool pending = scan->count;
    if (pending && scan->rows[0].value.size < sizeof inquiry->previous)
        memcpy(inquiry->previous, scan->rows[0].value.bytes, scan->rows[0].value.size);
    store_scan_fini(scan);
    if (pending) {
        inquiry_read_key(inquiry, KEY_CRASHES, thread->tenant, thread->id, crashes_read);
        return;
    }
    inquiry_end(inquiry);
    thread->crashes.judged(thread, &(struct status){0});
}

void crashes_ask(struct thread *thread, void (*judged)(struct thread *thread, const struct status *st))
{
    thread->crashes.judged = judged;
    if (!crashes_max(thread)) {
        judged(thread, &(struct status){0});
        return;
    }
    struct inquiry *inquiry = xnonnull(calloc(1, sizeof *inquiry));
    inquiry->thread = thread;
    thread->holds++;
    inquiry_read_key(inquiry, KEY_PENDING, thread->tenant, thread->id, pending_read);
}
