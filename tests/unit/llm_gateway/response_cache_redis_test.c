/* Kept answers in a real Redis: found by another gateway, in time, shared meanwhile. */
#include "unit.h"

#include "response_cache_redis_fixture.h"

/* ---- kept -------------------------------------------------------------------------------------------------------- */

static void what_one_gateway_keeps_another_finds(void **state)
{
    struct asker asker = asker_of(loop, "k");
    assert_int_equal(result_of(theirs, "k"), RESPONSE_CACHE_MISS);
    keep(ours, asker, "k", "text", MINUTE_MS);
    assert_int_equal(ask(theirs, &asker), RESPONSE_CACHE_HIT);
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, "text"));
    response_cache_release(&asker.query);
    assert_int_equal(failures(ours) + failures(theirs), 0);
}

static void a_gateway_that_has_just_started_knows_what_was_kept_before(void **state)
{
    struct asker asker = asker_of(loop, "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    struct response_cache *fresh = open_cache(0);
    assert_int_equal(ask(fresh, &asker), RESPONSE_CACHE_HIT);
    response_cache_release(&asker.query);
    shut(&fresh);
}

static void redis_forgets_it_after_its_time(void **state)
{
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    int left_ms = atoi(say("PTTL %s", "k") + 1);
    assert_in_range(left_ms, 1, MINUTE_MS);
    keep(ours, asker_of(loop, "short"), "short", "text", 1500);
    assert_int_equal(result_of(theirs, "short"), RESPONSE_CACHE_HIT);
    usleep(1600000);
    assert_int_equal(result_of(theirs, "short"), RESPONSE_CACHE_MISS);
}

static void age_is_counted_from_when_it_was_made(void **state)
{
    struct asker asker = asker_of(loop, "k");
    keep(ours, asker, "k", "text", MINUTE_MS);
    usleep(30000);
    asker.query.max_age_ms = 20;
    assert_int_equal(ask(theirs, &asker), RESPONSE_CACHE_MISS);
    asker_leave(&asker);
    asker.query.max_age_ms = MINUTE_MS;
    assert_int_equal(ask(theirs, &asker), RESPONSE_CACHE_HIT);
    asker_leave(&asker);
}

static void a_word_holds_between_gateways(void **state)
{
    struct asker first = asker_of_idempotency_key(loop, "w", "question"),
                 other = asker_of_idempotency_key(loop, "w", "another");
    keep(ours, first, "w", "text", IDEMPOTENCY_KEY_MS);
    assert_int_equal(ask(theirs, &first), RESPONSE_CACHE_HIT);
    asker_leave(&first);
    assert_int_equal(ask(theirs, &other), RESPONSE_CACHE_KEY_CONFLICT);
    asker_leave(&other);
}

static void what_came_from_redis_is_kept_in_memory_for_what_is_left_of_its_time(void **state)
{
    struct response_cache *near = open_cache(1 << 20);
    keep(ours, asker_of(loop, "k"), "k", "text", MINUTE_MS);
    assert_int_equal(result_of(near, "k"), RESPONSE_CACHE_HIT);
    say("DEL %s", "k");
    struct asker asker = asker_of(loop, "k");
    assert_true(asker_ask(near, &asker));
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, "text"));
    asker_leave(&asker);
    clock_step(MINUTE_MS * NS_PER_MS);
    assert_int_equal(result_of(near, "k"), RESPONSE_CACHE_MISS);
    shut(&near);
}

static void a_large_answer_comes_back_as_it_was_and_one_too_large_is_not_sent(void **state)
{
    static char text[(1 << 20) + 1];
    struct asker asker = asker_of(loop, "k"), larger = asker_of(loop, "larger");
    memset(text, 'x', sizeof text - 1);
    larger.query.reads = false;
    asker_ask(ours, &larger);
    asker_answer(&larger, text, MINUTE_MS);
    text[900000] = '\0';
    keep(ours, asker, "k", text, MINUTE_MS);
    assert_int_equal(ask(theirs, &asker), RESPONSE_CACHE_HIT);
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, text));
    response_cache_release(&asker.query);
    assert_string_equal(say("EXISTS %s", "larger"), ":0\r\n");
    assert_int_equal(failures(ours) + failures(theirs), 0);
}

static void who_asks_while_redis_is_asked_shares_the_answer_in_the_end(void **state)
{
    struct asker first = asker_of(loop, "k"), second = asker_of(loop, "k");
    assert_false(asker_ask(ours, &first));
    assert_false(asker_ask(ours, &second));
    assert_true(is_told(&first));
    assert_int_equal(first.query.result, RESPONSE_CACHE_MISS);
    asker_answer(&first, "text", 0);
    assert_true(is_told(&second));
    assert_true(asker_has(&second, RESPONSE_CACHE_COALESCED, "text"));
    response_cache_release(&second.query);
}

static void who_leaves_while_redis_is_asked_is_not_told(void **state)
{
    struct asker *asker = malloc(sizeof *asker);
    *asker = asker_of(loop, "k");
    assert_false(asker_ask(ours, asker));
    asker_leave(asker);
    free(asker);
    assert_int_equal(result_of(ours, "other"), RESPONSE_CACHE_MISS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_one_gateway_keeps_another_finds),
        TEST(a_gateway_that_has_just_started_knows_what_was_kept_before),
        TEST(redis_forgets_it_after_its_time),
        TEST(age_is_counted_from_when_it_was_made),
        TEST(a_word_holds_between_gateways),
        TEST(what_came_from_redis_is_kept_in_memory_for_what_is_left_of_its_time),
        TEST(a_large_answer_comes_back_as_it_was_and_one_too_large_is_not_sent),
        TEST(who_asks_while_redis_is_asked_shares_the_answer_in_the_end),
        TEST(who_leaves_while_redis_is_asked_is_not_told),
    };
    return cmocka_run_group_tests(tests, start, end);
}
