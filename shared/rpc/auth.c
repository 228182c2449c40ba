/* Keys are found by the SHA-256 of what the caller sent, so that neither a table of keys nor their order can leak
 * through the time a comparison takes. */
#include "rpc/auth.h"

#include "base/arena.h"
#include "base/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HASH_SIZE   ((size_t)32) /* bytes of SHA-256 */
#define KEY_MAX     1024         /* bytes of a bearer key */
#define MEMORY_MAX  (256u << 20) /* bytes of copied names and patterns */
#define OPEN_PREFIX "grpc.health.v1."

struct key {
    uint8_t hash[HASH_SIZE];
    struct rpc_principal principal;
    const char **methods;
    size_t method_count;
};

struct rpc_auth {
    struct arena memory;
    EVP_MD *sha256;
    struct key *keys; /* by hash */
    size_t count;
};

/* ---- Making it -------------------------------------------------------------------------------------------------- */

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

static bool key_copy(struct rpc_auth *auth, const struct rpc_auth_key *given, struct key *key, struct status *st)
{
    const char *name = given->principal.name;
    if (!name || name[0] == '\0' || !given->principal.tenant)
        return fail(st, INVALID_ARGUMENT, "a key has no name or no tenant; name it after the client that holds it");
    if (!text_is_clean(name, strlen(name)) || !text_is_clean(given->principal.tenant, strlen(given->principal.tenant)))
        return fail(st, INVALID_ARGUMENT, "the name or the tenant of a key is not UTF-8");
    if (strlen(given->principal.tenant) > RPC_AUTH_TENANT_MAX)
        return fail(st, INVALID_ARGUMENT, "the tenant of key '%s' has %zu bytes; at most %d are allowed", name,
                    strlen(given->principal.tenant), RPC_AUTH_TENANT_MAX);
    if (!hash_parse(given->sha256, key->hash))
        return fail(st, INVALID_ARGUMENT,
                    "the hash of key '%s' is not 64 hexadecimal digits; make it with: printf %%s KEY | sha256sum",
                    name);
    if (given->method_count > RPC_AUTH_METHODS_MAX)
        return fail(st, INVALID_ARGUMENT, "key '%s' has %zu method patterns and may have %d", name, given->method_count,
                    RPC_AUTH_METHODS_MAX);
    key->principal.name = arena_strdup(&auth->memory, name);
    key->principal.tenant = arena_strdup(&auth->memory, given->principal.tenant);
    key->methods = arena_alloc(&auth->memory, given->method_count * sizeof *key->methods);
    key->method_count = given->method_count;
    for (size_t i = 0; i < given->method_count && key->methods; i++) {
        if (!pattern_is_valid(given->methods[i]))
            return fail(st, INVALID_ARGUMENT,
                        "key '%s' has method pattern '%s'; write package.Service/Method, package.Service/* or *", name,
                        given->methods[i]);
        key->methods[i] = arena_strdup(&auth->memory, given->methods[i]);
    }
    return true;
}

static int key_compare(const void *a, const void *b)
{
    return memcmp(((const struct key *)a)->hash, ((const struct key *)b)->hash, HASH_SIZE);
}

static bool keys_copy(struct rpc_auth *auth, const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    if (count > RPC_AUTH_KEYS_MAX)
        return fail(st, INVALID_ARGUMENT, "there are %zu keys and may be %d", count, RPC_AUTH_KEYS_MAX);
    auth->keys = arena_zalloc(&auth->memory, count * sizeof *auth->keys);
    for (size_t i = 0; i < count && auth->keys; i++) {
        if (!key_copy(auth, &keys[i], &auth->keys[i], st))
            return false;
    }
    if (!auth->keys || auth->memory.exhausted)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for %zu keys", count);
    auth->count = count;
    if (count > 0)
        qsort(auth->keys, count, sizeof *auth->keys, key_compare);
    for (size_t i = 1; i < count; i++) {
        if (key_compare(&auth->keys[i - 1], &auth->keys[i]) == 0)
            return fail(st, INVALID_ARGUMENT, "keys '%s' and '%s' are the same; give each client its own",
                        auth->keys[i - 1].principal.name, auth->keys[i].principal.name);
    }
    return true;
}

