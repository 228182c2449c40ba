/* GetUsage: what a report has in it. With SQLite itself. */
#include "usage/ledger_priv.h"

#include "ledger_fixture.h"

/* ---- sums and groups --------------------------------------------------------------------------------------------- */

static void all_that_a_call_used_is_in_the_totals(void **state)
{
    struct spending spending;
    spend_init(&spending, MIDNIGHT, 500);
    spending.usage.cached_input_tokens = 40;
    spending.usage.cache_write_tokens = 20;
    spending.usage.reasoning_tokens = 5;
    spending.usage.tool_calls = 2;
    note(&spending);
    spending.entry.failed = true;
    spending.usage.estimated = true;
    note(&spending);
    spending.entry.failed = false;
    spending.entry.cancelled = spending.entry.cached = true;
    spending.entry.usage = NULL;
    ledger_note(house.ledger, &spending.entry);

    int64_t before_ms = clock_wall_ns() / NS_PER_MS;
    struct asked *asked = ask(REQUEST(.from_ms = 0));
    const Renga__V1__UsageRow *totals = asked->response->totals;
    assert_int_equal(asked->response->n_rows, 0);
    assert_string_equal(asked->response->next_page_token, "");
    assert_in_range(asked->response->complete_until_ms, before_ms, clock_wall_ns() / NS_PER_MS);
    assert_int_equal(totals->usage->input_tokens, 200);
    assert_int_equal(totals->usage->output_tokens, 20);
    assert_int_equal(totals->usage->cached_input_tokens, 80);
    assert_int_equal(totals->usage->cache_write_tokens, 40);
    assert_int_equal(totals->usage->reasoning_tokens, 10);
    assert_int_equal(totals->usage->model_calls, 2);
    assert_int_equal(totals->usage->tool_calls, 4);
    assert_int_equal(totals->usage->cost_micros, 1000);
    assert_true(totals->usage->estimated);
    assert_int_equal(totals->calls, 3);
    assert_int_equal(totals->failed_calls, 1);
    assert_int_equal(totals->cancelled_calls, 1);
    assert_int_equal(totals->cached_calls, 1);
    assert_string_equal(totals->client, "");
    assert_int_equal(totals->start_ms, 0);
    asked_free(asked);
}

static void an_empty_ledger_has_totals_of_nothing(void **state)
{
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT))));
    assert_int_equal(asked->response->n_rows, 0);
    assert_non_null(asked->response->totals->usage);
    assert_int_equal(asked->response->totals->calls, 0);
    asked_free(asked);
}

static void groups_have_a_row_each_dearest_first(void **state)
{
    spend("desk", "kyoto", MIDNIGHT, 10);
    spend("shop", "osaka", MIDNIGHT, 30);
    spend("desk", "kyoto", MIDNIGHT + DAY_MS, 15);
    spend("cart", "osaka", MIDNIGHT, 30);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT))));
    Renga__V1__UsageRow **rows = asked->response->rows;
    assert_int_equal(asked->response->n_rows, 3);
    assert_string_equal(rows[0]->client, "cart");
    assert_string_equal(rows[1]->client, "shop");
    assert_string_equal(rows[2]->client, "desk");
    assert_string_equal(rows[2]->tenant, "");
    assert_string_equal(rows[2]->model, "");
    assert_int_equal(rows[2]->start_ms, 0);
    assert_int_equal(rows[2]->usage->cost_micros, 25);
    assert_int_equal(rows[2]->calls, 2);
    assert_false(rows[2]->usage->estimated);
    assert_int_equal(asked->response->totals->usage->cost_micros, 85);
    asked_free(asked);
}

static void four_groups_at_once_in_any_order(void **state)
{
    spend_run("run-1", MIDNIGHT + 5, 7);
    spend_run("run-2", MIDNIGHT + 5, 9);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(THREAD), GROUP(DAY), GROUP(RUN), GROUP(DEPLOYMENT))));
    const Renga__V1__UsageRow *first = asked->response->rows[0];
    assert_int_equal(asked->response->n_rows, 2);
    assert_string_equal(first->run_id, "run-2");
    assert_string_equal(first->thread_id, "run-2");
    assert_string_equal(first->deployment, "east");
    assert_string_equal(first->client, "");
    assert_int_equal(first->start_ms, MIDNIGHT);
    asked_free(asked);
    asked = ask(REQUEST(GROUPS(GROUP(TENANT), GROUP(MODEL))));
    assert_string_equal(asked->response->rows[0]->tenant, "kyoto");
    assert_string_equal(asked->response->rows[0]->model, "gpt");
    asked_free(asked);
}

