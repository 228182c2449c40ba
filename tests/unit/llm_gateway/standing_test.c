/* How one deployment stands: places, buckets, rests, and that no sequence of calls loses count. */
#include "route/standing_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "unit.h"

static struct standing *create(int64_t concurrency, int64_t requests, int64_t tokens)
{
    struct limits limits = {.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens};
    struct standing *standing = standing_create("east", &limits);
    assert_non_null(standing);
    return standing;
}

static void pass_ms(int64_t ms)
{
    clock_step(ms * NS_PER_MS);
}

static struct standing_place place;
static int64_t wait_ms;

static enum standing_refusal take(struct standing *standing, int64_t tokens)
{
    return standing_take(standing, clock_now_ns(), tokens, &place, &wait_ms);
}

static void give_back(struct standing *standing, enum standing_verdict verdict, int64_t tokens)
{
    struct standing_report report = {.verdict = verdict, .place = place, .tokens = tokens};
    standing_give_back(standing, clock_now_ns(), &report);
}

static void give_back_limited(struct standing *standing, int64_t rest_ms)
{
    struct standing_report report = {.verdict = STANDING_LIMITED, .rest_ms = rest_ms, .place = place};
    standing_give_back(standing, clock_now_ns(), &report);
}

static void ask(struct standing *standing, enum standing_verdict verdict)
{
    assert_int_equal(take(standing, 0), STANDING_FREE);
    give_back(standing, verdict, 0);
}

static struct standing_view view_of(struct standing *standing)
{
    struct standing_view view;
    standing_view(standing, clock_now_ns(), &view);
    return view;
}

static void no_more_than_the_limit_are_under_way(void **state)
{
    struct standing *standing = create(3, 0, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(standing, 0), STANDING_FREE);
    assert_int_equal(take(standing, 0), STANDING_BUSY);
    assert_int_equal(wait_ms, 0);
    assert_int_equal(view_of(standing).outstanding, 3);
    give_back(standing, STANDING_GOOD, 0);
    assert_int_equal(take(standing, 0), STANDING_FREE);
    for (int i = 0; i < 3; i++)
        give_back(standing, STANDING_GOOD, 0);
    assert_int_equal(view_of(standing).outstanding, 0);
    standing_destroy(&standing);
    assert_null(standing);
}

static void requests_a_minute_refill_evenly(void **state)
{
    struct standing *standing = create(0, 60, 0);
    for (int i = 0; i < 60; i++)
        ask(standing, STANDING_GOOD);
    assert_int_equal(take(standing, 0), STANDING_RATE);
    assert_int_equal(wait_ms, 1000);
    pass_ms(999);
    assert_int_equal(take(standing, 0), STANDING_RATE);
    assert_int_equal(wait_ms, 1);
    pass_ms(1);
    ask(standing, STANDING_GOOD);
    assert_int_equal(take(standing, 0), STANDING_RATE);
    standing_destroy(&standing);
}

static void however_often_it_is_asked_no_minute_gives_more(void **state)
{
    struct standing *standing = create(0, 7, 0);
    unsigned passed = 0;
    for (int ms = 0; ms < 10 * 60 * 1000; ms += 13, pass_ms(13))
        if (take(standing, 0) == STANDING_FREE) {
            give_back(standing, STANDING_GOOD, 0);
            passed++;
        }
    assert_in_range(passed, 7 + 69, 7 + 70);
    pass_ms(60 * 60 * 1000);
    for (passed = 0; take(standing, 0) == STANDING_FREE; passed++)
        give_back(standing, STANDING_GOOD, 0);
    assert_int_equal(passed, 7);
    standing_destroy(&standing);
}

