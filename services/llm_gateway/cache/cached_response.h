/* A cached answer with its key: immutable and reference-counted. The memory store and all its readers hold it: a hit
 * needs no copy, and an evicted answer stays readable. Its form as a value of Redis:
 *
 *      "rg", version   3 bytes
 *      check           8 bytes of SHA-256 over all following bytes
 *      created         8 bytes, Unix time in milliseconds, little-endian
 *      life            8 bytes, milliseconds, little-endian
 *      key            32 bytes
 *      content        32 bytes: of the request of an idempotency key, else the key again
 *      the answer */
#ifndef RENGA_LLM_GATEWAY_CACHED_RESPONSE_H
#define RENGA_LLM_GATEWAY_CACHED_RESPONSE_H

#include "response_cache.h"

#include <stdatomic.h>

#define CACHED_HEAD_SIZE (3 + 8 + 8 + 8 + 2 * RESPONSE_CACHE_KEY_SIZE)

struct cached_response {
    atomic_uint holders;
    struct response_cache_key key, content;
    int64_t created_ns, expires_ns; /* on clock_now_ns */
    size_t size;                    /* of the answer */

    /* The store's. */
    struct cached_response *chain, *newer, *older;

    uint8_t value[]; /* the head and, right behind it, the answer */
};

/* With one reference; NULL if memory is exhausted. */
struct cached_response *cached_response_create(const struct response_cache_key *key,
                                               const struct response_cache_key *content, const uint8_t *bytes,
                                               size_t size, int64_t keep_ms);
void cached_response_hold(struct cached_response *kept);
void cached_response_release(struct cached_response *kept);

static inline const uint8_t *cached_bytes(const struct cached_response *kept)
{
    return kept->value + CACHED_HEAD_SIZE;
}

/* Fills the head in, for Redis. Call it before the answer is shared. */
void cached_response_encode(struct cached_response *kept, int64_t keep_ms);
/* Reads a value of Redis. NULL: not our format, damaged or expired. */
struct cached_response *cached_response_decode(const struct response_cache_key *key, const uint8_t *value, size_t size);

#endif
