/* The circuit breaker alone: every move, and what must not move it. */
#include "upstream/breaker.h"

#include "base/clock.h"

#include "unit.h"

static int64_t now = 1000 * NS_PER_SEC;

static bool allowed(const struct breaker *breaker)
{
    int64_t wait_ms;
    return breaker_allows(breaker, now, &wait_ms);
}

static int64_t wait_of(const struct breaker *breaker)
{
    int64_t wait_ms;
    breaker_allows(breaker, now, &wait_ms);
    return wait_ms;
}

static uint32_t take(struct breaker *breaker)
{
    assert_true(allowed(breaker));
    return breaker_take(breaker, now);
}

static void ask(struct breaker *breaker, enum breaker_verdict verdict)
{
    uint32_t period = take(breaker);
    breaker_judge(breaker, now, period, verdict);
}

static void break_it(struct breaker *breaker)
{
    for (unsigned i = 0; i < BREAKER_FAILURES; i++)
        ask(breaker, BREAKER_BAD);
    assert_int_equal(breaker->circuit, CIRCUIT_OPEN);
}

static void pass_ms(int64_t ms)
{
    now += ms * NS_PER_MS;
}

static void failures_in_a_row_open_it(void **state)
{
    struct breaker breaker = {0};
    for (unsigned i = 1; i < BREAKER_FAILURES; i++)
        ask(&breaker, BREAKER_BAD);
    ask(&breaker, BREAKER_GOOD);
    for (unsigned i = 1; i < BREAKER_FAILURES; i++)
        ask(&breaker, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
    ask(&breaker, BREAKER_NEITHER);
    ask(&breaker, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_OPEN);
    assert_int_equal(breaker.opened, 1);
    assert_false(allowed(&breaker));
    assert_int_equal(wait_of(&breaker), BREAKER_REST_MS);
}

static void half_of_the_window_opens_it(void **state)
{
    struct breaker breaker = {0};
    for (unsigned i = 0; i < BREAKER_WINDOW_MIN / 2 - 1; i++) {
        ask(&breaker, BREAKER_GOOD);
        ask(&breaker, BREAKER_BAD);
        pass_ms(300);
    }
    ask(&breaker, BREAKER_GOOD);
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
    ask(&breaker, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_OPEN);
    pass_ms(BREAKER_REST_MS);
    for (unsigned i = 0; i < BREAKER_SUCCESSES; i++)
        ask(&breaker, BREAKER_GOOD);
    ask(&breaker, BREAKER_BAD); /* the failures of before are in the past, although less than ten seconds */
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
}

static void less_than_half_does_not(void **state)
{
    struct breaker breaker = {0};
    for (unsigned i = 0; i < 20 * BREAKER_WINDOW_MIN; i++) {
        ask(&breaker, BREAKER_GOOD);
        ask(&breaker, BREAKER_GOOD);
        ask(&breaker, BREAKER_BAD);
        pass_ms(20);
    }
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
}

static void what_is_older_than_the_window_is_forgotten(void **state)
{
    struct breaker breaker = {0};
    for (unsigned i = 0; i < 10 * BREAKER_WINDOW_MIN; i++) {
        ask(&breaker, BREAKER_BAD);
        ask(&breaker, BREAKER_GOOD);
        pass_ms(1000 * BREAKER_WINDOW_SECONDS / (BREAKER_WINDOW_MIN / 2 - 1));
    }
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
    pass_ms(1000 * (BREAKER_WINDOW_SECONDS + 1));
    for (unsigned i = 0; i < 10; i++) { /* bursts, each in a second of the window that no other one has */
        for (unsigned k = 0; k < BREAKER_WINDOW_MIN / 4; k++) {
            ask(&breaker, BREAKER_BAD);
            ask(&breaker, BREAKER_GOOD);
        }
        pass_ms(1000 * (BREAKER_WINDOW_SECONDS + 1));
    }
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
}

static void after_its_rest_it_is_tried_and_closes(void **state)
{
    struct breaker breaker = {0};
    break_it(&breaker);
    pass_ms(BREAKER_REST_MS - 1);
    assert_int_equal(wait_of(&breaker), 1);
    pass_ms(1);
    for (unsigned i = 1; i < BREAKER_SUCCESSES; i++) {
        ask(&breaker, BREAKER_GOOD);
        assert_int_equal(breaker.circuit, CIRCUIT_HALF_OPEN);
    }
    ask(&breaker, BREAKER_GOOD);
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
    for (unsigned i = 1; i < BREAKER_FAILURES; i++) /* nothing of before is left */
        ask(&breaker, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
}

static void each_failed_trial_doubles_the_rest_up_to_its_limit(void **state)
{
    struct breaker breaker = {0};
    int64_t rest_ms = BREAKER_REST_MS;
    break_it(&breaker);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(wait_of(&breaker), rest_ms);
        pass_ms(rest_ms);
        ask(&breaker, BREAKER_BAD);
        assert_int_equal(breaker.circuit, CIRCUIT_OPEN);
        rest_ms = rest_ms * 2 < BREAKER_REST_MAX_MS ? rest_ms * 2 : BREAKER_REST_MAX_MS;
    }
    assert_int_equal(breaker.opened, 11);
    pass_ms(BREAKER_REST_MAX_MS);
    for (unsigned i = 0; i < BREAKER_SUCCESSES; i++)
        ask(&breaker, BREAKER_GOOD);
    break_it(&breaker);
    assert_int_equal(wait_of(&breaker), BREAKER_REST_MS);
}

static void few_trials_go_at_a_time(void **state)
{
    struct breaker breaker = {0};
    break_it(&breaker);
    pass_ms(BREAKER_REST_MS);
    unsigned passed = 0;
    for (unsigned i = 0; i < 100; i++)
        if (allowed(&breaker)) {
            breaker_take(&breaker, now);
            passed++;
        }
    assert_int_equal(passed, BREAKER_TRIALS);
    assert_int_equal(wait_of(&breaker), 0);
}

static void a_trial_whose_caller_left_makes_room_for_the_next(void **state)
{
    struct breaker breaker = {0};
    break_it(&breaker);
    pass_ms(BREAKER_REST_MS);
    for (unsigned i = 0; i < 100; i++)
        ask(&breaker, BREAKER_NEITHER);
    assert_int_equal(breaker.circuit, CIRCUIT_HALF_OPEN);
    assert_int_equal(breaker.trials, 0);
    for (unsigned i = 0; i < BREAKER_SUCCESSES; i++)
        ask(&breaker, BREAKER_GOOD);
    assert_int_equal(breaker.circuit, CIRCUIT_CLOSED);
}

static void what_was_asked_earlier_moves_nothing(void **state)
{
    struct breaker breaker = {0};
    uint32_t old = take(&breaker);
    break_it(&breaker);
    breaker_judge(&breaker, now, old, BREAKER_GOOD);
    assert_int_equal(breaker.circuit, CIRCUIT_OPEN);
    pass_ms(BREAKER_REST_MS);
    uint32_t trial = take(&breaker);
    breaker_judge(&breaker, now, old, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_HALF_OPEN);
    assert_int_equal(breaker.trials, 1);
    for (unsigned i = 0; i < BREAKER_SUCCESSES; i++)
        breaker_judge(&breaker, now, old, BREAKER_GOOD);
    assert_int_equal(breaker.circuit, CIRCUIT_HALF_OPEN);
    breaker_judge(&breaker, now, trial, BREAKER_BAD);
    assert_int_equal(breaker.circuit, CIRCUIT_OPEN);
}

static void a_trial_that_hangs_does_not_keep_the_next_ones_out(void **state)
{
    struct breaker breaker = {0};
    break_it(&breaker);
    pass_ms(BREAKER_REST_MS);
    uint32_t hangs = take(&breaker);
    ask(&breaker, BREAKER_BAD);
    pass_ms(2 * BREAKER_REST_MS);
    for (unsigned i = 0; i < BREAKER_TRIALS; i++)
        take(&breaker);
    breaker_judge(&breaker, now, hangs, BREAKER_GOOD);
    assert_int_equal(breaker.trials, BREAKER_TRIALS);
    assert_false(allowed(&breaker));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_in_a_row_open_it),
        cmocka_unit_test(half_of_the_window_opens_it),
        cmocka_unit_test(less_than_half_does_not),
        cmocka_unit_test(what_is_older_than_the_window_is_forgotten),
        cmocka_unit_test(after_its_rest_it_is_tried_and_closes),
        cmocka_unit_test(each_failed_trial_doubles_the_rest_up_to_its_limit),
        cmocka_unit_test(few_trials_go_at_a_time),
        cmocka_unit_test(a_trial_whose_caller_left_makes_room_for_the_next),
        cmocka_unit_test(what_was_asked_earlier_moves_nothing),
        cmocka_unit_test(a_trial_that_hangs_does_not_keep_the_next_ones_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
