/* Tavily's requests, answers and errors. */
#include "search_fixture.h"

#include <math.h>

#include "unit.h"

/* As in tavily.c. */
struct settings {
    const char *depth, *topic, *time_range, *country;
    struct field_list include_domains, exclude_domains;
};

static void a_request_has_the_query_the_number_and_what_the_document_sets(void **state)
{
    const char *const hosts[] = {"example.org"};
    struct settings settings = {.depth = "advanced", .country = "japan", .include_domains = {hosts, 1}};
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_tavily, &settings);
    fixture.question.query = "潮 \"汐\"";
    assert_true(search_fixture_write(&fixture));
    assert_string_equal(fixture.request.method, "POST");
    assert_string_equal(buffer_text(&fixture.request.target), "/search");
    assert_string_equal(buffer_text(&fixture.request.body),
                        "{\"query\":\"潮 \\\"汐\\\"\",\"max_results\":5,\"search_depth\":\"advanced\",\"country\":"
                        "\"japan\",\"include_domains\":[\"example.org\"]}");
    search_fixture_fini(&fixture);
}

static void a_long_query_is_cut_between_words(void **state)
{
    char query[1000];
    struct settings settings = {0};
    struct search_fixture fixture;
    memset(query, 'a', sizeof query);
    query[390] = ' ';
    query[sizeof query - 1] = '\0';
    assert_int_equal(search_query_cut(query, 400, 0), 390);
    assert_int_equal(search_query_cut("一二三四五", 3, 0), 9);
    assert_int_equal(search_query_cut("one two three", 400, 2), 7);
    assert_int_equal(search_query_cut("one two", 400, 2), 7);
    search_fixture_init(&fixture, &search_tavily, &settings);
    fixture.question.query = query;
    assert_true(search_fixture_write(&fixture));
    assert_true(fixture.request.body.length < 430);
    search_fixture_fini(&fixture);
}

static void results_come_in_order_with_their_scores(void **state)
{
    struct settings settings = {0};
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_tavily, &settings);
    assert_true(search_fixture_read(
        &fixture, 200,
        "{\"query\":\"x\",\"answer\":null,\"images\":[{\"url\":\"u\"}],\"results\":["
        "{\"id\":\"a\",\"title\":\"First\",\"url\":\"https://a.example/1\",\"content\":\"one\\n two\",\"score\":0.81,"
        "\"raw_content\":null,\"published_date\":\"Tue, 04 Feb 2031 08:00:00 GMT\"},"
        "{\"title\":null,\"url\":\"https://a.example/2\",\"content\":\"\",\"score\":\"0.5\"}],"
        "\"response_time\":\"1.4\",\"request_id\":\"r\"}"));
    assert_int_equal(fixture.answer.count, 2);
    assert_string_equal(fixture.answer.results[0].title, "First");
    assert_string_equal(fixture.answer.results[0].uri, "https://a.example/1");
    assert_string_equal(fixture.answer.results[0].snippet, "one two");
    assert_string_equal(fixture.answer.results[0].published_date, "Tue, 04 Feb 2031 08:00:00 GMT");
    assert_true(fabs(fixture.answer.results[0].score - 0.81) < 1e-6);
    assert_string_equal(fixture.answer.results[1].title, "");
    assert_true(isnan(fixture.answer.results[1].score));
    assert_int_equal(fixture.answer.rank[1], 2);
    search_fixture_fini(&fixture);
}

static void an_unreadable_answer_of_tavily_is_data_loss(void **state)
{
    static const char *const bodies[] = {"",   "<html>", "{\"results\":[{\"url\":\"https://a", "{\"results\":7}",
                                         "{}", "[]"};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct settings settings = {0};
        struct search_fixture fixture;
        search_fixture_init(&fixture, &search_tavily, &settings);
        if (search_fixture_read(&fixture, 200, bodies[i]))
            fail_msg("'%s' is read", bodies[i]);
        assert_int_equal(fixture.failure.status.code, DATA_LOSS);
        search_fixture_fini(&fixture);
    }
}

