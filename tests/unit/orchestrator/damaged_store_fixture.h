/* The stores on which damaged rows are tested: in memory, on SQLite, and on a Redis of the test's own; and how a row of
 * each loses its value while its key stays. For damaged_rows_fixture.h. */
#ifndef RENGA_TESTS_DAMAGED_STORE_FIXTURE_H
#define RENGA_TESTS_DAMAGED_STORE_FIXTURE_H

#include "runner_fixture.h"

#include <sqlite3.h>

#include "redis_server.h"

static struct server damaged_redis;
static char damaged_redis_url[96];

static int set_memory(void **state)
{
    stage_url = "memory:";
    return 0;
}

static int set_sqlite(void **state)
{
    stage_url = "sqlite:";
    return 0;
}

static int set_redis(void **state)
{
    damaged_redis.durable = true;
    server_start(&damaged_redis, NULL);
    snprintf(damaged_redis_url, sizeof damaged_redis_url, "redis://127.0.0.1:%d?timeout=20000&name=damaged",
             damaged_redis.port);
    stage_url = damaged_redis_url;
    return 0;
}

static int clear_redis(void **state)
{
    server_end(&damaged_redis);
    return 0;
}

static bool store_loses_values(void)
{
    return strcmp(stage_url, "memory:") != 0;
}

static void lose_value_on_sqlite(const char *url, struct store_bytes key)
{
    sqlite3 *beside;
    sqlite3_stmt *change;
    assert_int_equal(sqlite3_open(url + strlen("sqlite:"), &beside), SQLITE_OK);
    sqlite3_busy_timeout(beside, 10000);
    assert_int_equal(sqlite3_prepare_v2(beside, "UPDATE kv SET value = 1000000000 WHERE key = ?1", -1, &change, NULL),
                     SQLITE_OK);
    sqlite3_bind_blob(change, 1, key.bytes, (int)key.size, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(change), SQLITE_DONE);
    assert_int_equal(sqlite3_changes(beside), 1);
    sqlite3_finalize(change);
    sqlite3_close(beside);
}

static void lose_value_on_redis(struct store_bytes key)
{
    char command[1000];
    size_t size = (size_t)snprintf(command, sizeof command, "HDEL renga:{damaged}:values \"");
    for (size_t i = 0; i < key.size && size + 8 < sizeof command; i++)
        size += (size_t)snprintf(command + size, 5, "\\x%02x", ((const uint8_t *)key.bytes)[i]);
    strcpy(command + size, "\"");
    assert_memory_equal(server_say(&damaged_redis, command), ":1", 2);
}

/* While the store of `url` is open. */
static void lose_value(const char *url, struct store_bytes key)
{
    if (strncmp(url, "sqlite:", 7) == 0)
        lose_value_on_sqlite(url, key);
    else
        lose_value_on_redis(key);
}

static int run_on_each_store(const struct CMUnitTest *tests, size_t count)
{
    return _cmocka_run_group_tests("memory", tests, count, set_memory, NULL) +
           _cmocka_run_group_tests("sqlite", tests, count, set_sqlite, NULL) +
           _cmocka_run_group_tests("redis", tests, count, set_redis, clear_redis);
}

#endif
