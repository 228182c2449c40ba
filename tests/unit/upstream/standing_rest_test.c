/* When a deployment is left alone: as long as it asks, after failures, and what counts as one. */
#include "standing_fixture.h"

static void it_rests_as_long_as_it_asked(void **state)
{
    struct standing *standing = create(0, 0, 0);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, 7000);
    assert_int_equal(take(standing, 0), STANDING_RESTS);
    assert_int_equal(wait_ms, 7000);
    assert_int_equal(view_of(standing).rests_ms, 7000);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_CLOSED);
    pass_ms(6999);
    assert_int_equal(take(standing, 0), STANDING_RESTS);
    pass_ms(1);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, 0);
    assert_int_equal(view_of(standing).rests_ms, STANDING_REST_MS);
    pass_ms(STANDING_REST_MS);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, 2 * STANDING_REST_MAX_MS);
    assert_int_equal(view_of(standing).rests_ms, STANDING_REST_MAX_MS);
    pass_ms(STANDING_REST_MAX_MS);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, INT64_MAX);
    assert_int_equal(view_of(standing).rests_ms, STANDING_REST_MAX_MS);
    standing_destroy(&standing);
}

static void a_shorter_rest_does_not_end_a_longer_one(void **state)
{
    struct standing *standing = create(0, 0, 0);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    struct standing_place first = place;
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, 9000);
    place = first;
    give_back_limited(standing, 100);
    assert_int_equal(view_of(standing).rests_ms, 9000);
    standing_destroy(&standing);
}

static void nothing_left_at_the_provider_is_a_rest_too(void **state)
{
    struct standing *standing = create(0, 0, 0);
    int64_t now_ns = clock_now_ns();
    standing_hear(standing, now_ns, -1, -1, 3000);
    standing_hear(standing, now_ns, 1, 1, 3000);
    standing_hear(standing, now_ns, 0, 10, -1);
    assert_int_equal(view_of(standing).rests_ms, 0);
    standing_hear(standing, now_ns, 0, -1, 1500);
    assert_int_equal(view_of(standing).rests_ms, 1500);
    standing_hear(standing, now_ns, 5, 0, 86400000);
    assert_int_equal(view_of(standing).rests_ms, STANDING_HEARD_MAX_MS);
    standing_destroy(&standing);
}

static void open_it(struct standing *standing)
{
    for (int i = 0; i < BREAKER_FAILURES; i++)
        ask(standing, STANDING_BAD);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_OPEN);
}

static void failures_open_the_breaker_and_trials_close_it(void **state)
{
    struct standing *standing = create(0, 0, 0);
    open_it(standing);
    assert_int_equal(take(standing, 0), STANDING_BROKEN);
    assert_int_equal(wait_ms, BREAKER_REST_MS);
    assert_int_equal(view_of(standing).rests_ms, BREAKER_REST_MS);
    pass_ms(BREAKER_REST_MS);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(standing, STANDING_GOOD);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_CLOSED);
    assert_int_equal(view_of(standing).opened, 1);
    standing_destroy(&standing);
}

static void of_a_herd_at_half_open_few_pass(void **state)
{
    struct standing *standing = create(0, 0, 0);
    struct standing_place passed[100];
    unsigned count = 0;
    open_it(standing);
    pass_ms(BREAKER_REST_MS);
    for (int i = 0; i < 100; i++)
        if (take(standing, 0) == STANDING_FREE)
            passed[count++] = place;
        else
            assert_int_equal(wait_ms, 0);
    assert_int_equal(count, BREAKER_TRIALS);
    while (count) {
        place = passed[--count];
        give_back(standing, STANDING_UNKNOWN, 0); /* their callers leave */
    }
    assert_int_equal(view_of(standing).circuit, CIRCUIT_HALF_OPEN);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(standing, STANDING_GOOD);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_CLOSED);
    standing_destroy(&standing);
}

