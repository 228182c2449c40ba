/* Rows of the accounts that are damaged: a report leaves them out and says how many, and later rows are counted. */
#include "ledger_fixture.h"
#include "usage/ledger_priv.h"

static void ledger_change_row(const char *sql)
{
    struct status st = {0};
    struct sql_file *database = open_beside();
    if (!sql_run(database, sql, &st))
        fail_msg("%s: %s", sql, st.text);
    sql_close(&database);
}

/* The names of all clients, with their costs; and the damaged rows. */
static const char *ledger_report_usage(void)
{
    static char text[512];
    size_t size = 0;
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT)), .from_ms = MIDNIGHT, .to_ms = MIDNIGHT + DAY_MS));
    for (size_t i = 0; i < asked->response->n_rows; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s %d; ", asked->response->rows[i]->client,
                                 (int)asked->response->rows[i]->usage->cost_micros);
    snprintf(text + size, sizeof text - size, "%d in all, %d damaged", (int)asked->response->totals->usage->cost_micros,
             (int)asked->response->damaged_rows);
    asked_free(asked);
    return text;
}

static void spend_all(void)
{
    spend("desk", "kyoto", MIDNIGHT, 5);
    spend("till", "kyoto", MIDNIGHT, 70);
    spend_run("run-1", MIDNIGHT + 2 * HOUR_MS, 300);
}

#define WHOLE "desk 305; till 70; 375 in all, 0 damaged"

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* One letter more, or one more of a number. */
static void ledger_alter_value(const char *column, bool is_name)
{
    char sql[256];
    snprintf(sql, sizeof sql, "UPDATE sums SET %s = %s%s WHERE client = 'till'", column, column,
             is_name ? " || 'x'" : " + 1");
    ledger_change_row(sql);
}

static void a_changed_value_costs_its_row_alone_and_is_told(void **state)
{
    open_ledger(house.path);
    spend_all();
    assert_string_equal(ledger_report_usage(), WHOLE);
    close_ledger();
    ledger_change_row("CREATE TABLE kept AS SELECT * FROM sums");
    for (unsigned i = 0; i <= SUM_NAMES + SUM_COUNTS + 1; i++) {
        bool is_name = i < SUM_NAMES;
        const char *column = is_name                       ? ledger_name_columns[i]
                             : i < SUM_NAMES + SUM_COUNTS  ? ledger_count_columns[i - SUM_NAMES]
                             : i == SUM_NAMES + SUM_COUNTS ? "seal"
                                                           : "quarter";
        ledger_alter_value(column, is_name);
        open_ledger(house.path);
        if (strcmp(ledger_report_usage(), "desk 305; 305 in all, 1 damaged") != 0)
            fail_msg("%s: %s", column, ledger_report_usage());
        close_ledger();
        ledger_change_row("DELETE FROM sums; INSERT INTO sums SELECT * FROM kept");
    }
    open_ledger(house.path);
    assert_string_equal(ledger_report_usage(), WHOLE);
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

static void ledger_add_spent(const char *name, int64_t micros, void *data)
{
    char *text = data;
    sprintf(text + strlen(text), "%s %d;", name, (int)micros);
}

static void counts_that_overflow_fail_no_report_no_limit_and_no_new_call(void **state)
{
    struct status st = {0};
    char clients[128] = "";
    open_ledger(house.path);
    spend_all();
    assert_string_equal(ledger_report_usage(), WHOLE);
    close_ledger();
    ledger_change_row(
        "UPDATE sums SET cost_micros = 9223372036854775807, calls = 9223372036854775807 WHERE client <> ''");
    open_ledger(house.path);
    assert_string_equal(ledger_report_usage(), "0 in all, 3 damaged");
    assert_true(ledger_spent(house.ledger, MIDNIGHT + HOUR_MS, false, ledger_add_spent, clients, &st));
    assert_string_equal(clients, "");
    spend("till", "kyoto", MIDNIGHT, 9); /* into the row that is damaged */
    assert_string_equal(ledger_report_usage(), "till 9; 9 in all, 2 damaged");
    assert_int_equal(stats_now().failures, 0);
}

static void a_quarter_with_damaged_rows_keeps_them_when_it_is_folded(void **state)
{
    open_ledger(house.path);
    spend_all();
    spend_run("run-2", MIDNIGHT + 2 * HOUR_MS, 40);
    assert_string_equal(ledger_report_usage(), "desk 345; till 70; 415 in all, 0 damaged");
    close_ledger();
    ledger_change_row("UPDATE sums SET cost_micros = 41 WHERE run = 'run-2'");
    open_ledger_keeping(house.path, 20, 1);
    spend("desk", "kyoto", MIDNIGHT, 1);
    await_written();
    assert_string_equal(ledger_report_usage(), "desk 306; till 70; 376 in all, 1 damaged");
    assert_int_equal(total_micros(REQUEST(.run_id = TEXT("run-1"))), 300);
}

static void rows_of_releases_without_checksums_are_taken_where_they_make_sense(void **state)
{
    open_ledger(house.path);
    spend_all();
    assert_string_equal(ledger_report_usage(), WHOLE);
    close_ledger();
    ledger_change_row("UPDATE sums SET seal = NULL");
    open_ledger(house.path);
    assert_string_equal(ledger_report_usage(), WHOLE);
    spend("till", "kyoto", MIDNIGHT, 9);
    assert_string_equal(ledger_report_usage(), "desk 305; till 79; 384 in all, 0 damaged");
    close_ledger();
    ledger_change_row("UPDATE sums SET cost_micros = -1 WHERE client = 'desk' AND run = ''");
    open_ledger(house.path);
    assert_string_equal(ledger_report_usage(), "desk 300; till 79; 379 in all, 1 damaged");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, drop_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_changed_value_costs_its_row_alone_and_is_told),
        TEST(counts_that_overflow_fail_no_report_no_limit_and_no_new_call),
        TEST(a_quarter_with_damaged_rows_keeps_them_when_it_is_folded),
        TEST(rows_of_releases_without_checksums_are_taken_where_they_make_sense),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
