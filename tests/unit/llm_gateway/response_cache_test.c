/* What is kept, what is shared, what is promised to an idempotency key; in memory, on a stopped clock. */
#include "base/clock.h"
#include "cache/response_cache.h"
#include "loop/loop.h"
#include "response_cache_asker.h"

#include <stdio.h>

#include "unit.h"

#define MINUTE_MS 60000

static struct loop *loops[2];
static struct response_cache *cache;

static void open_cache(size_t bytes_max)
{
    struct status st = {0};
    cache = response_cache_create(&(struct response_cache_options){.bytes_max = bytes_max}, &st);
    assert_non_null(cache);
    for (int i = 0; i < 2; i++) {
        loops[i] = loop_create((unsigned)i);
        loop_enter(loops[i]);
        response_cache_open(cache, loops[i]);
        loop_leave(loops[i]);
    }
}

static int set_up(void **state)
{
    open_cache(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    for (int i = 0; i < 2; i++) {
        loop_enter(loops[i]);
        response_cache_close(cache, loops[i]);
        loop_leave(loops[i]);
        loop_step(loops[i], 0); /* what was posted to a closed lane frees itself */
        loop_destroy(&loops[i]);
    }
    response_cache_destroy(&cache);
    return 0;
}

static void keep(const char *key, const char *text, int64_t keep_ms)
{
    struct asker asker = asker_of(loops[0], key);
    asker.query.reads = false;
    assert_true(asker_ask(cache, &asker));
    assert_int_equal(asker.query.result, RESPONSE_CACHE_MISS);
    asker_answer(&asker, text, keep_ms);
}

static enum response_cache_result result_of(const char *key)
{
    struct asker asker = asker_of(loops[0], key);
    assert_true(asker_ask(cache, &asker));
    asker_leave(&asker);
    return asker.query.result;
}

/* ---- kept -------------------------------------------------------------------------------------------------------- */

static void an_answer_is_kept_for_its_time_and_no_longer(void **state)
{
    struct asker asker = asker_of(loops[0], "k");
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
    keep("k", "text", MINUTE_MS);
    clock_step((MINUTE_MS - 1) * NS_PER_MS);
    assert_true(asker_ask(cache, &asker));
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, "text"));
    response_cache_release(&asker.query);
    assert_null(asker.query.bytes);
    clock_step(NS_PER_MS);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
    struct response_cache_stats stats;
    response_cache_stats(cache, &stats);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.bytes, 0);
}

static void who_wants_it_younger_gets_nothing_and_the_others_still_get_it(void **state)
{
    struct asker asker = asker_of(loops[0], "k");
    keep("k", "text", MINUTE_MS);
    clock_step(1000 * NS_PER_MS);
    asker.query.max_age_ms = 999;
    assert_true(asker_ask(cache, &asker));
    assert_int_equal(asker.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&asker);
    asker.query.max_age_ms = 1000;
    assert_true(asker_ask(cache, &asker));
    assert_int_equal(asker.query.result, RESPONSE_CACHE_HIT);
    asker_leave(&asker);
}

static void who_does_not_read_is_not_given_what_is_kept(void **state)
{
    struct asker asker = asker_of(loops[0], "k");
    keep("k", "text", MINUTE_MS);
    asker.query.reads = false;
    assert_true(asker_ask(cache, &asker));
    assert_int_equal(asker.query.result, RESPONSE_CACHE_MISS);
    asker_answer(&asker, "newer", MINUTE_MS);
    asker.query.reads = true;
    assert_true(asker_ask(cache, &asker));
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, "newer"));
    asker_leave(&asker);
}

static void an_answer_without_a_time_is_not_kept(void **state)
{
    keep("k", "text", 0);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
}