static void a_limited_trial_rests_and_is_tried_again(void **state)
{
    struct standing *standing = create(0, 0, 0);
    open_it(standing);
    pass_ms(BREAKER_REST_MS);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back_limited(standing, 2000);
    assert_int_equal(take(standing, 0), STANDING_RESTS);
    pass_ms(2000);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(standing, STANDING_GOOD);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_CLOSED);
    standing_destroy(&standing);
}

static void one_that_forgives_is_asked_whatever_has_happened(void **state)
{
    struct standing *standing = create(1, 0, 0);
    standing_forgive(standing);
    for (int i = 0; i < 3 * BREAKER_FAILURES; i++)
        ask(standing, STANDING_BAD);
    assert_int_equal(view_of(standing).circuit, CIRCUIT_CLOSED);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    assert_int_equal(take(standing, 0), STANDING_BUSY); /* limits still count */
    give_back_limited(standing, 3000);
    assert_int_equal(standing_rests_ms(standing, clock_now_ns()), 3000);
    ask(standing, STANDING_GOOD);
    standing_destroy(&standing);
}

static void a_failure_says_how_the_deployment_stands(void **state)
{
    struct standing_report report = {0};
    static const struct {
        enum status_code code;
        enum standing_verdict verdict;
    } rows[] = {
        {OK, STANDING_GOOD},
        {INVALID_ARGUMENT, STANDING_GOOD},
        {NOT_FOUND, STANDING_GOOD},
        {UNAVAILABLE, STANDING_BAD},
        {DATA_LOSS, STANDING_BAD},
        {FAILED_PRECONDITION, STANDING_BAD},
        {RESOURCE_EXHAUSTED, STANDING_LIMITED},
        {CANCELLED, STANDING_UNKNOWN},
        {DEADLINE_EXCEEDED, STANDING_UNKNOWN},
        {INTERNAL, STANDING_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        standing_judge(&report, rows[i].code, false, 300);
        assert_int_equal(report.verdict, rows[i].verdict);
        assert_int_equal(report.rest_ms, rows[i].verdict == STANDING_LIMITED ? 300 : 0);
    }
    standing_judge(&report, RESOURCE_EXHAUSTED, true, 0);
    assert_int_equal(report.rest_ms, STANDING_QUOTA_REST_MS);
}

static void a_move_is_logged_with_the_deployments_name(void **state)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    char lines[8000] = "";
    struct standing *standing = create(0, 0, 0);
    assert_int_equal(pipe(pipes), 0);
    log_configure("test", LOG_DEBUG, LOG_FORMAT_TEXT);
    dup2(pipes[1], STDERR_FILENO);
    open_it(standing);
    pass_ms(BREAKER_REST_MS);
    ask(standing, STANDING_GOOD);
    dup2(kept, STDERR_FILENO);
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    assert_true(read(pipes[0], lines, sizeof lines - 1) > 0);
    assert_contains(lines, "breaker.moved");
    assert_contains(lines, "upstream 'east': closed -> open, left alone for 1000 ms");
    assert_contains(lines, "upstream 'east': open -> half-open");
    close(kept);
    close(pipes[0]);
    close(pipes[1]);
    standing_destroy(&standing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_rests_as_long_as_it_asked),
        cmocka_unit_test(a_shorter_rest_does_not_end_a_longer_one),
        cmocka_unit_test(nothing_left_at_the_provider_is_a_rest_too),
        cmocka_unit_test(failures_open_the_breaker_and_trials_close_it),
        cmocka_unit_test(of_a_herd_at_half_open_few_pass),
        cmocka_unit_test(a_limited_trial_rests_and_is_tried_again),
        cmocka_unit_test(one_that_forgives_is_asked_whatever_has_happened),
        cmocka_unit_test(a_failure_says_how_the_deployment_stands),
        cmocka_unit_test(a_move_is_logged_with_the_deployments_name),
    };
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
