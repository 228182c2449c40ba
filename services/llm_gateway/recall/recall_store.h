/* The answers that are kept in memory: found by key, bounded by bytes, the least recently used out first. Not locked:
 * its owner does that, and frees what was thrown out after unlocking. */
#ifndef RENGA_LLM_GATEWAY_RECALL_STORE_H
#define RENGA_LLM_GATEWAY_RECALL_STORE_H

#include "recall_kept.h"

struct recall_store {
    struct recall_kept **buckets;
    size_t bucket_count; /* a power of two */
    struct recall_kept *newest, *oldest;
    size_t bytes, bytes_max;
    unsigned count;
    uint64_t stored, evicted;
};

bool recall_store_init(struct recall_store *store, size_t bytes_max, struct status *st);
void recall_store_fini(struct recall_store *store);

/* What is kept under `key`, now the most recently used, or NULL. Not held for the caller. What is past its life is put
 * on `out`. */
struct recall_kept *recall_store_find(struct recall_store *store, const struct recall_key *key, int64_t now_ns,
                                      struct recall_kept **out);
/* Holds `kept` and replaces what was under its key. What has to go is put on `out`. */
void recall_store_put(struct recall_store *store, struct recall_kept *kept, int64_t now_ns, struct recall_kept **out);
/* Lets go of what is on `out`. Not under a lock. */
void recall_store_drop(struct recall_kept *out);

#endif
