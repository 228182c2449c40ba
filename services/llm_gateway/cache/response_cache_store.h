/* The answers in memory: found by key, bounded in bytes, with LRU eviction. Without a lock: the owner locks, and
 * frees evicted answers after unlocking. */
#ifndef RENGA_LLM_GATEWAY_RESPONSE_CACHE_STORE_H
#define RENGA_LLM_GATEWAY_RESPONSE_CACHE_STORE_H

#include "cached_response.h"

struct response_cache_store {
    struct cached_response **buckets;
    size_t bucket_count; /* a power of two */
    struct cached_response *newest, *oldest;
    size_t bytes, bytes_max;
    unsigned count;
    uint64_t stored, evicted;
};

bool response_cache_store_init(struct response_cache_store *store, size_t bytes_max, struct status *st);
void response_cache_store_fini(struct response_cache_store *store);

/* The answer under `key`, now the most recently used, or NULL. The caller gets no reference. An expired answer is
 * put on `out`. */
struct cached_response *response_cache_store_find(struct response_cache_store *store,
                                                  const struct response_cache_key *key, int64_t now_ns,
                                                  struct cached_response **out);
/* Takes a reference to `kept` and replaces the answer under its key. Evicted answers are put on `out`. */
void response_cache_store_put(struct response_cache_store *store, struct cached_response *kept, int64_t now_ns,
                              struct cached_response **out);
/* Releases the answers on `out`. Not under a lock. */
void response_cache_store_drop(struct cached_response *out);

#endif
