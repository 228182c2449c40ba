/* The path of a scan: the queue, then a reader thread, then the loop that started it. */
#include "store/store_priv.h"

#include "base/memory.h"
#include "base/thread.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define ROWS_FIRST         16          /* places for rows; they double */
#define TOGETHER_BYTES_MAX (64u << 20) /* limit of the results of scans read together; one scan may find more */

static void scan_ended(struct work *work)
{
    struct store_scan *scan = CONTAINER_OF(work, struct store_scan, ended);
    scan->done(scan);
}

void store_scan_init(struct store_scan *scan, struct loop *loop, void (*done)(struct store_scan *scan))
{
    *scan = (struct store_scan){.loop = loop, .done = done};
}

void store_scan_fini(struct store_scan *scan)
{
    arena_fini(&scan->arena);
    scan->rows = NULL;
    scan->count = 0;
}

/* ---- in the loops ------------------------------------------------------------------------------------------------ */

/* Rows that double leave as much behind as they are; blocks of the arena may end half used. */
static size_t arena_limit(const struct store_scan *scan)
{
    return scan->bytes_max * 2 + scan->limit * (4 * sizeof(struct store_row) + 2 * ARENA_ALIGNMENT) + STORE_VALUE_MAX +
           (64u << 10);
}

static bool copy_bound(struct arena *arena, struct store_bytes *bound, struct status *st)
{
    if (bound->size > STORE_BOUND_MAX)
        return fail(st, INVALID_ARGUMENT, "a bound of %zu bytes; the most is %d", bound->size, STORE_BOUND_MAX);
    bound->bytes = arena_copy(arena, bound->bytes, bound->size);
    return bound->bytes != NULL || fail_memory(st, "a scan");
}

static bool reader_prepare(struct store_scan *scan, struct status *st)
{
    if (scan->limit == 0 || scan->limit > STORE_SCAN_ROWS_MAX)
        scan->limit = STORE_SCAN_ROWS_MAX;
    if (scan->bytes_max == 0 || scan->bytes_max > STORE_SCAN_BYTES_MAX)
        scan->bytes_max = STORE_SCAN_BYTES_MAX;
    arena_init(&scan->arena, NULL, 0, arena_limit(scan));
    return copy_bound(&scan->arena, &scan->from, st) && copy_bound(&scan->arena, &scan->to, st);
}

static bool reader_enqueue(struct store *store, struct store_scan *scan, struct status *st)
{
    pthread_mutex_lock(&store->lock);
    bool room = store->scans_queued < STORE_SCANS_MAX;
    if (room) {
        if (store->last_scan != NULL)
            store->last_scan->next = scan;
        else
            store->first_scan = scan;
        store->last_scan = scan;
        store->scans_queued++;
        store->under_way++;
        pthread_cond_signal(&store->scans_came);
    }
    pthread_mutex_unlock(&store->lock);
    return room || fail(st, RESOURCE_EXHAUSTED, "%d scans wait to be read, and that is the most", STORE_SCANS_MAX);
}

void store_scan(struct store *store, struct store_scan *scan)
{
    assert(loop_current() == scan->loop);
    scan->store = store;
    scan->next = NULL;
    scan->ended = (struct work){.run = scan_ended};
    if (!reader_prepare(scan, &scan->status) || !reader_enqueue(store, scan, &scan->status))
        loop_defer(scan->loop, &scan->ended);
}

/* ---- in a reader's thread ---------------------------------------------------------------------------------------- */

/* The last of those that are read together with the first. */
static struct store_scan *last_together(const struct store *store, struct store_scan *first)
{
    struct store_scan *last = first;
    size_t bytes = first->bytes_max;
    for (unsigned count = 1; last->next != NULL && count < store->kind->scans_together; count++) {
        bytes += last->next->bytes_max;
        if (bytes > TOGETHER_BYTES_MAX)
            break;
        last = last->next;
    }
    return last;
}

static unsigned reader_count_of(const struct store_scan *scan)
{
    unsigned count = 0;
    for (; scan != NULL; scan = scan->next)
        count++;
    return count;
}

static struct store_scan *reader_take(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    while (store->first_scan == NULL && !store->closing)
        pthread_cond_wait(&store->scans_came, &store->lock);
    struct store_scan *scan = store->first_scan;
    if (scan != NULL) {
        struct store_scan *last = last_together(store, scan);
        store->first_scan = last->next;
        if (store->first_scan == NULL)
            store->last_scan = NULL;
        last->next = NULL;
        store->scans_queued -= reader_count_of(scan);
    }
    pthread_mutex_unlock(&store->lock);
    return scan;
}

void *store_reader_run(void *data)
{
    struct store_reader *reader = data;
    struct store *store = reader->store;
    thread_name("store reader");
    for (struct store_scan *scan; (scan = reader_take(store)) != NULL;) {
        unsigned count = reader_count_of(scan);
        store->kind->scan(store->engine, reader->number, scan);
        for (struct store_scan *next; scan != NULL; scan = next) {
            next = scan->next; /* before its owner may let it go */
            loop_post(scan->loop, &scan->ended);
        }
        store_posted(store, count);
    }
    return NULL;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool grow_rows(struct store_scan *scan)
{
    if (scan->count > 0 && (scan->count < ROWS_FIRST || (scan->count & (scan->count - 1)) != 0))
        return true;
    size_t places = scan->count == 0 ? ROWS_FIRST : scan->count * 2;
    struct store_row *rows = arena_alloc(&scan->arena, places * sizeof *rows);
    if (rows == NULL)
        return false;
    if (scan->count > 0)
        memcpy(rows, scan->rows, scan->count * sizeof *rows);
    scan->rows = rows;
    return true;
}

static bool copy_row(struct store_scan *scan, struct store_bytes key, struct store_bytes value)
{
    if (!grow_rows(scan))
        return false;
    struct store_row *row = &scan->rows[scan->count];
    row->lost = false;
    row->key = (struct store_bytes){arena_copy(&scan->arena, key.bytes, key.size), key.size};
    row->value = (struct store_bytes){arena_copy(&scan->arena, value.bytes, value.size), value.size};
    return row->key.bytes != NULL && row->value.bytes != NULL;
}

bool store_scan_add(struct store_scan *scan, struct store_bytes key, struct store_bytes value)
{
    size_t size = key.size + value.size;
    if (scan->count == scan->limit || (scan->count > 0 && scan->bytes + size > scan->bytes_max)) {
        scan->more = true;
        return false;
    }
    if (!copy_row(scan, key, value))
        return fail(&scan->status, RESOURCE_EXHAUSTED, "no memory for the rows of a scan after %zu", scan->count);
    scan->count++;
    scan->bytes += size;
    return true;
}

/* checksum.h reads this value as MISMATCH, so a reader that does not look at `lost` does not take it for an empty
 * message. */
bool store_scan_add_lost(struct store_scan *scan, struct store_bytes key)
{
    bool added = store_scan_add(scan, key, (struct store_bytes){"\xfd", 1});
    if (added)
        scan->rows[scan->count - 1].lost = true;
    return added;
}
