/* GetUsage: groups, times, pages, rights. With SQLite itself. */
#include "accounts/ledger_priv.h"

#include "ledger_fixture.h"

static int begin(void **state)
{
    make_folder(state);
    open_ledger(house.path);
    return 0;
}

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

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void pages_have_every_row_once_and_the_totals_of_all(void **state)
{
    char client[16], token[256] = "";
    int64_t seen = 0, last = INT64_MAX;
    size_t rows = 0, pages = 0;
    for (int i = 1; i <= 250; i++) {
        snprintf(client, sizeof client, "client-%d", i);
        spend(client, "kyoto", MIDNIGHT, i);
    }
    do {
        struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT)), .page_token = token));
        for (size_t i = 0; i < asked->response->n_rows; i++) {
            assert_true(asked->response->rows[i]->usage->cost_micros < last);
            last = asked->response->rows[i]->usage->cost_micros;
            seen += last;
        }
        rows += asked->response->n_rows;
        pages++;
        assert_int_equal(asked->response->totals->usage->cost_micros, 250 * 251 / 2);
        snprintf(token, sizeof token, "%s", asked->response->next_page_token);
        asked_free(asked);
    } while (token[0]);
    assert_int_equal(pages, 3);
    assert_int_equal(rows, 250);
    assert_int_equal(seen, 250 * 251 / 2);
}

static void a_last_page_that_is_full_has_no_next(void **state)
{
    for (int i = 0; i < 4; i++)
        spend(i % 2 ? "desk" : "shop", i / 2 ? "kyoto" : "osaka", MIDNIGHT, 5);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT), GROUP(TENANT)), .page_size = 4));
    assert_int_equal(asked->response->n_rows, 4);
    assert_string_equal(asked->response->next_page_token, "");
    asked_free(asked);
}

static void a_thousand_rows_of_the_longest_names_fit_in_an_answer(void **state)
{
    struct spending spending;
    char names[6][129];
    for (int i = 0; i < 1001; i++) {
        spend_init(&spending, MIDNIGHT, i);
        for (int n = 0; n < 6; n++)
            snprintf(names[n], sizeof names[n], "%0128d", i);
        spending.entry.client = names[0];
        spending.entry.tenant = names[1];
        spending.entry.model = names[2];
        spending.entry.thread_id = names[5];
        note(&spending);
    }
    struct asked *asked =
        ask(REQUEST(GROUPS(GROUP(CLIENT), GROUP(TENANT), GROUP(MODEL), GROUP(THREAD)), .page_size = 1000));
    assert_int_equal(asked->response->n_rows, 1000);
    assert_true(strlen(asked->response->next_page_token) > 0);
    assert_true(strlen(asked->response->next_page_token) <= 256);
    asked_free(asked);
}

static void a_token_of_another_request_is_out_of_range(void **state)
{
    spend("desk", "kyoto", MIDNIGHT, 5);
    spend("shop", "kyoto", MIDNIGHT, 5);
    struct asked *asked = ask(REQUEST(GROUPS(GROUP(CLIENT)), .page_size = 1));
    char *token = asked->response->next_page_token;
    assert_refused(REQUEST(GROUPS(GROUP(TENANT)), .page_size = 1, .page_token = token), OUT_OF_RANGE, "page_token");
    assert_refused(REQUEST(GROUPS(GROUP(CLIENT)), .page_size = 1, .from_ms = 9, .page_token = token), OUT_OF_RANGE,
                   "page_token");
    asked_free(ask(REQUEST(GROUPS(GROUP(CLIENT)), .page_size = 1, .page_token = token)));
    token[strlen(token) - 1] ^= 1;
    assert_refused(REQUEST(GROUPS(GROUP(CLIENT)), .page_size = 1, .page_token = token), OUT_OF_RANGE, "page_token");
    asked_free(asked);
    static const char *const nonsense[] = {
        "x", "0-0-0", "'; DROP TABLE sums; --", "ffffffffffffffff-ffffffffffffffff-1", "-1--1--1", " 1-1-1"};
    for (size_t i = 0; i < COUNT(nonsense); i++)
        assert_refused(REQUEST(.page_token = TEXT(nonsense[i])), OUT_OF_RANGE, "page_token");
}

