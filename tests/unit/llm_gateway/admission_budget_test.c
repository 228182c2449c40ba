/* The admission's budgets: requests and tokens of a minute, money of a day. */
#include "admission_callers.h"

#define CALLERS 64

static struct caller callers[CALLERS];

/* How many of the callers came in at once. */
static unsigned all_enter(const char *client, int64_t tokens, int64_t micros)
{
    unsigned inside = 0;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = caller_of(client, ADMISSION_NORMAL);
        callers[i].ticket.tokens = tokens;
        callers[i].ticket.micros = micros;
        inside += enter(&callers[i]) == ADMISSION_ADMITTED;
    }
    return inside;
}

static void all_leave(int64_t tokens, int64_t micros)
{
    for (int i = 0; i < CALLERS; i++)
        if (callers[i].inside)
            leave_with(&callers[i], tokens, micros);
}

static void callers_at_once_never_get_past_the_tokens_of_a_minute(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 9999}, (struct limits){0});
    assert_int_equal(all_enter("a", 1000, 0), 9);
    all_leave(1000, 0);
    assert_int_equal(all_enter("a", 1000, 0), 0);
    assert_int_equal(stats().refused_rate, 55 + 64);
}

static void callers_at_once_never_get_past_the_money_of_a_day(void **state)
{
    open_admission_for_all((struct limits){0}, (struct limits){.micros_per_day = 70500});
    assert_int_equal(all_enter("a", 0, 5000), 14);
    all_leave(0, 5000);
    assert_int_equal(all_enter("b", 0, 501), 0); /* of the same tenant */
    assert_int_equal(all_enter("b", 0, 500), 1);
    all_leave(0, 500);
    assert_int_equal(stats().refused_money, 50 + 64 + 63);
}

static void a_minute_of_requests_is_all_there_and_no_more(void **state)
{
    open_admission_for_all((struct limits){.requests_per_minute = 7}, (struct limits){0});
    assert_int_equal(all_enter("a", 0, 0), 7);
    assert_int_equal(callers[63].ticket.status.code, RESOURCE_EXHAUSTED);
    assert_string_equal(callers[63].ticket.exhausted, "client/requests_per_minute");
    assert_string_equal(admission_exhausted_by(&callers[63].ticket), "a");
    assert_string_equal(callers[63].ticket.status.text,
                        "client 'a' has 7 requests a minute, of which 0 are left and this "
                        "request may need 1; come back in 8.6 s");
    all_leave(0, 0);
    loop_step(loop, 60000);
    assert_int_equal(all_enter("a", 0, 0), 7);
    all_leave(0, 0);
}

static void who_comes_back_when_told_to_is_let_in(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 90000}, (struct limits){0});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.tokens = 88765;
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    leave(&a);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    int32_t wait_ms = a.ticket.status.retry_after_ms;
    assert_in_range(wait_ms, 58000, 59000);
    loop_step(loop, wait_ms - 1);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    loop_step(loop, 1);
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    leave(&a);
}

static void what_was_reserved_and_not_used_comes_back(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 10000, .micros_per_day = 10000}, (struct limits){0});
    for (int i = 0; i < 50; i++) {
        struct caller a = caller_of("a", ADMISSION_NORMAL);
        a.ticket.tokens = a.ticket.micros = 5100;
        assert_int_equal(enter(&a), ADMISSION_ADMITTED);
        leave_with(&a, 98, 98);
    }
    assert_int_equal(all_enter("a", 5100, 5100), 1); /* 50 times 98 are gone, and no more */
    all_leave(5100, 5100);
}

static void too_low_an_estimate_is_a_debt(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 6000}, (struct limits){0});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.tokens = 10;
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    loop_step(loop, 300000); /* full again, had the estimate been right */
    leave_with(&a, 12010, 0);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    assert_int_equal(a.ticket.status.retry_after_ms, 60100); /* 6,000 owed, and the 10 it asks for */
}

static void no_count_of_a_provider_locks_a_client_out_for_good(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 1}, (struct limits){0});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    leave_with(&a, INT64_MAX, INT64_MAX);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    assert_in_range(a.ticket.status.retry_after_ms, 1, 3600000);
    loop_step(loop, a.ticket.status.retry_after_ms);
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    leave_with(&a, INT64_MIN, INT64_MIN);
}