static void the_least_recently_used_goes_first(void **state)
{
    char key[16], text[4001] = "";
    struct response_cache_stats stats;
    memset(text, 'x', sizeof text - 1);
    tear_down(NULL);
    open_cache(40000); /* nine of them */
    for (int i = 0; i < 9; i++) {
        snprintf(key, sizeof key, "k%d", i);
        keep(key, text, MINUTE_MS);
    }
    assert_int_equal(result_of("k0"), RESPONSE_CACHE_HIT);
    keep("k9", text, MINUTE_MS);
    assert_int_equal(result_of("k0"), RESPONSE_CACHE_HIT);
    assert_int_equal(result_of("k1"), RESPONSE_CACHE_MISS);
    assert_int_equal(result_of("k2"), RESPONSE_CACHE_HIT);
    response_cache_stats(cache, &stats);
    assert_int_equal(stats.evicted, 1);
    assert_int_equal(stats.entries, 9);
    assert_true(stats.bytes <= 40000);
}

static void what_is_thrown_out_can_still_be_read_by_who_has_it(void **state)
{
    char text[4001] = "";
    struct asker asker = asker_of(loops[0], "k");
    memset(text, 'x', sizeof text - 1);
    tear_down(NULL);
    open_cache(6000);
    asker.query.loop = loops[0];
    keep("k", text, MINUTE_MS);
    assert_true(asker_ask(cache, &asker));
    keep("other", text, MINUTE_MS);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
    assert_true(asker_has(&asker, RESPONSE_CACHE_HIT, text));
    response_cache_release(&asker.query);
}

static void an_answer_larger_than_the_bound_throws_nothing_out(void **state)
{
    static char text[70000];
    memset(text, 'x', sizeof text - 1);
    tear_down(NULL);
    open_cache(64 << 10);
    keep("small", "text", MINUTE_MS);
    keep("large", text, MINUTE_MS);
    assert_int_equal(result_of("large"), RESPONSE_CACHE_MISS);
    assert_int_equal(result_of("small"), RESPONSE_CACHE_HIT);
}

static void without_a_bound_nothing_is_kept_and_what_is_under_way_is_shared(void **state)
{
    tear_down(NULL);
    open_cache(0);
    struct asker leads = asker_of(loops[0], "k"), waits = asker_of(loops[0], "k");
    assert_true(asker_ask(cache, &leads));
    assert_false(asker_ask(cache, &waits));
    asker_answer(&leads, "text", MINUTE_MS);
    loop_step(loops[0], 0);
    assert_true(asker_has(&waits, RESPONSE_CACHE_COALESCED, "text"));
    response_cache_release(&waits.query);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
}

/* ---- shared ------------------------------------------------------------------------------------------------------ */

static void what_is_under_way_is_shared_over_loops(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), here = asker_of(loops[0], "k"), there = asker_of(loops[1], "k");
    struct asker also = there;
    assert_true(asker_ask(cache, &leads));
    assert_int_equal(leads.query.result, RESPONSE_CACHE_MISS);
    assert_false(asker_ask(cache, &here));
    assert_false(asker_ask(cache, &there));
    assert_false(asker_ask(cache, &also));
    asker_answer(&leads, "text", 0);
    loop_step(loops[0], 0);
    assert_int_equal(here.told, 1);
    assert_int_equal(there.told, 0); /* its own loop has not come round */
    loop_step(loops[1], 0);
    assert_int_equal(there.told, 1);
    assert_int_equal(also.told, 1);
    response_cache_release(&also.query);
    assert_true(asker_has(&here, RESPONSE_CACHE_COALESCED, "text"));
    assert_true(asker_has(&there, RESPONSE_CACHE_COALESCED, "text"));
    assert_ptr_equal(here.query.bytes, there.query.bytes); /* no copies */
    response_cache_release(&here.query);
    assert_true(asker_has(&there, RESPONSE_CACHE_COALESCED, "text"));
    response_cache_release(&there.query);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
}

