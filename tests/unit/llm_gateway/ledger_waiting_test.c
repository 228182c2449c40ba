/* Reports of an account that wait: for a file that somebody else has, to their deadlines, and to the end. */
#include "rpc/auth.h"
#include "telemetry/metrics.h"
#include "usage/ledger_priv.h"

#include "ledger_fixture.h"

/* Another connection that writes: flushes, and so reports, wait for it. */
static struct sql_file *block(void)
{
    struct status st = {0};
    assert_int_equal(total_micros(REQUEST(.from_ms = 0)), 0);
    struct sql_file *database = open_beside();
    assert_true(sql_run(database, "BEGIN IMMEDIATE", &st));
    spend("desk", "kyoto", MIDNIGHT, 5);
    return database;
}

static void a_report_that_was_left_ends_once(void **state)
{
    open_ledger(house.path);
    struct sql_file *blocker = block();
    Renga__V1__GetUsageRequest request = REQUEST(.from_ms = 0);
    struct asked *first = begin_asking(&request, NULL, 10000), *second = begin_asking(&request, NULL, 10000);
    nap();
    loop_enter(house.loop);
    rpc_client_call_cancel(&second->call);
    rpc_client_call_cancel(&first->call);
    loop_leave(house.loop);
    await_asked(first);
    await_asked(second);
    assert_int_equal(first->status.code, CANCELLED);
    assert_int_equal(second->status.code, CANCELLED);
    asked_free(first);
    asked_free(second);
    sql_close(&blocker);
    assert_recovers(5);
}

static void a_report_ends_at_its_deadline(void **state)
{
    open_ledger(house.path);
    struct sql_file *blocker = block();
    Renga__V1__GetUsageRequest request = REQUEST(.from_ms = 0);
    struct asked *asked = begin_asking(&request, NULL, 50);
    await_asked(asked);
    assert_int_equal(asked->status.code, DEADLINE_EXCEEDED);
    asked_free(asked);
    sql_close(&blocker);
    assert_recovers(5);
}

#define MANY_MS 2000 /* so long do they wait: all have been asked by then, also on a loaded machine */

static void ask_many(unsigned clients, unsigned count, unsigned expected_refused)
{
    static struct rpc_principal callers[100];
    static char names[100][32];
    struct asked *asked[100];
    unsigned refused = 0;
    Renga__V1__GetUsageRequest request = REQUEST(.from_ms = 0);
    for (unsigned i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "client-%u", i % clients);
        callers[i] = (struct rpc_principal){.name = names[i], .tenant = ""};
        asked[i] = begin_asking(&request, &callers[i], MANY_MS);
    }
    for (unsigned i = 0; i < count; i++) {
        await_asked(asked[i]);
        refused += asked[i]->status.code == RESOURCE_EXHAUSTED;
        asked_free(asked[i]);
    }
    assert_in_range(refused, expected_refused, expected_refused + 1); /* one may be with the reader already */
}

static void so_many_reports_wait_and_no_more(void **state)
{
    open_ledger(house.path);
    struct sql_file *blocker = block();
    ask_many(80, 80, 15);
    ask_many(1, 30, 13);
    sql_close(&blocker);
    assert_recovers(5);
}

static unsigned reports_under_way(void)
{
    pthread_mutex_lock(&house.ledger->lock);
    unsigned reports = house.ledger->reports;
    pthread_mutex_unlock(&house.ledger->lock);
    return reports;
}

static int64_t report_takes_ns(Renga__V1__GetUsageRequest request, int64_t timeout_ms)
{
    int64_t began_ns = ledger_clock_ns();
    struct asked *asked = begin_asking(&request, NULL, timeout_ms);
    await_asked(asked);
    asked_free(asked);
    while (reports_under_way())
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return ledger_clock_ns() - began_ns;
}

/* A hundred thousand runs are sorted for a page of them. */
static void a_long_report_stops_at_its_deadline_and_at_the_end(void **state)
{
    Renga__V1__GetUsageRequest request = REQUEST(GROUPS(GROUP(RUN), GROUP(THREAD), GROUP(HOUR)));
    char run[32];
    open_ledger(house.path);
    for (int i = 0; i < 100000; i++) {
        snprintf(run, sizeof run, "run-%d", i * 7919 % 100000);
        spend_run(run, MIDNIGHT, 1);
        if (i % 50000 == 49999)
            await_written();
    }
    int64_t whole_ns = report_takes_ns(request, 20000), stopped_ns = report_takes_ns(request, 5);
    print_message("a report of 100,000 runs takes %d ms, one that is left after 5 ms %d ms\n",
                  (int)(whole_ns / NS_PER_MS), (int)(stopped_ns / NS_PER_MS));
    assert_true(stopped_ns < whole_ns / 2);
    struct asked *asked = begin_asking(&request, NULL, 20000);
    int64_t began_ns = ledger_clock_ns();
    close_ledger();
    assert_true(ledger_clock_ns() - began_ns < whole_ns);
    await_asked(asked);
    assert_int_equal(asked->status.code, UNAVAILABLE);
    asked_free(asked);
}

static void closing_does_not_wait_for_long(void **state)
{
    open_ledger(house.path);
    struct sql_file *blocker = block();
    Renga__V1__GetUsageRequest request = REQUEST(.from_ms = 0);
    struct asked *asked = begin_asking(&request, NULL, 10000);
    nap();
    int64_t began_ns = ledger_clock_ns();
    close_ledger();
    assert_true(ledger_clock_ns() - began_ns < 4 * NS_PER_SEC);
    await_asked(asked);
    assert_int_equal(asked->status.code, UNAVAILABLE);
    asked_free(asked);
    sql_close(&blocker);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_report_that_was_left_ends_once), TEST(a_report_ends_at_its_deadline),
        TEST(so_many_reports_wait_and_no_more), TEST(a_long_report_stops_at_its_deadline_and_at_the_end),
        TEST(closing_does_not_wait_for_long),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