static void a_token_lives_for_an_hour(void **state)
{
    Renga__V1__GetUsageRequest given = REQUEST(GROUPS(GROUP(CLIENT)), .page_size = 7), request = whole(&given);
    char token[PAGE_TOKEN_SIZE];
    struct status st = {0};
    int64_t now_ms = MIDNIGHT + HOUR_MS, skip = 0;
    page_token_write(token, &request, MIDNIGHT, 700);
    request.page_token = token;
    assert_true(page_token_read(&request, &now_ms, &skip, &st));
    assert_int_equal(skip, 700);
    assert_int_equal(now_ms, MIDNIGHT); /* of the first page: "until now" stays what it was */
    now_ms = MIDNIGHT + HOUR_MS + 1;
    assert_false(page_token_read(&request, &now_ms, &skip, &st));
    assert_int_equal(st.code, OUT_OF_RANGE);
    assert_contains(st.text, "an hour");
    now_ms = MIDNIGHT - HOUR_MS;
    assert_false(page_token_read(&request, &now_ms, &skip, &st));
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void what_cannot_be_meant_names_its_field(void **state)
{
    static char long_name[130], long_token[258];
    memset(long_name, 'x', sizeof long_name - 1);
    memset(long_token, 'x', sizeof long_token - 1);
    Renga__V1__GetUsageRequest requests[] = {
        REQUEST(.from_ms = -1),
        REQUEST(.to_ms = INT64_MAX),
        REQUEST(.from_ms = MIDNIGHT, .to_ms = MIDNIGHT),
        REQUEST(.utc_offset_minutes = 841),
        REQUEST(.utc_offset_minutes = -855),
        REQUEST(.utc_offset_minutes = 7),
        REQUEST(GROUPS(GROUP(CLIENT), GROUP(TENANT), GROUP(MODEL), GROUP(RUN), GROUP(DAY))),
        REQUEST(GROUPS(GROUP(CLIENT), GROUP(CLIENT))),
        REQUEST(GROUPS(GROUP(HOUR), GROUP(DAY))),
        REQUEST(GROUPS(GROUP(UNSPECIFIED))),
        REQUEST(GROUPS((Renga__V1__UsageGroup)9)),
        REQUEST(GROUPS((Renga__V1__UsageGroup)-1)),
        REQUEST(.client = long_name),
        REQUEST(.tenant = long_name),
        REQUEST(.model = long_name),
        REQUEST(.deployment = long_name),
        REQUEST(.run_id = long_name + 64),
        REQUEST(.thread_id = long_name),
        REQUEST(.page_size = -1),
        REQUEST(.page_size = 1001),
        REQUEST(.page_token = long_token),
    };
    static const char *const fields[] = {
        "from_ms",
        "to_ms",
        "to_ms",
        "utc_offset_minutes",
        "utc_offset_minutes",
        "utc_offset_minutes",
        "group_by",
        "group_by[1]",
        "group_by",
        "group_by[0]",
        "group_by[0]",
        "group_by[0]",
        "client",
        "tenant",
        "model",
        "deployment",
        "run_id",
        "thread_id",
        "page_size",
        "page_size",
        "page_token",
    };
    for (size_t i = 0; i < COUNT(requests); i++)
        assert_refused(requests[i], INVALID_ARGUMENT, fields[i]);
}

/* ---- rights ------------------------------------------------------------------------------------------------------ */

static int64_t micros_seen_by(const char *client, const char *tenant, Renga__V1__GetUsageRequest request)
{
    struct rpc_principal caller = {.name = client, .tenant = tenant};
    struct asked *asked = ask_as(&caller, request);
    int64_t micros = asked->response ? asked->response->totals->usage->cost_micros : -(int64_t)asked->status.code;
    asked_free(asked);
    return micros;
}

static void a_caller_sees_its_own_tenant(void **state)
{
    spend("desk", "kyoto", MIDNIGHT, 1);
    spend("till", "kyoto", MIDNIGHT, 2);
    spend("desk", "osaka", MIDNIGHT, 4);
    spend("lone", "", MIDNIGHT, 8);
    spend("else", "", MIDNIGHT, 16);
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.from_ms = 0)), 31);
    house.narrow = true;
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.from_ms = 0)), 3);
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.client = TEXT("desk"))), 1);
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.tenant = TEXT("kyoto"))), 3);
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.tenant = TEXT("osaka"))), -PERMISSION_DENIED);
    assert_int_equal(micros_seen_by("desk", "kyoto", REQUEST(.client = TEXT("lone"))), -PERMISSION_DENIED);
    assert_int_equal(micros_seen_by("lone", "", REQUEST(.from_ms = 0)), 8);
    assert_int_equal(micros_seen_by("lone", "", REQUEST(.client = TEXT("lone"))), 8);
    assert_int_equal(micros_seen_by("lone", "", REQUEST(.client = TEXT("else"))), -PERMISSION_DENIED);
    assert_int_equal(micros_seen_by("lone", "", REQUEST(.tenant = TEXT("kyoto"))), -PERMISSION_DENIED);
}

static void a_name_longer_than_the_accounts_have_still_finds_its_own(void **state)
{
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    spend(name, name, MIDNIGHT, 5);
    house.narrow = true;
    assert_int_equal(micros_seen_by(name, name, REQUEST(.from_ms = 0)), 5);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, drop_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_that_a_call_used_is_in_the_totals),
        TEST(an_empty_ledger_has_totals_of_nothing),
        TEST(groups_have_a_row_each_dearest_first),
        TEST(four_groups_at_once_in_any_order),
        TEST(every_name_is_a_filter),
        TEST(a_range_has_its_beginning_and_not_its_end),
        TEST(a_call_that_has_just_ended_is_there_at_once),
        TEST(days_begin_in_local_time),
        TEST(every_offset_has_its_own_days_and_hours),
        TEST(the_first_day_of_all_may_begin_before_1970),
        TEST(rows_stand_in_the_order_of_time_then_of_cost),
        TEST(pages_have_every_row_once_and_the_totals_of_all),
        TEST(a_last_page_that_is_full_has_no_next),
        TEST(a_thousand_rows_of_the_longest_names_fit_in_an_answer),
        TEST(a_token_of_another_request_is_out_of_range),
        TEST(a_token_lives_for_an_hour),
        TEST(what_cannot_be_meant_names_its_field),
        TEST(a_caller_sees_its_own_tenant),
        TEST(a_name_longer_than_the_accounts_have_still_finds_its_own),
        TEST(any_name_is_only_a_name),
        TEST(a_name_that_is_not_utf8_does_not_spoil_an_answer),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
