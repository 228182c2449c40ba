#include "row_key.h"

#include "base/log.h"

#include <string.h>

void row_key_append(struct row_key *key, const void *bytes, size_t size)
{
    if (size > sizeof key->bytes - key->size)
        fatal("tool_runner.key", "a key of the record has more than %d bytes", STORE_KEY_MAX);
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

void row_key_append_number(struct row_key *key, int64_t number)
{
    uint64_t big = __builtin_bswap64((uint64_t)number);
    row_key_append(key, &big, sizeof big);
}

int64_t row_key_read_number(const void *bytes)
{
    uint64_t big;
    memcpy(&big, bytes, sizeof big);
    return (int64_t)__builtin_bswap64(big);
}

struct row_key row_key_make(char kind, const char *first, const char *second, const char *third)
{
    struct row_key key = {.size = 0};
    row_key_append(&key, &kind, 1);
    row_key_append(&key, first, strlen(first) + 1);
    row_key_append(&key, second, strlen(second) + 1);
    if (third)
        row_key_append(&key, third, strlen(third));
    return key;
}

struct store_bytes row_key_bytes(const struct row_key *key)
{
    return (struct store_bytes){key->bytes, key->size};
}

struct store_bytes row_key_copy(struct arena *arena, const struct row_key *key)
{
    return (struct store_bytes){arena_copy(arena, key->bytes, key->size), key->size};
}

void row_key_range(struct arena *arena, struct row_key *key, struct store_bytes *from, struct store_bytes *to)
{
    *from = row_key_copy(arena, key);
    key->bytes[key->size - 1] = '\1';
    *to = row_key_copy(arena, key);
}
