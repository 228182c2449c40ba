/* Every minute all rows of X are walked, page by page: rows that are due are deleted, and the oldest beyond the size.
 *
 *      minute ---> page ---> its due rows are deleted ---> page ... ---> minute */
#include "records.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "loop/loop.h"
#include "record.h"
#include "store/store.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SWEEP_MS   60000
#define SQLITE     "sqlite:"
#define PAGE_ROWS  2000
#define PAGE_BYTES (4u << 20)

struct records {
    struct records_options options;
    pthread_mutex_t lock; /* of the opening */
    struct store *store;

    /* Of the loop that sweeps. */
    struct loop *loop;
    struct timer minute;
    struct store_scan page;
    struct store_batch batch;
    char last[STORE_KEY_MAX + 1];
    size_t last_size;
    uint64_t passed, excess; /* bytes read and kept in this sweep; bytes to delete */
    bool leaving;
    bool busy; /* under the lock */
    pthread_cond_t rested;
    _Atomic uint64_t bytes;
};

struct records *records_create(const struct records_options *options)
{
    struct records *records = xcalloc(1, sizeof *records);
    records->options = *options;
    pthread_mutex_init(&records->lock, NULL);
    pthread_cond_init(&records->rested, NULL);
    return records;
}

void records_destroy(struct records **records_pointer)
{
    struct records *records = *records_pointer;
    *records_pointer = NULL;
    if (!records)
        return;
    pthread_mutex_lock(&records->lock);
    while (records->busy)
        pthread_cond_wait(&records->rested, &records->lock);
    pthread_mutex_unlock(&records->lock);
    store_close(&records->store);
    pthread_cond_destroy(&records->rested);
    pthread_mutex_destroy(&records->lock);
    free(records);
}

int64_t records_keep_ms(const struct records *records)
{
    return records->options.keep_ms;
}

/* ---- sweeping ---------------------------------------------------------------------------------------------------- */

static void turn_page(struct records *records);

static void set_busy(struct records *records, bool busy)
{
    pthread_mutex_lock(&records->lock);
    records->busy = busy;
    if (!busy)
        pthread_cond_broadcast(&records->rested);
    pthread_mutex_unlock(&records->lock);
}

static void end_pass(struct records *records)
{
    atomic_store(&records->bytes, records->passed);
    records->excess = records->passed > records->options.bytes_max ? records->passed - records->options.bytes_max : 0;
    if (!records->leaving)
        loop_arm_after(records->loop, &records->minute, SWEEP_MS);
    set_busy(records, false);
}

static bool goes(struct records *records, const struct record_due *due)
{
    if (due->is_call && records->excess) {
        records->excess -= due->bytes < records->excess ? due->bytes : records->excess;
        return true;
    }
    return due->due_ms <= clock_wall_ns() / NS_PER_MS;
}

static void records_deleted(struct store_batch *batch)
{
    struct records *records = CONTAINER_OF(batch, struct records, batch);
    bool more = records->page.more && batch->status.code == OK && !records->leaving;
    if (batch->status.code != OK)
        log_warn("tool_runner.sweep", "the record cannot be swept: %s", batch->status.text);
    store_batch_fini(batch);
    store_scan_fini(&records->page);
    if (more)
        turn_page(records);
    else
        end_pass(records);
}

static void records_page_read(struct store_scan *page)
{
    struct records *records = CONTAINER_OF(page, struct records, page);
    store_batch_init(&records->batch, records->loop, records_deleted);
    for (size_t i = 0; i < page->count; i++) {
        struct record_due due = record_due_of(&page->rows[i]);
        if (goes(records, &due))
            record_delete_due(&records->batch, &page->rows[i]);
        else
            records->passed += due.bytes;
    }
    if (page->count) {
        struct store_bytes last = page->rows[page->count - 1].key;
        memcpy(records->last, last.bytes, last.size);
        records->last[last.size] = '\0'; /* just behind it */
        records->last_size = last.size + 1;
    }
    store_commit(records->store, &records->batch);
}

static void turn_page(struct records *records)
{
    store_scan_init(&records->page, records->loop, records_page_read);
    record_due_range(&records->page.from, &records->page.to);
    if (records->last_size)
        records->page.from = (struct store_bytes){records->last, records->last_size};
    records->page.limit = PAGE_ROWS;
    records->page.bytes_max = PAGE_BYTES;
    store_scan(records->store, &records->page);
}

static void minute_passed(struct timer *timer)
{
    struct records *records = CONTAINER_OF(timer, struct records, minute);
    set_busy(records, true);
    records->passed = 0;
    records->last_size = 0;
    turn_page(records);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static struct store *records_open_locked(struct records *records, struct loop *loop, struct status *st)
{
    if (records->store)
        return records->store;
    records->store = store_open(records->options.url, st);
    if (!records->store)
        return NULL;
    records->loop = loop;
    records->minute.expired = minute_passed;
    loop_arm_after(loop, &records->minute, 0);
    return records->store;
}

struct store *records_open(struct records *records, struct loop *loop, struct status *st)
{
    pthread_mutex_lock(&records->lock);
    struct store *store = records_open_locked(records, loop, st);
    pthread_mutex_unlock(&records->lock);
    return store;
}

static bool left_its_log(const char *url)
{
    char path[PATH_MAX];
    struct stat about;
    if (strncmp(url, SQLITE, strlen(SQLITE)) != 0)
        return strncmp(url, "memory:", strlen("memory:")) != 0; /* a Redis has its own check */
    int length = snprintf(path, sizeof path, "%s-wal", url + strlen(SQLITE));
    return length < (int)sizeof path && stat(path, &about) == 0 && about.st_size > 0;
}

void records_resume(struct records *records, struct loop *loop)
{
    struct status st = {0};
    if (left_its_log(records->options.url) && !records_open(records, loop, &st))
        log_info("tool_runner.record", "the record is not opened before it is needed: %s", st.text);
}

void records_leave(struct records *records, struct loop *loop)
{
    if (records->loop != loop)
        return;
    records->leaving = true;
    loop_disarm(loop, &records->minute);
}

bool records_stats(struct records *records, struct store_stats *stats, uint64_t *bytes)
{
    pthread_mutex_lock(&records->lock);
    bool open = records->store != NULL;
    if (open)
        store_stats(records->store, stats);
    pthread_mutex_unlock(&records->lock);
    *bytes = atomic_load(&records->bytes);
    return open;
}
