/* The file of a knowledge base as its connections open it. */
#include "knowledge/tables.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
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

static atomic_bool full;
int statvfs(const char *path, struct statvfs *about)
{
    *about = (struct statvfs){.f_bsize = 4096, .f_frsize = 4096, .f_bavail = full ? 1000 : 1u << 20};
    return 0;
}

static int64_t number_of(struct tables *tables, const char *text)
{
    struct status st = {0};
    struct sql *sql = sql_prepare(tables->file, text, &st);
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
    struct tables first = {0}, second = {0};
    assert_true(tables_open(&first, path, &st));
    assert_int_equal(number_of(&first, "PRAGMA auto_vacuum"), 2);
    assert_int_equal(number_of(&first, "PRAGMA page_size"), 8192);
    assert_int_equal(number_of(&first, "PRAGMA synchronous"), 2); /* FULL */
    assert_true(sql_run(first.file, "INSERT INTO collections (tenant, name) VALUES ('t', 'c')", &st));
    tables_close(&first);
    syncs = 0;
    assert_true(tables_open(&first, path, &st) && tables_open(&second, path, &st));
    assert_int_equal(number_of(&first, "SELECT count(*) FROM collections"), 1);
    assert_int_equal(number_of(&second, "SELECT count(*) FROM collections"), 1);
    tables_close(&first);
    tables_close(&second);
    assert_int_equal(syncs, 0);
    unlink(path);
    rmdir(folder);
}

/* Another store may share it, and needs the room to delete. */
static void the_last_room_of_a_volume_takes_deletions_and_no_additions(void **state)
{
    char folder[] = "/tmp/renga-knowledge-XXXXXX", path[sizeof folder + 16];
    struct status st = {0};
    struct tables tables = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/knowledge.db", folder);
    assert_true(tables_open(&tables, path, &st));
    assert_true(sql_begin_adding(tables.file, &st));
    sql_rollback(tables.file);
    full = true;
    assert_false(sql_begin_adding(tables.file, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    st = (struct status){0};
    assert_true(sql_begin(tables.file, &st));
    sql_rollback(tables.file);
    full = false;
    tables_close(&tables);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_there_is_opened_without_a_write),
        cmocka_unit_test(the_last_room_of_a_volume_takes_deletions_and_no_additions),
    };
    return cmocka_run_group_tests_name("The file of a knowledge base", tests, NULL, NULL);
}
