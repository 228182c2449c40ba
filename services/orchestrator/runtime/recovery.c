/* Reads the pending rows of the store, page by page; the threads of a page are read before the next page. With a shared
 * store, each orchestrator takes its share of a dead member's threads, and later the threads left over. If two
 * orchestrators take the same thread, the store permits a single take-over. */
#include "recovery.h"
#include "cluster/membership.h"
#include "lifecycle/request_queue.h"
#include "log/ids.h"
#include "log/keys.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/shard.h"

#include "base/clock.h"
#include "base/log.h"
#include "loop/loop.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_ROWS    500
#define LEFT_OVER_MS 500   /* for the others to take their share */
#define RESCAN_MS    15000 /* for threads that no orchestrator has taken */

struct recovery {
    struct store_scan scan;
    struct timer timer;
    struct runner *runner;
    struct loop *loop;
    struct key from;
    size_t found;
    int64_t began_ns;
    unsigned out; /* scans and threads under way */
    bool scanning, again, more;
    bool takes_all; /* not only its share */
    bool left_over;
    bool stopped;
};

struct taking_up {
    struct request request;
    struct store_batch batch;
    struct recovery *recovery;
    char tenant[TENANT_MAX + 1], thread[THREAD_MAX + 1];
    char member[ID_MAX]; /* whose it was, as the row was found */
    size_t member_size;
};

static void recovery_read_page(struct recovery *recovery);

static bool recovery_came_back(struct recovery *recovery)
{
    recovery->out--;
    if (!recovery->stopped)
        return true;
    if (!recovery->out)
        free(recovery);
    return false;
}

/* ---- the end of a page ------------------------------------------------------------------------------------------- */

static void recovery_rest(struct recovery *recovery)
{
    bool again = recovery->again;
    if (recovery->found)
        log_info("run.recover", "%zu threads with unfinished runs were taken up within %lld ms", recovery->found,
                 (long long)((clock_now_ns() - recovery->began_ns) / NS_PER_MS));
    recovery->scanning = recovery->again = false;
    recovery->takes_all = !again;
    if (recovery->runner->membership)
        loop_arm_after(recovery->loop, &recovery->timer, again ? 0 : recovery->left_over ? LEFT_OVER_MS : RESCAN_MS);
}

static void recovery_end_page(struct recovery *recovery)
{
    if (recovery->more && !recovery->runner->draining)
        recovery_read_page(recovery);
    else
        recovery_rest(recovery);
}

/* ---- a single thread --------------------------------------------------------------------------------------------- */

/* It was read; if a run was at work, it is so again. */
static void recovery_is_there(struct request *request, struct thread *thread)
{
    request_answer(request);
}

static void one_is_done(struct taking_up *one)
{
    struct recovery *recovery = one->recovery;
    free(one);
    if (recovery_came_back(recovery) && !recovery->out)
        recovery_end_page(recovery);
}

static void is_noted(struct store_batch *batch)
{
    struct taking_up *one = CONTAINER_OF(batch, struct taking_up, batch);
    store_batch_fini(batch);
    one_is_done(one);
}

/* The others leave an unreadable thread alone, until this orchestrator dies too. If another has the thread by now, the
 * row has that owner's name; if no work is left, the row is gone. Then the expectation fails: the failed read was out
 * of date. */
static void note_unreadable(struct taking_up *one)
{
    struct key key;
    struct runner *runner = one->recovery->runner;
    const char *self = membership_self(runner->membership);
    store_batch_init(&one->batch, one->recovery->loop, is_noted);
    key_named(&key, KEY_PENDING, one->tenant, one->thread);
    store_expect(&one->batch, key_bytes(&key), (struct store_bytes){one->member, one->member_size});
    store_put(&one->batch, key_bytes(&key), (struct store_bytes){self, strlen(self)});
    store_commit(runner->options.store, &one->batch);
}

static void is_taken_up(struct request *request)
{
    struct taking_up *one = request->owner;
    const struct recovery *recovery = one->recovery;
    if (request->status.code == DATA_LOSS && recovery->runner->membership && !recovery->stopped)
        note_unreadable(one);
    else
        one_is_done(one);
}

