#include "cached_response.h"

#include "base/clock.h"
#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#define CACHED_MAGIC "rg\1" /* its last byte is the version */
#define MARK_SIZE    3
#define CHECK_SIZE   8
#define CHECK_AT     MARK_SIZE
#define CREATED_AT   (CHECK_AT + CHECK_SIZE)
#define LIFE_AT      (CREATED_AT + 8)
#define KEY_AT       (LIFE_AT + 8)
#define CONTENT_AT   (KEY_AT + RESPONSE_CACHE_KEY_SIZE)
#define LIFE_MAX_MS  (INT64_C(7) * 24 * 3600 * 1000) /* as in the contract; a longer life is not from us */

_Static_assert(CONTENT_AT + RESPONSE_CACHE_KEY_SIZE == CACHED_HEAD_SIZE, "the head has all its fields");

struct cached_response *cached_response_create(const struct response_cache_key *key,
                                               const struct response_cache_key *content, const uint8_t *bytes,
                                               size_t size, int64_t keep_ms)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    struct cached_response *kept = malloc(sizeof *kept + CACHED_HEAD_SIZE + size);
    if (!kept)
        return NULL;
    memset(kept, 0, sizeof *kept);
    atomic_init(&kept->holders, 1);
    kept->key = *key;
    kept->content = *content;
    kept->created_ns = clock_now_ns();
    kept->expires_ns = kept->created_ns + keep_ms * NS_PER_MS;
    kept->size = size;
    if (size)
        memcpy(kept->value + CACHED_HEAD_SIZE, bytes, size);
    return kept;
}

void cached_response_hold(struct cached_response *kept)
{
    atomic_fetch_add_explicit(&kept->holders, 1, memory_order_relaxed);
}

void cached_response_release(struct cached_response *kept)
{
    if (kept && atomic_fetch_sub_explicit(&kept->holders, 1, memory_order_acq_rel) == 1)
        free(kept);
}

/* ---- as a value of Redis ----------------------------------------------------------------------------------------- */

static void cached_response_write_number(uint8_t *at, int64_t number)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)((uint64_t)number >> 8 * i);
}

static int64_t cached_response_read_number(const uint8_t *at)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return (int64_t)number;
}

static void check_of(const uint8_t *value, size_t size, uint8_t check[CHECK_SIZE])
{
    uint8_t whole[SHA256_SIZE];
    sha256_of(value + CREATED_AT, size - CREATED_AT, whole);
    memcpy(check, whole, CHECK_SIZE);
}

void cached_response_encode(struct cached_response *kept, int64_t keep_ms)
{
    memcpy(kept->value, CACHED_MAGIC, MARK_SIZE);
    cached_response_write_number(kept->value + CREATED_AT, clock_wall_ns() / NS_PER_MS);
    cached_response_write_number(kept->value + LIFE_AT, keep_ms);
    memcpy(kept->value + KEY_AT, kept->key.bytes, RESPONSE_CACHE_KEY_SIZE);
    memcpy(kept->value + CONTENT_AT, kept->content.bytes, RESPONSE_CACHE_KEY_SIZE);
    check_of(kept->value, CACHED_HEAD_SIZE + kept->size, kept->value + CHECK_AT);
}

struct cached_response *cached_response_decode(const struct response_cache_key *key, const uint8_t *value, size_t size)
{
    uint8_t check[CHECK_SIZE];
    if (size < CACHED_HEAD_SIZE || memcmp(value, CACHED_MAGIC, MARK_SIZE) != 0)
        return NULL;
    check_of(value, size, check);
    if (memcmp(check, value + CHECK_AT, CHECK_SIZE) != 0 ||
        memcmp(key->bytes, value + KEY_AT, RESPONSE_CACHE_KEY_SIZE) != 0)
        return NULL;
    /* Clocks of two machines differ: an answer from the future is as good as new. */
    int64_t age_ms = clock_wall_ns() / NS_PER_MS - cached_response_read_number(value + CREATED_AT);
    int64_t life_ms = cached_response_read_number(value + LIFE_AT);
    age_ms = age_ms < 0 ? 0 : age_ms;
    if (life_ms <= 0 || life_ms > LIFE_MAX_MS || age_ms >= life_ms)
        return NULL;
    struct response_cache_key content;
    memcpy(content.bytes, value + CONTENT_AT, RESPONSE_CACHE_KEY_SIZE);
    struct cached_response *kept =
        cached_response_create(key, &content, value + CACHED_HEAD_SIZE, size - CACHED_HEAD_SIZE, life_ms - age_ms);
    if (kept)
        kept->created_ns -= age_ms * NS_PER_MS;
    return kept;
}
