/* What many results together may take. */
#include "run/output_budget.h"

#include "base/text.h"

#include "unit.h"

#define ROOM ((size_t)10000)

static Renga__V1__ToolResult make(const char *part, size_t times, const char *json)
{
    Renga__V1__ToolResult result = RENGA__V1__TOOL_RESULT__INIT;
    size_t length = strlen(part);
    result.call_id = (char *)(uintptr_t) "c";
    result.name = (char *)(uintptr_t) "tool";
    result.text = calloc(1, length * times + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(result.text + i * length, part, length);
    result.structured_json = (char *)(uintptr_t)json;
    return result;
}

static size_t packed(Renga__V1__ToolResult **results, size_t count)
{
    Renga__V1__RunToolsResponse response = RENGA__V1__RUN_TOOLS_RESPONSE__INIT;
    response.results = results;
    response.n_results = count;
    return renga__v1__run_tools_response__get_packed_size(&response);
}

static void what_fits_stays_as_it_is(void **state)
{
    Renga__V1__ToolResult one = make("a", 4000, "{}"), two = make("b", 4000, "{}"), *results[] = {&one, &two};
    output_budget_apply(results, 2, ROOM);
    assert_int_equal(strlen(one.text), 4000);
    assert_false(one.truncated || two.truncated);
    assert_string_equal(one.structured_json, "{}");
    free(one.text);
    free(two.text);
}

static void large_ones_are_cut_to_the_same_and_small_ones_are_left_alone(void **state)
{
    Renga__V1__ToolResult small = make("s", 100, "{\"a\":1}"), big = make("日本", 5000, ""),
                          bigger = make("x", 90000, "");
    Renga__V1__ToolResult *results[] = {&big, &small, &bigger};
    output_budget_apply(results, 3, ROOM);
    assert_true(packed(results, 3) <= ROOM);
    assert_true(packed(results, 3) > ROOM - 200);
    assert_false(small.truncated);
    assert_string_equal(small.structured_json, "{\"a\":1}");
    assert_true(big.truncated && bigger.truncated);
    assert_true(text_is_clean(big.text, strlen(big.text)));
    assert_in_range(strlen(big.text), 4700, 5000);
    assert_in_range(strlen(bigger.text), 4700, 5000);
    free(small.text);
    free(big.text);
    free(bigger.text);
}

static void json_goes_before_text_does(void **state)
{
    static char json[8001];
    memset(json, '1', sizeof json - 1);
    Renga__V1__ToolResult result = make("t", 3000, json), *results[] = {&result};
    output_budget_apply(results, 1, ROOM);
    assert_true(result.truncated);
    assert_string_equal(result.structured_json, "");
    assert_int_equal(strlen(result.text), 3000);
    free(result.text);
}

static void the_last_hits_go_then_the_end_of_the_text(void **state)
{
    Renga__V1__SearchHit hits[20], *list[20];
    static char snippet[1001];
    memset(snippet, 'y', sizeof snippet - 1);
    for (int i = 0; i < 20; i++) {
        renga__v1__search_hit__init(&hits[i]);
        hits[i].snippet = snippet;
        list[i] = &hits[i];
    }
    Renga__V1__ToolResult result = make("t", 8000, "{\"a\":1}"), *results[] = {&result};
    result.hits = list;
    result.n_hits = 20;
    output_budget_apply(results, 1, ROOM);
    assert_true(packed(results, 1) <= ROOM);
    assert_string_equal(result.structured_json, "");
    assert_int_equal(result.n_hits, 4);
    assert_in_range(strlen(result.text), 5000, 6000);
    free(result.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays_as_it_is),
        cmocka_unit_test(large_ones_are_cut_to_the_same_and_small_ones_are_left_alone),
        cmocka_unit_test(json_goes_before_text_does),
        cmocka_unit_test(the_last_hits_go_then_the_end_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
