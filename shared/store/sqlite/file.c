/* The process holds the file by a lock on FILE.lock beside it. SQLite's own locks admit many processes. A lock on the
 * file itself would be dropped with any descriptor of it that this process closes (POSIX). */
#include "store/sqlite/file.h"

#include "store/sqlite/wal_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION  0x52656e67  /* "Reng", in the file's header */
#define WAL_KEPT_MAX "268435456" /* bytes; a log that grew beyond is cut back when it begins anew */

#define STRING(number)  STRING_(number)
#define STRING_(number) #number

#define CONNECT_FLAGS (SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW)

/* A page that lost its way is found when it is read, not when it has done harm. */
#define CONNECTION_PRAGMAS                                                                                             \
    "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = " WAL_KEPT_MAX ";"          \
    "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"                            \
    "PRAGMA secure_delete = ON;"

/* The size of pages is settled before the first of them, so before WAL. */
#define FORM_PRAGMAS "PRAGMA page_size = " STRING(SQLITE_PAGE_BYTES) "; PRAGMA journal_mode = WAL;"

/* Each row migrates version n to version n + 1; version 0 is an empty file. A new form is a row at the end. */
static const char *const migrations[] = {
    "CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    "PRAGMA application_id = " STRING(APPLICATION),
    "CREATE TABLE large (number INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE shared (number INTEGER PRIMARY KEY, value BLOB NOT NULL)",
};
#define VERSION ((int64_t)(sizeof migrations / sizeof *migrations)) /* of the tables */

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* SQLITE_ERROR is a statement that does not fit the tables: these are not ours any more. */
static enum status_code sqlite_file_code_of(int error)
{
    switch (error & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
        return DATA_LOSS;
    default:
        return UNAVAILABLE;
    }
}

bool sqlite_failed(struct sqlite3 *connection, struct status *st)
{
    int error = sqlite3_extended_errcode(connection);
    const char *file = connection != NULL ? sqlite3_db_filename(connection, "main") : NULL; /* memory was out */
    return fail(st, sqlite_file_code_of(error), "%s: %s (SQLite %d)", file != NULL ? file : "the store",
                sqlite3_errmsg(connection), error);
}

bool sqlite_run(struct sqlite3 *connection, const char *sql, struct status *st)
{
    return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_failed(connection, st);
}