static void more_than_there_ever_is_has_no_retry_hint(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 8000}, (struct limits){.micros_per_day = 100});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.tokens = 8001;
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    assert_int_equal(a.ticket.status.retry_after_ms, 0);
    assert_string_equal(a.ticket.status.text, "client 'a' has 8000 tokens a minute and this request may need 8001 at "
                                              "once: it can never pass; make it smaller, or have the limit raised");
    a.ticket.tokens = 0;
    a.ticket.micros = 101;
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    assert_string_equal(a.ticket.exhausted, "tenant/micros_per_day");
    assert_ptr_equal(admission_exhausted_by(&a.ticket), a.ticket.tenant);
    assert_int_equal(a.ticket.status.retry_after_ms, 0);
}

static void of_two_limits_the_longer_wait_is_told(void **state)
{
    open_admission_for_all((struct limits){.requests_per_minute = 60, .tokens_per_minute = 600}, (struct limits){0});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    for (int i = 0; i < 60; i++) {
        a.ticket.tokens = 10;
        assert_int_equal(enter(&a), ADMISSION_ADMITTED);
        leave(&a);
    }
    a.ticket.tokens = 300;
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    assert_string_equal(a.ticket.exhausted, "client/tokens_per_minute");
    assert_int_equal(a.ticket.status.retry_after_ms, 30000);
}

static void a_refused_request_uses_nothing(void **state)
{
    open_admission_for_all((struct limits){.requests_per_minute = 2, .micros_per_day = 100}, (struct limits){0});
    assert_int_equal(all_enter("a", 0, 90), 1);
    callers[1].ticket.micros = 10; /* the other request of the minute is still there */
    assert_int_equal(enter(&callers[1]), ADMISSION_ADMITTED);
    leave(&callers[0]);
    leave(&callers[1]);
}

static void a_client_has_its_own_row(void **state)
{
    const struct limits_row rows[] = {{"rich", {.requests_per_minute = 40}}};
    struct limits_table table = {.fallback.requests_per_minute = 3, .rows = rows, .count = 1};
    open_admission((struct admission_options){.clients = &table});
    assert_int_equal(all_enter("rich", 0, 0), 40);
    all_leave(0, 0);
    assert_int_equal(all_enter("poor", 0, 0), 3);
    all_leave(0, 0);
    assert_int_equal(all_enter("", 0, 0), 3);
    all_leave(0, 0);
}

/* ---- days -------------------------------------------------------------------------------------------------------- */

static void spend(int64_t micros, enum admission_result expected)
{
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.micros = micros;
    assert_int_equal(enter(&a), expected);
    if (a.inside)
        leave(&a);
}

static void pass(int64_t ns)
{
    wall += ns;
    clock_step(ns);
}

static void money_comes_back_at_midnight(void **state)
{
    open_admission_for_all((struct limits){.micros_per_day = 100}, (struct limits){0});
    struct caller late = caller_of("a", ADMISSION_NORMAL);
    wall = 20001 * DAY_NS - NS_PER_SEC;
    spend(60, ADMISSION_ADMITTED);
    late.ticket.micros = 30;
    assert_int_equal(enter(&late), ADMISSION_ADMITTED);
    struct caller refused = caller_of("a", ADMISSION_NORMAL);
    refused.ticket.micros = 50;
    assert_int_equal(enter(&refused), ADMISSION_REJECTED);
    assert_int_equal(refused.ticket.status.retry_after_ms, 1000);
    pass(NS_PER_SEC);
    leave(&late); /* is money of the day on which it ends */
    spend(71, ADMISSION_REJECTED);
    spend(70, ADMISSION_ADMITTED);
}

static void money_that_is_only_reserved_may_be_free_soon(void **state)
{
    open_admission_for_all((struct limits){.micros_per_day = 100}, (struct limits){0});
    assert_int_equal(all_enter("a", 0, 90), 1);
    assert_int_equal(callers[1].ticket.status.retry_after_ms, 1000);
    all_leave(0, 0);
    spend(100, ADMISSION_ADMITTED);
}

static void a_wall_clock_that_is_set_back_brings_no_money(void **state)
{
    open_admission_for_all((struct limits){.micros_per_day = 100}, (struct limits){0});
    wall = 20001 * DAY_NS - NS_PER_SEC;
    spend(100, ADMISSION_ADMITTED);
    pass(2 * NS_PER_SEC);
    spend(100, ADMISSION_ADMITTED); /* a new day */
    wall -= 10 * NS_PER_SEC;
    spend(1, ADMISSION_REJECTED);
    pass(20 * NS_PER_SEC);
    spend(1, ADMISSION_REJECTED);
    wall -= 40 * DAY_NS;
    spend(1, ADMISSION_REJECTED);
    wall += 40 * DAY_NS;
    spend(1, ADMISSION_REJECTED);
    pass(DAY_NS);
    spend(100, ADMISSION_ADMITTED);
}