static void who_does_not_share_leads_alone(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), alone = asker_of(loops[0], "k"), also = asker_of(loops[0], "k");
    alone.query.shares = also.query.shares = false;
    assert_true(asker_ask(cache, &leads));
    assert_true(asker_ask(cache, &alone));
    assert_true(asker_ask(cache, &also));
    assert_int_equal(alone.query.result, RESPONSE_CACHE_MISS);
    asker_answer(&alone, "text", MINUTE_MS);
    asker_leave(&also);
    struct response_cache_stats stats;
    response_cache_stats(cache, &stats);
    assert_int_equal(stats.flights, 1);
    asker_leave(&leads);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_HIT);
}

static void a_failure_is_that_of_all_who_wait_and_is_not_kept(void **state)
{
    struct status st = {0};
    struct asker leads = asker_of(loops[0], "k"), waits = asker_of(loops[1], "k");
    fail(&st, UNAVAILABLE, "all deployments failed");
    st.retry_after_ms = 700;
    asker_ask(cache, &leads);
    asker_ask(cache, &waits);
    loop_enter(loops[0]);
    response_cache_fail(&leads.query, &st);
    loop_leave(loops[0]);
    loop_step(loops[1], 0);
    assert_int_equal(waits.query.result, RESPONSE_CACHE_FAILED);
    assert_int_equal(waits.query.status.code, UNAVAILABLE);
    assert_string_equal(waits.query.status.text, "all deployments failed");
    assert_int_equal(waits.query.status.retry_after_ms, 700);
    response_cache_release(&waits.query);
    assert_int_equal(result_of("k"), RESPONSE_CACHE_MISS);
}

static void when_the_one_that_leads_leaves_the_next_leads(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), next = asker_of(loops[1], "k"), last = asker_of(loops[0], "k");
    asker_ask(cache, &leads);
    asker_ask(cache, &next);
    asker_ask(cache, &last);
    asker_leave(&leads);
    loop_step(loops[0], 0);
    loop_step(loops[1], 0);
    assert_int_equal(next.told, 1);
    assert_int_equal(next.query.result, RESPONSE_CACHE_MISS);
    assert_int_equal(last.told, 0);
    asker_answer(&next, "text", 0);
    loop_step(loops[0], 0);
    assert_true(asker_has(&last, RESPONSE_CACHE_COALESCED, "text"));
    response_cache_release(&last.query);
    assert_int_equal(leads.told, 0);
}

static void one_that_was_to_lead_and_leaves_before_it_knew_passes_it_on(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), next = asker_of(loops[1], "k"), last = asker_of(loops[0], "k");
    asker_ask(cache, &leads);
    asker_ask(cache, &next);
    asker_ask(cache, &last);
    asker_leave(&leads);
    asker_leave(&next);
    loop_step(loops[1], 0);
    loop_step(loops[0], 0);
    assert_int_equal(next.told, 0);
    assert_int_equal(last.told, 1);
    assert_int_equal(last.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&last);
    struct response_cache_stats stats;
    response_cache_stats(cache, &stats);
    assert_int_equal(stats.flights, 0);
    assert_int_equal(stats.waiting, 0);
}

static void one_that_leaves_with_its_answer_on_the_way_is_not_told(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), *waits = malloc(sizeof *waits);
    *waits = asker_of(loops[1], "k");
    asker_ask(cache, &leads);
    asker_ask(cache, waits);
    asker_answer(&leads, "text", 0);
    asker_leave(waits);
    free(waits); /* its memory is gone when the loop comes round */
    loop_step(loops[1], 0);
}

static void one_that_waits_may_leave(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), waits = asker_of(loops[1], "k");
    asker_ask(cache, &leads);
    asker_ask(cache, &waits);
    asker_leave(&waits);
    asker_answer(&leads, "text", 0);
    loop_step(loops[1], 0);
    assert_int_equal(waits.told, 0);
}

static void a_loop_may_close_while_it_is_to_be_woken(void **state)
{
    struct asker leads = asker_of(loops[0], "k"), waits = asker_of(loops[1], "k");
    asker_ask(cache, &leads);
    asker_ask(cache, &waits);
    asker_answer(&leads, "text", 0);
    asker_leave(&waits); /* tear_down closes with the work still posted */
}

