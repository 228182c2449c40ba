#include "daemon/key_list.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "json/reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIME_FORM "%Y-%m-%dT%H:%M:%SZ"
#define TIME_SIZE sizeof "9999-12-31T23:59:59Z"
#define YEAR_MIN  2000
#define SOON_S    (INT64_C(7) * 24 * 3600) /* a key that expires within this time is warned of */
#define WARNED    10                       /* keys that are warned of by name */

static const char *const known[] = {"name", "tenant", "sha256", "methods", "expires", NULL};

static void time_print(int64_t seconds, char text[TIME_SIZE])
{
    struct tm tm;
    text[0] = '\0';
    if (gmtime_r(&(time_t){seconds}, &tm))
        strftime(text, TIME_SIZE, TIME_FORM, &tm);
}

/* strptime is lenient: a time is right only if it is printed as it was written. */
bool key_list_read_time(const char *text, int64_t *seconds)
{
    char printed[TIME_SIZE];
    struct tm tm = {0};
    const char *rest = strlen(text) == TIME_SIZE - 1 ? strptime(text, TIME_FORM, &tm) : NULL;
    if (!rest || *rest || tm.tm_year + 1900 < YEAR_MIN)
        return false;
    *seconds = timegm(&tm);
    time_print(*seconds, printed);
    return strcmp(printed, text) == 0;
}

static bool key_list_refuse_unknown(struct json_reader *in, const cJSON *entry)
{
    for (const cJSON *item = entry->child; item; item = item->next) {
        bool found = false;
        for (const char *const *name = known; *name; name++)
            found |= strcmp(*name, item->string) == 0;
        if (!found)
            return json_reader_fail(in, item, "is not known here; name, tenant, sha256, methods and expires are");
    }
    return true;
}

/* Reads one entry; `methods` has room for RPC_AUTH_METHODS_MAX. */
static bool read_entry(struct json_reader *in, const cJSON *entry, struct rpc_auth_key *key, const char **methods)
{
    if (!key_list_refuse_unknown(in, entry))
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
    const char *text = json_string_or(in, entry, "expires", NULL);
    if (text && !key_list_read_time(text, &key->expires_s))
        json_reader_fail(in, cJSON_GetObjectItemCaseSensitive(entry, "expires"),
                         "is '%.32s' and must be a time in UTC of the years 2000 to 9999 like 2027-01-31T00:00:00Z",
                         text);
    return !in->failed;
}

bool key_list_read(const cJSON *value, struct key_list *list, struct status *st)
{
    if (!cJSON_IsArray(value))
        return fail(st, INVALID_ARGUMENT, "must be a list of keys, [{\"name\": …}], or \"file:PATH\"");
    size_t count = (size_t)cJSON_GetArraySize(value);
    if (count > RPC_AUTH_KEYS_MAX)
        return fail(st, INVALID_ARGUMENT, "has %zu keys; at most %d are read", count, RPC_AUTH_KEYS_MAX);
    *list = (struct key_list){xcalloc(count + 1, sizeof *list->keys),
                              xcalloc((count + 1) * RPC_AUTH_METHODS_MAX, sizeof *list->methods), count};
    struct json_reader in = json_reader_of(value, st);
    bool good = true;
    const cJSON *entry = value->child;
    for (size_t i = 0; good && i < count; i++, entry = entry->next)
        good = (cJSON_IsObject(entry) || json_reader_fail(&in, entry, "must be an object")) &&
               read_entry(&in, entry, &list->keys[i], &list->methods[i * RPC_AUTH_METHODS_MAX]);
    if (!good)
        key_list_fini(list);
    return good;
}

void key_list_fini(struct key_list *list)
{
    free(list->keys);
    free(list->methods);
    *list = (struct key_list){0};
}

void key_list_warn_expiring(const struct key_list *list)
{
    int64_t now_s = clock_wall_ns() / NS_PER_SEC;
    size_t expiring = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct rpc_auth_key *key = &list->keys[i];
        char date[TIME_SIZE];
        if (!key->expires_s || key->expires_s - now_s > SOON_S || ++expiring > WARNED)
            continue;
        time_print(key->expires_s, date);
        log_warn("rpc.key_expires", "key '%s' of tenant '%s' %s at %s; give its client a new one", key->principal.name,
                 key->principal.tenant, key->expires_s <= now_s ? "expired" : "expires", date);
    }
    if (expiring > WARNED)
        log_warn("rpc.key_expires", "%zu further keys have expired or will within a week", expiring - WARNED);
}
