#include "store/store.h"

#include "store/store_priv.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct store_kind *const kinds[] = {&store_memory, &store_sqlite, &store_redis};

static const struct store_kind *store_kind_of(const char *url, struct status *st)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (const char *const *scheme = kinds[i]->schemes; *scheme != NULL; scheme++)
            if (strncmp(url, *scheme, strlen(*scheme)) == 0)
                return kinds[i];
    fail(st, INVALID_ARGUMENT, "'%.*s' is no store; give 'memory:', 'sqlite:FILE' or 'redis://HOST:6379'",
         (int)strcspn(url, "/@"), url); /* no further: the rest may contain a password */
    return NULL;
}

static bool store_start_threads(struct store *store, struct status *st)
{
    int error = pthread_create(&store->writer, NULL, store_writer_run, store);
    if (error != 0)
        return fail(st, RESOURCE_EXHAUSTED, "no thread for the store's writer: errno %d", error);
    while (store->readers_running < STORE_READERS) {
        struct store_reader *reader = &store->readers[store->readers_running];
        *reader = (struct store_reader){.store = store, .number = store->readers_running};
        error = pthread_create(&reader->thread, NULL, store_reader_run, reader);
        if (error != 0)
            return fail(st, RESOURCE_EXHAUSTED, "no thread for a reader of the store: errno %d", error);
        store->readers_running++;
    }
    return true;
}

static void store_free(struct store *store)
{
    pthread_mutex_destroy(&store->lock);
    pthread_cond_destroy(&store->batches_came);
    pthread_cond_destroy(&store->scans_came);
    pthread_cond_destroy(&store->settled);
    free(store);
}

static struct store *store_create(const struct store_kind *kind)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->kind = kind;
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->batches_came, NULL);
    pthread_cond_init(&store->scans_came, NULL);
    pthread_cond_init(&store->settled, NULL);
    return store;
}

bool store_backup(const char *url, const char *copy, struct status *st)
{
    const struct store_kind *kind = store_kind_of(url, st);
    if (kind == NULL)
        return false;
    if (kind->backup == NULL)
        return fail(st, FAILED_PRECONDITION, "a store of kind '%s' has no file that could be copied", kind->schemes[0]);
    return kind->backup(url + strlen(kind->schemes[0]), copy, st);
}

struct store *store_open(const char *url, struct status *st)
{
    const struct store_kind *kind = store_kind_of(url, st);
    if (kind == NULL)
        return NULL;
    struct store *store = store_create(kind);
    if (store == NULL) {
        fail_memory(st, "a store");
        return NULL;
    }
    store->engine = kind->open(url, st);
    if (store->engine == NULL) {
        store_free(store);
        return NULL;
    }
    if (!store_start_threads(store, st))
        store_close(&store);
    return store;
}

bool store_is_shared(const struct store *store)
{
    return store->kind->shared;
}

void store_close(struct store **store_pointer)
{
    struct store *store = *store_pointer;
    if (store == NULL)
        return;
    *store_pointer = NULL;
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_broadcast(&store->batches_came);
    pthread_cond_broadcast(&store->scans_came);
    pthread_mutex_unlock(&store->lock);
    if (store->writer != 0)
        pthread_join(store->writer, NULL);
    for (unsigned i = 0; i < store->readers_running; i++)
        pthread_join(store->readers[i].thread, NULL);
    store->kind->close(store->engine);
    store_free(store);
}

void store_stats(struct store *store, struct store_stats *stats)
{
    pthread_mutex_lock(&store->lock);
    *stats = store->stats;
    stats->queued = store->batches_queued;
    pthread_mutex_unlock(&store->lock);
    if (store->kind->look != NULL)
        store->kind->look(store->engine, stats);
}

void store_posted(struct store *store, unsigned count)
{
    pthread_mutex_lock(&store->lock);
    store->under_way -= count;
    if (store->under_way == 0)
        pthread_cond_broadcast(&store->settled);
    pthread_mutex_unlock(&store->lock);
}

void store_settle(struct store *store)
{
    assert(loop_current() == NULL);
    pthread_mutex_lock(&store->lock);
    while (store->under_way > 0)
        pthread_cond_wait(&store->settled, &store->lock);
    pthread_mutex_unlock(&store->lock);
}

int store_bytes_compare(struct store_bytes a, struct store_bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.bytes, b.bytes, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}
