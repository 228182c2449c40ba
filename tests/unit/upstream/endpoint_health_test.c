/* How one deployment stands: its places and buckets, and that no sequence of calls loses count. */
#include "endpoint_health_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

static void no_more_than_the_limit_are_under_way(void **state)
{
    struct endpoint_health *health = create(3, 0, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    assert_int_equal(take(health, 0), ENDPOINT_SATURATED);
    assert_int_equal(wait_ms, 0);
    assert_int_equal(view_of(health).outstanding, 3);
    give_back(health, ENDPOINT_SUCCEEDED, 0);
    assert_int_equal(take(health, 0), ENDPOINT_AVAILABLE);
    for (int i = 0; i < 3; i++)
        give_back(health, ENDPOINT_SUCCEEDED, 0);
    assert_int_equal(view_of(health).outstanding, 0);
    endpoint_health_destroy(&health);
    assert_null(health);
}

static void requests_a_minute_refill_evenly(void **state)
{
    struct endpoint_health *health = create(0, 60, 0);
    for (int i = 0; i < 60; i++)
        ask(health, ENDPOINT_SUCCEEDED);
    assert_int_equal(take(health, 0), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 1000);
    pass_ms(999);
    assert_int_equal(take(health, 0), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 1);
    pass_ms(1);
    ask(health, ENDPOINT_SUCCEEDED);
    assert_int_equal(take(health, 0), ENDPOINT_RATE_LIMITED);
    endpoint_health_destroy(&health);
}

static void however_often_it_is_asked_no_minute_gives_more(void **state)
{
    struct endpoint_health *health = create(0, 7, 0);
    unsigned passed = 0;
    for (int ms = 0; ms < 10 * 60 * 1000; ms += 13, pass_ms(13))
        if (take(health, 0) == ENDPOINT_AVAILABLE) {
            give_back(health, ENDPOINT_SUCCEEDED, 0);
            passed++;
        }
    assert_in_range(passed, 7 + 69, 7 + 70);
    pass_ms(60 * 60 * 1000);
    for (passed = 0; take(health, 0) == ENDPOINT_AVAILABLE; passed++)
        give_back(health, ENDPOINT_SUCCEEDED, 0);
    assert_int_equal(passed, 7);
    endpoint_health_destroy(&health);
}

static void tokens_are_reserved_and_settled(void **state)
{
    struct endpoint_health *health = create(0, 0, 6000);
    assert_int_equal(take(health, 4000), ENDPOINT_AVAILABLE);
    assert_int_equal(place.reserved, 4000);
    struct endpoint_slot first = place;
    assert_int_equal(take(health, 4000), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 20000);
    place = first;
    give_back(health, ENDPOINT_SUCCEEDED, 1000);
    assert_int_equal(take(health, 5000), ENDPOINT_AVAILABLE);
    give_back(health, ENDPOINT_SUCCEEDED, 8000); /* 3000 too many */
    assert_int_equal(take(health, 1), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 30010);
    pass_ms(30010);
    assert_int_equal(take(health, 1), ENDPOINT_AVAILABLE);
    give_back(health, ENDPOINT_UNKNOWN, 0);
    endpoint_health_destroy(&health);
}

static void a_request_larger_than_the_bucket_goes_when_it_is_full(void **state)
{
    struct endpoint_health *health = create(0, 0, 100);
    assert_int_equal(take(health, 1000000), ENDPOINT_AVAILABLE);
    assert_int_equal(place.reserved, 100);
    give_back(health, ENDPOINT_SUCCEEDED,
              INT64_MAX); /* nobody is kept out for longer than two minutes by one request */
    assert_int_equal(take(health, INT64_MAX), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 120000);
    pass_ms(wait_ms);
    assert_int_equal(take(health, INT64_MAX), ENDPOINT_AVAILABLE);
    give_back(health, ENDPOINT_SUCCEEDED, 0);
    endpoint_health_destroy(&health);
}

static void very_large_limits_are_counted_right(void **state)
{
    struct endpoint_health *health = create(0, 0, INT64_MAX / 4);
    assert_int_equal(take(health, INT64_MAX / 4), ENDPOINT_AVAILABLE);
    assert_int_equal(take(health, INT64_MAX / 4), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 60000);
    pass_ms(60000);
    assert_int_equal(take(health, INT64_MAX / 4), ENDPOINT_AVAILABLE);
    give_back(health, ENDPOINT_SUCCEEDED, 0);
    give_back(health, ENDPOINT_SUCCEEDED, 0);
    endpoint_health_destroy(&health);
}

static void an_older_reading_of_the_clock_takes_nothing_back(void **state)
{
    struct endpoint_health *health = create(0, 60, 0);
    int64_t now_ns = clock_now_ns(), before_ns = now_ns - 30 * NS_PER_SEC;
    for (int i = 0; i < 60; i++) {
        assert_int_equal(endpoint_health_acquire(health, i % 2 ? before_ns : now_ns, 0, &place, &wait_ms),
                         ENDPOINT_AVAILABLE);
        struct endpoint_report report = {.verdict = ENDPOINT_SUCCEEDED, .place = place};
        endpoint_health_release(health, i % 3 ? before_ns : now_ns, &report);
    }
    assert_int_equal(endpoint_health_acquire(health, now_ns, 0, &place, &wait_ms), ENDPOINT_RATE_LIMITED);
    assert_int_equal(wait_ms, 1000);
    endpoint_health_destroy(&health);
}

static void a_refusal_takes_nothing(void **state)
{
    struct endpoint_health *health = create(1, 2, 100);
    assert_int_equal(take(health, 10), ENDPOINT_AVAILABLE);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(health, 10), ENDPOINT_SATURATED);
    give_back(health, ENDPOINT_SUCCEEDED, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(health, 95), ENDPOINT_RATE_LIMITED);
    assert_int_equal(take(health, 90), ENDPOINT_AVAILABLE);
    give_back(health, ENDPOINT_SUCCEEDED, 0);
    assert_int_equal(take(health, 0), ENDPOINT_RATE_LIMITED);
    endpoint_health_destroy(&health);
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
    struct endpoint_health *health = create(UNDER_WAY_MAX - 1, 600, 60000);
    struct endpoint_slot held[UNDER_WAY_MAX];
    unsigned count = 0, refused[ENDPOINT_RATE_LIMITED + 1] = {0};
    for (int i = 0; i < 100000; i++) {
        pass_ms(below(60));
        if (below(2)) {
            enum endpoint_refusal refusal = take(health, below(500));
            refused[refusal]++;
            if (refusal == ENDPOINT_AVAILABLE)
                held[count++] = place;
        } else if (count) {
            unsigned which = below(count);
            place = held[which];
            held[which] = held[--count];
            if (below(50) == 0)
                give_back_limited(health, below(200));
            else
                give_back(health,
                          below(4)   ? ENDPOINT_SUCCEEDED
                          : below(3) ? ENDPOINT_FAILED
                                     : ENDPOINT_UNKNOWN,
                          below(800));
        }
        assert_int_equal(health->outstanding, count);
        assert_true(count < UNDER_WAY_MAX && health->breaker.trials <= BREAKER_TRIALS);
        assert_true(health->requests.level >= 0 && health->requests.level <= 600);
        assert_true(health->tokens.level >= -60000 && health->tokens.level <= 60000);
    }
    for (size_t i = 0; i < COUNT(refused); i++)
        assert_true(refused[i] > 0); /* all of it has happened */
    while (count) {
        place = held[--count];
        give_back(health, ENDPOINT_UNKNOWN, 0);
    }
    assert_int_equal(view_of(health).outstanding, 0);
    assert_int_equal(health->breaker.trials, 0);
    endpoint_health_destroy(&health);
}

