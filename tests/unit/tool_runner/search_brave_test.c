/* Brave's requests, answers and errors, and the passages of results. */
#include "base/text.h"
#include "search/passages.h"
#include "search_document.h"

#include "unit.h"

static void a_request_has_the_query_and_what_the_document_sets(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = search_document_init(
        &document, "brave",
        "\"country\": \"JP\", \"safesearch\": \"strict\", \"freshness\": \"pw\", \"extra_snippets\": true");
    fixture->question.query = "潮 &x";
    fixture->question.language = "ja";
    assert_true(search_fixture_write(fixture));
    assert_string_equal(fixture->request.method, "GET");
    assert_string_equal(buffer_text(&fixture->request.target),
                        "/res/v1/web/search?q=%E6%BD%AE%20%26x&count=5&result_filter=web&text_decorations=false"
                        "&search_lang=jp&country=JP&safesearch=strict&freshness=pw&extra_snippets=true");
    assert_int_equal(fixture->request.body.length, 0);
    search_document_fini(&document);
}

static void a_long_query_is_cut_to_400_characters_and_50_words(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = search_document_init(&document, "brave", "\"search_lang\": \"en-gb\"");
    char query[201];
    for (size_t i = 0; i < sizeof query - 1; i++)
        query[i] = i % 2 ? ' ' : 'w';
    query[sizeof query - 1] = '\0';
    fixture->question.query = query;
    assert_true(search_fixture_write(fixture));
    const char *target = buffer_text(&fixture->request.target);
    size_t words = 0;
    for (const char *at = strchr(target, '=') + 1; *at != '&'; at++)
        words += *at == 'w';
    assert_int_equal(words, 50);
    assert_contains(target, "&search_lang=en-gb");
    search_document_fini(&document);
}

static void results_are_plain_text_without_tags_and_references(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = search_document_init(&document, "brave", "");
    assert_true(search_fixture_read(
        fixture, 200,
        "{\"type\":\"search\",\"query\":{\"original\":\"x\"},\"mixed\":{\"main\":[]},\"web\":{\"type\":\"search\","
        "\"results\":[{\"title\":\"R&amp;D &#x27;31\",\"url\":\"https://a.example/1\",\"description\":\"<strong>High"
        "</strong> water &lt; "
        "3&nbsp;m\",\"page_age\":\"2031-01-05T09:00:00\",\"extra_snippets\":[\"One.\",7,\"Two.\"]},"
        "{\"title\":7,\"url\":\"https://a.example/2\"},{\"url\":null},7,null,{}]}}"));
    const struct search_result *first = &fixture->answer.results[0];
    assert_int_equal(fixture->answer.count, 2);
    assert_string_equal(first->title, "R&D '31");
    assert_contains(first->snippet, "High water < 3");
    assert_contains(first->snippet, " … One. … Two.");
    assert_string_equal(first->published_date, "2031-01-05T09:00:00");
    assert_string_equal(fixture->answer.results[1].title, "");
    search_document_fini(&document);
}

static void no_hits_are_an_answer_without_web(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = search_document_init(&document, "brave", "");
    assert_true(search_fixture_read(fixture, 200, "{\"type\":\"search\",\"query\":{\"original\":\"x\"}}"));
    assert_int_equal(fixture->answer.count, 0);
    search_document_fini(&document);
}