static void recovery_take_up(struct recovery *recovery, const struct taking_up *found)
{
    struct taking_up *one = xnonnull(malloc(sizeof *one));
    *one = *found;
    one->recovery = recovery;
    one->request = (struct request){.loop = recovery->loop,
                                    .tenant = one->tenant,
                                    .answered = is_taken_up,
                                    .owner = one,
                                    .maintenance = recovery_is_there};
    recovery->out++;
    recovery->found++;
    request_do_maintenance(recovery->runner, &one->request, one->thread);
}

/* A row that names no member was written when the store was not shared. */
static bool recovery_is_ours(struct recovery *recovery, const struct taking_up *one)
{
    char address[MEMBER_ADDRESS_MAX];
    struct membership *membership = recovery->runner->membership;
    if (!membership)
        return true;
    if (*one->member && membership_state(membership, one->member, address) != MEMBER_DEAD)
        return false;
    bool ours = recovery->takes_all ||
                membership_is_replacement(membership, one->member, id_of_place(one->tenant, one->thread));
    recovery->left_over |= !ours;
    return ours;
}

/* ---- page by page ------------------------------------------------------------------------------------------------ */

static void recovery_page_came(struct store_scan *scan)
{
    struct recovery *recovery = (struct recovery *)scan;
    struct taking_up one;
    if (scan->status.code != OK)
        log_error("run.recover", "what was left behind cannot be read: %s", scan->status.text);
    recovery->more = scan->more;
    for (size_t i = 0; i < scan->count && !recovery->stopped; i++) {
        const struct store_row *row = &scan->rows[i];
        if (!key_names(row->key, one.tenant, sizeof one.tenant, one.thread, sizeof one.thread))
            continue;
        one.member_size = row->value.size < sizeof one.member ? row->value.size : sizeof one.member - 1;
        memcpy(one.member, row->value.bytes, one.member_size);
        one.member[one.member_size] = '\0';
        if (recovery_is_ours(recovery, &one))
            recovery_take_up(recovery, &one);
    }
    if (scan->more) {
        struct store_bytes last = scan->rows[scan->count - 1].key;
        memcpy(recovery->from.bytes, last.bytes, last.size);
        recovery->from.bytes[last.size] = '\0';
        recovery->from.size = last.size + 1;
    }
    store_scan_fini(scan);
    if (recovery_came_back(recovery) && !recovery->out)
        recovery_end_page(recovery);
}

static void recovery_read_page(struct recovery *recovery)
{
    struct key to;
    key_behind(&to, KEY_PENDING, NULL);
    store_scan_init(&recovery->scan, recovery->loop, recovery_page_came);
    recovery->scan.from = key_bytes(&recovery->from);
    recovery->scan.to = key_bytes(&to);
    recovery->scan.limit = PAGE_ROWS;
    recovery->out++;
    store_scan(recovery->runner->options.store, &recovery->scan);
}

static void recovery_begin(struct recovery *recovery)
{
    loop_disarm(recovery->loop, &recovery->timer);
    if (recovery->runner->draining)
        return;
    recovery->scanning = true;
    recovery->began_ns = clock_now_ns();
    recovery->left_over = false;
    recovery->found = 0;
    recovery->from.size = 1;
    recovery->from.bytes[0] = KEY_PENDING;
    recovery_read_page(recovery);
}

static void recovery_expired(struct timer *timer)
{
    recovery_begin(CONTAINER_OF(timer, struct recovery, timer));
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void recovery_scan(void *data)
{
    struct runner *runner = data;
    struct recovery *recovery = runner->recovery;
    if (!recovery) /* it serves no requests yet */
        return;
    if (recovery->scanning) {
        recovery->again = true;
        return;
    }
    recovery->takes_all = false;
    recovery_begin(recovery);
}

void recovery_stop(struct recovery **recovery_pointer)
{
    struct recovery *recovery = *recovery_pointer;
    *recovery_pointer = NULL;
    if (!recovery)
        return;
    loop_disarm(recovery->loop, &recovery->timer);
    recovery->stopped = true;
    if (!recovery->out) /* else the last operation under way frees it */
        free(recovery);
}

void recovery_start(struct runner *runner)
{
    struct recovery *recovery = runner->recovery = xnonnull(calloc(1, sizeof *recovery));
    recovery->runner = runner;
    recovery->loop = runner->shards[0].loop;
    recovery->timer.expired = recovery_expired;
    recovery_scan(runner);
}
