#include "base/random.h"

#include <pthread.h>

#include "unit.h"

static void numbers_below_a_bound_reach_every_value_evenly(void **state)
{
    unsigned seen[10] = {0};
    for (int i = 0; i < 100000; i++)
        seen[random_below(10)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 9000, 11000);
    assert_int_equal(random_below(0), 0);
    assert_int_equal(random_below(1), 0);
}

static void large_bounds_are_even_too(void **state)
{
    /* Of a bound of 3/4 of the range a careless reduction would give every third number twice as often. */
    uint64_t bound = UINT64_C(3) << 62;
    unsigned thirds = 0;
    for (int i = 0; i < 30000; i++)
        thirds += random_below(bound) % 3 == 0;
    assert_in_range(thirds, 9500, 10500);
}

static void *draw(void *number)
{
    *(uint64_t *)number = random_u64();
    return NULL;
}

static void every_thread_draws_its_own(void **state)
{
    uint64_t numbers[8];
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw, &numbers[i]), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++)
            assert_int_not_equal(numbers[i], numbers[j]);
    }
}

static void a_forked_child_does_not_repeat_its_parent(void **state)
{
    int pipes[2];
    uint64_t theirs, ours;
    random_u64();
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        theirs = random_u64();
        _exit(write(pipes[1], &theirs, sizeof theirs) == sizeof theirs ? 0 : 1);
    }
    ours = random_u64();
    assert_int_equal(read(pipes[0], &theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_not_equal(ours, theirs);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_below_a_bound_reach_every_value_evenly),
        cmocka_unit_test(large_bounds_are_even_too),
        cmocka_unit_test(every_thread_draws_its_own),
        cmocka_unit_test(a_forked_child_does_not_repeat_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
