/* Who stands at the admission may leave whenever it likes: waiting, called, sent away, refused, or never there. */
#include "admission_callers.h"

/* Whoever looks at it again will be seen. */
static void withdraw_and_forget(struct caller *caller)
{
    withdraw(caller);
    assert_int_equal(caller->heard, 0);
    memset(caller, 0xEE, sizeof *caller);
}

static void one_that_waits_can_leave(void **state)
{
    struct limits_table clients = {.fallback = {.tokens_per_minute = 100, .requests_per_minute = 1}};
    open_full_admission(10, &clients);
    struct caller a = caller_of("a", ADMISSION_NORMAL), b = caller_of("a", ADMISSION_NORMAL);
    a.ticket.tokens = b.ticket.tokens = 100;
    assert_int_equal(enter(&a), ADMISSION_QUEUED);
    assert_int_equal(enter(&b), ADMISSION_REJECTED);
    withdraw_and_forget(&a);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    loop_step(loop, 59000);
    leave_and_step(&first);
    assert_true(b.inside);
    leave(&b);
    loop_step(loop, 120000);
}

static void one_that_was_called_and_has_not_heard_of_it_can_leave(void **state)
{
    struct limits_table clients = {.fallback.micros_per_day = 100};
    open_full_admission(10, &clients);
    struct caller a = caller_of("a", ADMISSION_NORMAL), b = caller_of("b", ADMISSION_NORMAL);
    struct loop *other = loop_create(1);
    a.ticket.loop = other;
    a.ticket.micros = 100;
    assert_int_equal(enter(&a), ADMISSION_QUEUED);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    leave(&first); /* posts to the other loop, which has not run yet */
    assert_int_equal(stats().waiting[ADMISSION_NORMAL], 1);
    withdraw_and_forget(&a);
    loop_step(loop, 0);
    assert_true(b.inside);
    leave(&b);
    loop_step(other, 120000);
    loop_destroy(&other);
    struct caller again = caller_of("a", ADMISSION_NORMAL);
    again.ticket.micros = 100;
    assert_int_equal(enter(&again), ADMISSION_ADMITTED);
    leave(&again);
}

static void one_that_was_sent_away_and_has_not_heard_of_it_can_leave(void **state)
{
    open_full_admission(1, NULL);
    struct caller a = caller_of("a", ADMISSION_BATCH), b = caller_of("b", ADMISSION_NORMAL);
    struct loop *other = loop_create(1);
    a.ticket.loop = other;
    assert_int_equal(enter(&a), ADMISSION_QUEUED);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    withdraw_and_forget(&a);
    loop_step(other, 120000);
    loop_destroy(&other);
    withdraw_and_forget(&b);
    leave(&first);
}

static void one_that_was_refused_or_never_came_can_leave(void **state)
{
    open_full_admission(0, NULL);
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    withdraw(&a);
    assert_int_equal(enter(&a), ADMISSION_REJECTED);
    withdraw_and_forget(&a);
    leave(&first);
}

static struct caller *to_withdraw;

static void heard_and_withdraws(struct ticket *ticket)
{
    heard(ticket);
    admission_withdraw(&to_withdraw->ticket);
}

static void one_called_may_withdraw_the_other(void **state)
{
    open_admission((struct admission_options){.in_flight_max = 2, .queue_max = 10});
    struct caller x = caller_of("x", ADMISSION_NORMAL), y = caller_of("y", ADMISSION_NORMAL),
                  a = caller_of("a", ADMISSION_NORMAL), b = caller_of("b", ADMISSION_NORMAL);
    assert_int_equal(enter(&x), ADMISSION_ADMITTED);
    assert_int_equal(enter(&y), ADMISSION_ADMITTED);
    a.ticket.admitted = heard_and_withdraws;
    to_withdraw = &b;
    assert_int_equal(enter(&a), ADMISSION_QUEUED);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    loop_enter(loop);
    admission_leave(&x.ticket, 0, 0);
    admission_leave(&y.ticket, 0, 0);
    loop_leave(loop);
    assert_string_equal(trail, "a");
    assert_int_equal(b.heard, 0);
    leave(&a);
}

static void admission_outlives_its_last_post(void **state)
{
    open_full_admission(10, NULL);
    struct loop *other = loop_create(1);
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.loop = other;
    assert_int_equal(enter(&a), ADMISSION_QUEUED);
    leave(&first);
    withdraw(&a);
    admission_destroy(&admission);
    loop_step(other, 0);
    loop_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMISSION_TEST(one_that_waits_can_leave),
        ADMISSION_TEST(one_that_was_called_and_has_not_heard_of_it_can_leave),
        ADMISSION_TEST(one_that_was_sent_away_and_has_not_heard_of_it_can_leave),
        ADMISSION_TEST(one_that_was_refused_or_never_came_can_leave),
        ADMISSION_TEST(one_called_may_withdraw_the_other),
        ADMISSION_TEST(admission_outlives_its_last_post),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
