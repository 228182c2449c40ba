#include "recall_store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The table has its size from the start, since growing it would stop all loops: a bucket for each KiB of the bound. */
#define BUCKET_BYTES 1024
#define BUCKETS_MIN  ((size_t)64)
#define BUCKETS_MAX  ((size_t)1 << 20) /* 8 MiB */
#define MALLOC_BYTES 16                /* what the heap itself takes for a piece */

bool recall_store_init(struct recall_store *store, size_t bytes_max, struct status *st)
{
    size_t count = BUCKETS_MIN;
    while (count < bytes_max / BUCKET_BYTES && count < BUCKETS_MAX)
        count *= 2;
    *store = (struct recall_store){.bytes_max = bytes_max, .bucket_count = count};
    store->buckets = calloc(count, sizeof(struct recall_kept *));
    return store->buckets || fail(st, RESOURCE_EXHAUSTED, "no memory for the answer cache");
}

static size_t cost(const struct recall_kept *kept)
{
    return sizeof *kept + KEPT_HEAD_SIZE + kept->size + MALLOC_BYTES;
}

/* A key is a digest: any of its bytes are as good as a hash. */
static struct recall_kept **bucket_of(struct recall_store *store, const struct recall_key *key)
{
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof hash);
    return &store->buckets[hash & (store->bucket_count - 1)];
}

static struct recall_kept **place_of(struct recall_store *store, const struct recall_key *key)
{
    struct recall_kept **place = bucket_of(store, key);
    while (*place && memcmp((*place)->key.bytes, key->bytes, RECALL_KEY_SIZE) != 0)
        place = &(*place)->chain;
    return place;
}

/* ---- by use ------------------------------------------------------------------------------------------------------ */

static void unlink_use(struct recall_store *store, struct recall_kept *kept)
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

static void link_newest(struct recall_store *store, struct recall_kept *kept)
{
    kept->newer = NULL;
    kept->older = store->newest;
    if (store->newest)
        store->newest->newer = kept;
    else
        store->oldest = kept;
    store->newest = kept;
}

static void take_out(struct recall_store *store, struct recall_kept **place, struct recall_kept **out)
{
    struct recall_kept *kept = *place;
    assert(kept);
    *place = kept->chain;
    unlink_use(store, kept);
    store->bytes -= cost(kept);
    store->count--;
    kept->chain = *out;
    *out = kept;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

struct recall_kept *recall_store_find(struct recall_store *store, const struct recall_key *key, int64_t now_ns,
                                      struct recall_kept **out)
{
    struct recall_kept **place = place_of(store, key), *kept = *place;
    if (!kept)
        return NULL;
    if (kept->expires_ns <= now_ns) {
        take_out(store, place, out);
        return NULL;
    }
    if (kept != store->newest) {
        unlink_use(store, kept);
        link_newest(store, kept);
    }
    return kept;
}

void recall_store_put(struct recall_store *store, struct recall_kept *kept, int64_t now_ns, struct recall_kept **out)
{
    struct recall_kept **place = place_of(store, &kept->key);
    if (*place)
        take_out(store, place, out);
    if (cost(kept) > store->bytes_max)
        return;
    kept_hold(kept);
    place = bucket_of(store, &kept->key);
    kept->chain = *place;
    *place = kept;
    link_newest(store, kept);
    store->bytes += cost(kept);
    store->count++;
    store->stored++;
    while (store->bytes > store->bytes_max || store->oldest->expires_ns <= now_ns) {
        store->evicted += store->oldest->expires_ns > now_ns;
        take_out(store, place_of(store, &store->oldest->key), out);
        if (!store->oldest)
            break;
    }
}

void recall_store_drop(struct recall_kept *out)
{
    while (out) {
        struct recall_kept *next = out->chain;
        kept_release(out);
        out = next;
    }
}

void recall_store_fini(struct recall_store *store)
{
    for (struct recall_kept *kept = store->newest; kept;) {
        struct recall_kept *older = kept->older;
        kept_release(kept);
        kept = older;
    }
    free(store->buckets);
    *store = (struct recall_store){0};
}
