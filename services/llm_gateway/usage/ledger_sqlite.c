#include "usage/ledger_sqlite.h"

#include "base/text.h"
#include "store/sqlite/checksum.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS       1000 /* longest wait for another connection that writes */
#define STEPS         4000 /* of SQLite's machine between two questions whether to stop, some tenths of a millisecond */
#define PATH_ROOM     4096
#define FILE_PRAGMAS  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216;"
#define SHARED_NAME   "file:/%s?vfs=memdb"
#define CONNECT_FLAGS (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX)

struct database {
    sqlite3 *sqlite;
    bool (*stop)(void *data);
    void *stop_data;
};

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* For a failure that the connection has just had. */
static bool ledger_sqlite_failed(sqlite3 *sqlite, struct status *st)
{
    if (sqlite3_errcode(sqlite) == SQLITE_INTERRUPT)
        return fail(st, ABORTED, "the statement was stopped");
    return fail(st, UNAVAILABLE, "%s (SQLite %d)", sqlite3_errmsg(sqlite), sqlite3_extended_errcode(sqlite));
}

bool database_run(struct database *database, const char *sql, struct status *st)
{
    return sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ||
           ledger_sqlite_failed(database->sqlite, st);
}

int64_t database_changed(struct database *database)
{
    return sqlite3_changes64(database->sqlite);
}

