/* How a row of a store loses its value while its key stays. For damaged_rows_fixture.h. */
#ifndef RENGA_TESTS_DAMAGED_STORE_FIXTURE_H
#define RENGA_TESTS_DAMAGED_STORE_FIXTURE_H

#include "each_store_fixture.h"

#include <sqlite3.h>

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
    assert_memory_equal(server_say(&stage_redis, command), ":1", 2);
}

/* While the store of `url` is open. */
static void lose_value(const char *url, struct store_bytes key)
{
    if (strncmp(url, "sqlite:", 7) == 0)
        lose_value_on_sqlite(url, key);
    else
        lose_value_on_redis(key);
}

#endif
