#include "keys.h"

#include <string.h>

static void keys_append(struct key *key, const void *bytes, size_t size)
{
    if (size > sizeof key->bytes - key->size)
        size = sizeof key->bytes - key->size; /* names are checked: they always fit */
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

void key_named(struct key *key, enum key_kind kind, const char *tenant, const char *name)
{
    char letter = (char)kind;
    key->size = 0;
    keys_append(key, &letter, 1);
    keys_append(key, tenant, strlen(tenant) + 1);
    keys_append(key, name, strlen(name));
}

void key_numbered(struct key *key, enum key_kind kind, const char *tenant, const char *thread, uint64_t number)
{
    uint64_t big = __builtin_bswap64(number);
    key_named(key, kind, tenant, thread);
    keys_append(key, "", 1);
    keys_append(key, &big, sizeof big);
}

void key_under(struct key *key, enum key_kind kind, const char *tenant, const char *thread, const char *name)
{
    key_named(key, kind, tenant, thread);
    keys_append(key, "", 1);
    keys_append(key, name, strlen(name));
}

struct store_bytes key_last_name(struct store_bytes key)
{
    const char *first = key.bytes, *zero = memrchr(first, '\0', key.size);
    size_t before = zero ? (size_t)(zero + 1 - first) : 0;
    return (struct store_bytes){first + before, key.size - before};
}

void key_timed(struct key *key, enum key_kind kind, int64_t time_ms, const char *tenant, const char *name)
{
    char letter = (char)kind;
    uint64_t big = __builtin_bswap64((uint64_t)time_ms);
    key->size = 0;
    keys_append(key, &letter, 1);
    keys_append(key, &big, sizeof big);
    if (!tenant)
        return;
    keys_append(key, tenant, strlen(tenant) + 1);
    keys_append(key, name, strlen(name));
}

uint64_t key_number(struct store_bytes key)
{
    uint64_t big = 0;
    if (key.size >= sizeof big)
        memcpy(&big, (const char *)key.bytes + key.size - sizeof big, sizeof big);
    return __builtin_bswap64(big);
}

void key_behind(struct key *key, enum key_kind kind, const char *tenant)
{
    char letter = (char)(tenant ? kind : kind + 1);
    key->size = 0;
    keys_append(key, &letter, 1);
    if (!tenant)
        return;
    keys_append(key, tenant, strlen(tenant));
    keys_append(key, "\1", 1);
}

static bool take(const char **at, const char *end, char *out, size_t room)
{
    const char *zero = memchr(*at, '\0', (size_t)(end - *at));
    size_t size = (size_t)((zero ? zero : end) - *at);
    if (size >= room)
        return false;
    memcpy(out, *at, size);
    out[size] = '\0';
    *at += size + (zero ? 1 : 0);
    return true;
}

void key_old_version(struct key *key, const char *tenant, const char *agent, const char *version, const char *run)
{
    key_under(key, KEY_VERSION, tenant, agent, version);
    keys_append(key, "", 1);
    keys_append(key, run, strlen(run));
}

bool key_version_names(struct store_bytes key, char *version, size_t version_room, char *run, size_t run_room)
{
    const char *at = key.bytes, *end = at + key.size;
    for (int names = 0; names < 2 && at; names++) { /* tenant and agent */
        at = memchr(at, '\0', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    *version = '\0';
    if (at && memchr(at, '\0', (size_t)(end - at)) && !take(&at, end, version, version_room))
        return false;
    return at && take(&at, end, run, run_room);
}

bool key_names(struct store_bytes key, char *tenant, size_t tenant_room, char *name, size_t name_room)
{
    const char *at = key.bytes, *end = at + key.size;
    if (key.size < 2)
        return false;
    at++;
    return take(&at, end, tenant, tenant_room) && take(&at, end, name, name_room);
}
