#include "base/clock.h"
#include "loop/timers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 2000

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void timers_come_out_in_the_order_of_their_times(void **state)
{
    static struct timer many[MANY];
    struct timers timers = {0};
    uint32_t seed = 1;
    for (int i = 0; i < MANY; i++)
        timers_set(&timers, &many[i], next_random(&seed) % 500);
    for (int i = 0; i < MANY; i += 3)
        timers_set(&timers, &many[i], next_random(&seed) % 500); /* moved */
    for (int i = 1; i < MANY; i += 3)
        timers_remove(&timers, &many[i]);
    int64_t last_ns = 0;
    int taken = 0;
    for (struct timer *due; (due = timers_take_due(&timers, 500)); taken++) {
        assert_true(due->at_ns >= last_ns);
        assert_int_equal(due->place, 0);
        last_ns = due->at_ns;
    }
    assert_int_equal(taken, MANY - (MANY + 1) / 3);
    assert_true(timers_next_ns(&timers) == TIME_NEVER);
    timers_fini(&timers);
}

static void nothing_comes_out_before_its_time(void **state)
{
    struct timers timers = {0};
    struct timer timer = {0};
    timers_set(&timers, &timer, 100);
    assert_null(timers_take_due(&timers, 99));
    assert_ptr_equal(timers_take_due(&timers, 100), &timer);
    timers_fini(&timers);
}

static void a_timer_that_is_not_in_may_be_removed(void **state)
{
    struct timers timers = {0};
    struct timer in = {0}, out = {0};
    timers_set(&timers, &in, 1);
    timers_remove(&timers, &out);
    assert_true(timers_next_ns(&timers) == 1);
    timers_fini(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_come_out_in_the_order_of_their_times),
        cmocka_unit_test(nothing_comes_out_before_its_time),
        cmocka_unit_test(a_timer_that_is_not_in_may_be_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