static void errors_of_tavily_are_told_apart(void **state)
{
    static const struct {
        int http_status;
        const char *body;
        enum status_code code;
        bool quota;
        const char *message;
    } cases[] = {
        {400, "{\"detail\":{\"error\":\"Invalid topic\"}}", INVALID_ARGUMENT, false, "Invalid topic"},
        {401, "{\"detail\":{\"error\":\"Unauthorized: missing key\"}}", FAILED_PRECONDITION, false, "missing key"},
        {403, "", FAILED_PRECONDITION, false, "HTTP 403"},
        {404, "not here", NOT_FOUND, false, "HTTP 404"},
        {408, "", UNAVAILABLE, false, "HTTP 408"},
        {422, "{\"detail\":[{\"msg\":\"bad\"}]}", INVALID_ARGUMENT, false, "HTTP 422"},
        {429, "{\"detail\":{\"error\":\"excessive requests\"}}", RESOURCE_EXHAUSTED, false, "excessive requests"},
        {429, "{\"error\":{\"code\":\"c\",\"message\":\"wait\"}}", RESOURCE_EXHAUSTED, false, ": wait"},
        {432, "{\"detail\":{\"error\":\"plan limit\"}}", RESOURCE_EXHAUSTED, true, "plan limit"},
        {433, "{\"detail\":\"pay\"}", RESOURCE_EXHAUSTED, true, ": pay"},
        {500, "{\"detail\":{\"error\":\"Internal Server Error\"}}", UNAVAILABLE, false, "Internal"},
        {302, "", FAILED_PRECONDITION, false, "leads elsewhere"},
        {500, "{\"detail\":{\"error\":\"a\\nb\\u0007\"}}", UNAVAILABLE, false, ": a b "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings settings = {0};
        struct search_fixture fixture;
        search_fixture_init(&fixture, &search_tavily, &settings);
        fixture.failure.status.retry_after_ms = 7;
        assert_false(search_fixture_read(&fixture, cases[i].http_status, cases[i].body));
        if (fixture.failure.status.code != cases[i].code || fixture.failure.quota != cases[i].quota)
            fail_msg("%d %s: %s, quota %d", cases[i].http_status, cases[i].body, fixture.failure.status.text,
                     fixture.failure.quota);
        assert_contains(fixture.failure.status.text, cases[i].message);
        assert_int_equal(fixture.failure.status.retry_after_ms, 7);
        search_fixture_fini(&fixture);
    }
}

static void texts_are_cut_at_a_character_and_lists_are_bounded(void **state)
{
    struct search_answer answer;
    char text[20000];
    search_answer_init(&answer);
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "潮", 4);
    struct search_result result = {.uri = "https://a.example/", .title = text, .snippet = text, .score = NAN};
    for (int i = 0; i < SEARCH_RESULTS_MAX + 5; i++)
        search_answer_add(&answer, &result);
    assert_int_equal(answer.count, SEARCH_RESULTS_MAX);
    assert_int_equal(answer.left_out, 5);
    assert_int_equal(strlen(answer.results[0].title), 510);
    assert_int_equal(strlen(answer.results[0].snippet), 4095);
    search_answer_fini(&answer);
    search_answer_init(&answer);
    result = (struct search_result){
        .uri = "https://a.example/", .title = "\x02 a\xff b", .snippet = " c \n\t d ", .score = NAN};
    search_answer_add(&answer, &result);
    assert_string_equal(answer.results[0].title, "a");
    assert_string_equal(answer.results[0].snippet, "c d");
    result.uri = "";
    search_answer_add(&answer, &result);
    result.uri = "https://a.example/\n";
    search_answer_add(&answer, &result);
    assert_int_equal(answer.count, 1);
    assert_int_equal(answer.left_out, 2);
    search_answer_fini(&answer);
}

static void addresses_and_titles_look_like_what_they_are(void **state)
{
    struct settings settings = {0};
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_tavily, &settings);
    assert_true(search_fixture_read(
        &fixture, 200,
        "{\"results\":[{\"title\":\"A \\u202eknab\\u202c "
        "\\u2066b\\u061c\",\"url\":\"https://bank.example@evil.example/a@b\","
        "\"content\":\"one \\u200ftwo\",\"score\":0.8},"
        "{\"title\":\"B\",\"url\":\"https://evil.example/\\u202efdp.exe\",\"content\":\"x\",\"score\":0.7},"
        "{\"title\":\"C\",\"url\":\"mailto:a@b.example\",\"content\":\"x\",\"score\":0.6}]}"));
    assert_int_equal(fixture.answer.count, 2);
    assert_string_equal(fixture.answer.results[0].uri, "https://evil.example/a@b");
    assert_string_equal(fixture.answer.results[0].title, "A knab b");
    assert_string_equal(fixture.answer.results[0].snippet, "one two");
    assert_string_equal(fixture.answer.results[1].uri, "mailto:a@b.example");
    search_fixture_fini(&fixture);
}

static void each_list_is_ranked_by_itself(void **state)
{
    struct search_answer answer;
    struct search_result result = {.uri = "https://a.example/", .score = NAN};
    search_answer_init(&answer);
    search_answer_add(&answer, &result);
    search_answer_add(&answer, &result);
    search_answer_next_list(&answer);
    search_answer_add(&answer, &result);
    assert_int_equal(answer.rank[1], 2);
    assert_int_equal(answer.rank[2], 1);
    assert_int_equal(answer.list[2], 1);
    search_answer_partial(&answer, "only %d of 3", 1);
    search_answer_partial(&answer, "later");
    assert_string_equal(answer.partial, "only 1 of 3");
    search_answer_fini(&answer);
}

static void parameters_are_percent_encoded(void **state)
{
    struct buffer target;
    buffer_init(&target, SEARCH_TARGET_MAX);
    buffer_print(&target, "/s");
    search_target_add(&target, "q", "a b&c=d/潮~");
    search_target_add(&target, "n", "5");
    assert_string_equal(buffer_text(&target), "/s?q=a%20b%26c%3Dd%2F%E6%BD%AE~&n=5");
    buffer_clear(&target);
    search_form_add(&target, "q", "a+b");
    search_form_add(&target, "n", "5");
    assert_string_equal(buffer_text(&target), "q=a%2Bb&n=5");
    buffer_fini(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_the_query_the_number_and_what_the_document_sets),
        cmocka_unit_test(a_long_query_is_cut_between_words),
        cmocka_unit_test(results_come_in_order_with_their_scores),
        cmocka_unit_test(an_unreadable_answer_of_tavily_is_data_loss),
        cmocka_unit_test(errors_of_tavily_are_told_apart),
        cmocka_unit_test(texts_are_cut_at_a_character_and_lists_are_bounded),
        cmocka_unit_test(addresses_and_titles_look_like_what_they_are),
        cmocka_unit_test(each_list_is_ranked_by_itself),
        cmocka_unit_test(parameters_are_percent_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
