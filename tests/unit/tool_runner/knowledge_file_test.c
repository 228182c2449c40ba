/* The file of a knowledge base as its connections open it. */
#include "store/sqlite/sql.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

/* SQLite calls this in place of the C library. */
static atomic_int syncs;
int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

static const struct sql_plan plan = {
    .version = 1,
    .tables = "CREATE TABLE words (word TEXT);",
    .subject = "the file",
    .first_pragmas = "PRAGMA auto_vacuum = INCREMENTAL;",
    .pragmas = "PRAGMA wal_autocheckpoint = 4000;",
};

static int64_t number_of(struct sql_file *file, const char *text)
{
    struct status st = {0};
    struct sql *sql = sql_prepare(file, text, &st);
    assert_non_null(sql);
    assert_int_equal(sql_step(sql, &st), SQL_ROW);
    int64_t number = sql_number(sql, 0);
    sql_finalize(&sql);
    return number;
}

/* Each connection that wrote would wait for the disk, and keep the others waiting. */
static void a_file_that_is_there_is_opened_without_a_write(void **state)
{
    char folder[] = "/tmp/renga-knowledge-XXXXXX", path[sizeof folder + 16];
    struct status st = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/knowledge.db", folder);
    struct sql_file *first = sql_open(path, &plan, &st), *second;
    assert_non_null(first);
    assert_int_equal(number_of(first, "PRAGMA auto_vacuum"), 2);
    assert_int_equal(number_of(first, "PRAGMA page_size"), 8192);
    assert_true(sql_run(first, "INSERT INTO words VALUES ('moon')", &st));
    sql_close(&first);
    syncs = 0;
    first = sql_open(path, &plan, &st);
    second = sql_open(path, &plan, &st);
    assert_int_equal(number_of(first, "SELECT count(*) FROM words"), 1);
    assert_int_equal(number_of(second, "SELECT count(*) FROM words"), 1);
    sql_close(&first);
    sql_close(&second);
    assert_int_equal(syncs, 0);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_there_is_opened_without_a_write),
    };
    return cmocka_run_group_tests_name("The file of a knowledge base", tests, NULL, NULL);
}
