/* Azure AI Search: requests of each mode, answers whole and partial, errors. */
#include "search_document.h"

#include "unit.h"

static const float vector[] = {0.5F, -0.25F, 1e-7F};

static struct search_fixture *azure_ask(struct search_document *document, const char *fields)
{
    return search_document_ask(document, "azure_ai_search", fields, "出張 \"旅費\"", vector, COUNT(vector));
}

static void azure_assert_body(const char *fields, const char *expected)
{
    struct search_document document;
    struct search_fixture *fixture = azure_ask(&document, fields);
    assert_true(search_fixture_write(fixture));
    assert_string_equal(fixture->request.method, "POST");
    assert_contains(buffer_text(&fixture->request.target), "/indexes('kb')/docs/search.post.search?api-version=");
    assert_string_equal(buffer_text(&fixture->request.body), expected);
    search_document_fini(&document);
}

#define QUERY "\"search\":\"出張 \\\"旅費\\\"\","
#define TAIL  "\"select\":\"title,url,content\",\"top\":5}"
#define VECTOR                                                                                                         \
    "\"vectorQueries\":[{\"kind\":\"vector\",\"vector\":[0.5,-0.25,0.0000001],\"fields\":\"v1,v2\",\"k\":50}],"

static void each_mode_asks_for_its_own(void **state)
{
    azure_assert_body("\"index\": \"kb\"", "{" QUERY TAIL);
    azure_assert_body("\"index\": \"kb\", \"mode\": \"vector\", \"vector_fields\": [\"v1\", \"v2\"]", "{" VECTOR TAIL);
    azure_assert_body("\"index\": \"kb\", \"mode\": \"hybrid\", \"vector_fields\": [\"v1\", \"v2\"]",
                      "{" QUERY VECTOR TAIL);
    azure_assert_body("\"index\": \"kb\", \"mode\": \"semantic\", \"semantic_configuration\": \"s\"",
                      "{" QUERY "\"queryType\":\"semantic\",\"semanticConfiguration\":\"s\",\"captions\":"
                      "\"extractive|highlight-false\"," TAIL);
    azure_assert_body("\"index\": \"kb\", \"mode\": \"hybrid\", \"vectorizer\": true, \"vector_fields\": [\"v1\"]",
                      "{" QUERY
                      "\"vectorQueries\":[{\"kind\":\"text\",\"text\":\"出張 \\\"旅費\\\"\",\"fields\":\"v1\","
                      "\"k\":50}]," TAIL);
    azure_assert_body(
        "\"index\": \"kb\", \"search_fields\": [\"a\", \"b\"], \"scoring_profile\": \"p\", \"title_field\": "
        "\"t\", \"date_field\": \"d\", \"filter\": \"lang eq 'ja'\"",
        "{" QUERY "\"searchFields\":\"a,b\",\"scoringProfile\":\"p\",\"select\":\"t,url,content,d\","
        "\"filter\":\"lang eq 'ja'\",\"top\":5}");
}

static void the_version_is_that_of_the_document(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = azure_ask(&document, "\"index\": \"kb\", \"api_version\": \"2026-04-01\"");
    assert_true(search_fixture_write(fixture));
    assert_contains(buffer_text(&fixture->request.target), "?api-version=2026-04-01");
    search_document_fini(&document);
}

static void azure_asks_for_words_without_a_vector_and_vectors_alone_fail(void **state)
{
    struct search_document document;
    struct search_fixture *fixture =
        azure_ask(&document, "\"index\": \"kb\", \"mode\": \"hybrid\", \"vector_fields\": [\"v1\"]");
    assert_true(fixture->source.provider->wants_vector(&fixture->source));
    fixture->question.vector = NULL;
    assert_true(search_fixture_write(fixture));
    assert_string_equal(buffer_text(&fixture->request.body), "{" QUERY TAIL);
    search_document_fini(&document);
    fixture = azure_ask(&document, "\"index\": \"kb\", \"mode\": \"vector\", \"vector_fields\": [\"v1\"]");
    fixture->question.vector = NULL;
    assert_false(search_fixture_write(fixture));
    assert_int_equal(fixture->st.code, FAILED_PRECONDITION);
    assert_contains(fixture->st.text, "tool_runner.embedding_model");
    search_document_fini(&document);
}

