#include "note_rows.h"

#include "base/log.h"

#include <string.h>

struct note_key {
    size_t size;
    char bytes[STORE_KEY_MAX];
};

static void append(struct note_key *key, const void *bytes, size_t size)
{
    if (size > sizeof key->bytes - key->size)
        fatal("tool_runner.key", "a key of a note has more than %d bytes", STORE_KEY_MAX);
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

static struct note_key key_of(const char *tenant, const char *thread, const char *run)
{
    struct note_key key = {.size = 0};
    append(&key, "N", 1);
    append(&key, tenant, strlen(tenant) + 1);
    append(&key, thread, strlen(thread) + 1);
    if (run)
        append(&key, run, strlen(run) + 1);
    return key;
}

static struct store_bytes keep(struct arena *arena, const struct note_key *key)
{
    return (struct store_bytes){arena_copy(arena, key->bytes, key->size), key->size};
}

void note_range(struct arena *arena, const char *tenant, const char *thread, const char *run, int32_t step_no,
                struct store_bytes *from, struct store_bytes *to)
{
    struct note_key key = key_of(tenant, thread, run);
    uint32_t step = __builtin_bswap32((uint32_t)step_no);
    append(&key, &step, sizeof step);
    *from = keep(arena, &key);
    append(&key, "", 1);
    *to = keep(arena, &key);
}

void notes_range(struct arena *arena, const char *tenant, const char *thread, const char *run, struct store_bytes *from,
                 struct store_bytes *to)
{
    struct note_key key = key_of(tenant, thread, run);
    *from = keep(arena, &key);
    key.bytes[key.size - 1] = '\1';
    *to = keep(arena, &key);
}
