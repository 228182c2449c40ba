/* How one deployment stands: its places and buckets, and that no sequence of calls loses count. */
#include "standing_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

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
        cmocka_unit_test(a_refusal_takes_nothing),
        cmocka_unit_test(any_sequence_keeps_count),
        cmocka_unit_test(threads_never_get_past_the_limit_together),
    };
    log_configure("test", LOG_ERROR, LOG_FORMAT_TEXT);
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
