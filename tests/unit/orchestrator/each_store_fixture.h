/* The same tests on each kind of store: in memory, on SQLite, and on a Redis of the test's own. */
#ifndef RENGA_TESTS_EACH_STORE_FIXTURE_H
#define RENGA_TESTS_EACH_STORE_FIXTURE_H

#include "runner_fixture.h"

#include "redis_server.h"

static struct server stage_redis;
static char stage_redis_url[96];

static inline int set_memory(void **state)
{
    stage_url = "memory:";
    return 0;
}

static inline int set_sqlite(void **state)
{
    stage_url = "sqlite:";
    return 0;
}

static inline int set_redis(void **state)
{
    stage_redis.durable = true;
    server_start(&stage_redis, NULL);
    snprintf(stage_redis_url, sizeof stage_redis_url, "redis://127.0.0.1:%d?timeout=20000&name=damaged",
             stage_redis.port);
    stage_url = stage_redis_url;
    return 0;
}

static inline int clear_redis(void **state)
{
    server_end(&stage_redis);
    return 0;
}

static inline int run_on_each_store(const struct CMUnitTest *tests, size_t count)
{
    return _cmocka_run_group_tests("memory", tests, count, set_memory, NULL) +
           _cmocka_run_group_tests("sqlite", tests, count, set_sqlite, NULL) +
           _cmocka_run_group_tests("redis", tests, count, set_redis, clear_redis);
}

#endif
