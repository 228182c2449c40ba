#include "store/sqlite/sql.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/sqlite/checksum.h"
#include "store/sqlite/wal_vfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS              4000 /* of SQLite's machine between two questions whether to stop: some 0.3 ms */
#define PATH_ROOM          4096
#define INCREMENTAL        2   /* as PRAGMA auto_vacuum gives it */
#define SHRINK_LEAST       64  /* free pages that are worth the work */
#define SHRINK_SHARE       16  /* ... and one in so many pages */
#define SHRINK_WHOLE_SHARE 4   /* a file of an earlier release is written anew when one in so many pages is left */
#define SHRINK_BUSY_MS     200 /* longest wait for a reader */
#define ADDING_LEAVES      (4 << 20) /* bytes of the volume */
#define SHRINK_STEP        "PRAGMA incremental_vacuum(256)"
#define SHARED_NAME        "file:/renga-%s?vfs=memdb"
#define CONNECT_FLAGS      (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX)
#define FILE_PRAGMAS       "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"

struct sql_file {
    sqlite3 *sqlite;
    const struct sql_plan *plan;
    bool (*stop)(void *data);
    void *stop_data;
};

struct sql {
    sqlite3_stmt *statement;
    struct sql_file *file;
};

/* For a failure that the connection has just had. */
static bool sql_failed(struct sql_file *file, struct status *st)
{
    switch (sqlite3_errcode(file->sqlite)) {
    case SQLITE_INTERRUPT:
        return fail(st, ABORTED, "the statement was stopped");
    case SQLITE_FULL:
        return fail(st, RESOURCE_EXHAUSTED, "the disk of %s is full; make room and do it again", file->plan->subject);
    default:
        return fail(st, UNAVAILABLE, "%s cannot be used now: %s (SQLite %d)", file->plan->subject,
                    sqlite3_errmsg(file->sqlite), sqlite3_extended_errcode(file->sqlite));
    }
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool sql_connect_memory(struct sql_file *file, const char *name, struct status *st)
{
    char uri[PATH_ROOM];
    sqlite3_int64 most = file->plan->memory_max;
    snprintf(uri, sizeof uri, SHARED_NAME, name);
    if (sqlite3_open_v2(uri, &file->sqlite, CONNECT_FLAGS | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        return sql_failed(file, st);
    sqlite3_file_control(file->sqlite, "main", SQLITE_FCNTL_SIZE_LIMIT, &most);
    sqlite3_busy_timeout(file->sqlite, file->plan->busy_ms);
    return !file->plan->first_pragmas || sql_run(file, file->plan->first_pragmas, st);
}

static bool sql_read_number(struct sql_file *file, const char *text, int64_t *number, struct status *st)
{
    struct sql *sql = sql_prepare(file, text, st);
    bool read = sql && sql_step(sql, st) == SQL_ROW;
    *number = read ? sql_number(sql, 0) : 0;
    sql_finalize(&sql);
    return read;
}

/* first_pragmas on a file that has them already write a transaction, and each connection would wait for the disk. */
static bool sql_connect_file(struct sql_file *file, const char *path, struct status *st)
{
    /* Only ever a new file: closing a descriptor of one that SQLite has open would drop SQLite's locks (POSIX). */
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    const char *vfs = sqlite_file_vfs(st);
    if (!vfs)
        return false;
    if (sqlite3_open_v2(path, &file->sqlite, CONNECT_FLAGS, vfs) != SQLITE_OK)
        return sql_failed(file, st); /* without the path: callers hear of it, too */
    sqlite3_busy_timeout(file->sqlite, file->plan->busy_ms);
    int64_t vacuum = INCREMENTAL;
    if (file->plan->first_pragmas && (!sql_read_number(file, "PRAGMA auto_vacuum", &vacuum, st) ||
                                      (vacuum != INCREMENTAL && !sql_run(file, file->plan->first_pragmas, st))))
        return false;
    return sql_run(file, FILE_PRAGMAS, st) && sql_run(file, file->plan->pragmas, st);
}

static bool sql_make_tables(struct sql_file *file, struct status *st)
{
    const struct sql_plan *plan = file->plan;
    char text[64];
    int64_t version;
    snprintf(text, sizeof text, "PRAGMA user_version = %d", plan->version);
    if (!sql_begin(file, st) || !sql_read_number(file, "PRAGMA user_version", &version, st))
        return false;
    if (version == 0 && !sql_run(file, plan->tables, st))
        return false;
    for (; version > 0 && version < plan->version; version++)
        if (!sql_run(file, plan->upgrades[version - 1], st))
            return false;
    return sql_run(file, text, st) && sql_commit(file, st);
}

/* Looked at first without a lock: nearly always the tables are current. */
static bool sql_migrate(struct sql_file *file, struct status *st)
{
    const struct sql_plan *plan = file->plan;
    int64_t version;
    if (!sql_read_number(file, "PRAGMA user_version", &version, st))
        return false;
    if (version > plan->version)
        return fail(st, FAILED_PRECONDITION,
                    "%s has version %" PRId64
                    " and this release knows up to %d; run the release that wrote it, or give "
                    "another file",
                    plan->subject, version, plan->version);
    if (version == plan->version)
        return true;
    bool made = sql_make_tables(file, st);
    sql_rollback(file);
    return made;
}

struct sql_file *sql_open(const char *path, const struct sql_plan *plan, struct status *st)
{
    struct sql_file *file = xcalloc(1, sizeof *file);
    file->plan = plan;
    size_t scheme = strlen(SQL_MEMORY);
    bool in_memory = strncmp(path, SQL_MEMORY, scheme) == 0;
    bool connected = in_memory ? sql_connect_memory(file, path + scheme, st) : sql_connect_file(file, path, st);
    if (connected && !sqlite_checksum_register(file->sqlite))
        connected = sql_failed(file, st);
    if (!connected || !sql_migrate(file, st))
        sql_close(&file);
    return file;
}

void sql_close(struct sql_file **file)
{
    if (!*file)
        return;
    sqlite3_close_v2((*file)->sqlite);
    free(*file);
    *file = NULL;
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

bool sql_run(struct sql_file *file, const char *text, struct status *st)
{
    return sqlite3_exec(file->sqlite, text, NULL, NULL, NULL) == SQLITE_OK || sql_failed(file, st);
}

bool sql_begin(struct sql_file *file, struct status *st)
{
    return sql_run(file, "BEGIN IMMEDIATE", st);
}

static bool has_room(struct sql_file *file)
{
    const char *path = sqlite3_db_filename(file->sqlite, "main");
    return !path || !*path || file_volume_room(path) >= ADDING_LEAVES;
}

bool sql_begin_adding(struct sql_file *file, struct status *st)
{
    if (!has_room(file))
        return fail(
            st, RESOURCE_EXHAUSTED,
            "the disk of %s has less than %d MiB left, which are for what takes away; make room and do it again",
            file->plan->subject, ADDING_LEAVES >> 20);
    return sql_begin(file, st);
}

bool sql_commit(struct sql_file *file, struct status *st)
{
    return sql_run(file, "COMMIT", st);
}

void sql_rollback(struct sql_file *file)
{
    bool full = sqlite3_errcode(file->sqlite) == SQLITE_FULL;
    if (!sqlite3_get_autocommit(file->sqlite))
        sqlite3_exec(file->sqlite, "ROLLBACK", NULL, NULL, NULL);
    if (full) /* the log has grown for nothing, and others may need its room */
        sqlite3_wal_checkpoint_v2(file->sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

bool sql_moved(struct sql_file *file)
{
    int moved = 0;
    return sqlite3_file_control(file->sqlite, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

static int sql_is_stopped(void *data)
{
    struct sql_file *file = data;
    return file->stop(file->stop_data);
}

void sql_limit(struct sql_file *file, bool (*stop)(void *data), void *data)
{
    file->stop = stop;
    file->stop_data = data;
    sqlite3_progress_handler(file->sqlite, STEPS, stop ? sql_is_stopped : NULL, file);
}

/* ---- free pages -------------------------------------------------------------------------------------------------- */

/* Files of earlier releases have no map of their pages: VACUUM writes them anew, if little is left in them. */
static bool shrink_whole(struct sql_file *file, int64_t pages, int64_t unused, struct status *st)
{
    return unused * SHRINK_WHOLE_SHARE < pages * (SHRINK_WHOLE_SHARE - 1) ||
           sql_run(file, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", st);
}

bool sql_shrink(struct sql_file *file, bool (*stop)(void *data), void *data, struct status *st)
{
    int64_t pages, unused, mode;
    if (!sql_read_number(file, "PRAGMA page_count", &pages, st) ||
        !sql_read_number(file, "PRAGMA freelist_count", &unused, st) ||
        !sql_read_number(file, "PRAGMA auto_vacuum", &mode, st))
        return false;
    if (unused < SHRINK_LEAST || unused * SHRINK_SHARE < pages)
        return true;
    if (!mode && !shrink_whole(file, pages, unused, st))
        return false;
    for (int64_t before = unused + 1; mode && unused > 0 && unused < before && !stop(data);) {
        before = unused;
        if (!sql_run(file, SHRINK_STEP, st) || !sql_read_number(file, "PRAGMA freelist_count", &unused, st))
            return false;
    }
    /* A reader that is busy keeps the file as it is until the next checkpoint. */
    sqlite3_busy_timeout(file->sqlite, SHRINK_BUSY_MS);
    sqlite3_wal_checkpoint_v2(file->sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(file->sqlite, file->plan->busy_ms);
    return true;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

struct sql *sql_prepare(struct sql_file *file, const char *text, struct status *st)
{
    struct sql *sql = xmalloc(sizeof *sql);
    *sql = (struct sql){.file = file};
    if (sqlite3_prepare_v3(file->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, &sql->statement, NULL) == SQLITE_OK)
        return sql;
    sql_failed(file, st);
    free(sql);
    return NULL;
}

void sql_finalize(struct sql **sql)
{
    if (*sql)
        sqlite3_finalize((*sql)->statement);
    free(*sql);
    *sql = NULL;
}

void sql_bind(struct sql *sql, int parameter, int64_t value)
{
    sqlite3_bind_int64(sql->statement, parameter, value);
}

void sql_bind_text(struct sql *sql, int parameter, const char *text, size_t length)
{
    sqlite3_bind_text(sql->statement, parameter, text, (int)length, SQLITE_STATIC);
}

void sql_bind_string(struct sql *sql, int parameter, const char *text)
{
    sql_bind_text(sql, parameter, text, strlen(text));
}

void sql_bind_clean(struct sql *sql, int parameter, const char *text)
{
    sql_bind_text(sql, parameter, text, text_clean_length(text, strlen(text)));
}

void sql_bind_bytes(struct sql *sql, int parameter, const void *bytes, size_t size)
{
    sqlite3_bind_blob(sql->statement, parameter, bytes, (int)size, SQLITE_STATIC);
}

enum sql_step sql_step(struct sql *sql, struct status *st)
{
    switch (sqlite3_step(sql->statement)) {
    case SQLITE_ROW:
        return SQL_ROW;
    case SQLITE_DONE:
        return SQL_DONE;
    default:
        sql_failed(sql->file, st);
        return SQL_FAILED;
    }
}

void sql_reset(struct sql *sql)
{
    sqlite3_reset(sql->statement);
}

bool sql_finish(struct sql *sql, struct status *st)
{
    enum sql_step step;
    do
        step = sql_step(sql, st);
    while (step == SQL_ROW);
    sql_reset(sql);
    return step == SQL_DONE;
}

int64_t sql_number(struct sql *sql, int column)
{
    return sqlite3_column_int64(sql->statement, column);
}

const char *sql_text(struct sql *sql, int column)
{
    const char *text = (const char *)sqlite3_column_text(sql->statement, column);
    return text ? text : "";
}

const void *sql_bytes(struct sql *sql, int column, size_t *size)
{
    const void *bytes = sqlite3_column_blob(sql->statement, column);
    *size = (size_t)sqlite3_column_bytes(sql->statement, column);
    return bytes;
}

int64_t sql_inserted(struct sql_file *file)
{
    return sqlite3_last_insert_rowid(file->sqlite);
}

int64_t sql_changed(struct sql_file *file)
{
    return sqlite3_changes64(file->sqlite);
}