static void tokens_are_reserved_and_settled(void **state)
{
    struct standing *standing = create(0, 0, 6000);
    assert_int_equal(take(standing, 4000), STANDING_FREE);
    assert_int_equal(place.reserved, 4000);
    struct standing_place first = place;
    assert_int_equal(take(standing, 4000), STANDING_RATE);
    assert_int_equal(wait_ms, 20000);
    place = first;
    give_back(standing, STANDING_GOOD, 1000);
    assert_int_equal(take(standing, 5000), STANDING_FREE);
    give_back(standing, STANDING_GOOD, 8000); /* 3000 too many */
    assert_int_equal(take(standing, 1), STANDING_RATE);
    assert_int_equal(wait_ms, 30010);
    pass_ms(30010);
    assert_int_equal(take(standing, 1), STANDING_FREE);
    give_back(standing, STANDING_UNKNOWN, 0);
    standing_destroy(&standing);
}

static void a_request_larger_than_the_bucket_goes_when_it_is_full(void **state)
{
    struct standing *standing = create(0, 0, 100);
    assert_int_equal(take(standing, 1000000), STANDING_FREE);
    assert_int_equal(place.reserved, 100);
    give_back(standing, STANDING_GOOD, INT64_MAX); /* nobody is kept out for longer than two minutes by one request */
    assert_int_equal(take(standing, INT64_MAX), STANDING_RATE);
    assert_int_equal(wait_ms, 120000);
    pass_ms(wait_ms);
    assert_int_equal(take(standing, INT64_MAX), STANDING_FREE);
    give_back(standing, STANDING_GOOD, 0);
    standing_destroy(&standing);
}

static void very_large_limits_are_counted_right(void **state)
{
    struct standing *standing = create(0, 0, INT64_MAX / 4);
    assert_int_equal(take(standing, INT64_MAX / 4), STANDING_FREE);
    assert_int_equal(take(standing, INT64_MAX / 4), STANDING_RATE);
    assert_int_equal(wait_ms, 60000);
    pass_ms(60000);
    assert_int_equal(take(standing, INT64_MAX / 4), STANDING_FREE);
    give_back(standing, STANDING_GOOD, 0);
    give_back(standing, STANDING_GOOD, 0);
    standing_destroy(&standing);
}

static void an_older_reading_of_the_clock_takes_nothing_back(void **state)
{
    struct standing *standing = create(0, 60, 0);
    int64_t now_ns = clock_now_ns(), before_ns = now_ns - 30 * NS_PER_SEC;
    for (int i = 0; i < 60; i++) {
        assert_int_equal(standing_take(standing, i % 2 ? before_ns : now_ns, 0, &place, &wait_ms), STANDING_FREE);
        struct standing_report report = {.verdict = STANDING_GOOD, .place = place};
        standing_give_back(standing, i % 3 ? before_ns : now_ns, &report);
    }
    assert_int_equal(standing_take(standing, now_ns, 0, &place, &wait_ms), STANDING_RATE);
    assert_int_equal(wait_ms, 1000);
    standing_destroy(&standing);
}

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

static void a_refusal_takes_nothing(void **state)
{
    struct standing *standing = create(1, 2, 100);
    assert_int_equal(take(standing, 10), STANDING_FREE);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(standing, 10), STANDING_BUSY);
    give_back(standing, STANDING_GOOD, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(standing, 95), STANDING_RATE);
    assert_int_equal(take(standing, 90), STANDING_FREE);
    give_back(standing, STANDING_GOOD, 0);
    assert_int_equal(take(standing, 0), STANDING_RATE);
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
    assert_contains(lines, "deployment 'east': closed -> open, left alone for 1000 ms");
    assert_contains(lines, "deployment 'east': open -> half-open");
    close(kept);
    close(pipes[0]);
    close(pipes[1]);
    standing_destroy(&standing);
}

/* ---- whatever comes, nothing is lost ----------------------------------------------------------------------------- */

static uint64_t seed = 7;

static unsigned below(unsigned bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % bound;
}

#define UNDER_WAY_MAX 8

