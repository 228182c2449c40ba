/* A response cache between two loops with threads of their own, in real time: everyone asks for the same few things,
 * answers, fails, leaves. Run under TSan as well. */
#include "base/random.h"
#include "loop/loop.h"
#include "redis_server.h"
#include "response_cache_asker.h"

#include <semaphore.h>

#include "unit.h"

#define LOOPS  2
#define CALLS  24 /* at the same time in one loop */
#define ROUNDS 1500
#define KEYS   6

struct mill;

struct call {
    struct response_cache_query query; /* first */
    struct mill *mill;
    struct work turn;
    struct timer decides, leaves;
    char text[16];
    int rounds;
    bool told;
};

struct mill {
    struct loop *loop;
    struct response_cache *cache;
    struct call calls[CALLS];
    int busy;
    uint64_t results[RESPONSE_CACHE_KEY_CONFLICT + 1];
    bool spoilt;
    sem_t ended;
};

#define OF(member_pointer, member) CONTAINER_OF(member_pointer, struct call, member)

static void next(struct call *call)
{
    loop_disarm(call->mill->loop, &call->leaves);
    response_cache_release(&call->query);
    if (--call->rounds > 0)
        loop_defer(call->mill->loop, &call->turn);
    else if (--call->mill->busy == 0)
        sem_post(&call->mill->ended);
}

static void decide(struct timer *timer)
{
    struct call *call = OF(timer, decides);
    struct status st = {0};
    uint64_t dice = random_below(10);
    if (dice < 7) {
        response_cache_complete(&call->query, (const uint8_t *)call->text, strlen(call->text), dice < 3 ? 5 : 0);
    } else if (dice < 8) {
        fail(&st, UNAVAILABLE, "the dice say so");
        response_cache_fail(&call->query, &st);
    } else {
        response_cache_leave(&call->query);
    }
    next(call);
}

static void settled(struct call *call)
{
    struct response_cache_query *query = &call->query;
    call->told = true;
    loop_disarm(call->mill->loop, &call->leaves);
    call->mill->results[query->result]++;
    if (query->result == RESPONSE_CACHE_MISS) {
        loop_arm_after(call->mill->loop, &call->decides, 0);
        return;
    }
    if (query->result == RESPONSE_CACHE_HIT || query->result == RESPONSE_CACHE_COALESCED)
        call->mill->spoilt |= query->size != strlen(call->text) || memcmp(query->bytes, call->text, query->size) != 0;
    next(call);
}

static void resolved(struct response_cache_query *query)
{
    struct call *call = (struct call *)query;
    call->mill->spoilt |= call->told;
    settled(call);
}

static void leave(struct timer *timer)
{
    struct call *call = OF(timer, leaves);
    response_cache_leave(&call->query);
    next(call);
}

static void turn(struct work *work)
{
    struct call *call = OF(work, turn);
    struct loop *loop = call->mill->loop;
    memset(&call->query, 0, sizeof call->query);
    snprintf(call->text, sizeof call->text, "text-%d", (int)random_below(KEYS));
    call->query.loop = loop;
    response_cache_key_of_idempotency("tenant", call->text, &call->query.key);
    call->query.content = call->query.key;
    call->query.reads = random_below(4) != 0;
    call->query.shares = random_below(8) != 0;
    call->query.resolved = resolved;
    call->told = false;
    if (response_cache_lookup(call->mill->cache, &call->query))
        settled(call);
    else if (random_below(5) == 0)
        loop_arm_after(loop, &call->leaves, 0);
}

static void grind(const char *redis)
{
    static struct mill mills[LOOPS];
    struct status st = {0};
    /* Before a Redis there is room for so few that some are only there. */
    struct response_cache_options options = {.bytes_max = redis ? 500 : 2000, .redis = redis, .redis_timeout_ms = 1000};
    struct response_cache *cache = response_cache_create(&options, &st);
    assert_non_null(cache);
    memset(mills, 0, sizeof mills);
    for (unsigned i = 0; i < LOOPS; i++) {
        struct mill *mill = &mills[i];
        mill->loop = loop_create(i);
        mill->cache = cache;
        sem_init(&mill->ended, 0, 0);
        assert_true(loop_start(mill->loop, &st));
        loop_enter(mill->loop);
        response_cache_open(cache, mill->loop);
        loop_leave(mill->loop);
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_enter(mills[i].loop);
        for (; mills[i].busy < CALLS; mills[i].busy++) {
            struct call *call = &mills[i].calls[mills[i].busy];
            call->mill = &mills[i];
            call->rounds = ROUNDS;
            call->turn.run = turn;
            call->decides.expired = decide;
            call->leaves.expired = leave;
            loop_defer(mills[i].loop, &call->turn);
        }
        loop_leave(mills[i].loop);
    }
    for (unsigned i = 0; i < LOOPS; i++)
        while (sem_wait(&mills[i].ended) != 0)
            continue;
    struct response_cache_stats stats;
    response_cache_stats(cache, &stats);
    assert_int_equal(stats.flights, 0);
    assert_int_equal(stats.waiting, 0);
    assert_int_equal(stats.redis_kept > 0, redis != NULL);
    for (unsigned i = 0; i < LOOPS; i++) {
        struct mill *mill = &mills[i];
        loop_enter(mill->loop);
        response_cache_close(cache, mill->loop);
        loop_leave(mill->loop);
    }
    response_cache_destroy(&cache);
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_enter(mills[i].loop);
        loop_leave(mills[i].loop);
        loop_stop(mills[i].loop);
        loop_destroy(&mills[i].loop);
        assert_false(mills[i].spoilt);
        for (int result = 0; result < RESPONSE_CACHE_KEY_CONFLICT; result++)
            assert_true(mills[i].results[result] > 0);
        sem_destroy(&mills[i].ended);
    }
}

static void two_loops_share_what_is_kept_and_what_is_under_way(void **state)
{
    grind(NULL);
}

static void and_so_they_do_before_a_redis(void **state)
{
    struct server server = {0};
    char url[64];
    server_start(&server, NULL);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server.port);
    grind(url);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_loops_share_what_is_kept_and_what_is_under_way),
        cmocka_unit_test(and_so_they_do_before_a_redis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