static void an_unreadable_answer_of_brave_is_data_loss(void **state)
{
    static const struct search_error_case cases[] = {
        {200, "", DATA_LOSS, false, "cannot be read"},
        {200, "<html>", DATA_LOSS, false, "cannot be read"},
        {200, "{\"type\":\"search\",\"web\":{\"results\":[{\"url\":\"https://a", DATA_LOSS, false, "cannot be read"},
        {200, "{\"web\":7}", DATA_LOSS, false, "web: must be an object"},
        {200, "{\"web\":{\"results\":7}}", DATA_LOSS, false, "web.results: must be an array"},
        {200, "{}", DATA_LOSS, false, "'web' is missing"},
        {200, "{\"type\":\"ErrorResponse\"}", DATA_LOSS, false, "'web' is missing"},
    };
    const char *told = search_errors_differ("brave", "", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

#define ERROR(code, detail) "{\"type\":\"ErrorResponse\",\"error\":{\"code\":\"" code "\",\"detail\":\"" detail "\"}}"

static void errors_are_told_apart_by_their_codes(void **state)
{
    static const struct search_error_case cases[] = {
        {422, ERROR("SUBSCRIPTION_TOKEN_INVALID", "bad"), FAILED_PRECONDITION, false, "look at its key"},
        {422, ERROR("VALIDATION", "Unable"), INVALID_ARGUMENT, false, ": Unable"},
        {422, "{\"errors\":[{\"code\":\"VALIDATION\",\"detail\":\"listed\"}]}", INVALID_ARGUMENT, false, ": listed"},
        {422, "{\"errors\":[{\"code\":\"SUBSCRIPTION_TOKEN_INVALID\"}]}", FAILED_PRECONDITION, false, "its key"},
        {404, ERROR("SUBSCRIPTION_NOT_FOUND", "none"), FAILED_PRECONDITION, false, "no plan of this key"},
        {400, ERROR("OPTION_NOT_IN_PLAN", "goggles"), FAILED_PRECONDITION, false, "HTTP 400, OPTION_NOT_IN_PLAN"},
        {429, ERROR("RATE_LIMITED", "slow"), RESOURCE_EXHAUSTED, false, "slow"},
        {429, ERROR("QUOTA_LIMITED", "month"), RESOURCE_EXHAUSTED, true, "month"},
        {401, "", FAILED_PRECONDITION, false, "HTTP 401"},
        {403, "no", FAILED_PRECONDITION, false, "HTTP 403"},
        {408, "", UNAVAILABLE, false, "HTTP 408"},
        {500, "<html>", UNAVAILABLE, false, "HTTP 500"},
        {503, "{\"error\":[[[", UNAVAILABLE, false, "HTTP 503"},
    };
    const char *told = search_errors_differ("brave", "", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

static void a_used_up_window_says_how_long_to_wait(void **state)
{
    static const struct {
        const char *headers[7];
        int32_t retry_after_ms;
        bool quota;
    } cases[] = {
        {{"X-RateLimit-Limit", "50, 2000", "X-RateLimit-Remaining", "0, 1960", "X-RateLimit-Reset", "1, 1209600"},
         1000,
         false},
        {{"X-RateLimit-Limit", "50, 0", "X-RateLimit-Remaining", "0, 0", "X-RateLimit-Reset", "2, 1209600"},
         2000,
         false},
        {{"X-RateLimit-Limit", "50, 2000", "X-RateLimit-Remaining", "49, 0", "X-RateLimit-Reset", "1, 1209600"},
         7,
         true},
        {{"X-RateLimit-Limit", "50, 0", "X-RateLimit-Remaining", "49, 0", "X-RateLimit-Reset", "1, 1209600"}, 7, false},
        {{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "soon", NULL}, 7, false},
        {{"X-RateLimit-Remaining", "0,0,0,0,0,0,0,0,0,0,0", "X-RateLimit-Reset", "9,9,9,9,9,9,9,9,9,9,9", NULL},
         9000,
         false},
        {{NULL}, 7, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct search_document document;
        struct search_fixture *fixture = search_document_init(&document, "brave", "");
        fixture->headers = cases[i].headers;
        fixture->failure.status.retry_after_ms = 7;
        assert_false(search_fixture_read(fixture, 429, ERROR("RATE_LIMITED", "slow")));
        if (fixture->failure.status.retry_after_ms != cases[i].retry_after_ms ||
            fixture->failure.quota != cases[i].quota)
            fail_msg("case %zu: %d ms, quota %d", i, (int)fixture->failure.status.retry_after_ms,
                     fixture->failure.quota);
        search_document_fini(&document);
    }
}

static void passages_are_joined_and_cut_at_a_character(void **state)
{
    struct search_passages passages = {0};
    assert_null(search_passages_text(&passages));
    search_passages_add(&passages, NULL);
    search_passages_add(&passages, "\x02");
    assert_null(search_passages_text(&passages));
    search_passages_add(&passages, "出\x02張\x03旅費");
    search_passages_add(&passages, "");
    search_passages_add_html(&passages, "a&amp;<b>b</b> &unknown; &#0; &");
    assert_string_equal(search_passages_text(&passages), "出張旅費 … a&b &unknown; &#0; &");
    for (int i = 0; i < 2000; i++)
        search_passages_add(&passages, "潮");
    assert_int_equal(text_clean_length(passages.text, passages.length), passages.length);
    assert_true(passages.length <= SEARCH_SNIPPET_MAX && passages.length > SEARCH_SNIPPET_MAX - 8);
    passages = (struct search_passages){0};
    static char text[SEARCH_SNIPPET_MAX + 3];
    memset(text, 'a', SEARCH_SNIPPET_MAX - 1);
    memcpy(text + SEARCH_SNIPPET_MAX - 1, "潮", 3);
    search_passages_add(&passages, text);
    search_passages_add(&passages, "b");
    assert_int_equal(passages.length, SEARCH_SNIPPET_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_the_query_and_what_the_document_sets),
        cmocka_unit_test(a_long_query_is_cut_to_400_characters_and_50_words),
        cmocka_unit_test(results_are_plain_text_without_tags_and_references),
        cmocka_unit_test(no_hits_are_an_answer_without_web),
        cmocka_unit_test(an_unreadable_answer_of_brave_is_data_loss),
        cmocka_unit_test(errors_are_told_apart_by_their_codes),
        cmocka_unit_test(a_used_up_window_says_how_long_to_wait),
        cmocka_unit_test(passages_are_joined_and_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