void database_rollback(struct database *database)
{
    if (!sqlite3_get_autocommit(database->sqlite))
        sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool ledger_sqlite_connect_memory(struct database *database, const char *name, struct status *st)
{
    char uri[PATH_ROOM];
    sqlite3_int64 most = DATABASE_MEMORY_MAX;
    snprintf(uri, sizeof uri, SHARED_NAME, name);
    if (sqlite3_open_v2(uri, &database->sqlite, CONNECT_FLAGS | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        return ledger_sqlite_failed(database->sqlite, st);
    sqlite3_file_control(database->sqlite, "main", SQLITE_FCNTL_SIZE_LIMIT, &most);
    sqlite3_busy_timeout(database->sqlite, BUSY_MS);
    return true;
}

static bool ledger_sqlite_connect_file(struct database *database, const char *path, struct status *st)
{
    /* Only ever a new file: closing a descriptor of one that SQLite has open would drop SQLite's locks (POSIX). */
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    if (sqlite3_open_v2(path, &database->sqlite, CONNECT_FLAGS, NULL) != SQLITE_OK)
        return ledger_sqlite_failed(database->sqlite, st);
    sqlite3_busy_timeout(database->sqlite, BUSY_MS);
    return database_run(database, FILE_PRAGMAS, st);
}

static bool ledger_sqlite_read_version(struct database *database, int64_t *version, struct status *st)
{
    struct statement *statement = statement_prepare(database, "PRAGMA user_version", st);
    bool read = statement && statement_step(statement, st) == STATEMENT_ROW;
    *version = read ? statement_number(statement, 0) : 0;
    statement_finalize(&statement);
    return read;
}

static bool write_version(struct database *database, const struct database_plan *plan, struct status *st)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", plan->version);
    return database_run(database, sql, st);
}

static bool upgrade(struct database *database, const struct database_plan *plan, int64_t version, struct status *st)
{
    for (; version < plan->version; version++)
        if (!database_run(database, plan->upgrades[version - 1], st))
            return false;
    return true;
}

static bool migrate_locked(struct database *database, const struct database_plan *plan, struct status *st)
{
    int64_t version;
    if (!ledger_sqlite_read_version(database, &version, st))
        return false;
    bool made = version ? upgrade(database, plan, version, st) : database_run(database, plan->tables, st);
    return made && write_version(database, plan, st) && database_run(database, "COMMIT", st);
}

/* First a look without a lock: nearly always the tables are current. */
static bool ledger_sqlite_migrate(struct database *database, const struct database_plan *plan, struct status *st)
{
    int64_t version;
    if (!ledger_sqlite_read_version(database, &version, st))
        return false;
    if (version > plan->version)
        return fail(st, FAILED_PRECONDITION,
                    "the file has version %" PRId64 " and this release knows up to %d; run the release that wrote it, "
                    "or give another file",
                    version, plan->version);
    if (version == plan->version)
        return true;
    if (!database_run(database, "BEGIN IMMEDIATE", st))
        return false;
    bool migrated = migrate_locked(database, plan, st);
    database_rollback(database);
    return migrated;
}

struct database *database_open(const char *path, const struct database_plan *plan, struct status *st)
{
    struct database *database = calloc(1, sizeof *database);
    if (!database) {
        fail(st, UNAVAILABLE, "no memory to open a database");
        return NULL;
    }
    size_t scheme = strlen(DATABASE_MEMORY);
    bool in_memory = strncmp(path, DATABASE_MEMORY, scheme) == 0;
    bool connected = in_memory ? ledger_sqlite_connect_memory(database, path + scheme, st)
                               : ledger_sqlite_connect_file(database, path, st);
    if (connected && !sqlite_checksum_register(database->sqlite))
        connected = ledger_sqlite_failed(database->sqlite, st);
    if (!connected || !ledger_sqlite_migrate(database, plan, st))
        database_close(&database);
    return database;
}

void database_close(struct database **database)
{
    if (!*database)
        return;
    sqlite3_close_v2((*database)->sqlite);
    free(*database);
    *database = NULL;
}

bool database_moved(struct database *database)
{
    int moved = 0;
    return sqlite3_file_control(database->sqlite, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

static int ledger_sqlite_asked_to_stop(void *data)
{
    struct database *database = data;
    return database->stop(database->stop_data);
}

void database_limit(struct database *database, bool (*stop)(void *data), void *data)
{
    database->stop = stop;
    database->stop_data = data;
    sqlite3_progress_handler(database->sqlite, STEPS, stop ? ledger_sqlite_asked_to_stop : NULL, database);
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* A statement is SQLite's own under another name. */
static sqlite3_stmt *ledger_sqlite_of(struct statement *statement)
{
    return (sqlite3_stmt *)statement;
}

struct statement *statement_prepare(struct database *database, const char *sql, struct status *st)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(database->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        ledger_sqlite_failed(database->sqlite, st);
    return (struct statement *)statement;
}

void statement_finalize(struct statement **statement)
{
    sqlite3_finalize(ledger_sqlite_of(*statement));
    *statement = NULL;
}

void statement_bind(struct statement *statement, int parameter, int64_t value)
{
    sqlite3_bind_int64(ledger_sqlite_of(statement), parameter, value);
}

void statement_bind_text(struct statement *statement, int parameter, const char *text)
{
    sqlite3_bind_text(ledger_sqlite_of(statement), parameter, text, (int)text_clean_length(text, strlen(text)),
                      SQLITE_STATIC);
}

enum statement_step statement_step(struct statement *statement, struct status *st)
{
    switch (sqlite3_step(ledger_sqlite_of(statement))) {
    case SQLITE_ROW:
        return STATEMENT_ROW;
    case SQLITE_DONE:
        return STATEMENT_DONE;
    default:
        ledger_sqlite_failed(sqlite3_db_handle(ledger_sqlite_of(statement)), st);
        return STATEMENT_FAILED;
    }
}

int64_t statement_number(struct statement *statement, int column)
{
    return sqlite3_column_int64(ledger_sqlite_of(statement), column);
}

const char *statement_text(struct statement *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(ledger_sqlite_of(statement), column);
    return text ? text : "";
}

void statement_reset(struct statement *statement)
{
    sqlite3_reset(ledger_sqlite_of(statement));
}

bool statement_run(struct statement *statement, struct status *st)
{
    enum statement_step step;
    do
        step = statement_step(statement, st);
    while (step == STATEMENT_ROW);
    statement_reset(statement);
    return step == STATEMENT_DONE;
}
