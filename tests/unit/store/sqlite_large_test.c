/* Values that stand apart from their keys in a store's file: what is read for a search, what goes with what, files of
 * older forms, and a file that is not right. */
#include "base/random.h"
#include "store/checksum.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "forgotten.h"

#define LARGE (1 << 20)

/* SQLite reads its file here. */
static atomic_long bytes_read;
ssize_t pread64(int fd, void *bytes, size_t size, off_t at)
{
    bytes_read += (long)size;
    return syscall(SYS_pread64, fd, bytes, size, at);
}

static char large[LARGE];

static struct store_bytes large_of(char byte)
{
    memset(large, byte, sizeof large);
    return (struct store_bytes){large, sizeof large};
}

static void put_large(const char *key, char byte)
{
    struct written written;
    store_put(begin(&written), text_of(key), large_of(byte));
    assert_int_equal(commit_now(&written).code, OK);
}

static void assert_large(const char *key, char byte)
{
    struct looked looked;
    look(&looked, text_of(key), NO_END)->limit = 1;
    assert_int_equal(scan_now(&looked)->status.code, OK);
    assert_int_equal(looked.scan.count, 1);
    assert_int_equal(looked.scan.rows[0].value.size, LARGE);
    assert_memory_equal(looked.scan.rows[0].value.bytes, large_of(byte).bytes, LARGE);
    store_scan_fini(&looked.scan);
}

