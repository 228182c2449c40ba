/* The loop in real time, with its own thread and others that post to it or come in. Run under TSan as well. */
#include "base/clock.h"
#include "loop/loop.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4
#define ROUNDS  20000

struct shared {
    struct loop *loop;
    long count; /* touched only from inside the loop */
    sem_t all_run;
};

static struct shared shared;

static void add(struct work *work)
{
    free(work);
    if (++shared.count == 2L * THREADS * ROUNDS)
        sem_post(&shared.all_run);
}

static void *come_in_and_post(void *data)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct work *work = calloc(1, sizeof *work);
        work->run = add;
        loop_post(shared.loop, work);
        work = calloc(1, sizeof *work);
        work->run = add;
        loop_enter(shared.loop);
        loop_defer(shared.loop, work);
        loop_leave(shared.loop);
    }
    return NULL;
}

static int start(void **state)
{
    struct status st = {0};
    shared = (struct shared){.loop = loop_create(0)};
    sem_init(&shared.all_run, 0, 0);
    return loop_start(shared.loop, &st) ? 0 : -1;
}

static int stop(void **state)
{
    loop_stop(shared.loop);
    loop_destroy(&shared.loop);
    return 0;
}

static void one_at_a_time_is_in_the_loop_whoever_comes(void **state)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_in_and_post, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    assert_int_equal(sem_timedwait(&shared.all_run, &until), 0);
}

struct alarm_clock {
    struct timer timer;
    int64_t rang_ns;
    sem_t rang;
};

static void ring(struct timer *timer)
{
    struct alarm_clock *alarm = (struct alarm_clock *)timer;
    alarm->rang_ns = clock_now_ns();
    sem_post(&alarm->rang);
}

static void a_timer_set_by_a_visitor_wakes_the_sleeping_loop_in_time(void **state)
{
    struct alarm_clock far = {.timer.expired = ring}, near = {.timer.expired = ring};
    sem_init(&near.rang, 0, 0);
    sem_init(&far.rang, 0, 0);
    loop_enter(shared.loop);
    loop_arm_after(shared.loop, &far.timer, 60000);
    loop_leave(shared.loop);
    nanosleep(&(struct timespec){.tv_nsec = 20 * NS_PER_MS}, NULL); /* the loop sleeps for a minute now */
    int64_t began_ns = clock_now_ns();
    loop_enter(shared.loop);
    loop_arm_after(shared.loop, &near.timer, 20);
    loop_leave(shared.loop);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    assert_int_equal(sem_timedwait(&near.rang, &until), 0);
    assert_true(near.rang_ns - began_ns >= 20 * NS_PER_MS);
    loop_enter(shared.loop);
    loop_disarm(shared.loop, &far.timer);
    loop_leave(shared.loop);
}

struct bell {
    struct watch watch;
    sem_t heard;
};

static void hear(struct watch *watch, uint32_t events)
{
    struct bell *bell = (struct bell *)watch;
    loop_unwatch(shared.loop, watch);
    sem_post(&bell->heard);
}

static void what_a_socket_said_has_been_told_by_the_time_of_the_last_look(void **state)
{
    struct bell bell = {.watch.ready = hear};
    struct timespec until;
    int ends[2];
    sem_init(&bell.heard, 0, 0);
    assert_int_equal(pipe(ends), 0);
    loop_enter(shared.loop);
    assert_true(loop_watch(shared.loop, &bell.watch, ends[0], EPOLLIN));
    loop_leave(shared.loop);
    int64_t rung_ns = clock_now_ns();
    assert_int_equal(write(ends[1], "", 1), 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    assert_int_equal(sem_timedwait(&bell.heard, &until), 0);
    loop_enter(shared.loop);
    int64_t looked_ns = loop_polled_ns(shared.loop);
    loop_leave(shared.loop);
    assert_true(looked_ns >= rung_ns);
    assert_true(looked_ns <= clock_now_ns());
    close(ends[0]);
    close(ends[1]);
}

struct piece {
    struct work work;
    int64_t takes_ns;
    int visits_before; /* visits that had ended when it ran */
    sem_t ran;
};

static int visits_ended;

static void count_visit(const struct loop *loop, int64_t held_ns, void *data)
{
    visits_ended++;
}

static void run_piece(struct work *work)
{
    struct piece *piece = (struct piece *)work;
    piece->visits_before = visits_ended;
    for (int64_t until_ns = clock_now_ns() + piece->takes_ns; clock_now_ns() < until_ns;)
        ;
    sem_post(&piece->ran);
}

static void deferred_work_that_is_long_lets_others_into_the_loop_before_the_next(void **state)
{
    struct piece pieces[3] = {{.takes_ns = 3 * NS_PER_MS}, {.takes_ns = 3 * NS_PER_MS}, {.takes_ns = 0}};
    loop_enter(shared.loop);
    loop_on_held(shared.loop, count_visit, NULL);
    for (int i = 0; i < 3; i++) {
        sem_init(&pieces[i].ran, 0, 0);
        pieces[i].work.run = run_piece;
        loop_defer(shared.loop, &pieces[i].work);
    }
    loop_leave(shared.loop);
    for (int i = 0; i < 3; i++)
        while (sem_wait(&pieces[i].ran) != 0)
            ;
    assert_true(pieces[1].visits_before > pieces[0].visits_before);
    assert_true(pieces[2].visits_before > pieces[1].visits_before);
    loop_enter(shared.loop);
    loop_on_held(shared.loop, NULL, NULL);
    loop_leave(shared.loop);
}

#define DEFERS 300

static void hear_for_3_ms(struct watch *watch, uint32_t events)
{
    for (int64_t until_ns = clock_now_ns() + 3 * NS_PER_MS; clock_now_ns() < until_ns;)
        ;
}

/* A pipe that is never read is ready in each visit. */
static void deferred_work_runs_though_callbacks_make_each_visit_late(void **state)
{
    static struct piece pieces[DEFERS];
    struct watch busy = {.ready = hear_for_3_ms};
    struct timespec until;
    bool all_ran = true;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "", 1), 1);
    loop_enter(shared.loop);
    loop_on_held(shared.loop, count_visit, NULL);
    assert_true(loop_watch(shared.loop, &busy, ends[0], EPOLLIN));
    hear_for_3_ms(&busy, 0);
    for (int i = 0; i < DEFERS; i++) {
        sem_init(&pieces[i].ran, 0, 0);
        pieces[i].work.run = run_piece;
        loop_defer(shared.loop, &pieces[i].work);
    }
    loop_leave(shared.loop);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    for (int i = 0; i < DEFERS && all_ran; i++)
        all_ran = sem_timedwait(&pieces[i].ran, &until) == 0;
    loop_enter(shared.loop);
    loop_unwatch(shared.loop, &busy);
    loop_on_held(shared.loop, NULL, NULL);
    loop_leave(shared.loop);
    assert_true(all_ran);
    assert_in_range(pieces[DEFERS - 1].visits_before - pieces[0].visits_before, 0, DEFERS / 3);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_at_a_time_is_in_the_loop_whoever_comes, start, stop),
        cmocka_unit_test_setup_teardown(a_timer_set_by_a_visitor_wakes_the_sleeping_loop_in_time, start, stop),
        cmocka_unit_test_setup_teardown(deferred_work_that_is_long_lets_others_into_the_loop_before_the_next, start,
                                        stop),
        cmocka_unit_test_setup_teardown(deferred_work_runs_though_callbacks_make_each_visit_late, start, stop),
        cmocka_unit_test_setup_teardown(what_a_socket_said_has_been_told_by_the_time_of_the_last_look, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
