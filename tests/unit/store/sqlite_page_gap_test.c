/* Copies of moved rows in the unused bytes of b-tree pages: a file of the store has none of a deleted row. */
#include "store/sqlite/page_gap.h"
#include "store/sqlite/wal_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"

#define OWNERS 40
#define WORD   "SECRET-%03d "

static char path[64];
static sqlite3 *connection;
static uint64_t seed;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % bound;
}

static void run(const char *format, ...)
{
    char sql[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(sql, sizeof sql, format, values);
    va_end(values);
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(connection));
}

static void assert_gives(const char *sql, const char *wanted)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), wanted);
    sqlite3_finalize(statement);
}

static void open_database(int page, int vacuum)
{
    struct status st = {0};
    snprintf(path, sizeof path, "/tmp/renga_gap_%d", (int)getpid());
    unlink(path);
    assert_int_equal(
        sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, sqlite_log_vfs(&st)), SQLITE_OK);
    run("PRAGMA page_size = %d; PRAGMA auto_vacuum = %d; PRAGMA journal_mode = WAL", page, vacuum);
    run("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0");
    run("CREATE TABLE kv (key TEXT PRIMARY KEY, owner INTEGER, value TEXT) WITHOUT ROWID;"
        "CREATE TABLE shared (number INTEGER PRIMARY KEY, owner INTEGER, value TEXT)");
}

static void put_rows(int owner)
{
    char value[4096] = "";
    for (uint32_t i = 0; i < 3 + random_below(5); i++) {
        size_t length = 0, times = 1 + random_below(30);
        for (size_t word = 0; word < times; word++)
            length += (size_t)snprintf(value + length, sizeof value - length, WORD, owner);
        run("INSERT OR REPLACE INTO kv VALUES ('%08x', %d, '%s')", random_below(UINT32_MAX / 2), owner, value);
        run("INSERT INTO shared (owner, value) VALUES (%d, replace('%s', ' ', ' %d '))", owner, value, owner);
    }
}

/* The number of owners with an even number whose word is in the file. */
static int count_remnants(void)
{
    struct stat is;
    int found = 0;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &is), 0);
    char *bytes = malloc((size_t)is.st_size);
    assert_int_equal(fread(bytes, 1, (size_t)is.st_size, file), is.st_size);
    fclose(file);
    for (int owner = 0; owner < OWNERS; owner += 2) {
        char word[32];
        snprintf(word, sizeof word, WORD, owner);
        found += memmem(bytes, (size_t)is.st_size, word, strlen(word)) != NULL;
    }
    free(bytes);
    return found;
}

static void close_database(void)
{
    assert_int_equal(sqlite3_close(connection), SQLITE_OK);
    unlink(path);
}

static void a_deleted_row_leaves_no_copy_in_the_file_and_the_others_stay_whole(void **state)
{
    static const int pages[] = {512, 2048, 8192, 65536};
    for (seed = 1; seed <= 24; seed++) {
        uint64_t number = seed;
        char rows[16];
        open_database(pages[seed % COUNT(pages)], seed % 3 ? 0 : 2);
        for (int round = 0; round < 4; round++) {
            run("BEGIN");
            for (int owner = 0; owner < OWNERS; owner++)
                put_rows(owner);
            run("COMMIT");
            if (round % 2)
                run("PRAGMA wal_checkpoint(PASSIVE)");
        }
        sqlite3_stmt *count;
        assert_int_equal(sqlite3_prepare_v2(connection,
                                            "SELECT (SELECT count(*) FROM kv WHERE owner % 2) + "
                                            "(SELECT count(*) FROM shared WHERE owner % 2)",
                                            -1, &count, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(count), SQLITE_ROW);
        snprintf(rows, sizeof rows, "%d", sqlite3_column_int(count, 0));
        sqlite3_finalize(count);
        for (int owner = 0; owner < OWNERS; owner += 2)
            run("DELETE FROM kv WHERE owner = %d; DELETE FROM shared WHERE owner = %d", owner, owner);
        run("PRAGMA wal_checkpoint(TRUNCATE)");
        assert_int_equal(count_remnants(), 0);
        assert_int_equal(sqlite3_close(connection), SQLITE_OK);
        assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK); /* without the VFS, from the disk alone */
        assert_gives("PRAGMA integrity_check", "ok");
        assert_gives(
            "SELECT (SELECT count(*) FROM kv WHERE owner % 2 AND instr(value, printf('SECRET-%03d', owner))) + "
            "(SELECT count(*) FROM shared WHERE owner % 2 AND instr(value, printf('SECRET-%03d', owner)))",
            rows);
        close_database();
        seed = number;
    }
}

static void random_pages_are_read_within_their_bounds(void **state)
{
    size_t from = 0, to = 0;
    seed = 7;
    for (int i = 0; i < 200000; i++) {
        unsigned char *page = malloc(512);
        for (size_t at = 0; at < 512; at++)
            page[at] = (unsigned char)random_below(256);
        page[0] = (unsigned char[]){2, 5, 10, 13}[i % 4];
        page[3] = (unsigned char)random_below(2);
        page[5] = (unsigned char)random_below(3);
        page[7] = 0;
        page[1] = page[2] = 0;
        if (page_gap_find(page, 512, &from, &to))
            assert_true(from >= 8 && from < to && to <= 512);
        free(page);
    }
}

static void only_pages_that_can_be_b_trees_lose_their_gap(void **state)
{
    unsigned char header[DATABASE_HEADER_BYTES] = {[16] = 8, [31] = 9}; /* pages of 2,048 bytes, 9 of them */
    assert_true(page_gap_applies(header, 2048, 2));
    assert_false(page_gap_applies(header, 2048, 1));
    assert_false(page_gap_applies(header, 1024, 2));
    header[55] = 3; /* the file has pointer maps: pages 2, 412, ... */
    assert_false(page_gap_applies(header, 2048, 2));
    assert_true(page_gap_applies(header, 2048, 3));
    assert_false(page_gap_applies(header, 2048, 412));
    assert_true(page_gap_applies(header, 2048, 411));
    header[28] = 2; /* 2^25 pages */
    assert_false(page_gap_applies(header, 2048, 3));
    header[28] = 0;
    header[20] = 1; /* bytes at the end of each page are another's */
    assert_false(page_gap_applies(header, 2048, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_row_leaves_no_copy_in_the_file_and_the_others_stay_whole),
        cmocka_unit_test(random_pages_are_read_within_their_bounds),
        cmocka_unit_test(only_pages_that_can_be_b_trees_lose_their_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