/* ---- idempotency keys -------------------------------------------------------------------------------------------- */

static void a_word_is_answered_once_and_repeated_for_ten_minutes(void **state)
{
    struct asker first = asker_of_idempotency_key(loops[0], "w", "question"),
                 again = asker_of_idempotency_key(loops[1], "w", "question");
    assert_true(asker_ask(cache, &first));
    assert_false(asker_ask(cache, &again));
    asker_answer(&first, "text", IDEMPOTENCY_KEY_MS);
    loop_step(loops[1], 0);
    assert_true(asker_has(&again, RESPONSE_CACHE_COALESCED, "text"));
    asker_leave(&again);
    clock_step((IDEMPOTENCY_KEY_MS - 1) * NS_PER_MS);
    assert_true(asker_ask(cache, &again));
    assert_true(asker_has(&again, RESPONSE_CACHE_HIT, "text"));
    asker_leave(&again);
    clock_step(NS_PER_MS);
    assert_true(asker_ask(cache, &again));
    assert_int_equal(again.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&again);
}

static void a_word_for_another_request_is_refused_while_it_is_under_way_and_later(void **state)
{
    struct asker first = asker_of_idempotency_key(loops[0], "w", "question"),
                 other = asker_of_idempotency_key(loops[1], "w", "another");
    assert_true(asker_ask(cache, &first));
    assert_true(asker_ask(cache, &other));
    assert_int_equal(other.query.result, RESPONSE_CACHE_KEY_CONFLICT);
    asker_answer(&first, "text", IDEMPOTENCY_KEY_MS);
    assert_true(asker_ask(cache, &other));
    assert_int_equal(other.query.result, RESPONSE_CACHE_KEY_CONFLICT);
    assert_null(other.query.bytes);
    asker_leave(&other);
}

static void a_word_whose_call_failed_is_free_again(void **state)
{
    struct status st = {0};
    struct asker first = asker_of_idempotency_key(loops[0], "w", "question"),
                 other = asker_of_idempotency_key(loops[1], "w", "another");
    fail(&st, UNAVAILABLE, "gone");
    asker_ask(cache, &first);
    response_cache_fail(&first.query, &st);
    assert_true(asker_ask(cache, &other));
    assert_int_equal(other.query.result, RESPONSE_CACHE_MISS);
    asker_leave(&other);
}

static int stop_time(void **state)
{
    clock_stop();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_is_kept_for_its_time_and_no_longer),
        TEST(who_wants_it_younger_gets_nothing_and_the_others_still_get_it),
        TEST(who_does_not_read_is_not_given_what_is_kept),
        TEST(an_answer_without_a_time_is_not_kept),
        TEST(the_least_recently_used_goes_first),
        TEST(what_is_thrown_out_can_still_be_read_by_who_has_it),
        TEST(an_answer_larger_than_the_bound_throws_nothing_out),
        TEST(without_a_bound_nothing_is_kept_and_what_is_under_way_is_shared),
        TEST(what_is_under_way_is_shared_over_loops),
        TEST(who_does_not_share_leads_alone),
        TEST(a_failure_is_that_of_all_who_wait_and_is_not_kept),
        TEST(when_the_one_that_leads_leaves_the_next_leads),
        TEST(one_that_was_to_lead_and_leaves_before_it_knew_passes_it_on),
        TEST(one_that_leaves_with_its_answer_on_the_way_is_not_told),
        TEST(one_that_waits_may_leave),
        TEST(a_loop_may_close_while_it_is_to_be_woken),
        TEST(a_word_is_answered_once_and_repeated_for_ten_minutes),
        TEST(a_word_for_another_request_is_refused_while_it_is_under_way_and_later),
        TEST(a_word_whose_call_failed_is_free_again),
    };
    return cmocka_run_group_tests(tests, stop_time, NULL);
}
