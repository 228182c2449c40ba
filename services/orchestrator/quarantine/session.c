/* The lives of an orchestrator that has its store alone. Each has a row from its beginning until it ends in good order:
 * a life with a row that is still there has crashed. Rows of the newest crashes are kept. */
#include "session.h"
#include "log/keys.h"
#include "thread/memory.h"
#include "thread/shard.h"

#include "base/log.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#define SESSION_ROWS_MAX 16
#define SESSIONS_READ    1000

struct session { /* a batch of the session: its first or its last */
    struct store_scan scan;
    struct store_batch batch;
    struct runner *runner;
    void (*ended)(void *data);
    void *data;
};

static void session_release(struct session *session)
{
    struct runner *runner = session->runner;
    free(session);
    runner_release(runner);
}

static struct session *session_create(struct runner *runner, void (*written)(struct store_batch *batch))
{
    struct session *session = xnonnull(calloc(1, sizeof *session));
    session->runner = runner;
    atomic_fetch_add(&runner->holders, 1);
    store_batch_init(&session->batch, runner->shards[0].loop, written);
    return session;
}

/* ---- it begins --------------------------------------------------------------------------------------------------- */

static void session_written(struct store_batch *batch)
{
    struct session *session = CONTAINER_OF(batch, struct session, batch);
    if (batch->status.code != OK)
        log_warn("session.begin", "crashes of this life will not be counted: %s", batch->status.text);
    store_batch_fini(batch);
    session_release(session);
}

static int by_age(const void *left, const void *right)
{
    const struct store_row *a = *(const struct store_row *const *)left, *b = *(const struct store_row *const *)right;
    uint64_t began_a = 0, began_b = 0;
    memcpy(&began_a, a->value.bytes, a->value.size < sizeof began_a ? a->value.size : sizeof began_a);
    memcpy(&began_b, b->value.bytes, b->value.size < sizeof began_b ? b->value.size : sizeof began_b);
    return began_a < began_b ? -1 : began_a > began_b;
}

static void drop_old(struct session *session, const struct store_scan *scan)
{
    const struct store_row *rows[SESSIONS_READ];
    size_t count = scan->count < SESSIONS_READ ? scan->count : SESSIONS_READ;
    for (size_t i = 0; i < count; i++)
        rows[i] = &scan->rows[i];
    qsort(rows, count, sizeof(*rows), by_age);
    for (size_t i = 0; i + SESSION_ROWS_MAX < count; i++)
        store_delete(&session->batch, rows[i]->key);
}

static void sessions_read(struct store_scan *scan)
{
    struct key key;
    struct session *session = CONTAINER_OF(scan, struct session, scan);
    uint64_t began_ms = (uint64_t)wall_ms();
    if (scan->status.code == OK)
        drop_old(session, scan);
    store_scan_fini(scan);
    key_named(&key, KEY_SESSION, "", session->runner->session);
    store_put(&session->batch, key_bytes(&key), (struct store_bytes){&began_ms, sizeof began_ms});
    store_commit(session->runner->options.store, &session->batch);
}

void session_begin(struct runner *runner)
{
    struct key from, to;
    struct session *session = session_create(runner, session_written);
    key_named(&from, KEY_SESSION, "", "");
    key_behind(&to, KEY_SESSION, NULL);
    store_scan_init(&session->scan, runner->shards[0].loop, sessions_read);
    session->scan.from = key_bytes(&from);
    session->scan.to = key_bytes(&to);
    session->scan.limit = SESSIONS_READ;
    store_scan(runner->options.store, &session->scan);
}

/* ---- it ends ----------------------------------------------------------------------------------------------------- */

static void session_deleted(struct store_batch *batch)
{
    struct session *session = CONTAINER_OF(batch, struct session, batch);
    void (*ended)(void *) = session->ended;
    void *data = session->data;
    store_batch_fini(batch);
    session_release(session);
    ended(data);
}

void session_end(struct runner *runner, void (*ended)(void *data), void *data)
{
    struct key key;
    struct session *session = session_create(runner, session_deleted);
    session->ended = ended;
    session->data = data;
    key_named(&key, KEY_SESSION, "", runner->session);
    store_delete(&session->batch, key_bytes(&key));
    store_commit(runner->options.store, &session->batch);
}