#define RACE_LIMIT 3

static _Atomic int inside, most_inside;

static void *race(void *health)
{
    for (int i = 0; i < 20000; i++) {
        struct endpoint_slot mine;
        int64_t wait;
        if (endpoint_health_acquire(health, clock_now_ns(), 1, &mine, &wait) != ENDPOINT_AVAILABLE)
            continue;
        int now_inside = atomic_fetch_add(&inside, 1) + 1;
        if (now_inside > most_inside)
            most_inside = now_inside;
        atomic_fetch_sub(&inside, 1);
        struct endpoint_report report = {
            .verdict = i % 5 ? ENDPOINT_SUCCEEDED : ENDPOINT_FAILED, .place = mine, .tokens = 1};
        endpoint_health_release(health, clock_now_ns(), &report);
    }
    return NULL;
}

static void threads_never_get_past_the_limit_together(void **state)
{
    struct endpoint_health *health = create(RACE_LIMIT, 0, 1000000);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, health), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(view_of(health).outstanding <= RACE_LIMIT);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_in_range(most_inside, 1, RACE_LIMIT);
    assert_int_equal(view_of(health).outstanding, 0);
    endpoint_health_destroy(&health);
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
        cmocka_unit_test(a_refusal_takes_nothing),
        cmocka_unit_test(any_sequence_keeps_count),
        cmocka_unit_test(threads_never_get_past_the_limit_together),
    };
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
