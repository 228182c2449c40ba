/* Two gateways on a stopped clock, and a real Redis between them. Include after unit.h. */
#ifndef RENGA_TESTS_RESPONSE_CACHE_REDIS_FIXTURE_H
#define RENGA_TESTS_RESPONSE_CACHE_REDIS_FIXTURE_H

#include "base/clock.h"
#include "cache/response_cache.h"
#include "loop/loop.h"
#include "redis_server.h"
#include "response_cache_asker.h"
#include "unit.h"

#define MINUTE_MS 60000
#define TRIES     4000 /* of a millisecond of real time, until something has come over the socket */

static struct loop *loop;
static struct server server;
static struct response_cache *ours, *theirs; /* two gateways */

static inline struct response_cache *open_to(const char *url, size_t bytes_max)
{
    struct status st = {0};
    struct response_cache *cache =
        response_cache_create(&(struct response_cache_options){.bytes_max = bytes_max, .redis = url}, &st);
    assert_non_null(cache);
    loop_enter(loop);
    response_cache_open(cache, loop);
    loop_leave(loop);
    return cache;
}

static inline struct response_cache *open_cache(size_t bytes_max)
{
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server.port);
    return open_to(url, bytes_max);
}

static inline void shut(struct response_cache **cache)
{
    loop_enter(loop);
    response_cache_close(*cache, loop);
    loop_leave(loop);
    response_cache_destroy(cache);
}

static inline int set_up(void **state)
{
    loop = loop_create(0);
    if (server.pid == 0)
        server_run(&server);
    server_say(&server, "FLUSHALL");
    ours = open_cache(0);
    theirs = open_cache(0);
    return 0;
}

static inline int tear_down(void **state)
{
    shut(&ours);
    shut(&theirs);
    loop_destroy(&loop);
    return 0;
}

static inline bool is_told(const struct asker *asker)
{
    for (int i = 0; i < TRIES && !asker->told; i++) {
        loop_step(loop, 0);
        usleep(asker->told ? 0 : 1000);
    }
    return asker->told == 1;
}

/* Asks, and waits for what Redis says. */
static inline enum response_cache_result ask(struct response_cache *cache, struct asker *asker)
{
    asker->told = 0;
    if (!asker_ask(cache, asker))
        assert_true(is_told(asker));
    return asker->query.result;
}

static inline enum response_cache_result result_of(struct response_cache *cache, const char *key)
{
    struct asker asker = asker_of(loop, key);
    loop_step(loop, 0);
    enum response_cache_result result = ask(cache, &asker);
    asker_leave(&asker);
    return result;
}

static inline void name_of(const char *key, char name[128])
{
    struct response_cache_key hash;
    int size = snprintf(name, 128, "renga:recall:");
    response_cache_key_of_idempotency("tenant", key, &hash);
    for (size_t i = 0; i < RESPONSE_CACHE_KEY_SIZE; i++)
        size += snprintf(name + size, 128 - (size_t)size, "%02x", hash.bytes[i]);
}

static const char *say(const char *format, const char *key)
{
    char name[128], command[512];
    name_of(key, name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, format, name);
#pragma GCC diagnostic pop
    return server_say(&server, command);
}

/* Kept by `cache`; returns when Redis has it. */
static inline void keep(struct response_cache *cache, struct asker asker, const char *key, const char *text,
                        int64_t keep_ms)
{
    asker.query.reads = false;
    assert_true(asker_ask(cache, &asker));
    asker_answer(&asker, text, keep_ms);
    bool there = false;
    for (int i = 0; i < TRIES && !there; i++) {
        loop_step(loop, 0);
        usleep(1000);
        there = strncmp(say("EXISTS %s", key), ":1", 2) == 0;
    }
    assert_true(there);
}

static inline uint64_t failures(struct response_cache *cache)
{
    struct response_cache_stats stats;
    response_cache_stats(cache, &stats);
    return stats.failures;
}

/* Lets `ms` go by, and what comes over the socket come. */
static inline void pass(int64_t ms)
{
    for (int64_t passed = 0; passed < ms; passed += 20) {
        loop_step(loop, 20);
        usleep(300);
    }
}

static inline int start(void **state)
{
    clock_stop();
    server_start(&server, NULL);
    return 0;
}

static inline int end(void **state)
{
    server_end(&server);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
