/* A volume that is small, or full: the store's file and its log share it. The volume is ours: calls that would make the
 * files larger than it are refused. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "store_fixture.h"

#define KIB        1024
#define MIB        (1024 * KIB)
#define BLOCK      4096
#define VALUE_SIZE (16 * KIB)

static atomic_llong volume = INT64_MAX; /* bytes */

static int64_t full_file_size(const char *end)
{
    char path[PATH_MAX];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", site.path, end);
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

static int64_t in_use(void)
{
    return full_file_size("") + full_file_size("-wal");
}

/* ---- calls of the store and SQLite in place of the C library ------------------------------------------------------
 */

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    struct stat about;
    int64_t grows = fstat(fd, &about) == 0 ? (int64_t)at + (int64_t)size - (int64_t)about.st_size : 0;
    if (grows > 0 && in_use() + grows > volume) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, size, at);
}

int statvfs(const char *path, struct statvfs *about)
{
    int64_t left = volume - in_use();
    *about = (struct statvfs){.f_bsize = BLOCK, .f_frsize = BLOCK};
    about->f_bavail = left > 0 ? (fsblkcnt_t)(left / BLOCK) : 0;
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static enum status_code last_code;

static void batch_committed(struct store_batch *batch)
{
    last_code = batch->status.code;
    store_batch_fini(batch);
}

static enum status_code full_change_row(unsigned key, bool puts)
{
    static struct store_batch batch;
    static char value[VALUE_SIZE];
    char name[16];
    memset(value, (int)('a' + key % 26), sizeof value);
    snprintf(name, sizeof name, "%08u", key);
    loop_enter(site.loop);
    store_batch_init(&batch, site.loop, batch_committed);
    if (puts)
        store_put(&batch, text_of(name), (struct store_bytes){value, sizeof value});
    else
        store_delete(&batch, text_of(name));
    store_commit(site.store, &batch);
    loop_leave(site.loop);
    store_settle(site.store);
    loop_step(site.loop, 0);
    return last_code;
}

static int set_up_volume(void **state)
{
    volume = INT64_MAX;
    set_up(SITE_SQLITE);
    volume = 8 * MIB;
    return 0;
}

static int set_up_last_room(void **state)
{
    volume = 2 * MIB;
    set_up(SITE_SQLITE);
    return 0;
}

static int tear_down_volume(void **state)
{
    volume = INT64_MAX;
    return tear_down(state);
}

/* Until the volume is full; how many there are. */
static unsigned full_fill_volume(void)
{
    unsigned key = 0;
    while (full_change_row(key, true) == OK)
        key++;
    assert_int_equal(last_code, UNAVAILABLE);
    return key;
}

static void a_log_that_would_fill_a_small_volume_is_copied_before(void **state)
{
    for (unsigned i = 0; i < 1000; i++) /* 16 MiB through 8 */
        if (full_change_row(i % 16, true) != OK)
            fail_msg("write %u: the file has %lld bytes, the log %lld", i, (long long)full_file_size(""),
                     (long long)full_file_size("-wal"));
}

static void most_of_a_small_volume_is_for_rows(void **state)
{
    assert_true(full_fill_volume() * (int64_t)VALUE_SIZE > 4 * MIB);
}

static void a_full_volume_takes_rows_again_when_it_has_room(void **state)
{
    unsigned rows = full_fill_volume();
    for (int i = 0; i < 20; i++)
        assert_int_equal(full_change_row(rows, true), UNAVAILABLE);
    volume = 12 * MIB;
    unsigned more = 0;
    while (more < 100 && full_change_row(rows + more, true) == OK)
        more++;
    assert_int_equal(more, 100);
}

static void rows_of_a_full_volume_can_be_deleted_and_their_room_is_used_again(void **state)
{
    unsigned rows = full_fill_volume();
    for (unsigned key = 0; key < rows; key++)
        if (full_change_row(key, false) != OK && full_change_row(key, false) != OK)
            fail_msg("row %u of %u cannot be deleted; the file has %lld bytes, the log %lld", key, rows,
                     (long long)full_file_size(""), (long long)full_file_size("-wal"));
    for (unsigned key = 0; key < rows / 2; key++)
        assert_int_equal(full_change_row(key, true), OK);
}

/* A neighbour's log, too: the rest is what deletions need, here and there. */
static void a_log_leaves_the_last_room_of_its_volume_to_others(void **state)
{
    assert_int_equal(full_change_row(1, true), OK);
    assert_true(volume - in_use() > MIB);
}

static size_t rows_there;

static void rows_counted(struct store_scan *scan)
{
    assert_int_equal(scan->status.code, OK);
    rows_there = scan->count;
    store_scan_fini(scan);
}

static void rows_that_a_full_volume_has_acknowledged_are_there(void **state)
{
    static struct store_scan scan;
    unsigned rows = full_fill_volume();
    store_close(&site.store);
    open_store();
    loop_enter(site.loop);
    store_scan_init(&scan, site.loop, rows_counted);
    store_scan(site.store, &scan);
    loop_leave(site.loop);
    store_settle(site.store);
    loop_step(site.loop, 0);
    assert_true(rows_there >= rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_log_that_would_fill_a_small_volume_is_copied_before, set_up_volume,
                                        tear_down_volume),
        cmocka_unit_test_setup_teardown(most_of_a_small_volume_is_for_rows, set_up_volume, tear_down_volume),
        cmocka_unit_test_setup_teardown(a_full_volume_takes_rows_again_when_it_has_room, set_up_volume,
                                        tear_down_volume),
        cmocka_unit_test_setup_teardown(rows_of_a_full_volume_can_be_deleted_and_their_room_is_used_again,
                                        set_up_volume, tear_down_volume),
        cmocka_unit_test_setup_teardown(a_log_leaves_the_last_room_of_its_volume_to_others, set_up_last_room,
                                        tear_down_volume),
        cmocka_unit_test_setup_teardown(rows_that_a_full_volume_has_acknowledged_are_there, set_up_volume,
                                        tear_down_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
