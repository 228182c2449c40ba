/* "redis://…", "rediss://…", "unix:…" (redis_settings.h): rows in a Redis that several processes may share. A single
 * connection writes, in the writer's thread (redis_writer.c); each reader has its own connection (redis_reader.c). */
#include "store/redis/redis_priv.h"

#include <stdlib.h>

enum redis_outcome redis_classify_reply(struct redis_connection *connection, struct redis_reply **reply,
                                        enum redis_error *error, struct status *st)
{
    if (*reply == NULL)
        return REDIS_AGAIN;
    if ((*reply)->kind != REDIS_REFUSAL)
        return REDIS_ANSWERED;
    char place[REDIS_PLACE_MAX];
    *error = redis_error_read(*reply, redis_target_place(&connection->settings->target, place), st);
    redis_reply_free(reply);
    if (*error != REDIS_LATER && *error != REDIS_NOSCRIPT)
        return REDIS_REFUSED;
    redis_connection_lost(connection, st);
    return REDIS_AGAIN;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static void redis_look(void *data, struct store_stats *stats)
{
    struct redis_engine *engine = data;
    stats->losses = atomic_load(&engine->losses);
    stats->weak = atomic_load(&engine->weak);
}

static void redis_close(void *data)
{
    struct redis_engine *engine = data;
    redis_connection_fini(&engine->writer);
    for (int i = 0; i < STORE_READERS; i++)
        redis_connection_fini(&engine->readers[i]);
    redis_settings_fini(&engine->settings);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static void *redis_open(const char *url, struct status *st)
{
    struct redis_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
        return NULL;
    }
    pthread_mutex_init(&engine->lock, NULL);
    if (redis_settings_read(&engine->settings, url, st)) {
        redis_connection_init(&engine->writer, &engine->settings, &engine->found_ns, "writer");
        for (int i = 0; i < STORE_READERS; i++)
            redis_connection_init(&engine->readers[i], &engine->settings, &engine->found_ns, "reader");
        if (redis_register_writer(engine, st)) {
            redis_forget_resume(engine); /* an earlier process may have been killed over it */
            redis_maintain(engine);
            return engine;
        }
    }
    redis_close(engine);
    return NULL;
}

const struct store_kind store_redis = {
    .schemes = {"redis:", "rediss:", "unix:"},
    .shared = true,
    .open = redis_open,
    .close = redis_close,
    .write = redis_write,
    .maintain = redis_maintain,
    .scan = redis_scan,
    .scans_together = 32,
    .look = redis_look,
};