static void any_sequence_keeps_count(void **state)
{
    struct standing *standing = create(UNDER_WAY_MAX - 1, 600, 60000);
    struct standing_place held[UNDER_WAY_MAX];
    unsigned count = 0, refused[STANDING_RATE + 1] = {0};
    for (int i = 0; i < 100000; i++) {
        pass_ms(below(60));
        if (below(2)) {
            enum standing_refusal refusal = take(standing, below(500));
            refused[refusal]++;
            if (refusal == STANDING_FREE)
                held[count++] = place;
        } else if (count) {
            unsigned which = below(count);
            place = held[which];
            held[which] = held[--count];
            if (below(50) == 0)
                give_back_limited(standing, below(200));
            else
                give_back(standing, below(4) ? STANDING_GOOD : below(3) ? STANDING_BAD : STANDING_UNKNOWN, below(800));
        }
        assert_int_equal(standing->outstanding, count);
        assert_true(count < UNDER_WAY_MAX && standing->breaker.trials <= BREAKER_TRIALS);
        assert_true(standing->requests.level >= 0 && standing->requests.level <= 600);
        assert_true(standing->tokens.level >= -60000 && standing->tokens.level <= 60000);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        assert_true(refused[i] > 0); /* all of it has happened */
    while (count) {
        place = held[--count];
        give_back(standing, STANDING_UNKNOWN, 0);
    }
    assert_int_equal(view_of(standing).outstanding, 0);
    assert_int_equal(standing->breaker.trials, 0);
    standing_destroy(&standing);
}

#define RACE_LIMIT 3

static _Atomic int inside, most_inside;

static void *race(void *standing)
{
    for (int i = 0; i < 20000; i++) {
        struct standing_place mine;
        int64_t wait;
        if (standing_take(standing, clock_now_ns(), 1, &mine, &wait) != STANDING_FREE)
            continue;
        int now_inside = atomic_fetch_add(&inside, 1) + 1;
        if (now_inside > most_inside)
            most_inside = now_inside;
        atomic_fetch_sub(&inside, 1);
        struct standing_report report = {.verdict = i % 5 ? STANDING_GOOD : STANDING_BAD, .place = mine, .tokens = 1};
        standing_give_back(standing, clock_now_ns(), &report);
    }
    return NULL;
}

static void threads_never_get_past_the_limit_together(void **state)
{
    struct standing *standing = create(RACE_LIMIT, 0, 1000000);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, standing), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(view_of(standing).outstanding <= RACE_LIMIT);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_in_range(most_inside, 1, RACE_LIMIT);
    assert_int_equal(view_of(standing).outstanding, 0);
    standing_destroy(&standing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_the_limit_are_under_way),
        cmocka_unit_test(requests_a_minute_refill_evenly),
        cmocka_unit_test(however_often_it_is_asked_no_minute_gives_more),
        cmocka_unit_test(tokens_are_reserved_and_settled),
        cmocka_unit_test(a_request_larger_than_the_bucket_goes_when_it_is_full),
        cmocka_unit_test(very_large_limits_are_counted_right),
        cmocka_unit_test(an_older_reading_of_the_clock_takes_nothing_back),
        cmocka_unit_test(it_rests_as_long_as_it_asked),
        cmocka_unit_test(a_shorter_rest_does_not_end_a_longer_one),
        cmocka_unit_test(nothing_left_at_the_provider_is_a_rest_too),
        cmocka_unit_test(failures_open_the_breaker_and_trials_close_it),
        cmocka_unit_test(of_a_herd_at_half_open_few_pass),
        cmocka_unit_test(a_limited_trial_rests_and_is_tried_again),
        cmocka_unit_test(a_refusal_takes_nothing),
        cmocka_unit_test(one_that_forgives_is_asked_whatever_has_happened),
        cmocka_unit_test(a_failure_says_how_the_deployment_stands),
        cmocka_unit_test(a_move_is_logged_with_the_deployments_name),
        cmocka_unit_test(any_sequence_keeps_count),
        cmocka_unit_test(threads_never_get_past_the_limit_together),
    };
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
