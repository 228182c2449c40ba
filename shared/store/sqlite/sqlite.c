/* "sqlite:FILE". One connection writes, in the writer's thread. Each reader has its own connection, so a scan sees the
 * rows as they were when it began, regardless of later commits (WAL). */
#include "store/sqlite/backup.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/file.h"
#include "store/sqlite/large.h"
#include "store/store_priv.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define WRITER_CACHE_KIB                                                                                               \
    (32 << 10) /* pages that change: mostly the ends of threads that run; more than this goes to the log early */
#define ROOM_KEPT        (1 << 20) /* bytes of the volume; deleted text is zeroed, so it goes through the log as well */
#define READER_CACHE_KIB (4 << 10) /* forgotten with each commit: the system's cache does the work */

/* As long as no value is large the plain ones do, of which a PUT takes a tenth less. */
enum writing { PUT_PLAIN, DELETE_PLAIN, DELETE_RANGE_PLAIN, PUT, DELETE, DELETE_RANGE, FIND, BEGIN, COMMIT, WRITINGS };
static const char *const writing_sql[WRITINGS] = {
    [PUT_PLAIN] = "REPLACE INTO kv (key, value) VALUES (?1, ?2)",
    [DELETE_PLAIN] = "DELETE FROM kv WHERE key = ?1",
    [DELETE_RANGE_PLAIN] = "DELETE FROM kv WHERE key >= ?1 AND key < ?2",
    [PUT] = ("INSERT INTO kv (key, value) VALUES (?1, ?2) "
             "ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE let_go(value)"),
    [DELETE] = "DELETE FROM kv WHERE key = ?1 AND let_go(value)",
    [DELETE_RANGE] = "DELETE FROM kv WHERE key >= ?1 AND key < ?2 AND let_go(value)",
    [FIND] = "SELECT value FROM kv WHERE key = ?1",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};

enum reading { FORWARDS, BACKWARDS, READINGS };
static const char *const reading_sql[READINGS] = {
    [FORWARDS] = "SELECT key, value FROM kv WHERE key >= ?1 AND key < ?2 ORDER BY key",
    [BACKWARDS] = "SELECT key, value FROM kv WHERE key >= ?1 AND key < ?2 ORDER BY key DESC",
};

struct reader {
    sqlite3 *connection;
    sqlite3_stmt *statements[READINGS];
    struct sqlite_large large;
};

struct engine {
    struct sqlite_file file;
    sqlite3 *writer;
    sqlite3_stmt *statements[WRITINGS];
    struct sqlite_large large;
    int log_pages; /* after the last commit */
    bool forgets;  /* a batch since checkpoint_maintain */
    bool refused;  /* the last transaction, for want of room */
    uint64_t room; /* bytes that the volume had left after it */
    struct reader readers[STORE_READERS];
    struct checkpoint *checkpoint;
};

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static bool sqlite_prepare(sqlite3 *connection, const char *const *sql, sqlite3_stmt **statements, int count,
                           struct status *st)
{
    for (int i = 0; i < count; i++)
        if (sqlite3_prepare_v3(connection, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL) != SQLITE_OK)
            return sqlite_failed(connection, st);
    return true;
}

static int log_grew(void *data, sqlite3 *connection, const char *name, int pages)
{
    ((struct engine *)data)->log_pages = pages;
    return SQLITE_OK;
}

static bool open_writer(struct engine *engine, struct status *st)
{
    if (!sqlite_file_connect(&engine->file, &engine->writer, WRITER_CACHE_KIB, st) ||
        !sqlite_file_prepare(&engine->file, engine->writer, st))
        return false;
    sqlite3_wal_hook(engine->writer, log_grew, engine);
    return sqlite_large_open(&engine->large, engine->writer, st) &&
           sqlite_prepare(engine->writer, writing_sql, engine->statements, WRITINGS, st);
}

static bool open_readers(struct engine *engine, struct status *st)
{
    for (int i = 0; i < STORE_READERS; i++) {
        struct reader *reader = &engine->readers[i];
        if (!sqlite_file_connect(&engine->file, &reader->connection, READER_CACHE_KIB, st) ||
            !sqlite_large_open(&reader->large, reader->connection, st) ||
            !sqlite_prepare(reader->connection, reading_sql, reader->statements, READINGS, st))
            return false;
    }
    return true;
}

static void finalize(sqlite3_stmt **statements, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_finalize(statements[i]);
}

