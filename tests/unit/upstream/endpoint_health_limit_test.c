/* What endpoint health keeps when the routes are read again: what was used of a minute, what is under way, what a model
 * has refused to take. */
#include "upstream/endpoint_health_priv.h"

#include "base/clock.h"

#include <pthread.h>

#include "unit.h"

static const struct endpoint_kind endpoint_kind = {"test.circuit", "upstream"};

#define TEACHERS 4

static struct endpoint_health *create(int64_t concurrency, int64_t requests, int64_t tokens)
{
    struct limits limits = {.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens};
    struct endpoint_health *health = endpoint_health_create(&endpoint_kind, "east", &limits);
    assert_non_null(health);
    return health;
}

static void limit(struct endpoint_health *health, int64_t concurrency, int64_t requests, int64_t tokens)
{
    endpoint_health_limit(
        health,
        &(struct limits){.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens});
}

static enum endpoint_refusal take(struct endpoint_health *health, int64_t tokens, struct endpoint_slot *place)
{
    int64_t wait_ms;
    return endpoint_health_acquire(health, clock_now_ns(), tokens, place, &wait_ms);
}

static void give_back(struct endpoint_health *health, const struct endpoint_slot *place, int64_t tokens)
{
    struct endpoint_report report = {.verdict = ENDPOINT_SUCCEEDED, .place = *place, .tokens = tokens};
    endpoint_health_release(health, clock_now_ns(), &report);
}

static void fewer_places_count_those_who_are_inside(void **state)
{
    struct endpoint_health *health = create(3, 0, 0);
    struct endpoint_slot places[3], other;
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(health, 0, &places[i]), ENDPOINT_AVAILABLE);
    limit(health, 2, 0, 0);
    give_back(health, &places[0], 0);
    assert_int_equal(take(health, 0, &other), ENDPOINT_SATURATED);
    give_back(health, &places[1], 0);
    assert_int_equal(take(health, 0, &other), ENDPOINT_AVAILABLE);
    give_back(health, &places[2], 0);
    give_back(health, &other, 0);
    endpoint_health_destroy(&health);
}

static void what_was_used_of_a_minute_stays_used(void **state)
{
    struct endpoint_health *health = create(0, 10, 0);
    struct endpoint_slot place;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(take(health, 0, &place), ENDPOINT_AVAILABLE);
        give_back(health, &place, 0);
    }
    limit(health, 0, 9, 0);
    assert_int_equal(take(health, 0, &place), ENDPOINT_AVAILABLE);
    give_back(health, &place, 0);
    assert_int_equal(take(health, 0, &place), ENDPOINT_RATE_LIMITED);
    limit(health, 0, 12, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(health, 0, &place), ENDPOINT_AVAILABLE);
        give_back(health, &place, 0);
    }
    assert_int_equal(take(health, 0, &place), ENDPOINT_RATE_LIMITED);
    endpoint_health_destroy(&health);
}

/* It has reserved nothing, so nothing comes back. */
static void who_came_before_a_limit_settles_after_it(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    struct endpoint_slot before, place;
    assert_int_equal(take(health, 700, &before), ENDPOINT_AVAILABLE);
    limit(health, 0, 0, 1000);
    give_back(health, &before, 600);
    assert_int_equal(take(health, 401, &place), ENDPOINT_RATE_LIMITED);
    assert_int_equal(take(health, 400, &place), ENDPOINT_AVAILABLE);
    limit(health, 0, 0, 0);
    give_back(health, &place, 400);
    assert_int_equal(take(health, 1000000, &place), ENDPOINT_AVAILABLE);
    give_back(health, &place, 0);
    endpoint_health_destroy(&health);
}

static void *teach(void *data)
{
    struct endpoint_health *health = data;
    for (uint32_t bit = 1; bit < 1u << 20; bit <<= 1) {
        endpoint_health_refuse_parameters(health, bit);
        assert_true(endpoint_health_refused_parameters(health) & bit);
    }
    return NULL;
}

static void what_one_loop_learns_the_others_know(void **state)
{
    struct endpoint_health *health = create(0, 0, 0);
    pthread_t teachers[TEACHERS];
    assert_int_equal(endpoint_health_refused_parameters(health), 0);
    for (int i = 0; i < TEACHERS; i++)
        assert_int_equal(pthread_create(&teachers[i], NULL, teach, health), 0);
    for (int i = 0; i < TEACHERS; i++)
        assert_int_equal(pthread_join(teachers[i], NULL), 0);
    assert_int_equal(endpoint_health_refused_parameters(health), (1u << 20) - 1);
    endpoint_health_destroy(&health);
}

static void it_lives_until_the_last_who_holds_it_lets_go(void **state)
{
    struct endpoint_health *first = create(1, 0, 0), *second = endpoint_health_hold(first);
    struct endpoint_slot place;
    assert_int_equal(take(second, 0, &place), ENDPOINT_AVAILABLE);
    endpoint_health_destroy(&first);
    assert_null(first);
    give_back(second, &place, 0);
    endpoint_health_destroy(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_places_count_those_who_are_inside),
        cmocka_unit_test(what_was_used_of_a_minute_stays_used),
        cmocka_unit_test(who_came_before_a_limit_settles_after_it),
        cmocka_unit_test(what_one_loop_learns_the_others_know),
        cmocka_unit_test(it_lives_until_the_last_who_holds_it_lets_go),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
