/* What stands between SQLite and its log, called as SQLite calls it: whatever is held back, what was written is read.
 */
#include "store/sqlite/wal_vfs.h"

#include <sqlite3.h>
#include <stdio.h>

#include "unit.h"

#define ROOM (1 << 20)

static char database[64], path[64];
static sqlite3_file *file;
static unsigned char model[ROOM];
static sqlite3_int64 model_size;

static int open_log_file(void **state)
{
    struct status st = {0};
    sqlite3_vfs *vfs = sqlite3_vfs_find(sqlite_log_vfs(&st));
    assert_non_null(vfs);
    snprintf(database, sizeof database, "/tmp/renga_log_%d", (int)getpid());
    snprintf(path, sizeof path, "/tmp/renga_log_%d-wal", (int)getpid());
    fclose(fopen(database, "w")); /* whose rights the log takes */
    file = calloc(1, (size_t)vfs->szOsFile);
    int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE;
    assert_int_equal(vfs->xOpen(vfs, path, file, flags, NULL), SQLITE_OK);
    memset(model, 0, sizeof model);
    model_size = 0;
    return 0;
}

static int close_log_file(void **state)
{
    assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    free(file);
    unlink(path);
    unlink(database);
    return 0;
}

static void write_piece(sqlite3_int64 at, int size, int byte)
{
    static unsigned char piece[ROOM];
    memset(piece, byte, (size_t)size);
    memset(model + at, byte, (size_t)size);
    model_size = at + size > model_size ? at + size : model_size;
    assert_int_equal(file->pMethods->xWrite(file, piece, size, at), SQLITE_OK);
}

static void assert_reads(sqlite3_int64 at, int size)
{
    static unsigned char piece[ROOM];
    assert_int_equal(file->pMethods->xRead(file, piece, size, at), SQLITE_OK);
    assert_memory_equal(piece, model + at, (size_t)size);
}

/* Past the store's own handle, as the next process will. */
static void assert_on_disk(void)
{
    static unsigned char there[ROOM];
    FILE *beside = fopen(path, "r");
    assert_non_null(beside);
    assert_int_equal(fread(there, 1, (size_t)model_size, beside), model_size);
    fclose(beside);
    assert_memory_equal(there, model, (size_t)model_size);
}

static void what_was_written_is_read_before_it_is_synced(void **state)
{
    write_piece(0, 24, 'h');
    write_piece(24, 4096, 'p');
    assert_reads(10, 100);
    write_piece(4120, 24, 'H');
    write_piece(100, 50, 'x'); /* back into what is held */
    write_piece(4144, 100, 'y');
    assert_reads(0, 4244);
}

static void a_sync_writes_what_is_held(void **state)
{
    write_piece(0, 24, 'h');
    write_piece(24, 4096, 'p');
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_FULL), SQLITE_OK);
    assert_on_disk();
    write_piece(24, 10, 'q');
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_FULL), SQLITE_OK);
    assert_on_disk();
}

static void more_than_is_held_is_written_in_its_order(void **state)
{
    for (int i = 0; i < 200; i++)
        write_piece(i * 4120, 4120, i);
    write_piece(0, 65536, 'L'); /* the largest page */
    write_piece(1000, 10, 's');
    assert_reads(0, 200 * 4120);
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_FULL), SQLITE_OK);
    assert_on_disk();
}

static void a_file_that_is_cut_stays_cut(void **state)
{
    sqlite3_int64 size = 0;
    write_piece(0, 4096, 'p');
    assert_int_equal(file->pMethods->xTruncate(file, 100), SQLITE_OK);
    assert_int_equal(file->pMethods->xFileSize(file, &size), SQLITE_OK);
    assert_int_equal(size, 100);
    assert_reads(0, 100);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, open_log_file, close_log_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(what_was_written_is_read_before_it_is_synced),
        ON(a_sync_writes_what_is_held),
        ON(more_than_is_held_is_written_in_its_order),
        ON(a_file_that_is_cut_stays_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
