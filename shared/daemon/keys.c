#include "daemon/keys.h"

#include "base/file.h"
#include "base/log.h"
#include "daemon/key_list.h"
#include "rpc/auth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FILE_PREFIX  "file:"
#define FILE_MAX     ((size_t)16 << 20) /* bytes: RPC_AUTH_KEYS_MAX keys with long names and some methods each */
#define LOOK_EVERY_S 1

struct daemon_keys {
    struct rpc_auth *auth;
    char *path; /* NULL: the keys are in the configuration */
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    pthread_t watcher;
    bool watching;
    /* Below the lock: */
    bool stop;
    struct file_stamp stamp;
    bool settled;                  /* the stamp is old enough to be trusted */
    struct json_document document; /* of the keys in use */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static const char *keys_path_of(const cJSON *value)
{
    bool is_path = cJSON_IsString(value) && strncmp(value->valuestring, FILE_PREFIX, strlen(FILE_PREFIX)) == 0;
    return is_path ? value->valuestring + strlen(FILE_PREFIX) : NULL;
}

/* Opening a pipe would wait for its writer. */
static bool document_load(struct json_document *document, const char *path, struct status *st)
{
    const struct json_limits limits = {.bytes = FILE_MAX, .values = FILE_MAX / 16};
    struct file_stamp stamp;
    file_stamp_take(path, &stamp);
    if (stamp.mode && !S_ISREG(stamp.mode))
        return fail(st, INVALID_ARGUMENT, "'%s' is not a regular file", path);
    return json_document_load(document, path, &limits, st);
}

/* Makes the keys, or replaces them if `*auth` has some. */
static bool keys_take(const cJSON *value, struct rpc_auth **auth, struct status *st)
{
    struct key_list list;
    if (!key_list_read(value, &list, st))
        return false;
    bool good = *auth ? rpc_auth_replace(*auth, list.keys, list.count, st)
                      : (*auth = rpc_auth_create(list.keys, list.count, st)) != NULL;
    if (good)
        key_list_warn_expiring(&list);
    key_list_fini(&list);
    return good;
}

/* An error in a file begins with its name. */
static bool document_take(const struct json_document *document, struct rpc_auth **auth, struct status *st)
{
    struct status why = {0};
    return keys_take(document->root, auth, &why) || fail(st, why.code, "%s: %s", document->name, why.text);
}

static bool list_check(const cJSON *value, struct status *st)
{
    struct key_list list;
    if (!key_list_read(value, &list, st))
        return false;
    struct rpc_auth *auth = rpc_auth_create(list.keys, list.count, st);
    bool good = auth != NULL;
    rpc_auth_destroy(&auth);
    key_list_fini(&list);
    return good;
}

bool daemon_keys_check(const cJSON *value, struct status *st)
{
    const char *path = keys_path_of(value);
    struct json_document document = {0};
    struct status why = {0};
    if (!path)
        return list_check(value, st);
    if (!document_load(&document, path, st))
        return false;
    bool good = list_check(document.root, &why) || fail(st, why.code, "%s: %s", path, why.text);
    json_document_fini(&document);
    return good;
}

/* ---- reading again ----------------------------------------------------------------------------------------------- */

static bool same_text(const struct json_document *a, const struct json_document *b)
{
    return a->length == b->length &&
           (a->text == b->text || (a->text && b->text && !memcmp(a->text, b->text, a->length)));
}

/* Replaces the keys if the text has changed. Below the lock. */
static bool file_take(struct daemon_keys *keys, struct status *st)
{
    struct json_document document = {0};
    if (!document_load(&document, keys->path, st))
        return false;
    bool same = same_text(&document, &keys->document);
    if (same || !document_take(&document, &keys->auth, st)) {
        json_document_fini(&document);
        return same;
    }
    json_document_fini(&keys->document);
    keys->document = document;
    log_info("rpc.keys_reloaded", "%d keys of '%s' are in use", cJSON_GetArraySize(document.root), keys->path);
    return true;
}

/* `told`: an operator requested it. Call it with the lock held. */
static void file_refresh(struct daemon_keys *keys, bool told)
{
    struct file_stamp stamp;
    struct status st = {0};
    file_stamp_take(keys->path, &stamp);
    bool changed = !file_stamps_equal(&stamp, &keys->stamp);
    if (!changed && keys->settled && !told)
        return;
    keys->stamp = stamp;
    keys->settled = file_stamp_is_settled(&stamp);
    if (!file_take(keys, &st) && (changed || told))
        log_error("rpc.keys_kept", "%s; the keys that were read before stay in use", st.text);
}

void daemon_keys_reload(struct daemon_keys *keys)
{
    if (!keys || !keys->path)
        return;
    pthread_mutex_lock(&keys->lock);
    file_refresh(keys, true);
    pthread_mutex_unlock(&keys->lock);
}

static void *keys_watch(void *data)
{
    struct daemon_keys *keys = data;
    pthread_mutex_lock(&keys->lock);
    while (!keys->stop) {
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        at.tv_sec += LOOK_EVERY_S;
        pthread_cond_timedwait(&keys->stopped, &keys->lock, &at);
        if (!keys->stop)
            file_refresh(keys, false);
    }
    pthread_mutex_unlock(&keys->lock);
    return NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* The stamp is taken before the text is read: a change in between is seen at the next look. */
static bool file_open(struct daemon_keys *keys, const char *path, struct status *st)
{
    keys->path = strdup(path);
    if (!keys->path)
        return fail(st, RESOURCE_EXHAUSTED, "rpc.keys: no memory for the path of the keys");
    file_stamp_take(path, &keys->stamp);
    keys->settled = file_stamp_is_settled(&keys->stamp);
    if (!document_load(&keys->document, path, st) || !document_take(&keys->document, &keys->auth, st))
        return false;
    keys->watching = pthread_create(&keys->watcher, NULL, keys_watch, keys) == 0;
    return keys->watching || fail(st, RESOURCE_EXHAUSTED, "rpc.keys: no thread to watch '%s'", path);
}

struct daemon_keys *daemon_keys_open(const cJSON *value, struct status *st)
{
    const char *path = keys_path_of(value);
    struct daemon_keys *keys = calloc(1, sizeof *keys);
    if (!keys) {
        fail(st, RESOURCE_EXHAUSTED, "rpc.keys: no memory");
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_mutex_init(&keys->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&keys->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!(path ? file_open(keys, path, st) : keys_take(value, &keys->auth, st)))
        daemon_keys_close(&keys);
    return keys;
}

static void watcher_stop(struct daemon_keys *keys)
{
    pthread_mutex_lock(&keys->lock);
    keys->stop = true;
    pthread_cond_signal(&keys->stopped);
    pthread_mutex_unlock(&keys->lock);
    pthread_join(keys->watcher, NULL);
}

void daemon_keys_close(struct daemon_keys **keys_pointer)
{
    struct daemon_keys *keys = *keys_pointer;
    if (!keys)
        return;
    *keys_pointer = NULL;
    if (keys->watching)
        watcher_stop(keys);
    pthread_cond_destroy(&keys->stopped);
    pthread_mutex_destroy(&keys->lock);
    json_document_fini(&keys->document);
    rpc_auth_destroy(&keys->auth);
    free(keys->path);
    free(keys);
}

const struct rpc_auth *daemon_keys_auth(const struct daemon_keys *keys)
{
    return keys ? keys->auth : NULL;
}