static void beside(const char *path, const char *sql)
{
    sqlite3 *person;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &person), SQLITE_OK);
    if (sqlite3_exec(person, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(person);
}

static int number_of(const char *sql)
{
    sqlite3 *person;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(site.path, &person, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(person, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(person);
    return number;
}

/* Both tables of values, by the numbers that rows have for them. */
#define VALUES "(SELECT number FROM large UNION ALL SELECT -number AS number FROM shared)"

/* Every row refers to a value of its own, and every value is referred to. */
static void assert_paired(int count)
{
    assert_int_equal(number_of("SELECT count(*) FROM " VALUES), count);
    assert_int_equal(number_of("SELECT count(DISTINCT value) FROM kv WHERE typeof(value) = 'integer'"), count);
    assert_int_equal(number_of("SELECT count(*) FROM kv JOIN " VALUES " ON kv.value = number"), count);
    assert_int_equal(number_of("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

static void reopen(void)
{
    store_close(&site.store);
    open_store();
}

/* ---- what a search reads ----------------------------------------------------------------------------------------- */

static void a_search_among_keys_reads_no_large_value(void **state)
{
    put_now("a", "1");
    put_large("b", 'b');
    put_now("c", "3");
    reopen(); /* with empty caches, and the log in the file */
    long before = bytes_read;
    put_now("aa", "2");
    put_now("bb", "2");
    assert_rows(TEXT("aa"), TEXT("b"), "aa=2 ");
    assert_true(bytes_read - before < LARGE / 8);
}

static void a_scan_that_is_full_does_not_read_the_large_value_behind_it(void **state)
{
    put_now("a", "1");
    put_large("b", 'b');
    reopen();
    long before = bytes_read;
    struct looked looked;
    look(&looked, ABSENT, NO_END)->limit = 1;
    assert_string_equal(rows_text(scan_now(&looked)), "a=1 …");
    store_scan_fini(&looked.scan);
    assert_true(bytes_read - before < LARGE / 8);
}

/* ---- what goes with what ----------------------------------------------------------------------------------------- */

static void a_large_value_goes_with_whatever_takes_its_row_away(void **state)
{
    struct written written;
    for (const char *key = "abcdefgh"; *key != '\0'; key++)
        put_large((char[]){*key, '\0'}, *key);
    assert_paired(8);
    put_large("a", 'A');
    put_now("b", "small");
    assert_paired(7);
    store_delete(begin(&written), TEXT("c"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_paired(6);
    store_delete_range(begin(&written), TEXT("d"), TEXT("f"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_paired(4);
    struct store_batch *batch = begin(&written); /* left out: nothing goes */
    store_expect(batch, TEXT("a"), TEXT("something else"));
    store_delete_range(batch, ABSENT, NO_END);
    assert_int_equal(commit_now(&written).code, ABORTED);
    assert_paired(4);
    reopen(); /* one that did not write them knows of them too */
    store_delete_range(begin(&written), TEXT("g"), NO_END);
    assert_int_equal(commit_now(&written).code, OK);
    assert_paired(2);
    assert_large("a", 'A');
    assert_large("f", 'f');
}

#define ROUNDS 300

static void after_many_changes_by_chance_no_value_is_left_behind(void **state)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct written written;
        struct store_batch *batch = begin(&written);
        for (int j = 0; j < 4; j++) {
            char key = (char)('a' + random_below(20)), to = (char)(key + random_below(3));
            size_t size = random_below(2) ? random_below(5000) : 10;
            if (random_below(4) == 0)
                store_delete_range(batch, (struct store_bytes){&key, 1}, (struct store_bytes){&to, 1});
            else
                store_put(batch, (struct store_bytes){&key, 1}, (struct store_bytes){large, size});
        }
        assert_int_equal(commit_now(&written).code, OK);
        if (i % 100 == 50)
            reopen();
    }
    assert_paired(number_of("SELECT count(*) FROM " VALUES));
    assert_true(number_of("SELECT count(*) FROM " VALUES) <= 20);
}

/* ---- how much room they take ------------------------------------------------------------------------------------- */

#define THREADS 100
#define ANSWERS 5
#define RESULT  600  /* bytes; three fit into a page */
#define WHOLE   3900 /* bytes; none fits beside another */

static void put_number(struct store_batch *batch, char kind, int thread, int answer, size_t size)
{
    char key[16];
    snprintf(key, sizeof key, "%c%03d.%d", kind, thread, answer);
    store_put(batch, text_of(key), (struct store_bytes){large, size});
}

/* A thread's snapshot goes with the next one, and the results of its runs stay. */
static void short_values_share_pages_though_long_ones_between_them_go(void **state)
{
    struct written written;
    for (int answer = 0; answer < ANSWERS; answer++)
        for (int thread = 0; thread < THREADS; thread++) {
            struct store_batch *batch = begin(&written);
            put_number(batch, 'R', thread, answer, RESULT);
            put_number(batch, 'S', thread, 0, WHOLE);
            assert_int_equal(commit_now(&written).code, OK);
        }
    reopen();
    int content = THREADS * (ANSWERS * RESULT + WHOLE);
    int bytes = number_of("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    assert_true(bytes < content + content / 5);
    assert_paired(THREADS * (ANSWERS + 1));
}

/* ---- deleted text ------------------------------------------------------------------------------------------------ */

static void put_pond(const char *key)
{
    struct written written;
    struct store_bytes value = large_of('.');
    for (size_t at = 0; at + 100 < sizeof large; at += 1000)
        memcpy(large + at, "the old pond", strlen("the old pond"));
    store_put(begin(&written), text_of(key), value);
    assert_int_equal(commit_now(&written).code, OK);
    assert_true(file_has("-wal", "the old pond"));
}

static void a_large_value_that_is_forgotten_is_soon_in_no_file(void **state)
{
    struct written written;
    put_pond("frog");
    store_put(begin(&written), TEXT("frog"), TEXT("jumps in"));
    forget_the_pond(&written);
    put_pond("frog");
    store_delete_range(begin(&written), TEXT("f"), TEXT("g"));
    forget_the_pond(&written);
    put_pond("frog");
    put_large("frog", 'x'); /* one takes the other's place */
    store_delete(begin(&written), TEXT("another"));
    forget_the_pond(&written);
    assert_large("frog", 'x');
}

/* ---- files of older forms --------------------------------------------------------------------------------------- */

#define FORM_1                                                                                                         \
    "CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"                                       \
    "PRAGMA application_id = 0x52656e67; PRAGMA user_version = 1;"
#define FORM_2 FORM_1 "CREATE TABLE large (number INTEGER PRIMARY KEY, value BLOB NOT NULL); PRAGMA user_version = 2;"

/* With the statements of the releases that wrote it. */
static void write_file(const char *sql)
{
    store_close(&site.store);
    char path[128];
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof path, "%s%s", site.path, ends[i]);
        unlink(path);
    }
    beside(site.path, "PRAGMA page_size = 2048; PRAGMA journal_mode = WAL;");
    beside(site.path, sql);
}

static void write_form_1(void)
{
    write_file("BEGIN;" FORM_1 "COMMIT;"
               "REPLACE INTO kv (key, value) VALUES (CAST('a' AS BLOB), CAST('1' AS BLOB)), (CAST('z' AS BLOB), x'');"
               "WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < 4) "
               "REPLACE INTO kv SELECT CAST('old' || number AS BLOB), "
               "CAST(replace(hex(zeroblob(524288)), '0', 'o') AS BLOB) FROM n");
}

static void a_file_of_form_1_is_read_and_changed(void **state)
{
    struct written written;
    write_form_1();
    open_store();
    assert_int_equal(number_of("PRAGMA user_version"), 3);
    assert_large("old1", 'o');
    assert_rows(ABSENT, TEXT("b"), "a=1 ");
    store_expect(begin(&written), TEXT("old2"), large_of('o'));
    store_put(&written.batch, TEXT("old2"), large_of('n'));
    assert_int_equal(commit_now(&written).code, OK);
    store_delete(begin(&written), TEXT("old1"));
    assert_int_equal(commit_now(&written).code, OK);
    reopen();
    assert_large("old2", 'n');
    assert_large("old3", 'o');
    assert_paired(1);
    store_delete_range(begin(&written), TEXT("old"), TEXT("old4"));
    assert_int_equal(commit_now(&written).code, OK);
    assert_paired(0);
    assert_large("old4", 'o');
    put_now("old4", "4");
    assert_all("a=1 old4=4 z= ");
}

/* It has values of every size in a single table. */
static void a_file_of_form_2_is_read_and_changed(void **state)
{
    char rows[700];
    struct written written;
    write_file("BEGIN;" FORM_2 "INSERT INTO large (value) VALUES (CAST(replace(hex(zeroblob(300)), '0', 'o') AS BLOB)),"
               "(CAST(replace(hex(zeroblob(524288)), '0', 'p') AS BLOB));"
               "INSERT INTO kv VALUES (CAST('a' AS BLOB), 1), (CAST('b' AS BLOB), 2); COMMIT;");
    open_store();
    assert_int_equal(number_of("PRAGMA user_version"), 3);
    snprintf(rows, sizeof rows, "a=%.*s ", 600, (const char *)large_of('o').bytes);
    assert_rows(ABSENT, TEXT("b"), rows);
    assert_large("b", 'p');
    store_expect(begin(&written), TEXT("a"), (struct store_bytes){large_of('o').bytes, 600});
    store_put(&written.batch, TEXT("a"), (struct store_bytes){large, 601});
    store_put(&written.batch, TEXT("c"), (struct store_bytes){large, 700});
    assert_int_equal(commit_now(&written).code, OK);
    assert_int_equal(number_of("SELECT count(*) FROM shared"), 2);
    assert_paired(3);
    store_delete_range(begin(&written), ABSENT, TEXT("c"));
    assert_int_equal(commit_now(&written).code, OK);
    reopen();
    assert_paired(1);
}

static void a_copy_of_any_form_has_the_large_values(void **state)
{
    char copy[128];
    struct status st = {0};
    write_form_1();
    snprintf(copy, sizeof copy, "%s/copy.db", site.folder);
    if (!store_backup(site.url, copy, &st)) /* as it is, by a process that never opened it as a store */
        fail_msg("%s", st.text);
    open_store();
    put_large("new", 'n');
    put_large("newer", 'm');
    snprintf(copy, sizeof copy, "%s/copy2.db", site.folder);
    assert_true(store_backup(site.url, copy, &st));
    store_close(&site.store);
    for (int i = 1; i <= 2; i++) {
        snprintf(site.path, sizeof site.path, "%s/copy%s.db", site.folder, i == 1 ? "" : "2");
        snprintf(site.url, sizeof site.url, "sqlite:%s", site.path);
        open_store();
        assert_large("old3", 'o');
        if (i == 2)
            assert_large("new", 'n');
        assert_paired(i == 1 ? 0 : 2);
        store_close(&site.store);
    }
}

/* ---- what is not right ------------------------------------------------------------------------------------------- */

static void a_large_value_that_is_gone_costs_its_row_alone(void **state)
{
    struct written written;
    struct looked looked;
    put_now("a", "1");
    put_large("b", 'b');
    put_now("c", "3");
    store_close(&site.store);
    beside(site.path, "DELETE FROM large; DELETE FROM shared");
    open_store();
    look(&looked, ABSENT, NO_END);
    assert_string_equal(rows_text(scan_now(&looked)), "a=1 b=\xfd c=3 ");
    assert_false(looked.scan.rows[0].lost || looked.scan.rows[2].lost);
    assert_true(looked.scan.rows[1].lost);
    assert_int_equal(store_checksum_read(TEXT("b"), looked.scan.rows[1].value, 0), STORE_CHECKSUM_MISMATCH);
    store_scan_fini(&looked.scan);
    store_expect(begin(&written), TEXT("b"), large_of('b'));
    assert_int_equal(commit_now(&written).code, ABORTED);
    assert_rows(TEXT("c"), NO_END, "c=3 ");
    put_now("b", "2");
    assert_all("a=1 b=2 c=3 ");
}

#define ON(test) cmocka_unit_test_setup_teardown(test, set_up_sqlite, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(a_search_among_keys_reads_no_large_value),
        ON(a_scan_that_is_full_does_not_read_the_large_value_behind_it),
        ON(a_large_value_goes_with_whatever_takes_its_row_away),
        ON(after_many_changes_by_chance_no_value_is_left_behind),
        ON(short_values_share_pages_though_long_ones_between_them_go),
        ON(a_large_value_that_is_forgotten_is_soon_in_no_file),
        ON(a_file_of_form_1_is_read_and_changed),
        ON(a_file_of_form_2_is_read_and_changed),
        ON(a_copy_of_any_form_has_the_large_values),
        ON(a_large_value_that_is_gone_costs_its_row_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
