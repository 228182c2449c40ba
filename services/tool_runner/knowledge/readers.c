/* The reader threads: each takes the oldest job, runs it and posts it back to its loop.
 *
 *      waits --(reader)--> is read --(posted)--> ended
 *        '---- cancelled ----------(posted)------^ */
#include "knowledge/knowledge_priv.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "knowledge/rank.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MAX 256

struct reader_pool {
    char *path;
    pthread_t threads[READERS];
    unsigned thread_count;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct reading *first, *last;
    unsigned waiting;
    bool closing;
};

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static void readers_enqueue(struct reader_pool *pool, struct reading *reading)
{
    reading->waits = true;
    LIST_APPEND(pool->first, pool->last, reading);
    pool->waiting++;
    pthread_cond_signal(&pool->wake);
}

static void readers_unqueue(struct reader_pool *pool, struct reading *reading)
{
    LIST_REMOVE(pool->first, pool->last, reading);
    reading->waits = false;
    pool->waiting--;
}

static void readers_over(struct work *work)
{
    struct reading *reading = (struct reading *)work;
    reading->ended(reading);
}

bool reading_start(struct reader_pool *pool, struct reading *reading, struct status *st)
{
    reading->work.run = readers_over;
    pthread_mutex_lock(&pool->lock);
    bool room = pool->waiting < WAITING_MAX;
    if (room)
        readers_enqueue(pool, reading);
    pthread_mutex_unlock(&pool->lock);
    if (room)
        return true;
    st->retry_after_ms = 1000;
    return fail(st, RESOURCE_EXHAUSTED, "%d searches wait already; ask again", WAITING_MAX);
}

void reading_cancel(struct reader_pool *pool, struct reading *reading)
{
    atomic_store(&reading->stop, true);
    pthread_mutex_lock(&pool->lock);
    bool waited = reading->waits;
    if (waited)
        readers_unqueue(pool, reading);
    pthread_mutex_unlock(&pool->lock);
    if (!waited)
        return;
    fail(&reading->status, CANCELLED, "the caller has left");
    loop_post(reading->loop, &reading->work);
}

bool reading_is_over(void *data)
{
    const struct reading *reading = data;
    return atomic_load(&reading->stop) || clock_now_ns() >= reading->deadline_ns;
}

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

static struct reading *readers_take(struct reader_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->first && !pool->closing)
        pthread_cond_wait(&pool->wake, &pool->lock);
    struct reading *reading = pool->first;
    if (reading)
        readers_unqueue(pool, reading);
    pthread_mutex_unlock(&pool->lock);
    return reading;
}

static bool readers_fail_over(const struct reading *reading, struct status *st)
{
    if (atomic_load(&reading->stop))
        return fail(st, CANCELLED, "the caller has left");
    return fail(st, DEADLINE_EXCEEDED, "the search took too long; look in fewer collections, or for fewer words");
}

/* In a transaction, so that all is of the same moment. */
static bool read_within(struct reading *reading, struct reading_state *state, struct status *st)
{
    bool done = sql_run(state->tables.file, "BEGIN", st) && reading->read(reading, state, st);
    sql_rollback(state->tables.file);
    return done;
}

static void readers_read_one(const struct reader_pool *pool, struct reading *reading, struct reading_state *state)
{
    struct status *st = &reading->status;
    if (reading_is_over(reading)) {
        readers_fail_over(reading, st);
        return;
    }
    if (!state->tables.file && !tables_open(&state->tables, pool->path, st)) {
        log_warn("knowledge.unreadable", "the knowledge base '%s' cannot be opened: %s", pool->path, st->text);
        return;
    }
    sql_limit(state->tables.file, reading_is_over, reading);
    bool read = read_within(reading, state, st);
    sql_limit(state->tables.file, NULL, NULL);
    if (read)
        return;
    if (st->code == ABORTED)
        readers_fail_over(reading, st);
    if (st->code == UNAVAILABLE) {
        log_warn("knowledge.unreadable", "the knowledge base '%s' cannot be read: %s", pool->path, st->text);
        tables_close(&state->tables); /* opened anew for the next */
    }
}

static void *reader_main(void *data)
{
    struct reader_pool *pool = data;
    struct reading_state state = {.rank = rank_create()};
    struct reading *reading;
    while ((reading = readers_take(pool))) {
        readers_read_one(pool, reading, &state);
        loop_post(reading->loop, &reading->work);
    }
    tables_close(&state.tables);
    rank_destroy(&state.rank);
    return NULL;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct reader_pool *reader_pool_create(const char *path, struct status *st)
{
    struct reader_pool *pool = xcalloc(1, sizeof *pool);
    pool->path = strdup(path);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    while (pool->path && pool->thread_count < READERS &&
           pthread_create(&pool->threads[pool->thread_count], NULL, reader_main, pool) == 0)
        pool->thread_count++;
    if (pool->thread_count == 0) {
        fail(st, RESOURCE_EXHAUSTED, "no threads to read the knowledge base with");
        reader_pool_destroy(&pool);
    }
    return pool;
}

void reader_pool_destroy(struct reader_pool **pool)
{
    if (!*pool)
        return;
    pthread_mutex_lock(&(*pool)->lock);
    (*pool)->closing = true;
    pthread_cond_broadcast(&(*pool)->wake);
    pthread_mutex_unlock(&(*pool)->lock);
    for (unsigned i = 0; i < (*pool)->thread_count; i++)
        pthread_join((*pool)->threads[i], NULL);
    pthread_cond_destroy(&(*pool)->wake);
    pthread_mutex_destroy(&(*pool)->lock);
    free((*pool)->path);
    free(*pool);
    *pool = NULL;
}
