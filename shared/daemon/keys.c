#include "daemon/keys.h"

#include "base/json_reader.h"
#include "base/log.h"
#include "rpc/auth.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = {"name", "tenant", "sha256", "methods", NULL};

static bool refuse_unknown(struct json_reader *in, const cJSON *entry)
{
    for (const cJSON *item = entry->child; item; item = item->next) {
        bool found = false;
        for (const char *const *name = known; *name; name++)
            found |= strcmp(*name, item->string) == 0;
        if (!found)
            return json_reader_fail(in, item, "is not known here; name, tenant, sha256 and methods are");
    }
    return true;
}

/* Reads one entry; `methods` has room for RPC_AUTH_METHODS_MAX. */
static bool read_entry(struct json_reader *in, const cJSON *entry, struct rpc_auth_key *key, const char **methods)
{
    if (!refuse_unknown(in, entry))
        return false;
    key->principal.name = json_string(in, entry, "name");
    key->principal.tenant = json_string_or(in, entry, "tenant", "");
    key->sha256 = json_string(in, entry, "sha256");
    const cJSON *list = json_array(in, entry, "methods");
    int count = list ? cJSON_GetArraySize(list) : 0;
    if (count > RPC_AUTH_METHODS_MAX)
        return json_reader_fail(in, list, "has %d patterns; at most %d are read", count, RPC_AUTH_METHODS_MAX);
    const cJSON *pattern;
    cJSON_ArrayForEach(pattern, list)
    {
        if (!cJSON_IsString(pattern))
            return json_reader_fail(in, pattern, "must be a string like \"renga.v1.Planner/*\"");
        methods[key->method_count++] = pattern->valuestring;
    }
    key->methods = methods;
    return !in->failed;
}

struct rpc_auth *daemon_keys_read(const cJSON *value, struct status *st)
{
    if (!cJSON_IsArray(value)) {
        fail(st, INVALID_ARGUMENT, "must be a list of keys, [{\"name\": …}]");
        return NULL;
    }
    size_t count = (size_t)cJSON_GetArraySize(value);
    if (count > RPC_AUTH_KEYS_MAX) {
        fail(st, INVALID_ARGUMENT, "has %zu keys; at most %d are read", count, RPC_AUTH_KEYS_MAX);
        return NULL;
    }
    struct rpc_auth_key *keys = calloc(count + 1, sizeof *keys);
    const char **methods = calloc((count + 1) * RPC_AUTH_METHODS_MAX, sizeof *methods);
    if (!keys || !methods)
        fatal("daemon.memory", "no memory for %zu keys", count);
    struct json_reader in = json_reader_of(value, st);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = read_entry(&in, json_element(&in, value, (int)i), &keys[i], &methods[i * RPC_AUTH_METHODS_MAX]);
    struct rpc_auth *auth = ok ? rpc_auth_create(keys, count, st) : NULL;
    free(keys);
    free(methods);
    return auth;
}

bool daemon_keys_check(const cJSON *value, struct status *st)
{
    struct rpc_auth *auth = daemon_keys_read(value, st);
    bool readable = auth != NULL;
    rpc_auth_destroy(&auth);
    return readable;
}