static void every_name_is_a_filter(void **state)
{
    struct spending spending;
    spend_init(&spending, MIDNIGHT, 1);
    spending.entry.run_id = "r";
    spending.entry.thread_id = "t";
    note(&spending);
    const char **const fields[] = {&spending.entry.client,     &spending.entry.tenant, &spending.entry.model,
                                   &spending.entry.deployment, &spending.entry.run_id, &spending.entry.thread_id};
    for (size_t i = 0; i < COUNT(fields); i++) {
        const char *before = *fields[i];
        *fields[i] = "other";
        note(&spending);
        *fields[i] = before;
    }
    assert_int_equal(total_micros(REQUEST(.client = TEXT("desk"))), 6);
    assert_int_equal(total_micros(REQUEST(.client = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.tenant = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.model = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.deployment = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.run_id = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.thread_id = TEXT("other"))), 1);
    assert_int_equal(total_micros(REQUEST(.run_id = TEXT("r"), .thread_id = TEXT("t"))), 5);
    assert_int_equal(total_micros(REQUEST(.run_id = TEXT("nobody"))), 0);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static void a_range_has_its_beginning_and_not_its_end(void **state)
{
    spend("desk", "kyoto", MIDNIGHT - 1, 1);
    spend("desk", "kyoto", MIDNIGHT, 10);
    spend("desk", "kyoto", MIDNIGHT + HOUR_MS - 1, 100);
    spend("desk", "kyoto", MIDNIGHT + HOUR_MS, 1000);
    assert_int_equal(total_micros(REQUEST(.from_ms = MIDNIGHT, .to_ms = MIDNIGHT + HOUR_MS)), 110);
    assert_int_equal(total_micros(REQUEST(.from_ms = MIDNIGHT)), 1110);
    assert_int_equal(total_micros(REQUEST(.to_ms = MIDNIGHT)), 1);
    /* Each quarter that is touched. */
    assert_int_equal(total_micros(REQUEST(.from_ms = MIDNIGHT + 1, .to_ms = MIDNIGHT + HOUR_MS + 1)), 1110);
}

static void a_call_that_has_just_ended_is_there_at_once(void **state)
{
    for (int i = 1; i <= 20; i++) {
        spend("desk", "kyoto", clock_wall_ns() / NS_PER_MS, 1);
        assert_int_equal(total_micros(REQUEST(.from_ms = clock_wall_ns() / NS_PER_MS - HOUR_MS)), i);
    }
}

static void days_begin_in_local_time(void **state)
{
    /* In Japan the 1st of January begins at 15:00 UTC of the 31st. */
    int64_t tokyo = MIDNIGHT - 9 * HOUR_MS;
    spend("desk", "kyoto", tokyo - 1, 1);
    spend("desk", "kyoto", tokyo, 2);
    spend("desk", "kyoto", tokyo + DAY_MS - 1, 4);
    spend("desk", "kyoto", tokyo + DAY_MS, 8);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(DAY)), .utc_offset_minutes = 540));
    Renga__V1__UsageRow **rows = asked->response->rows;
    assert_int_equal(asked->response->n_rows, 3);
    assert_int_equal(rows[0]->start_ms, tokyo - DAY_MS);
    assert_int_equal(rows[0]->usage->cost_micros, 1);
    assert_int_equal(rows[1]->start_ms, tokyo);
    assert_int_equal(rows[1]->usage->cost_micros, 6);
    assert_int_equal(rows[2]->start_ms, tokyo + DAY_MS);
    assert_int_equal(rows[2]->usage->cost_micros, 8);
    asked_free(asked);
}

