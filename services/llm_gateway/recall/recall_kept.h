/* What is kept: an answer with its key, immutable, held by the memory store and by everyone who reads it, so that a
 * hit needs no copy and what is thrown out may still be read. As a value of Redis it is
 *
 *      "rg", version   3 bytes
 *      check           8 bytes of SHA-256 over all that follows
 *      created         8 bytes, Unix time in milliseconds, little-endian
 *      life            8 bytes, milliseconds, little-endian
 *      key            32 bytes
 *      content        32 bytes: what a word stands for, else the key again
 *      the answer */
#ifndef RENGA_LLM_GATEWAY_RECALL_KEPT_H
#define RENGA_LLM_GATEWAY_RECALL_KEPT_H

#include "recall.h"

#include <stdatomic.h>

#define KEPT_HEAD_SIZE (3 + 8 + 8 + 8 + 2 * RECALL_KEY_SIZE)

struct recall_kept {
    atomic_uint holders;
    struct recall_key key, content;
    int64_t created_ns, expires_ns; /* on clock_now_ns */
    size_t size;                    /* of the answer */

    /* The store's. */
    struct recall_kept *chain, *newer, *older;

    uint8_t value[]; /* the head and, right behind it, the answer */
};

/* With one holder; NULL where memory is out. */
struct recall_kept *kept_create(const struct recall_key *key, const struct recall_key *content, const uint8_t *bytes,
                                size_t size, int64_t keep_ms);
void kept_hold(struct recall_kept *kept);
void kept_release(struct recall_kept *kept);

static inline const uint8_t *kept_bytes(const struct recall_kept *kept)
{
    return kept->value + KEPT_HEAD_SIZE;
}

/* Fills the head in, for Redis. Before anybody else holds it. */
void kept_seal(struct recall_kept *kept, int64_t keep_ms);
/* A value of Redis. NULL where it is none of ours, damaged or past its life. */
struct recall_kept *kept_open(const struct recall_key *key, const uint8_t *value, size_t size);

#endif
