/* Keys are found by the SHA-256 of the caller's key, so that neither a table of keys nor their order can leak
 * through the time a comparison takes. */
#include "rpc/auth.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define HASH_SIZE   ((size_t)32) /* bytes of SHA-256 */
#define KEY_MAX     1024         /* bytes of a bearer key */
#define MEMORY_MAX  (256u << 20) /* bytes of copied names and patterns */
#define OPEN_PREFIX "grpc.health.v1."
#define RETIRED_MAX 1000 /* replaced tables in memory; a warning at each further thousand */

struct key {
    uint8_t hash[HASH_SIZE];
    struct rpc_principal principal;
    const char **methods;
    size_t method_count;
    int64_t expires_s; /* 0: never */
};

/* Does not change once it is published. */
struct table {
    struct arena memory;
    struct key *keys; /* by hash */
    size_t count;
    char *names; /* of all keys, in one block: a name's address tells the table */
    size_t names_size;
    unsigned generation;
    struct table *older; /* the previous table; NULL for the first */
};

struct rpc_auth {
    _Atomic(struct table *) table; /* the current table */
};

/* ---- Making it --------------------------------------------------------------------------------------------------- */

static bool hash_parse(const char *text, uint8_t hash[HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    if (!text || strlen(text) != 2 * HASH_SIZE)
        return false;
    for (size_t i = 0; i < 2 * HASH_SIZE; i++) {
        const char *digit = memchr(digits, text[i], sizeof digits - 1);
        if (!digit)
            return false;
        hash[i / 2] = (uint8_t)(hash[i / 2] << 4 | (digit - digits) % 16);
    }
    return true;
}

/* "package.Service/Method", "package.Service/" and a star, or a star alone. */
static bool pattern_is_valid(const char *pattern)
{
    if (strcmp(pattern, "*") == 0)
        return true;
    const char *slash = strchr(pattern, '/');
    if (!slash || slash == pattern || slash[1] == '\0' || strchr(slash + 1, '/'))
        return false;
    const char *star = strchr(pattern, '*');
    return !star || (star == slash + 1 && star[1] == '\0');
}

static bool is_printable(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return text_is_clean(text, length);
}

bool rpc_auth_check_names(const struct rpc_principal *principal, struct status *st)
{
    if (strlen(principal->tenant) > RPC_AUTH_TENANT_MAX)
        return fail(st, INVALID_ARGUMENT, "the tenant of key '%.32s' has %zu bytes; at most %d are allowed",
                    principal->name, strlen(principal->tenant), RPC_AUTH_TENANT_MAX);
    if (strlen(principal->name) > RPC_AUTH_NAME_MAX)
        return fail(st, INVALID_ARGUMENT, "the name of key '%.32s…' has %zu bytes; at most %d are allowed",
                    principal->name, strlen(principal->name), RPC_AUTH_NAME_MAX);
    if (!is_printable(principal->tenant) || !is_printable(principal->name))
        return fail(st, INVALID_ARGUMENT,
                    "the name or the tenant of a key is not UTF-8 or has control characters; use letters, digits and "
                    "punctuation");
    return true;
}

/* `names` is the free part of the table's block of names; moves behind the name. */
static bool key_copy(struct table *table, const struct rpc_auth_key *given, struct key *key, char **names,
                     struct status *st)
{
    const char *name = given->principal.name;
    if (!name || name[0] == '\0' || !given->principal.tenant)
        return fail(st, INVALID_ARGUMENT, "a key has no name or no tenant; name it after the client that holds it");
    if (!rpc_auth_check_names(&given->principal, st))
        return false;
    if (!hash_parse(given->sha256, key->hash))
        return fail(st, INVALID_ARGUMENT,
                    "the hash of key '%s' is not 64 hexadecimal digits; make it with: printf %%s KEY | sha256sum",
                    name);
    if (given->method_count > RPC_AUTH_METHODS_MAX)
        return fail(st, INVALID_ARGUMENT, "key '%s' has %zu method patterns and may have %d", name, given->method_count,
                    RPC_AUTH_METHODS_MAX);
    size_t name_size = strlen(name) + 1;
    key->principal.name = memcpy(*names, name, name_size);
    *names += name_size;
    key->principal.tenant = arena_strdup(&table->memory, given->principal.tenant);
    key->expires_s = given->expires_s;
    key->methods = arena_alloc(&table->memory, given->method_count * sizeof *key->methods);
    key->method_count = given->method_count;
    for (size_t i = 0; i < given->method_count && key->methods; i++) {
        if (!pattern_is_valid(given->methods[i]))
            return fail(st, INVALID_ARGUMENT,
                        "key '%s' has method pattern '%s'; write package.Service/Method, package.Service/* or *", name,
                        given->methods[i]);
        key->methods[i] = arena_strdup(&table->memory, given->methods[i]);
    }
    return true;
}

static int key_compare(const void *a, const void *b)
{
    return memcmp(((const struct key *)a)->hash, ((const struct key *)b)->hash, HASH_SIZE);
}

static size_t names_size(const struct rpc_auth_key *keys, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += keys[i].principal.name ? strlen(keys[i].principal.name) + 1 : 0;
    return size;
}

static bool keys_copy(struct table *table, const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    if (count > RPC_AUTH_KEYS_MAX)
        return fail(st, INVALID_ARGUMENT, "there are %zu keys and may be %d", count, RPC_AUTH_KEYS_MAX);
    table->names_size = names_size(keys, count);
    table->names = arena_alloc(&table->memory, table->names_size);
    table->keys = arena_zalloc(&table->memory, count * sizeof *table->keys);
    char *names = table->names;
    for (size_t i = 0; i < count && names && table->keys; i++) {
        if (!key_copy(table, &keys[i], &table->keys[i], &names, st))
            return false;
    }
    if (!names || !table->keys || table->memory.exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for %zu keys", count);
    table->count = count;
    if (count > 0)
        qsort(table->keys, count, sizeof *table->keys, key_compare);
    for (size_t i = 1; i < count; i++) {
        if (key_compare(&table->keys[i - 1], &table->keys[i]) == 0)
            return fail(st, INVALID_ARGUMENT, "keys '%s' and '%s' are the same; give each client its own",
                        table->keys[i - 1].principal.name, table->keys[i].principal.name);
    }
    return true;
}

static void table_destroy(struct table *table)
{
    arena_fini(&table->memory);
    free(table);
}

static struct table *table_create(const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table) {
        fail_memory(st, "keys");
        return NULL;
    }
    arena_init(&table->memory, NULL, 0, MEMORY_MAX);
    if (keys_copy(table, keys, count, st))
        return table;
    table_destroy(table);
    return NULL;
}

struct rpc_auth *rpc_auth_create(const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    struct rpc_auth *auth = calloc(1, sizeof *auth);
    if (!auth) {
        fail_memory(st, "keys");
        return NULL;
    }
    if (!rpc_auth_replace(auth, keys, count, st))
        rpc_auth_destroy(&auth);
    return auth;
}

bool rpc_auth_replace(struct rpc_auth *auth, const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    struct table *table = table_create(keys, count, st);
    if (!table)
        return false;
    table->older = atomic_load_explicit(&auth->table, memory_order_relaxed);
    table->generation = table->older ? table->older->generation + 1 : 0;
    atomic_store_explicit(&auth->table, table, memory_order_release);
    if (table->generation && table->generation % RETIRED_MAX == 0)
        log_warn("rpc.keys_retired", "%u replaced tables of keys are in memory until this process ends; restart it",
                 table->generation);
    return true;
}

void rpc_auth_destroy(struct rpc_auth **auth)
{
    if (!*auth)
        return;
    for (struct table *table = atomic_load(&(*auth)->table), *older; table; table = older) {
        older = table->older;
        table_destroy(table);
    }
    free(*auth);
    *auth = NULL;
}

/* ---- Asking it --------------------------------------------------------------------------------------------------- */

static const struct table *table_now(const struct rpc_auth *auth)
{
    return atomic_load_explicit(&auth->table, memory_order_acquire);
}

/* The key after "Bearer "; the scheme's case is ignored (RFC 9110, 11.1). */
static bool bearer(const char *header, size_t size, const char **key, size_t *key_size)
{
    static const char scheme[] = "Bearer ";
    if (!header || size < sizeof scheme - 1 || strncasecmp(header, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *start = header + sizeof scheme - 1, *end = header + size;
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    *key = start;
    *key_size = (size_t)(end - start);
    return *key_size > 0;
}

/* The search range shrinks by the hash of the caller's key, never by the key itself; the final decision is a comparison
 * in constant time. */
static const struct key *key_find(const struct table *table, const uint8_t hash[HASH_SIZE])
{
    size_t from = 0, to = table->count;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        if (memcmp(table->keys[middle].hash, hash, sizeof(uint64_t)) > 0)
            to = middle;
        else
            from = middle;
    }
    /* Keys that begin with the same eight bytes are adjacent, before `to`. */
    while (to-- > 0) {
        if (CRYPTO_memcmp(table->keys[to].hash, hash, HASH_SIZE) == 0)
            return &table->keys[to];
        if (memcmp(table->keys[to].hash, hash, sizeof(uint64_t)) != 0)
            return NULL;
    }
    return NULL;
}

static bool pattern_allows(const char *pattern, const char *method)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, method, length - 1) == 0;
    return strcmp(pattern, method) == 0;
}

