/* The path of a batch: the queue, a transaction with all other queued batches, and back to its loop. The batches of a
 * transaction that belong to the same loop return together, as the work item of the first batch. */
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/store_priv.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <time.h>

#define TRANSACTION_BATCHES_MAX 16384       /* so that the first of them does not wait long for the last */
#define MAINTAIN_EVERY_S        1           /* if upkeep is left without writes */
#define TRANSACTION_BYTES_MAX   (64u << 20) /* of keys and values; a single batch fits */

/* ---- in the loops ------------------------------------------------------------------------------------------------ */

static void batches_committed(struct work *work)
{
    struct store_batch *batch = CONTAINER_OF(work, struct store_batch, done);
    while (batch != NULL) {
        struct store_batch *next = batch->next; /* before its owner may let it go */
        batch->committed(batch);
        batch = next;
    }
}

static bool enqueue_locked(struct store *store, struct store_batch *batch, struct status *st)
{
    if (store->batches_queued >= STORE_QUEUE_BATCHES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "%u batches wait to be written; the most is %d", store->batches_queued,
                    STORE_QUEUE_BATCHES_MAX);
    if (store->bytes_queued + batch->bytes > STORE_QUEUE_BYTES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "%zu bytes wait to be written; the most is %llu", store->bytes_queued,
                    STORE_QUEUE_BYTES_MAX);
    if (store->last_batch != NULL)
        store->last_batch->next = batch;
    else
        store->first_batch = batch;
    store->last_batch = batch;
    store->batches_queued++;
    store->bytes_queued += batch->bytes;
    store->under_way++;
    pthread_cond_signal(&store->batches_came);
    return true;
}

static bool writer_enqueue(struct store *store, struct store_batch *batch, struct status *st)
{
    if (st->code != OK) /* found while it was filled */
        return false;
    pthread_mutex_lock(&store->lock);
    bool queued = enqueue_locked(store, batch, st);
    pthread_mutex_unlock(&store->lock);
    return queued;
}

void store_commit(struct store *store, struct store_batch *batch)
{
    assert(loop_current() == batch->loop);
    batch->store = store;
    batch->next = NULL;
    batch->done = (struct work){.run = batches_committed};
    if (!writer_enqueue(store, batch, &batch->status))
        loop_defer(batch->loop, &batch->done);
}

/* ---- in the writer's thread -------------------------------------------------------------------------------------- */

/* The batches of a transaction. */
struct load {
    struct store_batch *first;
    unsigned batches;
    size_t bytes;
};

/* False if it is time for upkeep. */
static bool wait_for_batches_locked(struct store *store)
{
    if (!store->maintains)
        return pthread_cond_wait(&store->batches_came, &store->lock) == 0;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += MAINTAIN_EVERY_S;
    return pthread_cond_clockwait(&store->batches_came, &store->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}

/* Ends with no batches when the store closes and all is written, or for upkeep. */
static struct load writer_take(struct store *store)
{
    struct load load = {0};
    pthread_mutex_lock(&store->lock);
    while (store->first_batch == NULL && !store->closing && wait_for_batches_locked(store))
        ;
    load.first = store->first_batch;
    struct store_batch *last = NULL;
    for (struct store_batch *batch = load.first; batch != NULL; last = batch, batch = batch->next) {
        if (load.batches == TRANSACTION_BATCHES_MAX || load.bytes + batch->bytes > TRANSACTION_BYTES_MAX)
            break;
        load.batches++;
        load.bytes += batch->bytes;
    }
    if (last != NULL) {
        store->first_batch = last->next;
        last->next = NULL;
    }
    if (store->first_batch == NULL)
        store->last_batch = NULL;
    store->batches_queued -= load.batches;
    store->bytes_queued -= load.bytes;
    pthread_mutex_unlock(&store->lock);
    return load;
}

static void fail_all(const struct load *load, const struct status *st)
{
    for (struct store_batch *batch = load->first; batch != NULL; batch = batch->next)
        batch->status = *st;
}

static void writer_write_load(struct store *store, const struct load *load, struct store_stats *added)
{
    struct status st = {0};
    int64_t begun_ns = clock_now_ns();
    bool written = store->kind->write(store->engine, load->first, &st);
    added->sync_ns = clock_now_ns() - begun_ns;
    /* A full disk fails many transactions in a second: the log has the first and the end of it. */
    if (!written && !store->failing)
        log_error("store.failed", "what was to be written is refused: %s", st.text);
    if (written && store->failing)
        log_info("store.recovered", "the store writes again");
    store->failing = !written;
    if (!written)
        fail_all(load, &st);
    if (!written) {
        added->failures++;
        return;
    }
    added->transactions++;
    for (const struct store_batch *batch = load->first; batch != NULL; batch = batch->next) {
        if (batch->status.code != OK) {
            added->aborted += batch->status.code == ABORTED;
            added->failures += batch->status.code != ABORTED;
            continue;
        }
        added->batches++;
        added->bytes += batch->bytes;
        for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
            added->operations++;
    }
}

static void send_home(const struct load *load)
{
    struct store_batch *first[LOOPS_MAX] = {0}, *last[LOOPS_MAX];
    for (struct store_batch *batch = load->first, *next; batch != NULL; batch = next) {
        next = batch->next;
        batch->next = NULL;
        unsigned index = loop_index(batch->loop);
        if (first[index] != NULL && first[index]->loop != batch->loop) { /* two loops of one index: only in tests */
            loop_post(first[index]->loop, &first[index]->done);
            first[index] = NULL;
        }
        if (first[index] == NULL)
            first[index] = batch;
        else
            last[index]->next = batch;
        last[index] = batch;
    }
    for (unsigned index = 0; index < LOOPS_MAX; index++)
        if (first[index] != NULL)
            loop_post(first[index]->loop, &first[index]->done);
}

static void writer_carry_out(struct store *store, const struct load *load)
{
    struct store_stats added = {0};
    writer_write_load(store, load, &added);
    struct store_stats *stats = &store->stats;
    pthread_mutex_lock(&store->lock);
    stats->batches += added.batches;
    stats->operations += added.operations;
    stats->bytes += added.bytes;
    stats->transactions += added.transactions;
    stats->aborted += added.aborted;
    stats->failures += added.failures;
    stats->sync_ns = added.sync_ns;
    pthread_mutex_unlock(&store->lock); /* before the batches are reported */
    send_home(load);
    store_posted(store, load->batches);
}

static bool writer_is_closing(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    bool closing = store->closing;
    pthread_mutex_unlock(&store->lock);
    return closing;
}

void *store_writer_run(void *data)
{
    struct store *store = data;
    thread_name("store writer");
    for (struct load load; (load = writer_take(store)).first != NULL || !writer_is_closing(store);) {
        if (load.first != NULL)
            writer_carry_out(store, &load);
        store->maintains = store->kind->maintain != NULL && store->kind->maintain(store->engine);
    }
    return NULL;
}