static void azure_settings_that_do_not_fit_together_are_refused(void **state)
{
    static const struct search_refusal_case cases[] = {
        {"", "'index' is missing"},
        {"\"index\": \"a'b\"", "'index' is 'a'b'"},
        {"\"index\": \"kb\", \"api_version\": \"x&y=1\"", "'api_version' is 'x&y=1'"},
        {"\"index\": \"kb\", \"url_field\": \"a,b\"", "'url_field' is 'a,b'"},
        {"\"index\": \"kb\", \"mode\": \"hybrid\"", "'vector_fields' is missing"},
        {"\"index\": \"kb\", \"mode\": \"vector\", \"vector_fields\": [\"a b\"]", "'vector_fields' is 'a b'"},
        {"\"index\": \"kb\", \"mode\": \"semantic\"", "'semantic_configuration' is missing"},
    };
    const char *told = search_refusals_differ("azure_ai_search", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

static void hits_have_their_caption_and_their_content(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = azure_ask(&document, "\"index\": \"kb\", \"date_field\": \"updated\"");
    assert_true(search_fixture_read(
        fixture, 200,
        "{\"@odata.context\":\"c\",\"@search.answers\":[{\"key\":\"1\",\"text\":\"t\"}],\"value\":["
        "{\"@search.score\":0.03,\"@search.rerankerScore\":3.9,\"@search.captions\":[{\"text\":\"the middle\","
        "\"highlights\":\"\"}],\"title\":\"T\",\"url\":\"https://a.example/1\",\"content\":\"Begin, the middle.\","
        "\"updated\":\"2031-01-05T09:00:00Z\"},"
        "{\"@search.captions\":[{\"text\":\"Begin\"}],\"url\":\"https://a.example/2\",\"content\":\"Begin here.\"},"
        "{\"url\":\"https://a.example/3\",\"title\":null,\"content\":[\"x\"]},{\"title\":\"no address\"},7,null]}"));
    const struct search_answer *answer = &fixture->answer;
    assert_int_equal(answer->count, 3);
    assert_string_equal(answer->results[0].snippet, "the middle … Begin, the middle.");
    assert_string_equal(answer->results[0].published_date, "2031-01-05T09:00:00Z");
    assert_string_equal(answer->results[1].snippet, "Begin here.");
    assert_string_equal(answer->results[2].snippet, "");
    assert_null(answer->partial);
    search_document_fini(&document);
}

static void a_partial_answer_of_azure_is_used_and_says_why(void **state)
{
    static const struct search_partial_case cases[] = {
        {206,
         "{\"value\":[],\"@search.semanticPartialResponseReason\":\"CapacityOverloaded\","
         "\"@search.semanticPartialResponseType\":\"BaseResults\"}",
         0, "the semantic ranker ranked nothing: it has too much to do"},
        {206,
         "{\"value\":[],\"@search.semanticPartialResponseReason\":\"maxWaitExceeded\","
         "\"@search.semanticPartialResponseType\":\"rerankedResults\"}",
         0, "the semantic ranker ranked a part: it took too long"},
        {206, "{\"value\":[],\"@search.semanticPartialResponseReason\":\"\\u001b[2J\"}", 0,
         "a reason that is not known"},
        {206, "{\"@search.coverage\":62.5,\"value\":[]}", 0, "62.5 % of the index was searched"},
        {206, "{\"value\":[],\"@search.nextPageParameters\":{\"skip\":50}}", 0, "cut to a page"},
        {206, "{\"value\":[]}", 0, "the answer is partial"},
        {200, "{\"@search.coverage\":100.0,\"value\":[],\"@search.nextPageParameters\":{\"skip\":50}}", 0, NULL},
    };
    const char *told = search_partials_differ("azure_ai_search", "\"index\": \"kb\"", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

static void errors_of_azure_are_told_apart(void **state)
{
    static const struct search_error_case cases[] = {
        {200, "", DATA_LOSS, false, "cannot be read"},
        {200, "{\"value\":[{\"url\":\"https://a", DATA_LOSS, false, "cannot be read"},
        {200, "{\"value\":{}}", DATA_LOSS, false, "value: must be an array"},
        {200, "{}", DATA_LOSS, false, "'value'"},
        {400, "{\"error\":{\"code\":\"\",\"message\":\"Invalid expression\"}}", INVALID_ARGUMENT, false, "expression"},
        {401, "", FAILED_PRECONDITION, false, "HTTP 401"},
        {402, "{\"error\":{\"message\":\"over its quota\"}}", RESOURCE_EXHAUSTED, true, "over its quota"},
        {403, "{\"error\":{\"message\":\"Access denied\"}}", FAILED_PRECONDITION, false, "Access denied"},
        {404, "{\"error\":{\"message\":\"The index 'kb' was not found\"}}", NOT_FOUND, false, "index 'kb'"},
        {408, "", UNAVAILABLE, false, "HTTP 408"},
        {429, "{\"error\":{\"message\":\"throttled\"}}", RESOURCE_EXHAUSTED, false, "throttled"},
        {500, "<html>", UNAVAILABLE, false, "HTTP 500"},
        {503, "{\"error\":{\"message\":7}}", UNAVAILABLE, false, "HTTP 503"},
    };
    const char *told = search_errors_differ("azure_ai_search", "\"index\": \"kb\"", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_asks_for_its_own),
        cmocka_unit_test(the_version_is_that_of_the_document),
        cmocka_unit_test(azure_asks_for_words_without_a_vector_and_vectors_alone_fail),
        cmocka_unit_test(azure_settings_that_do_not_fit_together_are_refused),
        cmocka_unit_test(hits_have_their_caption_and_their_content),
        cmocka_unit_test(a_partial_answer_of_azure_is_used_and_says_why),
        cmocka_unit_test(errors_of_azure_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