/* By the wall clock: the time of expiry is a date that people wrote. */
static bool key_is_fresh(const struct key *key, struct status *st)
{
    char date[sizeof "9999-12-31T23:59:59Z"] = "";
    struct tm tm;
    if (!key->expires_s || clock_wall_ns() / NS_PER_SEC < key->expires_s)
        return true;
    if (gmtime_r(&(time_t){key->expires_s}, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return fail(st, UNAUTHENTICATED, "key '%s' expired at %s; ask the operator for a new one", key->principal.name,
                date);
}

const struct rpc_principal *rpc_auth_check(const struct rpc_auth *auth, const void *header, size_t size,
                                           const char *method, struct status *st)
{
    static const struct rpc_principal anyone = {.name = "", .tenant = ""};
    if (strncmp(method, OPEN_PREFIX, sizeof OPEN_PREFIX - 1) == 0)
        return &anyone;
    const char *text;
    size_t text_size;
    if (!bearer(header, size, &text, &text_size)) {
        fail(st, UNAUTHENTICATED, "the call has no key; send it as metadata 'authorization: Bearer <key>'");
        return NULL;
    }
    uint8_t hash[HASH_SIZE];
    const struct key *key = NULL;
    if (text_size <= KEY_MAX) {
        sha256_of(text, text_size, hash);
        key = key_find(table_now(auth), hash);
    }
    if (!key) {
        fail(st, UNAUTHENTICATED, "the key of the call is not known here; ask the operator for one");
        return NULL;
    }
    if (!key_is_fresh(key, st))
        return NULL;
    for (size_t i = 0; i < key->method_count; i++) {
        if (pattern_allows(key->methods[i], method))
            return &key->principal;
    }
    fail(st, PERMISSION_DENIED, "key '%s' may not call %s; ask the operator to allow it", key->principal.name, method);
    return NULL;
}

static const struct key *auth_key_named(const struct table *table, const char *tenant, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct rpc_principal *principal = &table->keys[i].principal;
        if (strcmp(principal->name, name) == 0 && strcmp(principal->tenant, tenant) == 0)
            return &table->keys[i];
    }
    return NULL;
}

/* The key with its own copy of its name at `name`. */
static const struct key *key_owning(const struct table *table, const char *name)
{
    uintptr_t offset = (uintptr_t)name - (uintptr_t)table->names;
    for (size_t i = 0; offset < table->names_size && i < table->count; i++)
        if (table->keys[i].principal.name == name)
            return &table->keys[i];
    return NULL;
}

/* Two keys may have the same name (an old key and its successor), but each has its own copy of it. A replaced key keeps
 * its rights for calls that began with it. A principal that has travelled is known by its names alone. */
static const struct key *auth_key_of(const struct rpc_auth *auth, const struct rpc_principal *principal)
{
    const struct table *now = table_now(auth), *table = now;
    do {
        const struct key *key = key_owning(table, principal->name);
        if (key)
            return key;
    } while ((table = table->older));
    return auth_key_named(now, principal->tenant, principal->name);
}

const struct rpc_principal *rpc_auth_find(const struct rpc_auth *auth, const char *tenant, const char *name)
{
    const struct key *key = auth_key_named(table_now(auth), tenant, name);
    return key ? &key->principal : NULL;
}

bool rpc_auth_grants(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *right)
{
    const struct key *key = auth ? auth_key_of(auth, principal) : NULL;
    for (size_t i = 0; key && i < key->method_count; i++)
        if (strcmp(key->methods[i], right) == 0 || (!key->principal.tenant[0] && strcmp(key->methods[i], "*") == 0))
            return true;
    return !auth && !principal->name[0] && !principal->tenant[0];
}

/* Without a key here, `key` NULL, a forwarded call has a name and no rights of its own. */
static bool is_limited(const struct key *key, const struct rpc_principal *principal, const char *scope)
{
    bool limited = !key && principal->name[0];
    for (size_t i = 0; key && i < key->method_count; i++) {
        if (strcmp(key->methods[i], "*") == 0)
            return false;
        limited |= strncmp(key->methods[i], scope, strlen(scope)) == 0;
    }
    return limited;
}

bool rpc_auth_is_limited(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope)
{
    return auth && is_limited(auth_key_of(auth, principal), principal, scope);
}

bool rpc_auth_reaches(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope,
                      const char *name)
{
    const struct key *key = auth ? auth_key_of(auth, principal) : NULL;
    if (!auth || !is_limited(key, principal, scope))
        return true;
    for (size_t i = 0; key && i < key->method_count; i++)
        if (strncmp(key->methods[i], scope, strlen(scope)) == 0 && strcmp(key->methods[i] + strlen(scope), name) == 0)
            return true;
    return false;
}