/* For every offset there is: the beginning of a local day, and the last moment before it. */
static void every_offset_has_its_own_days_and_hours(void **state)
{
    for (int minutes = -840; minutes <= 840; minutes += 15) {
        int64_t begin_ms = MIDNIGHT - minutes * INT64_C(60000);
        spend("desk", "kyoto", begin_ms - 1, 1);
        spend("desk", "kyoto", begin_ms, 1);
        struct asked *asked = ask(REQUEST(GROUPS(GROUP(DAY)), .utc_offset_minutes = minutes));
        for (size_t i = 0; i < asked->response->n_rows; i++)
            assert_int_equal((asked->response->rows[i]->start_ms - begin_ms) % DAY_MS, 0);
        asked_free(asked);
        asked = ask(REQUEST(GROUPS(GROUP(HOUR)), .from_ms = begin_ms - 1, .to_ms = begin_ms + 1,
                            .utc_offset_minutes = minutes));
        assert_int_equal(asked->response->n_rows, 2);
        assert_int_equal(asked->response->rows[0]->start_ms, begin_ms - HOUR_MS);
        assert_int_equal(asked->response->rows[1]->start_ms, begin_ms);
        asked_free(asked);
    }
}

static void the_first_day_of_all_may_begin_before_1970(void **state)
{
    spend("desk", "kyoto", 0, 1);
    spend("desk", "kyoto", -5, 1);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(DAY)), .utc_offset_minutes = 840));
    assert_int_equal(asked->response->n_rows, 1);
    assert_int_equal(asked->response->rows[0]->start_ms, -14 * HOUR_MS);
    asked_free(asked);
    asked = ask(REQUEST(GROUPS(GROUP(DAY)), .utc_offset_minutes = -840));
    assert_int_equal(asked->response->rows[0]->start_ms, 14 * HOUR_MS - DAY_MS);
    asked_free(asked);
}

static void rows_stand_in_the_order_of_time_then_of_cost(void **state)
{
    spend("desk", "kyoto", MIDNIGHT + HOUR_MS, 90);
    spend("desk", "kyoto", MIDNIGHT, 10);
    spend("shop", "kyoto", MIDNIGHT, 20);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT), GROUP(HOUR))));
    Renga__V1__UsageRow **rows = asked->response->rows;
    assert_int_equal(asked->response->n_rows, 3);
    assert_string_equal(rows[0]->client, "shop");
    assert_string_equal(rows[1]->client, "desk");
    assert_int_equal(rows[1]->start_ms, MIDNIGHT);
    assert_int_equal(rows[2]->start_ms, MIDNIGHT + HOUR_MS);
    asked_free(asked);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void any_name_is_only_a_name(void **state)
{
    static const char *const names[] = {
        "京都の窓口", "'; DROP TABLE sums; --", "\" OR 1=1 --", "%", "?1", "desk\nCOMMIT;\n--", "\xf0\x9f\x8d\xb5", "*",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        spend(names[i], names[i], MIDNIGHT, 10 + (int64_t)i);
        spend_run(names[i], MIDNIGHT, 1);
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT)), .client = TEXT(names[i]), .tenant = TEXT(names[i])));
        assert_int_equal(asked->response->n_rows, 1);
        assert_string_equal(asked->response->rows[0]->client, names[i]);
        assert_int_equal(asked->response->totals->usage->cost_micros, 10 + (int64_t)i);
        asked_free(asked);
        assert_int_equal(total_micros(REQUEST(.run_id = TEXT(names[i]))), 1);
    }
}

static void a_name_that_is_not_utf8_does_not_spoil_an_answer(void **state)
{
    spend("desk\xff\xfe", "kyoto", MIDNIGHT, 3);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT))));
    assert_string_equal(asked->response->rows[0]->client, "desk");
    asked_free(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEDGER_TEST(all_that_a_call_used_is_in_the_totals),
        LEDGER_TEST(an_empty_ledger_has_totals_of_nothing),
        LEDGER_TEST(groups_have_a_row_each_dearest_first),
        LEDGER_TEST(four_groups_at_once_in_any_order),
        LEDGER_TEST(every_name_is_a_filter),
        LEDGER_TEST(a_range_has_its_beginning_and_not_its_end),
        LEDGER_TEST(a_call_that_has_just_ended_is_there_at_once),
        LEDGER_TEST(days_begin_in_local_time),
        LEDGER_TEST(every_offset_has_its_own_days_and_hours),
        LEDGER_TEST(the_first_day_of_all_may_begin_before_1970),
        LEDGER_TEST(rows_stand_in_the_order_of_time_then_of_cost),
        LEDGER_TEST(any_name_is_only_a_name),
        LEDGER_TEST(a_name_that_is_not_utf8_does_not_spoil_an_answer),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