struct rpc_auth *rpc_auth_create(const struct rpc_auth_key *keys, size_t count, struct status *st)
{
    struct rpc_auth *auth = calloc(1, sizeof *auth);
    if (!auth) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for keys");
        return NULL;
    }
    arena_init(&auth->memory, NULL, 0, MEMORY_MAX);
    auth->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!auth->sha256)
        fail(st, INTERNAL, "OpenSSL has no SHA-256; look at its configuration");
    if (!auth->sha256 || !keys_copy(auth, keys, count, st))
        rpc_auth_destroy(&auth);
    return auth;
}

void rpc_auth_destroy(struct rpc_auth **auth)
{
    if (!*auth)
        return;
    EVP_MD_free((*auth)->sha256);
    arena_fini(&(*auth)->memory);
    free(*auth);
    *auth = NULL;
}

/* ---- Asking it -------------------------------------------------------------------------------------------------- */

/* The key behind "Bearer ", whose scheme is read in any case (RFC 9110, 11.1). */
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

/* The half that is left shrinks by what the hash of the caller's key tells, never by the key itself; the last word has
 * a comparison whose time tells nothing. */
static const struct key *key_find(const struct rpc_auth *auth, const uint8_t hash[HASH_SIZE])
{
    size_t from = 0, to = auth->count;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        if (memcmp(auth->keys[middle].hash, hash, sizeof(uint64_t)) > 0)
            to = middle;
        else
            from = middle;
    }
    /* Keys that begin with the same eight bytes stand side by side, before `to`. */
    while (to-- > 0) {
        if (CRYPTO_memcmp(auth->keys[to].hash, hash, HASH_SIZE) == 0)
            return &auth->keys[to];
        if (memcmp(auth->keys[to].hash, hash, sizeof(uint64_t)) != 0)
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
    if (text_size <= KEY_MAX && EVP_Digest(text, text_size, hash, NULL, auth->sha256, NULL) == 1)
        key = key_find(auth, hash);
    if (!key) {
        fail(st, UNAUTHENTICATED, "the key of the call is not known here; ask the operator for one");
        return NULL;
    }
    for (size_t i = 0; i < key->method_count; i++) {
        if (pattern_allows(key->methods[i], method))
            return &key->principal;
    }
    fail(st, PERMISSION_DENIED, "key '%s' may not call %s; ask the operator to allow it", key->principal.name, method);
    return NULL;
}

/* Two keys may have one name (an old one and its successor), but each has its own copy of it. */
static const struct key *key_of(const struct rpc_auth *auth, const struct rpc_principal *principal)
{
    for (size_t i = 0; i < auth->count; i++)
        if (auth->keys[i].principal.name == principal->name)
            return &auth->keys[i];
    return NULL;
}

const struct rpc_principal *rpc_auth_find(const struct rpc_auth *auth, const char *tenant, const char *name)
{
    for (size_t i = 0; i < auth->count; i++) {
        const struct rpc_principal *principal = &auth->keys[i].principal;
        if (strcmp(principal->name, name) == 0 && strcmp(principal->tenant, tenant) == 0)
            return principal;
    }
    return NULL;
}

bool rpc_auth_grants(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *right)
{
    const struct key *key = auth ? key_of(auth, principal) : NULL;
    for (size_t i = 0; key && i < key->method_count; i++)
        if (strcmp(key->methods[i], right) == 0 || strcmp(key->methods[i], "*") == 0)
            return true;
    return !auth;
}

bool rpc_auth_is_limited(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope)
{
    const struct key *key = auth ? key_of(auth, principal) : NULL;
    bool limited = false;
    for (size_t i = 0; key && i < key->method_count; i++) {
        if (strcmp(key->methods[i], "*") == 0)
            return false;
        limited |= strncmp(key->methods[i], scope, strlen(scope)) == 0;
    }
    return limited;
}

bool rpc_auth_reaches(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope,
                      const char *name)
{
    if (!rpc_auth_is_limited(auth, principal, scope))
        return true;
    const struct key *key = key_of(auth, principal);
    for (size_t i = 0; i < key->method_count; i++)
        if (strncmp(key->methods[i], scope, strlen(scope)) == 0 && strcmp(key->methods[i] + strlen(scope), name) == 0)
            return true;
    return false;
}
