/* What a standing keeps when the routes are read again: what was used of a minute, what is under way, what a model has
 * refused to take. */
#include "upstream/standing_priv.h"

#include "base/clock.h"

#include <pthread.h>

#include "unit.h"

static const struct standing_kind standing_kind = {"test.circuit", "upstream"};

#define TEACHERS 4

static struct standing *create(int64_t concurrency, int64_t requests, int64_t tokens)
{
    struct limits limits = {.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens};
    struct standing *standing = standing_create(&standing_kind, "east", &limits);
    assert_non_null(standing);
    return standing;
}

static void limit(struct standing *standing, int64_t concurrency, int64_t requests, int64_t tokens)
{
    standing_limit(
        standing,
        &(struct limits){.concurrency = concurrency, .requests_per_minute = requests, .tokens_per_minute = tokens});
}

static enum standing_refusal take(struct standing *standing, int64_t tokens, struct standing_place *place)
{
    int64_t wait_ms;
    return standing_take(standing, clock_now_ns(), tokens, place, &wait_ms);
}

static void give_back(struct standing *standing, const struct standing_place *place, int64_t tokens)
{
    struct standing_report report = {.verdict = STANDING_GOOD, .place = *place, .tokens = tokens};
    standing_give_back(standing, clock_now_ns(), &report);
}

static void fewer_places_count_those_who_are_inside(void **state)
{
    struct standing *standing = create(3, 0, 0);
    struct standing_place places[3], other;
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(standing, 0, &places[i]), STANDING_FREE);
    limit(standing, 2, 0, 0);
    give_back(standing, &places[0], 0);
    assert_int_equal(take(standing, 0, &other), STANDING_BUSY);
    give_back(standing, &places[1], 0);
    assert_int_equal(take(standing, 0, &other), STANDING_FREE);
    give_back(standing, &places[2], 0);
    give_back(standing, &other, 0);
    standing_destroy(&standing);
}

static void what_was_used_of_a_minute_stays_used(void **state)
{
    struct standing *standing = create(0, 10, 0);
    struct standing_place place;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(take(standing, 0, &place), STANDING_FREE);
        give_back(standing, &place, 0);
    }
    limit(standing, 0, 9, 0);
    assert_int_equal(take(standing, 0, &place), STANDING_FREE);
    give_back(standing, &place, 0);
    assert_int_equal(take(standing, 0, &place), STANDING_RATE);
    limit(standing, 0, 12, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(standing, 0, &place), STANDING_FREE);
        give_back(standing, &place, 0);
    }
    assert_int_equal(take(standing, 0, &place), STANDING_RATE);
    standing_destroy(&standing);
}

/* It has reserved nothing, so nothing comes back. */
static void who_came_before_a_limit_settles_after_it(void **state)
{
    struct standing *standing = create(0, 0, 0);
    struct standing_place before, place;
    assert_int_equal(take(standing, 700, &before), STANDING_FREE);
    limit(standing, 0, 0, 1000);
    give_back(standing, &before, 600);
    assert_int_equal(take(standing, 401, &place), STANDING_RATE);
    assert_int_equal(take(standing, 400, &place), STANDING_FREE);
    limit(standing, 0, 0, 0);
    give_back(standing, &place, 400);
    assert_int_equal(take(standing, 1000000, &place), STANDING_FREE);
    give_back(standing, &place, 0);
    standing_destroy(&standing);
}

static void *teach(void *data)
{
    struct standing *standing = data;
    for (uint32_t bit = 1; bit < 1u << 20; bit <<= 1) {
        standing_learn(standing, bit);
        assert_true(standing_left_out(standing) & bit);
    }
    return NULL;
}

static void what_one_loop_learns_the_others_know(void **state)
{
    struct standing *standing = create(0, 0, 0);
    pthread_t teachers[TEACHERS];
    assert_int_equal(standing_left_out(standing), 0);
    for (int i = 0; i < TEACHERS; i++)
        assert_int_equal(pthread_create(&teachers[i], NULL, teach, standing), 0);
    for (int i = 0; i < TEACHERS; i++)
        assert_int_equal(pthread_join(teachers[i], NULL), 0);
    assert_int_equal(standing_left_out(standing), (1u << 20) - 1);
    standing_destroy(&standing);
}

static void it_lives_until_the_last_who_holds_it_lets_go(void **state)
{
    struct standing *first = create(1, 0, 0), *second = standing_hold(first);
    struct standing_place place;
    assert_int_equal(take(second, 0, &place), STANDING_FREE);
    standing_destroy(&first);
    assert_null(first);
    give_back(second, &place, 0);
    standing_destroy(&second);
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
