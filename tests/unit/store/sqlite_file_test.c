/* A store's file: what survives, whose it is, what it looks like when it is not right, and a disk that is full. */
#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "forgotten.h"

/* SQLite's calls come here instead of to the C library: they are counted, and may be made to fail. */
static atomic_int syncs, syncs_to_fail;
int fdatasync(int fd)
{
    syncs++;
    if (syncs_to_fail > 0) {
        syncs_to_fail--;
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static enum status_code open_code(const char *url, struct status *st)
{
    *st = (struct status){0};
    struct store *other = store_open(url, st);
    store_close(&other);
    return st->code;
}

static void reopen(void)
{
    store_close(&site.store);
    open_store();
}

/* ---- what survives ----------------------------------------------------------------------------------------------- */

static void what_was_committed_is_there_after_a_restart(void **state)
{
    put_now("a", "1");
    reopen();
    put_now("b", "2");
    reopen();
    assert_all("a=1 b=2 ");
}

static void no_batch_is_acknowledged_before_it_is_synced(void **state)
{
    for (int i = 0; i < 20; i++) {
        int before = syncs;
        put_now("a", i % 2 ? "1" : "2");
        assert_true(syncs > before);
    }
}

static void a_sync_that_fails_fails_the_batch_and_the_next_works(void **state)
{
    struct written written;
    put_now("a", "1");
    syncs_to_fail = 1;
    store_put(begin(&written), TEXT("a"), TEXT("2"));
    assert_int_equal(commit_now(&written).code, UNAVAILABLE);
    assert_int_equal(syncs_to_fail, 0);
    assert_all("a=1 ");
    put_now("b", "3");
    assert_all("a=1 b=3 ");
    reopen();
    assert_all("a=1 b=3 ");
}

static void the_file_is_for_its_owner_alone(void **state)
{
    struct stat about;
    put_now("a", "1");
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", site.path, ends[i]);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
    }
}

/* ---- whose it is ------------------------------------------------------------------------------------------------- */

static void a_second_opener_is_refused_and_told_by_whom(void **state)
{
    struct status st;
    char link_url[160], pid[16];
    snprintf(link_url, sizeof link_url, "sqlite:%s/link", site.folder);
    assert_int_equal(symlink(site.path, link_url + strlen("sqlite:")), 0);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    put_now("a", "1");
    assert_int_equal(open_code(site.url, &st), UNAVAILABLE);
    assert_contains(st.text, "in use");
    assert_contains(st.text, pid);
    assert_int_equal(open_code(link_url, &st), UNAVAILABLE);
    put_now("b", "2"); /* the attempt did no harm */
    store_close(&site.store);
    assert_int_equal(open_code(link_url, &st), OK);
    open_store();
    assert_all("a=1 b=2 ");
}

static void another_process_is_refused(void **state)
{
    fflush(NULL);
    store_close(&site.store); /* its threads would not come along */
    int ready[2], end[2];
    assert_int_equal(pipe(ready) + pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        struct status st = {0};
        byte = store_open(site.url, &st) != NULL;
        _exit(write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 1);
    }
    char byte = 0;
    struct status st;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(open_code(site.url, &st), UNAVAILABLE);
    assert_contains(st.text, "in use by process");
    assert_int_equal(write(end[1], &byte, 1), 1);
    waitpid(child, NULL, 0);
    assert_int_equal(open_code(site.url, &st), OK);
    for (int i = 0; i < 2; i++)
        close(ready[i]), close(end[i]);
}

static void a_person_may_read_meanwhile(void **state)
{
    sqlite3 *person;
    sqlite3_stmt *rows;
    put_now("a", "1");
    assert_int_equal(sqlite3_open_v2(site.path, &person, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(person, "SELECT count(*) FROM kv", -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(rows, 0), 1);
    sqlite3_finalize(rows);
    sqlite3_close(person);
    put_now("b", "2");
}

/* ---- what is not right ------------------------------------------------------------------------------------------- */

static void change_beside(const char *sql)
{
    sqlite3 *beside;
    assert_int_equal(sqlite3_open(site.path, &beside), SQLITE_OK);
    assert_int_equal(sqlite3_exec(beside, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(beside);
}

static void a_file_of_a_newer_release_is_refused(void **state)
{
    struct status st;
    store_close(&site.store);
    change_beside("PRAGMA user_version = 4");
    assert_int_equal(open_code(site.url, &st), FAILED_PRECONDITION);
    assert_contains(st.text, "version 4");
    change_beside("PRAGMA user_version = 3");
    assert_int_equal(open_code(site.url, &st), OK);
}

static void form_before_this_one(void)
{
    store_close(&site.store);
    change_beside("DROP TABLE kv; DROP TABLE large; DROP TABLE shared; PRAGMA user_version = 0"); /* marked as ours, and
                                                                                                     nothing in it */
}

static void a_file_of_the_form_before_is_brought_forward(void **state)
{
    form_before_this_one();
    open_store();
    put_now("a", "1");
    reopen();
    assert_all("a=1 ");
}

static void a_file_that_cannot_be_brought_forward_stays_as_it_was(void **state)
{
    struct status st;
    form_before_this_one();
    change_beside("CREATE TABLE kv (days TEXT); INSERT INTO kv VALUES ('monday')");
    assert_int_equal(open_code(site.url, &st), DATA_LOSS);
    assert_contains(st.text, "kv already exists");
    change_beside("INSERT INTO kv VALUES ('tuesday'); DROP TABLE kv");
    syncs_to_fail = 1;
    assert_int_equal(open_code(site.url, &st), UNAVAILABLE);
    assert_int_equal(syncs_to_fail, 0);
    open_store();
    put_now("a", "1");
    assert_all("a=1 ");
}

static void a_database_of_something_else_is_refused_and_left_alone(void **state)
{
    struct status st;
    store_close(&site.store);
    unlink(site.path);
    change_beside("CREATE TABLE days (day TEXT)");
    assert_int_equal(open_code(site.url, &st), FAILED_PRECONDITION);
    assert_contains(st.text, "something else");
    change_beside("INSERT INTO days VALUES ('monday')");
}

static void a_store_without_its_table_is_damaged(void **state)
{
    struct status st;
    store_close(&site.store);
    change_beside("DROP TABLE kv");
    assert_int_equal(open_code(site.url, &st), DATA_LOSS);
    assert_contains(st.text, "kv");
}

static void overwrite(long from, size_t size)
{
    FILE *file = fopen(site.path, "r+");
    assert_non_null(file);
    fseek(file, from, SEEK_SET);
    for (size_t i = 0; i < size; i++)
        fputc((int)(i * 7 + 1) & 0xff, file);
    fclose(file);
}

static void a_file_that_is_no_database_is_data_loss(void **state)
{
    struct status st;
    store_close(&site.store);
    overwrite(0, 4096);
    assert_int_equal(open_code(site.url, &st), DATA_LOSS);
    assert_contains(st.text, site.path);
    assert_int_equal(open_code(site.url, &st), DATA_LOSS);
}

static void put_thousand(void)
{
    struct written written;
    struct store_batch *batch = begin(&written);
    char key[16], value[200] = {0};
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%04d", i);
        store_put(batch, text_of(key), (struct store_bytes){value, sizeof value});
    }
    assert_int_equal(commit_now(&written).code, OK);
}

static void damage_inside_shows_in_the_scan_and_the_batch_that_meet_it(void **state)
{
    struct status st = {0};
    put_thousand();
    store_close(&site.store);
    overwrite(24 << 12, 6 << 12); /* leaves in the middle */
    site.store = store_open(site.url, &st);
    assert_non_null(site.store);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(scan_now(&looked)->status.code, DATA_LOSS);
    assert_contains(looked.scan.status.text, site.path);
    store_scan_fini(&looked.scan);
    struct written written;
    store_put(begin(&written), TEXT("0450"), TEXT("v"));
    assert_int_equal(commit_now(&written).code, DATA_LOSS);
    put_now("zzzz", "beside the damage");
    assert_rows(TEXT("z"), NO_END, "zzzz=beside the damage ");
}

static void a_folder_that_is_not_there_is_unavailable(void **state)
{
    struct status st;
    assert_int_equal(open_code("sqlite:/tmp/renga_nowhere/store.db", &st), UNAVAILABLE);
    assert_contains(st.text, "/tmp/renga_nowhere/store.db");
    assert_int_equal(open_code("sqlite:/tmp", &st), UNAVAILABLE);
}

/* ---- a full disk ------------------------------------------------------------------------------------------------- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_refuses_and_the_store_works_when_there_is_room(void **state)
{
    static char large[1 << 20];
    struct written written;
    put_now("before", "1");
    signal(SIGXFSZ, SIG_IGN);
    limit_files(1 << 20);
    for (int i = 0; i < 3; i++) {
        struct store_batch *batch = begin(&written);
        store_put(batch, TEXT("large"), (struct store_bytes){large, sizeof large});
        store_put(batch, TEXT("large2"), (struct store_bytes){large, sizeof large});
        struct status st = commit_now(&written);
        assert_int_equal(st.code, UNAVAILABLE);
        assert_contains(st.text, site.path);
    }
    assert_all("before=1 ");
    struct store_stats stats;
    store_stats(site.store, &stats);
    assert_int_equal(stats.failures, 3);
    limit_files(RLIM_INFINITY);
    store_put(begin(&written), TEXT("large"), (struct store_bytes){large, sizeof large});
    assert_int_equal(commit_now(&written).code, OK);
    store_delete(begin(&written), TEXT("large"));
    assert_int_equal(commit_now(&written).code, OK);
    reopen();
    assert_all("before=1 ");
    signal(SIGXFSZ, SIG_DFL);
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void a_log_that_is_long_goes_into_the_file_while_commits_go_on(void **state)
{
    static char large[1 << 20];
    struct stat log, file;
    char path[128];
    snprintf(path, sizeof path, "%s-wal", site.path);
    off_t put = 0;
    do { /* the thread that copies may wait long for a core: then it is another 100 MB */
        struct written written;
        store_put(begin(&written), (struct store_bytes){&(char){(char)('a' + (put >> 20) % 20)}, 1},
                  (struct store_bytes){large, sizeof large});
        assert_int_equal(commit_now(&written).code, OK);
        put += sizeof large;
        assert_int_equal(stat(path, &log) + stat(site.path, &file), 0);
        if (put > 120 << 20)
            usleep(10000);
    } while (put < 120 << 20 || (log.st_size > put - (20 << 20) && put < 240 << 20));
    assert_true(file.st_size >= 20 << 20);
    assert_true(log.st_size <= put - (20 << 20)); /* it began anew */
}

static void what_is_forgotten_is_soon_in_no_file_and_what_is_kept_is_still_there(void **state)
{
    struct written written;
    put_now("frog", "the old pond");
    put_now("leap", "the sound of water");
    assert_true(file_has("-wal", "the old pond"));
    store_delete(begin(&written), TEXT("frog"));
    forget_the_pond(&written);
    assert_all("leap=the sound of water ");
    put_now("frog", "jumps in");
    reopen();
    assert_all("frog=jumps in leap=the sound of water ");
}

#define ON(test) cmocka_unit_test_setup_teardown(test, set_up_sqlite, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(what_was_committed_is_there_after_a_restart),
        ON(no_batch_is_acknowledged_before_it_is_synced),
        ON(a_sync_that_fails_fails_the_batch_and_the_next_works),
        ON(the_file_is_for_its_owner_alone),
        ON(a_second_opener_is_refused_and_told_by_whom),
        ON(another_process_is_refused),
        ON(a_person_may_read_meanwhile),
        ON(a_file_of_a_newer_release_is_refused),
        ON(a_file_of_the_form_before_is_brought_forward),
        ON(a_file_that_cannot_be_brought_forward_stays_as_it_was),
        ON(a_database_of_something_else_is_refused_and_left_alone),
        ON(a_store_without_its_table_is_damaged),
        ON(a_file_that_is_no_database_is_data_loss),
        ON(damage_inside_shows_in_the_scan_and_the_batch_that_meet_it),
        ON(a_folder_that_is_not_there_is_unavailable),
        ON(a_full_disk_refuses_and_the_store_works_when_there_is_room),
        ON(a_log_that_is_long_goes_into_the_file_while_commits_go_on),
        ON(what_is_forgotten_is_soon_in_no_file_and_what_is_kept_is_still_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