/* The last connection to go puts the log into the file and takes it away. */
static void sqlite_close(void *data)
{
    struct engine *engine = data;
    checkpoint_destroy(&engine->checkpoint);
    for (int i = 0; i < STORE_READERS; i++) {
        finalize(engine->readers[i].statements, READINGS);
        sqlite_large_close(&engine->readers[i].large);
        sqlite3_close_v2(engine->readers[i].connection);
    }
    finalize(engine->statements, WRITINGS);
    sqlite_large_close(&engine->large);
    sqlite3_close_v2(engine->writer);
    sqlite_file_close(&engine->file);
    free(engine);
}

static void *sqlite_open(const char *url, struct status *st)
{
    const char *place = url + strlen(store_sqlite.schemes[0]);
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
        return NULL;
    }
    engine->room = UINT64_MAX;
    if (sqlite_file_open(&engine->file, place, st) && open_writer(engine, st) && open_readers(engine, st))
        engine->checkpoint = checkpoint_create(&engine->file, st);
    if (engine->checkpoint != NULL)
        return engine;
    sqlite_close(engine);
    return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void sqlite_bind(sqlite3_stmt *statement, int parameter, struct store_bytes bytes)
{
    sqlite3_bind_blob(statement, parameter, bytes.size > 0 ? bytes.bytes : "", (int)bytes.size, SQLITE_STATIC);
}

/* An empty `to` is bound as a value greater than every key. */
static void bind_range(sqlite3_stmt *statement, struct store_bytes from, struct store_bytes to)
{
    static const unsigned char beyond[STORE_BOUND_MAX] = {[0 ... STORE_BOUND_MAX - 1] = 0xff};
    sqlite_bind(statement, 1, from);
    sqlite_bind(statement, 2, to.size > 0 ? to : (struct store_bytes){beyond, sizeof beyond});
}

static bool sqlite_step(struct engine *engine, enum writing which, struct status *st)
{
    bool done = sqlite3_step(engine->statements[which]) == SQLITE_DONE || sqlite_failed(engine->writer, st);
    sqlite3_reset(engine->statements[which]);
    return done;
}

static bool sqlite_put(struct engine *engine, struct store_bytes key, struct store_bytes value, struct status *st)
{
    int64_t number = 0;
    bool large = sqlite_is_large(key, value);
    if (large && !sqlite_large_add(&engine->large, value, &number, st))
        return false;
    enum writing which = engine->large.any ? PUT : PUT_PLAIN;
    sqlite_bind(engine->statements[which], 1, key);
    if (large)
        sqlite3_bind_int64(engine->statements[which], 2, number);
    else
        sqlite_bind(engine->statements[which], 2, value);
    return sqlite_step(engine, which, st);
}

static bool write_operation(struct engine *engine, const struct store_operation *operation, struct status *st)
{
    enum writing which;
    switch (operation->verb) {
    case STORE_PUT:
        return sqlite_put(engine, operation->key, operation->value, st);
    case STORE_DELETE:
        which = engine->large.any ? DELETE : DELETE_PLAIN;
        sqlite_bind(engine->statements[which], 1, operation->key);
        return sqlite_step(engine, which, st);
    case STORE_DELETE_RANGE:
        which = engine->large.any ? DELETE_RANGE : DELETE_RANGE_PLAIN;
        bind_range(engine->statements[which], operation->key, operation->value);
        return sqlite_step(engine, which, st);
    case STORE_EXPECT:
        break;
    }
    return true;
}

static bool row_is(struct engine *engine, const struct store_operation *expectation, bool *holds, struct status *st)
{
    struct store_bytes there;
    if (!sqlite_large_value(&engine->large, engine->statements[FIND], 0, &there, st))
        return false;
    bool lost = there.bytes == NULL;
    *holds = expectation->value.bytes != NULL && !lost && store_bytes_compare(there, expectation->value) == 0;
    sqlite_large_rest(&engine->large);
    return true;
}

/* False if the database could not be read. */
static bool sqlite_check(struct engine *engine, const struct store_operation *expectation, bool *holds,
                         struct status *st)
{
    sqlite3_stmt *statement = engine->statements[FIND];
    sqlite_bind(statement, 1, expectation->key);
    int result = sqlite3_step(statement);
    *holds = expectation->value.bytes == NULL;
    bool known = result == SQLITE_ROW ? row_is(engine, expectation, holds, st)
                                      : result == SQLITE_DONE || sqlite_failed(engine->writer, st);
    sqlite3_reset(statement);
    return known;
}

