#include "base/clock.h"

#include <pthread.h>

#include "unit.h"

static void time_goes_on_while_it_runs(void **state)
{
    int64_t first = clock_now_ns(), later;
    do {
        later = clock_now_ns();
        assert_true(later >= first);
    } while (later == first);
    assert_true(clock_wall_ns() > INT64_C(1700000000) * NS_PER_SEC);
}

static void *read_steps(void *unused)
{
    int64_t before = clock_now_ns();
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_now_ns();
        assert_true(now >= before);
        before = now;
    }
    return NULL;
}

/* The last test: there is no way back. */
static void a_stopped_clock_moves_only_by_steps_also_for_other_threads(void **state)
{
    pthread_t reader;
    clock_stop();
    int64_t stopped = clock_now_ns();
    clock_stop();
    assert_int_equal(clock_now_ns(), stopped);
    assert_int_equal(pthread_create(&reader, NULL, read_steps, NULL), 0);
    for (int i = 0; i < 1000; i++)
        clock_step(NS_PER_MS);
    pthread_join(reader, NULL);
    assert_int_equal(clock_now_ns(), stopped + NS_PER_SEC);
}

static void step_a_running_clock(void)
{
    clock_step(1);
}

static void stepping_a_running_clock_asserts(void **state)
{
    assert_asserts(step_a_running_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_on_while_it_runs),
        cmocka_unit_test(stepping_a_running_clock_asserts),
        cmocka_unit_test(a_stopped_clock_moves_only_by_steps_also_for_other_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
