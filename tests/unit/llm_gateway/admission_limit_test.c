/* Other limits for a admission that is in use. */
#include "admission_callers.h"

static void limit(unsigned in_flight_max, struct limits everybody, const struct limits_row *rows, size_t count)
{
    const struct limits_table clients = {.fallback = everybody, .rows = rows, .count = count}, tenants = {{0}, NULL, 0};
    admission_limit(admission, in_flight_max, &clients, &tenants);
}

static enum admission_result pass_by(const char *client, int64_t tokens, int64_t micros)
{
    struct caller caller = caller_of(client, ADMISSION_NORMAL);
    caller.ticket.tokens = tokens;
    caller.ticket.micros = micros;
    enum admission_result answer = enter(&caller);
    if (caller.inside)
        leave(&caller);
    return answer;
}

static void more_places_call_those_who_wait(void **state)
{
    open_admission((struct admission_options){.in_flight_max = 1, .queue_max = 4});
    struct caller a = caller_of("a", ADMISSION_NORMAL), b = caller_of("b", ADMISSION_NORMAL),
                  c = caller_of("c", ADMISSION_NORMAL);
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    assert_int_equal(enter(&b), ADMISSION_QUEUED);
    assert_int_equal(enter(&c), ADMISSION_QUEUED);
    limit(2, (struct limits){0}, NULL, 0);
    loop_step(loop, 0);
    assert_string_equal(trail, "b");
    limit(0, (struct limits){0}, NULL, 0);
    loop_step(loop, 0);
    assert_string_equal(trail, "bc");
    leave(&a);
    leave(&b);
    leave(&c);
}

static void what_was_used_of_a_minute_stays_used(void **state)
{
    open_admission_for_all((struct limits){.requests_per_minute = 10}, (struct limits){0});
    for (int i = 0; i < 8; i++)
        assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
    limit(0, (struct limits){.requests_per_minute = 9}, NULL, 0);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_REJECTED);
    assert_int_equal(pass_by("b", 0, 0), ADMISSION_ADMITTED);
    limit(0, (struct limits){0}, NULL, 0);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
}

static void a_row_comes_and_goes_for_a_client_that_is_known(void **state)
{
    const struct limits_row rows[] = {{"a", {.requests_per_minute = 3}}, {"new", {.requests_per_minute = 1}}};
    open_admission_for_all((struct limits){.requests_per_minute = 1}, (struct limits){0});
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_REJECTED);
    limit(0, (struct limits){0}, rows, 2);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_REJECTED);
    assert_int_equal(pass_by("new", 0, 0), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("new", 0, 0), ADMISSION_REJECTED);
    limit(0, (struct limits){0}, NULL, 0);
    assert_int_equal(pass_by("new", 0, 0), ADMISSION_ADMITTED);
}

/* Nothing was reserved for it then, so nothing of what others have reserved comes back with it. */
static void who_entered_before_a_limit_settles_after_it(void **state)
{
    open_admission_for_all((struct limits){0}, (struct limits){0});
    struct caller before = caller_of("a", ADMISSION_NORMAL), after = caller_of("a", ADMISSION_NORMAL);
    before.ticket.tokens = after.ticket.tokens = 500;
    before.ticket.micros = after.ticket.micros = 500;
    assert_int_equal(enter(&before), ADMISSION_ADMITTED);
    limit(0, (struct limits){.tokens_per_minute = 1000, .micros_per_day = 1000}, NULL, 0);
    assert_int_equal(enter(&after), ADMISSION_ADMITTED);
    leave_with(&before, 100, 100);
    assert_int_equal(pass_by("a", 401, 0), ADMISSION_REJECTED);
    assert_int_equal(pass_by("a", 0, 401), ADMISSION_REJECTED);
    assert_int_equal(pass_by("a", 400, 400), ADMISSION_ADMITTED);
    leave(&after);
}

/* ... and what it had reserved comes back also where there is no limit any more. */
static void who_entered_under_a_limit_settles_without_one(void **state)
{
    struct limits money = {.micros_per_day = 1000};
    open_admission_for_all(money, (struct limits){0});
    struct caller a = caller_of("a", ADMISSION_NORMAL);
    a.ticket.micros = 900;
    assert_int_equal(enter(&a), ADMISSION_ADMITTED);
    limit(0, (struct limits){0}, NULL, 0);
    leave_with(&a, 0, 900);
    limit(0, money, NULL, 0);
    admission_load_spend(admission, false, "a", 900); /* as the accounts have it */
    assert_int_equal(pass_by("a", 0, 101), ADMISSION_REJECTED);
    assert_int_equal(pass_by("a", 0, 100), ADMISSION_ADMITTED);
}

static void money_that_is_counted_already_is_not_remembered_twice(void **state)
{
    struct limits money = {.micros_per_day = 1000};
    open_admission_for_all(money, (struct limits){0});
    admission_load_spend(admission, false, "a", 300);
    assert_int_equal(pass_by("a", 0, 200), ADMISSION_ADMITTED);
    limit(0, money, NULL, 0);
    admission_load_spend(admission, false, "a", 500);
    assert_int_equal(pass_by("a", 0, 501), ADMISSION_REJECTED);
    assert_int_equal(pass_by("a", 0, 500), ADMISSION_ADMITTED);
}

/* Between the limit and the accounts it ends, and it stands in the accounts. */
static void a_call_that_ends_while_the_accounts_are_read_is_counted_once(void **state)
{
    open_admission_for_all((struct limits){0}, (struct limits){0});
    limit(0, (struct limits){.micros_per_day = 1000}, NULL, 0);
    assert_int_equal(pass_by("a", 0, 200), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("new", 0, 200), ADMISSION_ADMITTED);
    admission_load_spend(admission, false, "a", 500);
    admission_load_spend(admission, false, "new", 100); /* not written yet */
    assert_int_equal(pass_by("a", 0, 501), ADMISSION_REJECTED);
    assert_int_equal(pass_by("a", 0, 500), ADMISSION_ADMITTED);
    assert_int_equal(pass_by("new", 0, 801), ADMISSION_REJECTED);
    assert_int_equal(pass_by("new", 0, 800), ADMISSION_ADMITTED);
}

static void admission_is_freed_by_its_last_holder(void **state)
{
    open_admission((struct admission_options){.in_flight_max = 1});
    struct admission *other = admission_hold(admission);
    admission_destroy(&other);
    assert_null(other);
    assert_int_equal(pass_by("a", 0, 0), ADMISSION_ADMITTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMISSION_TEST(more_places_call_those_who_wait),
        ADMISSION_TEST(what_was_used_of_a_minute_stays_used),
        ADMISSION_TEST(a_row_comes_and_goes_for_a_client_that_is_known),
        ADMISSION_TEST(who_entered_before_a_limit_settles_after_it),
        ADMISSION_TEST(who_entered_under_a_limit_settles_without_one),
        ADMISSION_TEST(money_that_is_counted_already_is_not_remembered_twice),
        ADMISSION_TEST(a_call_that_ends_while_the_accounts_are_read_is_counted_once),
        ADMISSION_TEST(admission_is_freed_by_its_last_holder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
