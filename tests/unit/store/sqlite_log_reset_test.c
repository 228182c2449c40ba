/* The WAL-reset bug of SQLite 3.7.0 to 3.51.2: a commit that begins the log anew, between a checkpoint's reading of the
 * log's header and its copying. Here the commit comes at exactly that moment, on a single thread: SQLite lets go of its
 * pages of the old log there (xUnfetch). */
#include "store/sqlite/wal_vfs.h"

#include <sqlite3.h>
#include <stdio.h>

#include "unit.h"

static char path[64];
static sqlite3 *writer, *first, *second;

static void run(sqlite3 *connection, const char *sql)
{
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(connection));
}

static int count_rows(sqlite3 *connection)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(connection, "SELECT count(*) FROM t", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static sqlite3 *connect_by(const char *vfs)
{
    sqlite3 *connection;
    assert_non_null(vfs);
    assert_int_equal(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs), SQLITE_OK);
    run(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
    return connection;
}

static int log_frames(sqlite3 *connection, int mode)
{
    int frames = 0;
    assert_int_equal(sqlite3_wal_checkpoint_v2(connection, NULL, mode, &frames, NULL), SQLITE_OK);
    return frames;
}

static int (*unfetch)(sqlite3_file *file, sqlite3_int64 at, void *page);
static bool committed;

static int commit_within_the_checkpoint(sqlite3_file *file, sqlite3_int64 at, void *page)
{
    if (page == NULL && !committed) {
        committed = true;
        run(writer, "INSERT INTO t VALUES (1000, 'acknowledged')");
    }
    return unfetch(file, at, page);
}

static void hold_a_checkpoint_up(sqlite3 *connection)
{
    sqlite3_file *file = NULL;
    assert_int_equal(sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file), SQLITE_OK);
    sqlite3_io_methods *methods = (sqlite3_io_methods *)(uintptr_t)file->pMethods; /* this file's own */
    assert_true(methods->iVersion >= 3);
    unfetch = methods->xUnfetch;
    methods->xUnfetch = commit_within_the_checkpoint;
    committed = false;
}

static void a_commit_is_not_lost_by(const char *vfs)
{
    snprintf(path, sizeof path, "/tmp/renga_reset_%d", (int)getpid());
    unlink(path);
    writer = connect_by(vfs);
    run(writer, "CREATE TABLE t (number INTEGER PRIMARY KEY, value TEXT)");
    first = connect_by(vfs);
    second = connect_by(vfs);
    assert_int_equal(count_rows(second), 0);
    for (int i = 0; i < 50; i++)
        run(writer, "INSERT INTO t (value) VALUES (hex(randomblob(900)))");
    log_frames(first, SQLITE_CHECKPOINT_PASSIVE);
    hold_a_checkpoint_up(second);
    sqlite3_wal_checkpoint_v2(second, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    assert_true(committed);
    run(writer, "INSERT INTO t VALUES (1001, 'acknowledged')"); /* the count of copied frames reached beyond it */
    assert_int_equal(count_rows(writer), 52);
    log_frames(first, SQLITE_CHECKPOINT_TRUNCATE);
    sqlite3_close(first);
    sqlite3_close(second);
    sqlite3_close(writer);
    assert_int_equal(sqlite3_open(path, &first), SQLITE_OK);
    assert_int_equal(count_rows(first), 52);
    sqlite3_close(first);
    unlink(path);
}

static void a_commit_during_a_checkpoint_is_kept_by_a_store(void **state)
{
    struct status st = {0};
    a_commit_is_not_lost_by(sqlite_log_vfs(&st));
}

static void a_commit_during_a_checkpoint_is_kept_by_a_service_with_tables_of_its_own(void **state)
{
    struct status st = {0};
    a_commit_is_not_lost_by(sqlite_file_vfs(&st));
}

static void a_log_that_is_copied_begins_anew_with_the_next_commit(void **state)
{
    struct status st = {0};
    snprintf(path, sizeof path, "/tmp/renga_reset_%d", (int)getpid());
    unlink(path);
    writer = connect_by(sqlite_log_vfs(&st));
    first = connect_by(sqlite_log_vfs(&st));
    run(writer, "CREATE TABLE t (number INTEGER PRIMARY KEY, value TEXT)");
    for (int i = 0; i < 50; i++)
        run(writer, "INSERT INTO t (value) VALUES (hex(randomblob(900)))");
    assert_true(log_frames(first, SQLITE_CHECKPOINT_PASSIVE) > 50);
    run(writer, "INSERT INTO t (value) VALUES ('short')");
    assert_in_range(log_frames(first, SQLITE_CHECKPOINT_PASSIVE), 1, 4);
    run(writer, "INSERT INTO t (value) VALUES ('short')"); /* the lock against checkpoints was given back */
    assert_in_range(log_frames(writer, SQLITE_CHECKPOINT_RESTART), 1, 4);
    assert_int_equal(log_frames(first, SQLITE_CHECKPOINT_TRUNCATE), 0);
    assert_int_equal(count_rows(first), 52);
    sqlite3_close(first);
    sqlite3_close(writer);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_during_a_checkpoint_is_kept_by_a_store),
        cmocka_unit_test(a_commit_during_a_checkpoint_is_kept_by_a_service_with_tables_of_its_own),
        cmocka_unit_test(a_log_that_is_copied_begins_anew_with_the_next_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