static void a_wall_clock_that_was_far_ahead_is_forgotten_in_a_day(void **state)
{
    open_admission_for_all((struct limits){.micros_per_day = 100}, (struct limits){0});
    wall += 1000 * DAY_NS;
    spend(100, ADMISSION_ADMITTED);
    wall -= 1000 * DAY_NS;
    pass(DAY_NS - 1);
    spend(1, ADMISSION_REJECTED);
    pass(1);
    spend(100, ADMISSION_ADMITTED);
    pass(DAY_NS);
    spend(100, ADMISSION_ADMITTED);
}

static void what_was_spent_before_the_process_began_counts(void **state)
{
    open_admission_for_all((struct limits){.micros_per_day = 100}, (struct limits){.micros_per_day = 150});
    admission_load_spend(admission, false, "a", 40);
    admission_load_spend(admission, true, "", 95);
    spend(61, ADMISSION_REJECTED);
    spend(56, ADMISSION_REJECTED);
    spend(55, ADMISSION_ADMITTED);
    pass(DAY_NS);
    spend(100, ADMISSION_ADMITTED);
}

/* ---- what is left ------------------------------------------------------------------------------------------------ */

static void what_is_left_can_be_read(void **state)
{
    open_admission_for_all((struct limits){.tokens_per_minute = 6000}, (struct limits){.requests_per_minute = 5});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    struct admission_rate_limits rate_limits;
    a.ticket.tokens = 1500;
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    admission_rate_limits(&a.ticket, &rate_limits);
    assert_int_equal(rate_limits.requests_limit, -1);
    assert_int_equal(rate_limits.requests_left, -1);
    assert_int_equal(rate_limits.requests_reset_ms, -1);
    assert_int_equal(rate_limits.tokens_limit, 6000);
    assert_int_equal(rate_limits.tokens_left, 4500);
    assert_int_equal(rate_limits.tokens_reset_ms, 15000);
    leave_with(&a, 9000, 0);
    admission_rate_limits(&a.ticket, &rate_limits);
    assert_int_equal(rate_limits.tokens_left, 0);
}

static void more_names_than_there_are_keys_share_one_place(void **state)
{
    open_admission_for_all((struct limits){.requests_per_minute = 1}, (struct limits){0});
    char name[16];
    unsigned admitted = 0;
    for (int i = 0; i < 10100; i++) {
        snprintf(name, sizeof name, "n%d", i);
        struct caller a = caller_of(name, ADMISSION_NORMAL);
        if (enter(&a) == ADMISSION_ADMITTED) {
            admitted++;
            leave(&a);
        }
    }
    assert_int_equal(admitted, 10000 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMISSION_TEST(callers_at_once_never_get_past_the_tokens_of_a_minute),
        ADMISSION_TEST(callers_at_once_never_get_past_the_money_of_a_day),
        ADMISSION_TEST(a_minute_of_requests_is_all_there_and_no_more),
        ADMISSION_TEST(who_comes_back_when_told_to_is_let_in),
        ADMISSION_TEST(what_was_reserved_and_not_used_comes_back),
        ADMISSION_TEST(too_low_an_estimate_is_a_debt),
        ADMISSION_TEST(no_count_of_a_provider_locks_a_client_out_for_good),
        ADMISSION_TEST(more_than_there_ever_is_has_no_retry_hint),
        ADMISSION_TEST(of_two_limits_the_longer_wait_is_told),
        ADMISSION_TEST(a_refused_request_uses_nothing),
        ADMISSION_TEST(a_client_has_its_own_row),
        ADMISSION_TEST(money_comes_back_at_midnight),
        ADMISSION_TEST(money_that_is_only_reserved_may_be_free_soon),
        ADMISSION_TEST(a_wall_clock_that_is_set_back_brings_no_money),
        ADMISSION_TEST(a_wall_clock_that_was_far_ahead_is_forgotten_in_a_day),
        ADMISSION_TEST(what_was_spent_before_the_process_began_counts),
        ADMISSION_TEST(what_is_left_can_be_read),
        ADMISSION_TEST(more_names_than_there_are_keys_share_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
