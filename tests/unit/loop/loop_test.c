/* The loop in virtual time: no thread, a stopped clock. */
#include "base/clock.h"
#include "loop/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

static char trail[256]; /* what ran, a letter each */

static void leave_mark(char letter)
{
    size_t length = strlen(trail);
    trail[length] = letter;
    trail[length + 1] = '\0';
}

struct mark {
    struct work work;
    struct timer timer;
    char letter;
    struct loop *loop;
    struct mark *then;
};

static void mark_run(struct work *work)
{
    struct mark *mark = (struct mark *)work;
    leave_mark(mark->letter);
    if (mark->then)
        loop_defer(mark->loop, &mark->then->work);
}

static void mark_due(struct timer *timer)
{
    struct mark *mark = CONTAINER_OF(timer, struct mark, timer);
    leave_mark(mark->letter);
}

static struct mark mark_of(struct loop *loop, char letter)
{
    return (struct mark){.work.run = mark_run, .timer.expired = mark_due, .letter = letter, .loop = loop};
}

static int set_up(void **state)
{
    trail[0] = '\0';
    *state = loop_create(0);
    return 0;
}

static int tear_down(void **state)
{
    struct loop *loop = *state;
    loop_destroy(&loop);
    return loop != NULL;
}

static void posts_run_in_the_order_they_were_made(void **state)
{
    struct loop *loop = *state;
    struct mark a = mark_of(loop, 'a'), b = mark_of(loop, 'b'), c = mark_of(loop, 'c');
    loop_post(loop, &a.work);
    loop_post(loop, &b.work);
    loop_post(loop, &c.work);
    assert_string_equal(trail, "");
    loop_step(loop, 0);
    assert_string_equal(trail, "abc");
}

static void deferred_work_runs_after_the_callback_that_asked_for_it(void **state)
{
    struct loop *loop = *state;
    struct mark a = mark_of(loop, 'a'), b = mark_of(loop, 'b'), later = mark_of(loop, 'z');
    a.then = &later;
    loop_post(loop, &a.work);
    loop_post(loop, &b.work);
    loop_step(loop, 0);
    assert_string_equal(trail, "abz");
}

static void deferred_work_can_be_taken_back(void **state)
{
    struct loop *loop = *state;
    struct mark a = mark_of(loop, 'a'), b = mark_of(loop, 'b'), c = mark_of(loop, 'c');
    loop_enter(loop);
    loop_defer(loop, &a.work);
    loop_defer(loop, &b.work);
    loop_defer(loop, &b.work); /* stays where it is */
    loop_defer(loop, &c.work);
    loop_undefer(loop, &b.work);
    loop_undefer(loop, &b.work);
    loop_leave(loop);
    assert_string_equal(trail, "ac");
}

static void timers_fire_at_their_time_and_not_before(void **state)
{
    struct loop *loop = *state;
    struct mark a = mark_of(loop, 'a'), b = mark_of(loop, 'b'), c = mark_of(loop, 'c');
    loop_enter(loop);
    loop_arm_after(loop, &a.timer, 30);
    loop_arm_after(loop, &b.timer, 10);
    loop_arm_after(loop, &c.timer, 20);
    loop_leave(loop);
    loop_step(loop, 9);
    assert_string_equal(trail, "");
    loop_step(loop, 1);
    assert_string_equal(trail, "b");
    loop_step(loop, 100);
    assert_string_equal(trail, "bca");
}

static void a_timer_can_be_moved_and_disarmed(void **state)
{
    struct loop *loop = *state;
    struct mark a = mark_of(loop, 'a'), b = mark_of(loop, 'b');
    loop_enter(loop);
    loop_arm_after(loop, &a.timer, 10);
    loop_arm_after(loop, &b.timer, 10);
    loop_arm_after(loop, &a.timer, 50);
    loop_disarm(loop, &b.timer);
    loop_leave(loop);
    loop_step(loop, 49);
    assert_string_equal(trail, "");
    loop_step(loop, 1);
    assert_string_equal(trail, "a");
}

struct pipe_end {
    struct watch watch;
    struct watch *rival; /* taken away by whichever is ready first */
    struct loop *loop;
    int ready;
};

static void pipe_ready(struct watch *watch, uint32_t events)
{
    struct pipe_end *end = (struct pipe_end *)watch;
    char byte;
    assert_true(events & EPOLLIN);
    assert_int_equal(read(watch->fd, &byte, 1), 1);
    end->ready++;
    if (end->rival)
        loop_unwatch(end->loop, end->rival);
}

static void a_socket_that_is_readable_calls_its_watch(void **state)
{
    struct loop *loop = *state;
    struct pipe_end end = {.watch.ready = pipe_ready, .loop = loop};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    loop_enter(loop);
    assert_true(loop_watch(loop, &end.watch, fds[0], EPOLLIN));
    loop_leave(loop);
    loop_step(loop, 1);
    assert_int_equal(end.ready, 0);
    assert_int_equal(write(fds[1], "xy", 2), 2);
    loop_step(loop, 1);
    assert_int_equal(end.ready, 2);
    loop_enter(loop);
    loop_unwatch(loop, &end.watch);
    loop_leave(loop);
    assert_int_equal(write(fds[1], "z", 1), 1);
    loop_step(loop, 1);
    assert_int_equal(end.ready, 2);
    close(fds[0]);
    close(fds[1]);
}

static void a_watch_taken_away_in_the_same_visit_is_not_called(void **state)
{
    struct loop *loop = *state;
    struct pipe_end a = {.watch.ready = pipe_ready, .loop = loop}, b = a;
    int first[2], second[2];
    assert_int_equal(pipe(first), 0);
    assert_int_equal(pipe(second), 0);
    a.rival = &b.watch;
    b.rival = &a.watch;
    loop_enter(loop);
    assert_true(loop_watch(loop, &a.watch, first[0], EPOLLIN));
    assert_true(loop_watch(loop, &b.watch, second[0], EPOLLIN));
    loop_leave(loop);
    assert_int_equal(write(first[1], "x", 1), 1);
    assert_int_equal(write(second[1], "x", 1), 1);
    loop_step(loop, 1);
    assert_int_equal(a.ready + b.ready, 1);
    loop_enter(loop);
    loop_unwatch(loop, &a.watch);
    loop_unwatch(loop, &b.watch);
    loop_leave(loop);
    for (int i = 0; i < 2; i++) {
        close(first[i]);
        close(second[i]);
    }
}

static void a_descriptor_that_cannot_be_watched_is_refused(void **state)
{
    struct loop *loop = *state;
    struct watch watch = {.ready = pipe_ready};
    loop_enter(loop);
    assert_false(loop_watch(loop, &watch, 9999, EPOLLIN));
    assert_int_equal(watch.slot, 0);
    loop_leave(loop);
}

static void the_loop_that_a_thread_is_in_is_known(void **state)
{
    struct loop *loop = *state;
    assert_null(loop_current());
    loop_enter(loop);
    assert_ptr_equal(loop_current(), loop);
    loop_leave(loop);
    assert_null(loop_current());
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(posts_run_in_the_order_they_were_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deferred_work_runs_after_the_callback_that_asked_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deferred_work_can_be_taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timers_fire_at_their_time_and_not_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_timer_can_be_moved_and_disarmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_socket_that_is_readable_calls_its_watch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_watch_taken_away_in_the_same_visit_is_not_called, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_that_cannot_be_watched_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_loop_that_a_thread_is_in_is_known, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
