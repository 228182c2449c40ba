#include "response_cache_store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The table has its size from the start, since growing it would stop all loops: a bucket for each KiB of the bound. */
#define BUCKET_BYTES 1024
#define BUCKETS_MIN  ((size_t)64)
#define BUCKETS_MAX  ((size_t)1 << 20) /* 8 MiB */
#define MALLOC_BYTES 16                /* the heap's own overhead for an allocation */

bool response_cache_store_init(struct response_cache_store *store, size_t bytes_max, struct status *st)
{
    size_t count = BUCKETS_MIN;
    while (count < bytes_max / BUCKET_BYTES && count < BUCKETS_MAX)
        count *= 2;
    *store = (struct response_cache_store){.bytes_max = bytes_max, .bucket_count = count};
    store->buckets = calloc(count, sizeof(struct cached_response *));
    return store->buckets || fail(st, RESOURCE_EXHAUSTED, "no memory for the answer cache");
}

static size_t cost(const struct cached_response *kept)
{
    return sizeof *kept + CACHED_HEAD_SIZE + kept->size + MALLOC_BYTES;
}

/* A key is a digest: any of its bytes are as good as a hash. */
static struct cached_response **response_cache_store_bucket_of(struct response_cache_store *store,
                                                               const struct response_cache_key *key)
{
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof hash);
    return &store->buckets[hash & (store->bucket_count - 1)];
}

static struct cached_response **response_cache_store_place_of(struct response_cache_store *store,
                                                              const struct response_cache_key *key)
{
    struct cached_response **place = response_cache_store_bucket_of(store, key);
    while (*place && memcmp((*place)->key.bytes, key->bytes, RESPONSE_CACHE_KEY_SIZE) != 0)
        place = &(*place)->chain;
    return place;
}

/* ---- by use ------------------------------------------------------------------------------------------------------ */

static void unlink_use(struct response_cache_store *store, struct cached_response *kept)
{
    if (kept->newer)
        kept->newer->older = kept->older;
    else
        store->newest = kept->older;
    if (kept->older)
        kept->older->newer = kept->newer;
    else
        store->oldest = kept->newer;
}

static void link_newest(struct response_cache_store *store, struct cached_response *kept)
{
    kept->newer = NULL;
    kept->older = store->newest;
    if (store->newest)
        store->newest->newer = kept;
    else
        store->oldest = kept;
    store->newest = kept;
}

static void response_cache_store_take_out(struct response_cache_store *store, struct cached_response **place,
                                          struct cached_response **out)
{
    struct cached_response *kept = *place;
    assert(kept);
    *place = kept->chain;
    unlink_use(store, kept);
    store->bytes -= cost(kept);
    store->count--;
    kept->chain = *out;
    *out = kept;
}

/* ---- lookup and insertion ---------------------------------------------------------------------------------------- */

struct cached_response *response_cache_store_find(struct response_cache_store *store,
                                                  const struct response_cache_key *key, int64_t now_ns,
                                                  struct cached_response **out)
{
    struct cached_response **place = response_cache_store_place_of(store, key), *kept = *place;
    if (!kept)
        return NULL;
    if (kept->expires_ns <= now_ns) {
        response_cache_store_take_out(store, place, out);
        return NULL;
    }
    if (kept != store->newest) {
        unlink_use(store, kept);
        link_newest(store, kept);
    }
    return kept;
}

void response_cache_store_put(struct response_cache_store *store, struct cached_response *kept, int64_t now_ns,
                              struct cached_response **out)
{
    struct cached_response **place = response_cache_store_place_of(store, &kept->key);
    if (*place)
        response_cache_store_take_out(store, place, out);
    if (cost(kept) > store->bytes_max)
        return;
    cached_response_hold(kept);
    place = response_cache_store_bucket_of(store, &kept->key);
    kept->chain = *place;
    *place = kept;
    link_newest(store, kept);
    store->bytes += cost(kept);
    store->count++;
    store->stored++;
    while (store->bytes > store->bytes_max || store->oldest->expires_ns <= now_ns) {
        store->evicted += store->oldest->expires_ns > now_ns;
        response_cache_store_take_out(store, response_cache_store_place_of(store, &store->oldest->key), out);
        if (!store->oldest)
            break;
    }
}

void response_cache_store_drop(struct cached_response *out)
{
    while (out) {
        struct cached_response *next = out->chain;
        cached_response_release(out);
        out = next;
    }
}

void response_cache_store_fini(struct response_cache_store *store)
{
    for (struct cached_response *kept = store->newest; kept;) {
        struct cached_response *older = kept->older;
        cached_response_release(kept);
        kept = older;
    }
    free(store->buckets);
    *store = (struct response_cache_store){0};
}