bool sqlite_read_number(struct sqlite3 *connection, const char *sql, int64_t *number, struct status *st)
{
    sqlite3_stmt *statement = NULL;
    bool read =
        sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;
    if (read)
        *number = sqlite3_column_int64(statement, 0);
    else
        sqlite_failed(connection, st);
    sqlite3_finalize(statement);
    return read;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool take_lock(struct sqlite_file *file, const char *lock_path, struct status *st)
{
    char holder[16] = "";
    file->lock_fd = open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file->lock_fd < 0)
        return fail(st, UNAVAILABLE, "%s cannot be opened: %s", lock_path, strerror(errno));
    if (flock(file->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t length = pread(file->lock_fd, holder, sizeof holder - 1, 0);
        holder[length > 0 ? length : 0] = '\0'; /* empty: the holder is just writing it */
        return fail(st, UNAVAILABLE, "%s is in use by %s %s; end that one, or give another file", file->path,
                    *holder ? "process" : "another", *holder ? holder : "process");
    }
    int length = snprintf(holder, sizeof holder, "%d", (int)getpid());
    if (ftruncate(file->lock_fd, 0) != 0 || pwrite(file->lock_fd, holder, (size_t)length, 0) != length)
        return true; /* only the name in the other's error */
    return true;
}

static bool lock(struct sqlite_file *file, struct status *st)
{
    char *lock_path;
    if (asprintf(&lock_path, "%s.lock", file->path) < 0)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
    bool locked = take_lock(file, lock_path, st);
    free(lock_path);
    return locked;
}

static bool find_log(struct sqlite_file *file, struct status *st)
{
    char *log_path;
    struct stat about;
    if (asprintf(&log_path, "%s-wal", file->path) < 0)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to open a store");
    file->log_was_left = stat(log_path, &about) == 0 && about.st_size > 0;
    free(log_path);
    return true;
}

bool sqlite_file_open(struct sqlite_file *file, const char *path, struct status *st)
{
    *file = (struct sqlite_file){.lock_fd = -1};
    if (*path == '\0')
        return fail(st, INVALID_ARGUMENT, "'sqlite:' names no file; give 'sqlite:FILE'");
    /* Only a new file gets these permissions, see above. */
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    if (fd < 0 && errno != EEXIST)
        return fail(st, UNAVAILABLE, "%s cannot be made: %s", path, strerror(errno));
    file->path = realpath(path, NULL);
    if (file->path == NULL)
        return fail(st, UNAVAILABLE, "%s cannot be opened: %s", path, strerror(errno));
    return lock(file, st) && find_log(file, st);
}

/* The lock's file stays: deleting it could take it from a process that has just opened it. */
void sqlite_file_close(struct sqlite_file *file)
{
    if (file->lock_fd >= 0)
        close(file->lock_fd);
    free(file->path);
    *file = (struct sqlite_file){.lock_fd = -1};
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

bool sqlite_file_connect(const struct sqlite_file *file, struct sqlite3 **connection, int cache_kib, struct status *st)
{
    const char *vfs = sqlite_log_vfs(st);
    if (vfs == NULL)
        return false;
    if (sqlite3_open_v2(file->path, connection, CONNECT_FLAGS, vfs) != SQLITE_OK)
        return sqlite_failed(*connection, st);
    sqlite3_busy_timeout(*connection, SQLITE_BUSY_MS);
    sqlite3_db_config(*connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    char cache[48];
    snprintf(cache, sizeof cache, "PRAGMA cache_size = -%d", cache_kib);
    return sqlite_run(*connection, CONNECTION_PRAGMAS, st) && sqlite_run(*connection, cache, st);
}

struct form {
    int64_t application, version;
};

static bool read_form(struct sqlite3 *connection, struct form *form, struct status *st)
{
    return sqlite_read_number(connection, "PRAGMA application_id", &form->application, st) &&
           sqlite_read_number(connection, "PRAGMA user_version", &form->version, st);
}

static bool form_is_known(const struct sqlite_file *file, const struct form *form, struct status *st)
{
    if (form->application != APPLICATION)
        return fail(st, FAILED_PRECONDITION, "%s is a database of something else; give another file", file->path);
    if (form->version > VERSION)
        return fail(st, FAILED_PRECONDITION,
                    "%s has version %" PRId64 " and this release knows up to %" PRId64 "; run the release that "
                    "wrote it, or give another file",
                    file->path, form->version, VERSION);
    return true;
}

bool sqlite_file_is_ours(const struct sqlite_file *file, struct sqlite3 *connection, struct status *st)
{
    struct form form;
    return read_form(connection, &form, st) && form_is_known(file, &form, st);
}

/* From the version it has, step by step to ours: each in a transaction of its own, which also says how far it is. */
static bool file_migrate(struct sqlite3 *connection, int64_t version, struct status *st)
{
    for (; version < VERSION; version++) {
        char done[64];
        snprintf(done, sizeof done, "PRAGMA user_version = %" PRId64 "; COMMIT;", version + 1);
        if (sqlite_run(connection, "BEGIN IMMEDIATE", st) && sqlite_run(connection, migrations[version], st) &&
            sqlite_run(connection, done, st))
            continue;
        sqlite3_exec(connection, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    return true;
}

bool sqlite_file_prepare(const struct sqlite_file *file, struct sqlite3 *connection, struct status *st)
{
    struct form form;
    int64_t tables;
    if (!read_form(connection, &form, st) ||
        !sqlite_read_number(connection, "SELECT count(*) FROM sqlite_schema", &tables, st))
        return false;
    bool is_new = form.application == 0 && form.version == 0 && tables == 0;
    if (!is_new && !form_is_known(file, &form, st))
        return false;
    return sqlite_run(connection, FORM_PRAGMAS, st) && file_migrate(connection, form.version, st);
}
