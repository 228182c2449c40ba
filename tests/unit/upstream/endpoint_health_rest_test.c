/* When a deployment is left alone: as long as it asks, after failures, and what counts as one. */
#include "endpoint_health_fixture.h"

static void it_rests_as_long_as_it_asked(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, 7000);
    assert_int_equal(take(health, 0), ENDPOINT_BACKING_OFF);
    assert_int_equal(wait_ms, 7000);
    assert_int_equal(view_of(health).rests_ms, 7000);
    assert_int_equal(view_of(health).circuit, CIRCUIT_CLOSED);
    pass_ms(6999);
    assert_int_equal(take(health, 0), ENDPOINT_BACKING_OFF);
    pass_ms(1);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, 0);
    assert_int_equal(view_of(health).rests_ms, ENDPOINT_BACKOFF_MS);
    pass_ms(ENDPOINT_BACKOFF_MS);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, 2 * ENDPOINT_BACKOFF_MAX_MS);
    assert_int_equal(view_of(health).rests_ms, ENDPOINT_BACKOFF_MAX_MS);
    pass_ms(ENDPOINT_BACKOFF_MAX_MS);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, INT64_MAX);
    assert_int_equal(view_of(health).rests_ms, ENDPOINT_BACKOFF_MAX_MS);
    endpoint_health_destroy(&health);
}

static void a_shorter_rest_does_not_end_a_longer_one(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    struct endpoint_slot first = place;
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, 9000);
    place = first;
    give_back_limited(health, 100);
    assert_int_equal(view_of(health).rests_ms, 9000);
    endpoint_health_destroy(&health);
}

static void nothing_left_at_the_provider_is_a_rest_too(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    int64_t now_ns = clock_now_ns();
    endpoint_health_update_limits(health, now_ns, -1, -1, 3000);
    endpoint_health_update_limits(health, now_ns, 1, 1, 3000);
    endpoint_health_update_limits(health, now_ns, 0, 10, -1);
    assert_int_equal(view_of(health).rests_ms, 0);
    endpoint_health_update_limits(health, now_ns, 0, -1, 1500);
    assert_int_equal(view_of(health).rests_ms, 1500);
    endpoint_health_update_limits(health, now_ns, 5, 0, 86400000);
    assert_int_equal(view_of(health).rests_ms, ENDPOINT_LIMIT_RESET_MAX_MS);
    endpoint_health_destroy(&health);
}

static void open_it(struct endpoint_health *health)
{
    for (int i = 0; i < BREAKER_FAILURES; i++)
        ask(health, ENDPOINT_FAILED);
    assert_int_equal(view_of(health).circuit, CIRCUIT_OPEN);
}

static void failures_open_the_breaker_and_trials_close_it(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    open_it(health);
    assert_int_equal(take(health, 0), ENDPOINT_CIRCUIT_OPEN);
    assert_int_equal(wait_ms, BREAKER_REST_MS);
    assert_int_equal(view_of(health).rests_ms, BREAKER_REST_MS);
    pass_ms(BREAKER_REST_MS);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(health, ENDPOINT_SUCCEEDED);
    assert_int_equal(view_of(health).circuit, CIRCUIT_CLOSED);
    assert_int_equal(view_of(health).opened, 1);
    endpoint_health_destroy(&health);
}

static void of_a_herd_at_half_open_few_pass(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    struct endpoint_slot passed[100];
    unsigned count = 0;
    open_it(health);
    pass_ms(BREAKER_REST_MS);
    for (int i = 0; i < 100; i++)
        if (take(health, 0) == ENDPOINT_AVAILABLE)
            passed[count++] = place;
        else
            assert_int_equal(wait_ms, 0);
    assert_int_equal(count, BREAKER_TRIALS);
    while (count) {
        place = passed[--count];
        give_back(health, ENDPOINT_UNKNOWN, 0); /* their callers leave */
    }
    assert_int_equal(view_of(health).circuit, CIRCUIT_HALF_OPEN);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(health, ENDPOINT_SUCCEEDED);
    assert_int_equal(view_of(health).circuit, CIRCUIT_CLOSED);
    endpoint_health_destroy(&health);
}

static void a_limited_trial_rests_and_is_tried_again(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    open_it(health);
    pass_ms(BREAKER_REST_MS);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    give_back_limited(health, 2000);
    assert_int_equal(take(health, 0), ENDPOINT_BACKING_OFF);
    pass_ms(2000);
    for (int i = 0; i < BREAKER_SUCCESSES; i++)
        ask(health, ENDPOINT_SUCCEEDED);
    assert_int_equal(view_of(health).circuit, CIRCUIT_CLOSED);
    endpoint_health_destroy(&health);
}

static void one_that_forgives_is_asked_whatever_has_happened(void **state)
{
    struct endpoint_health *health = create(1, 0, 0);
    endpoint_health_disable_breaker(health);
    for (int i = 0; i < 3 * BREAKER_FAILURES; i++)
        ask(health, ENDPOINT_FAILED);
    assert_int_equal(view_of(health).circuit, CIRCUIT_CLOSED);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    assert_int_equal(take(health, 0), ENDPOINT_SATURATED); /* limits still count */
    give_back_limited(health, 3000);
    assert_int_equal(endpoint_health_backoff_ms(health, clock_now_ns()), 3000);
    ask(health, ENDPOINT_SUCCEEDED);
    endpoint_health_destroy(&health);
}

static void a_failure_says_how_the_deployment_stands(void **state)
{
    struct endpoint_report report = {0};
    static const struct {
        enum status_code code;
        enum endpoint_verdict verdict;
    } rows[] = {
        {OK, ENDPOINT_SUCCEEDED},
        {INVALID_ARGUMENT, ENDPOINT_SUCCEEDED},
        {NOT_FOUND, ENDPOINT_SUCCEEDED},
        {UNAVAILABLE, ENDPOINT_FAILED},
        {DATA_LOSS, ENDPOINT_FAILED},
        {FAILED_PRECONDITION, ENDPOINT_FAILED},
        {RESOURCE_EXHAUSTED, ENDPOINT_THROTTLED},
        {CANCELLED, ENDPOINT_UNKNOWN},
        {DEADLINE_EXCEEDED, ENDPOINT_UNKNOWN},
        {INTERNAL, ENDPOINT_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        endpoint_report_of(&report, rows[i].code, false, 300);
        assert_int_equal(report.verdict, rows[i].verdict);
        assert_int_equal(report.rest_ms, rows[i].verdict == ENDPOINT_THROTTLED ? 300 : 0);
    }
    endpoint_report_of(&report, RESOURCE_EXHAUSTED, true, 0);
    assert_int_equal(report.rest_ms, ENDPOINT_QUOTA_BACKOFF_MS);
}

static void a_move_is_logged_with_the_deployments_name(void **state)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    char lines[8000] = "";
    struct endpoint_health *health = create(0, 0, 0);
    assert_int_equal(pipe(pipes), 0);
    log_configure("test", LOG_DEBUG, LOG_FORMAT_TEXT);
    dup2(pipes[1], STDERR_FILENO);
    open_it(health);
    pass_ms(BREAKER_REST_MS);
    ask(health, ENDPOINT_SUCCEEDED);
    dup2(kept, STDERR_FILENO);
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    assert_true(read(pipes[0], lines, sizeof lines - 1) > 0);
    assert_contains(lines, "breaker.moved");
    assert_contains(lines, "upstream 'east': closed -> open, left alone for 1000 ms");
    assert_contains(lines, "upstream 'east': open -> half-open");
    close(kept);
    close(pipes[0]);
    close(pipes[1]);
    endpoint_health_destroy(&health);
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
