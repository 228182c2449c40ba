/* SearXNG's requests, answers and errors. */
#include "search_fixture.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

/* As in searxng.c. */
struct settings {
    const char *categories, *engines, *language, *time_range;
    int64_t safesearch;
};

static void expect_body(const char *query, const struct settings *settings, const char *body)
{
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_searxng, settings);
    fixture.question.query = query;
    fixture.question.key = "";
    assert_true(search_fixture_write(&fixture));
    assert_string_equal(buffer_text(&fixture.request.target), "/search");
    if (strcmp(buffer_text(&fixture.request.body), body) != 0)
        fail_msg("'%s': %s", query, buffer_text(&fixture.request.body));
    search_fixture_fini(&fixture);
}

static void a_request_is_a_form_with_the_language_of_the_query(void **state)
{
    struct settings settings = {0};
    expect_body("a&b", &settings, "q=a%26b&format=json&language=en");
    settings = (struct settings){.categories = "it,news", .language = "ja", .time_range = "week", .safesearch = 2};
    expect_body("a", &settings, "q=a&format=json&language=ja&categories=it%2Cnews&time_range=week&safesearch=2");
}

static void words_that_would_be_commands_lose_their_mark(void **state)
{
    static const struct {
        const char *query, *sent;
    } cases[] = {
        {"!!g tides", "g%20tides"},
        {" :ja  tides ", "ja%20tides"},
        {"tides <3", "tides%203"},
        {"what! is: a<b", "what!%20is:%20a<b"},
        {"!", "!"},
        {"! ! tides", "tides"},
    };
    struct settings settings = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[256] = "q=", *at = body + 2;
        for (const char *c = cases[i].sent; *c; c++)
            at += strchr("!:<", *c) ? sprintf(at, "%%%02X", (unsigned)*c) : sprintf(at, "%c", *c);
        strcpy(at, "&format=json&language=en");
        expect_body(cases[i].query, &settings, body);
    }
}

static void results_are_ranked_and_silent_engines_are_told(void **state)
{
    struct settings settings = {0};
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_searxng, &settings);
    assert_true(search_fixture_read(
        &fixture, 200,
        "{\"query\":\"x\",\"results\":[{\"url\":\"https://a.example/1\",\"title\":\"A\",\"content\":\"one\","
        "\"score\":2.67,\"publishedDate\":\"2031-01-02T03:04:05\"},null,7,{\"url\":null,\"title\":\"no address\"},"
        "{\"url\":\"https://a.example/2\",\"title\":null}],\"unresponsive_engines\":[[\"gamma\",\"timeout\"],[],7]}"));
    assert_int_equal(fixture.answer.count, 2);
    assert_true(isnan(fixture.answer.results[0].score));
    assert_string_equal(fixture.answer.results[0].published_date, "2031-01-02T03:04:05");
    assert_int_equal(fixture.answer.rank[1], 2);
    assert_contains(fixture.answer.partial, "1 of its engines (gamma)");
    search_fixture_fini(&fixture);
}

static void no_answer_of_any_engine_is_a_failure_and_no_result_is_not(void **state)
{
    struct settings settings = {0};
    struct search_fixture fixture;
    search_fixture_init(&fixture, &search_searxng, &settings);
    assert_false(search_fixture_read(&fixture, 200, "{\"results\":[],\"unresponsive_engines\":[[\"a\",\"CAPTCHA\"]]}"));
    assert_int_equal(fixture.failure.status.code, UNAVAILABLE);
    assert_true(search_fixture_read(&fixture, 200, "{\"results\":[],\"unresponsive_engines\":[]}"));
    assert_int_equal(fixture.answer.count, 0);
    search_fixture_fini(&fixture);
}

static void errors_say_what_is_to_be_set(void **state)
{
    static const struct {
        int http_status;
        const char *body;
        enum status_code code;
        const char *message;
    } cases[] = {
        {200, "<!doctype html>", DATA_LOSS, "cannot be read"},
        {200, "{\"results\":{}}", DATA_LOSS, "cannot be read"},
        {200, "{}", DATA_LOSS, "without 'results'"},
        {302, "", RESOURCE_EXHAUSTED, "botdetection"},
        {403, "<html>", FAILED_PRECONDITION, "settings.yml"},
        {400, "{\"error\":\"Invalid value x for parameter language\"}", INVALID_ARGUMENT, "parameter language"},
        {429, "Too Many Requests", RESOURCE_EXHAUSTED, "HTTP 429"},
        {500, "{\"error\":\"search error\"}", UNAVAILABLE, "search error"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings settings = {0};
        struct search_fixture fixture;
        search_fixture_init(&fixture, &search_searxng, &settings);
        assert_false(search_fixture_read(&fixture, cases[i].http_status, cases[i].body));
        if (fixture.failure.status.code != cases[i].code)
            fail_msg("%d: %s", cases[i].http_status, fixture.failure.status.text);
        assert_contains(fixture.failure.status.text, cases[i].message);
        search_fixture_fini(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_form_with_the_language_of_the_query),
        cmocka_unit_test(words_that_would_be_commands_lose_their_mark),
        cmocka_unit_test(results_are_ranked_and_silent_engines_are_told),
        cmocka_unit_test(no_answer_of_any_engine_is_a_failure_and_no_result_is_not),
        cmocka_unit_test(errors_say_what_is_to_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