/* The expectations are checked inside the transaction, so they see the earlier batches of this transaction. */
static bool sqlite_write_batch(struct engine *engine, struct store_batch *batch, struct status *st)
{
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next) {
        bool holds = true;
        if (operation->verb == STORE_EXPECT && !sqlite_check(engine, operation, &holds, st))
            return false;
        if (!holds) {
            store_batch_abort(batch, operation->key);
            return true;
        }
    }
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
        if (!write_operation(engine, operation, st))
            return false;
    return true;
}

/* Pages of deleted rows are room, too. */
static uint64_t room_in_file(struct engine *engine)
{
    struct status ignored = {0};
    int64_t pages = 0;
    sqlite_read_number(engine->writer, "PRAGMA freelist_count", &pages, &ignored);
    return (uint64_t)pages * SQLITE_PAGE_BYTES;
}

/* The last of the volume is for batches that only take away: a volume that they do not fit on any more stays full. */
static bool has_room(const struct engine *engine, struct store_batch *batch)
{
    if (engine->room >= ROOM_KEPT)
        return true;
    for (const struct store_operation *operation = batch->first; operation != NULL; operation = operation->next)
        if (operation->verb == STORE_PUT)
            return fail(&batch->status, UNAVAILABLE,
                        "the store's volume has %llu KiB left, and the last %d are for what takes away; make room",
                        (unsigned long long)(engine->room >> 10), ROOM_KEPT >> 10);
    return true;
}

static bool write_batches(struct engine *engine, struct store_batch *batches, struct status *st)
{
    if (!sqlite_step(engine, BEGIN, st))
        return false;
    for (struct store_batch *batch = batches; batch != NULL; batch = batch->next)
        if (has_room(engine, batch) && !sqlite_write_batch(engine, batch, st))
            return false;
    return sqlite_step(engine, COMMIT, st);
}

static bool sqlite_write(void *data, struct store_batch *batches, struct status *st)
{
    struct engine *engine = data;
    if (engine->room < ROOM_KEPT) /* there may be more since */
        engine->room = checkpoint_room(engine->checkpoint);
    if (engine->room < ROOM_KEPT)
        engine->room += room_in_file(engine);
    bool written = write_batches(engine, batches, st);
    engine->refused = !written && (sqlite3_errcode(engine->writer) & 0xff) == SQLITE_FULL;
    if (!written && !sqlite3_get_autocommit(engine->writer))
        sqlite3_exec(engine->writer, "ROLLBACK", NULL, NULL, NULL);
    for (const struct store_batch *batch = batches; written && batch != NULL; batch = batch->next)
        engine->forgets |= batch->forgets;
    return written;
}

static bool sqlite_maintain(void *data)
{
    struct engine *engine = data;
    if (engine->forgets)
        checkpoint_forget(engine->checkpoint);
    engine->forgets = false;
    engine->room = checkpoint_maintain(engine->checkpoint, engine->writer, engine->log_pages, engine->refused);
    return false; /* the thread of checkpoints sees to the rest */
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool sqlite_add_row(struct reader *reader, sqlite3_stmt *row, struct store_scan *scan)
{
    if (scan->count == scan->limit) { /* a large value is not read to detect that it exists */
        scan->more = true;
        return false;
    }
    struct store_bytes value;
    struct store_bytes key = {sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0)};
    bool added = sqlite_large_value(&reader->large, row, 1, &value, &scan->status) &&
                 (value.bytes ? store_scan_add(scan, key, value) : store_scan_add_lost(scan, key));
    sqlite_large_rest(&reader->large);
    return added;
}

static void sqlite_scan(void *data, unsigned number, struct store_scan *scan)
{
    struct reader *reader = &((struct engine *)data)->readers[number];
    sqlite3_stmt *statement = reader->statements[scan->backwards ? BACKWARDS : FORWARDS];
    bind_range(statement, scan->from, scan->to);
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        if (!sqlite_add_row(reader, statement, scan))
            break;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        sqlite_failed(reader->connection, &scan->status);
    sqlite3_reset(statement);
}

const struct store_kind store_sqlite = {
    .schemes = {"sqlite:"},
    .open = sqlite_open,
    .close = sqlite_close,
    .write = sqlite_write,
    .maintain = sqlite_maintain,
    .backup = sqlite_backup,
    .scan = sqlite_scan,
};
