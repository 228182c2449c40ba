/* GetUsage: what may be asked, page by page, and by whom. With SQLite itself. */
#include "usage/ledger_priv.h"

#include "ledger_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEDGER_TEST(pages_have_every_row_once_and_the_totals_of_all),
        LEDGER_TEST(a_last_page_that_is_full_has_no_next),
        LEDGER_TEST(a_thousand_rows_of_the_longest_names_fit_in_an_answer),
        LEDGER_TEST(a_token_of_another_request_is_out_of_range),
        LEDGER_TEST(a_token_lives_for_an_hour),
        LEDGER_TEST(what_cannot_be_meant_names_its_field),
        LEDGER_TEST(a_caller_sees_its_own_tenant),
        LEDGER_TEST(a_name_longer_than_the_accounts_have_still_finds_its_own),
    };
    return cmocka_run_group_tests(tests, move_in, move_out);
}
