/* Deleted text leaves Redis's append-only file, also if the process ends before that. */
#include <dirent.h>
#include <time.h>

#include "store_fixture.h"

#define POND "the old pond"

static bool file_has_pond(const char *path)
{
    static char bytes[4 << 20];
    FILE *file = fopen(path, "r");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    return memmem(bytes, size, POND, strlen(POND)) != NULL;
}

static bool redis_has_pond(void)
{
    char folder[128], path[512];
    snprintf(folder, sizeof folder, "%s/appendonlydir", redis.folder);
    DIR *files = opendir(folder);
    assert_non_null(files);
    bool has = false;
    for (struct dirent *one; (one = readdir(files)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        has = has || file_has_pond(path);
    }
    closedir(files);
    return has;
}

/* Without writes meanwhile. */
static void await_no_pond(void)
{
    for (int i = 0; i < 3000 && redis_has_pond(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_false(redis_has_pond());
}

static void forget_row(const char *key)
{
    struct written written;
    store_delete(begin(&written), text_of(key));
    store_forget(&written.batch);
    assert_int_equal(commit_now(&written).code, OK);
}

/* The second comes within the time in which the file is not written anew once more. */
static void forget_twice(void)
{
    put_now("first", POND);
    forget_row("first");
    await_no_pond();
    put_now("second", POND);
    forget_row("second");
    assert_true(redis_has_pond());
}

static void deleted_text_leaves_the_file_though_nobody_writes_any_more(void **state)
{
    forget_twice();
    await_no_pond();
}

static void deleted_text_leaves_the_file_when_the_store_is_opened_again(void **state)
{
    forget_twice();
    store_close(&site.store);
    assert_true(redis_has_pond());
    open_store();
    await_no_pond();
}

static void and_when_redis_is_killed_meanwhile(void **state)
{
    forget_twice();
    store_close(&site.store);
    server_kill(&redis);
    server_run(&redis);
    assert_true(redis_has_pond());
    open_store();
    await_no_pond();
}

static void the_mark_goes_when_all_is_forgotten(void **state)
{
    char command[128];
    const char *name = strstr(site.url, "name=") + strlen("name=");
    snprintf(command, sizeof command, "HEXISTS renga:{%s}:writers forget", name);
    put_now("first", POND);
    forget_row("first");
    for (int i = 0; i < 3000 && strncmp(server_say(&redis, command), ":0", 2) != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_string_equal(strtok((char *)(uintptr_t)server_say(&redis, command), "\r"), ":0");
    await_no_pond();
}

static int end_redis(void **state)
{
    server_end(&redis);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deleted_text_leaves_the_file_though_nobody_writes_any_more, set_up_redis,
                                        tear_down),
        cmocka_unit_test_setup_teardown(deleted_text_leaves_the_file_when_the_store_is_opened_again, set_up_redis,
                                        tear_down),
        cmocka_unit_test_setup_teardown(and_when_redis_is_killed_meanwhile, set_up_redis, tear_down),
        cmocka_unit_test_setup_teardown(the_mark_goes_when_all_is_forgotten, set_up_redis, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, end_redis);
}
