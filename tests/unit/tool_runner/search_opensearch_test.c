/* OpenSearch and Elasticsearch: requests of each mode and dialect, answers of one search and of two, errors. */
#include "search_document.h"

#include "unit.h"

static const float vector[] = {0.5F, -0.25F};

static struct search_fixture *opensearch_ask(struct search_document *document, const char *fields)
{
    return search_document_ask(document, "opensearch", fields, "旅費", vector, COUNT(vector));
}

static void opensearch_assert_request(const char *fields, const char *target, const char *expected)
{
    struct search_document document;
    struct search_fixture *fixture = opensearch_ask(&document, fields);
    assert_true(search_fixture_write(fixture));
    assert_string_equal(fixture->request.method, "POST");
    assert_string_equal(buffer_text(&fixture->request.target), target);
    assert_string_equal(buffer_text(&fixture->request.body), expected);
    search_document_fini(&document);
}

#define HEAD "{\"size\":5,\"track_total_hits\":false,"
#define WORDS                                                                                                          \
    "\"query\":{\"bool\":{\"must\":{\"multi_match\":{\"query\":\"旅費\",\"fields\":[\"title\",\"content\"],\"tie_"   \
    "breaker\":0.3}}}},"
#define SOURCE "\"_source\":[\"title\",\"url\"],"
#define TAIL                                                                                                           \
    "\"highlight\":{\"pre_tags\":[\"\\u0002\"],\"post_tags\":[\"\\u0003\"],\"fields\":{\"content\":{\"fragment_"       \
    "size\":400,"                                                                                                      \
    "\"number_of_fragments\":3,\"no_match_size\":1200,\"highlight_query\":{\"match\":{\"content\":\"旅費\"}}}}}}"
#define KNN "\"query\":{\"knn\":{\"vec\":{\"vector\":[0.5,-0.25],\"k\":50}}},"

static void each_mode_and_dialect_asks_in_its_own_way(void **state)
{
    opensearch_assert_request("\"index\": \"kb\"", "/kb/_search", HEAD WORDS SOURCE TAIL);
    opensearch_assert_request("\"index\": \"kb\", \"mode\": \"vector\", \"vector_field\": \"vec\"", "/kb/_search",
                              HEAD KNN SOURCE TAIL);
    opensearch_assert_request("\"index\": \"a,b*\", \"mode\": \"hybrid\", \"vector_field\": \"vec\"",
                              "/a%2Cb%2A/_msearch", "{}\n" HEAD WORDS SOURCE TAIL "\n{}\n" HEAD KNN SOURCE TAIL "\n");
    opensearch_assert_request(
        "\"index\": \"kb\", \"mode\": \"vector\", \"vector_field\": \"vec\", \"dialect\": \"elasticsearch\", "
        "\"filter\": \"{\\\"term\\\":{\\\"lang\\\":\\\"ja\\\"}}\"",
        "/kb/_search",
        HEAD "\"knn\":{\"field\":\"vec\",\"query_vector\":[0.5,-0.25],\"k\":50,\"num_candidates\":200,"
             "\"filter\":{\"term\":{\"lang\":\"ja\"}}}," SOURCE TAIL);
    opensearch_assert_request(
        "\"index\": \"kb\", \"search_fields\": [\"t^3\"], \"title_field\": \"t\", \"date_field\": \"d\", "
        "\"whole_content\": true, \"filter\": \"{\\\"term\\\":{\\\"lang\\\":\\\"ja\\\"}}\"",
        "/kb/_search",
        HEAD "\"query\":{\"bool\":{\"must\":{\"multi_match\":{\"query\":\"旅費\",\"fields\":[\"t^3\"],"
             "\"tie_breaker\":0.3}},\"filter\":{\"term\":{\"lang\":\"ja\"}}}},"
             "\"_source\":[\"t\",\"url\",\"d\",\"content\"]}");
}

static void opensearch_asks_for_words_without_a_vector_and_vectors_alone_fail(void **state)
{
    struct search_document document;
    struct search_fixture *fixture =
        opensearch_ask(&document, "\"index\": \"kb\", \"mode\": \"hybrid\", \"vector_field\": \"vec\"");
    assert_true(fixture->source.provider->wants_vector(&fixture->source));
    fixture->question.vector = NULL;
    assert_true(search_fixture_write(fixture));
    assert_string_equal(buffer_text(&fixture->request.target), "/kb/_search");
    search_document_fini(&document);
    fixture = opensearch_ask(&document, "\"index\": \"kb\", \"mode\": \"vector\", \"vector_field\": \"vec\"");
    fixture->question.vector = NULL;
    assert_false(search_fixture_write(fixture));
    assert_int_equal(fixture->st.code, FAILED_PRECONDITION);
    search_document_fini(&document);
}

static void a_password_that_is_too_long_is_refused(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = opensearch_ask(&document, "\"index\": \"kb\", \"user\": \"reader\"");
    static char password[7001];
    memset(password, 'p', sizeof password - 1);
    fixture->question.key = password;
    assert_false(search_fixture_write(fixture));
    assert_int_equal(fixture->st.code, FAILED_PRECONDITION);
    assert_contains(fixture->st.text, "a password of 7000 bytes");
    search_document_fini(&document);
}

static void opensearch_settings_that_do_not_fit_together_are_refused(void **state)
{
    static const struct search_refusal_case cases[] = {
        {"", "'index' is missing"},
        {"\"index\": \"../_cluster\"", "'index' is '../_cluster'"},
        {"\"index\": \"_all\"", "'index' is '_all'"},
        {"\"index\": \"kb\", \"mode\": \"hybrid\"", "'vector_field' is missing"},
        {"\"index\": \"kb\", \"filter\": \"lang:ja\"", "'filter' must be one clause"},
        {"\"index\": \"kb\", \"filter\": \"[]\"", "'filter' must be one clause"},
        {"\"index\": \"kb\", \"filter\": \"{\\\"a\\\":{},\\\"b\\\":{}}\"", "'filter' must be one clause"},
    };
    const char *told = search_refusals_differ("opensearch", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

#define SHARDS "\"took\":1,\"timed_out\":false,\"_shards\":{\"total\":3,\"successful\":3,\"failed\":0},"
#define HIT(n)                                                                                                         \
    "{\"_index\":\"kb\",\"_id\":\"d-" n "\",\"_score\":1.5,\"_source\":{\"url\":\"https://a.example/" n "\"}}"

static void hits_have_their_fields_and_passages(void **state)
{
    struct search_document document;
    struct search_fixture *fixture =
        opensearch_ask(&document, "\"index\": \"kb\", \"title_field\": \"meta.title\", \"url_field\": \"meta.at.url\", "
                                  "\"date_field\": \"meta.day\", \"content_field\": \"body\"");
    assert_true(search_fixture_read(
        fixture, 200,
        "{" SHARDS "\"hits\":{\"max_score\":null,\"hits\":["
        "{\"_index\":\"kb\",\"_id\":\"d-1\",\"_score\":null,\"_source\":{\"meta\":{\"title\":[\"T\",\"U\"],\"at\":{"
        "\"url\":"
        "\"https://a.example/1\",\"x\":[[{}]]},\"day\":\"2031\"},\"body\":\"whole\"},\"highlight\":{\"body\":"
        "[\"出\\u0002張\\u0003\",\"旅費\"]}},"
        "{\"_index\":\"kb\",\"_id\":\"d-2\",\"_source\":{\"meta.title\":\"flat\",\"body\":\"whole\"}},"
        "{\"_id\":\"d-3\",\"_source\":[]},7,null,{}]}}"));
    const struct search_answer *answer = &fixture->answer;
    assert_int_equal(answer->count, 2);
    assert_string_equal(answer->results[0].title, "T");
    assert_string_equal(answer->results[0].uri, "https://a.example/1");
    assert_string_equal(answer->results[0].published_date, "2031");
    assert_string_equal(answer->results[0].snippet, "出張 … 旅費");
    assert_string_equal(answer->results[1].uri, "kb/d-2");
    assert_string_equal(answer->results[1].title, "flat");
    assert_string_equal(answer->results[1].snippet, "whole");
    search_document_fini(&document);
}

static void two_searches_make_two_lists(void **state)
{
    struct search_document document;
    struct search_fixture *fixture = opensearch_ask(&document, "\"index\": \"kb\"");
    assert_true(search_fixture_read(fixture, 200,
                                    "{\"took\":3,\"responses\":[{" SHARDS "\"hits\":{\"hits\":[" HIT("1") "," HIT(
                                        "2") "]},"
                                             "\"status\":200},{" SHARDS
                                             "\"hits\":{\"hits\":[" HIT("3") "]},\"status\":200}]}"));
    const struct search_answer *answer = &fixture->answer;
    assert_int_equal(answer->count, 3);
    assert_int_equal(answer->list[1], 0);
    assert_int_equal(answer->rank[1], 2);
    assert_int_equal(answer->list[2], 1);
    assert_int_equal(answer->rank[2], 1);
    assert_null(answer->partial);
    search_document_fini(&document);
}

static void a_partial_answer_of_opensearch_is_used_and_says_why(void **state)
{
    static const struct search_partial_case cases[] = {
        {200, "{\"timed_out\":true,\"hits\":{\"hits\":[" HIT("1") "]}}", 1, "its time was up"},
        {200, "{\"_shards\":{\"total\":3,\"failed\":1,\"failures\":[{}]},\"hits\":{\"hits\":[" HIT("1") "]}}", 1,
         "1 of 3 shards failed"},
        {200,
         "{\"responses\":[{\"hits\":{\"hits\":[" HIT(
             "1") "]}},{\"error\":{\"root_cause\":[{\"type\":\"query_shard_exception\","
                  "\"reason\":\"no vectors\"}],\"type\":\"x\",\"reason\":\"y\"},\"status\":400}]}",
         1, "one of two searches failed: query_shard_exception: no vectors"},
    };
    const char *told = search_partials_differ("opensearch", "\"index\": \"kb\"", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

#define CAUSE(type, reason)                                                                                            \
    "{\"error\":{\"root_cause\":[{\"type\":\"" type "\",\"reason\":\"" reason                                          \
    "\"}],\"type\":\"search_phase_execution_exception\","                                                              \
    "\"reason\":\"all shards failed\"},\"status\":0}"

static void errors_of_opensearch_are_told_apart(void **state)
{
    static const struct search_error_case cases[] = {
        {200, "", DATA_LOSS, false, "cannot be read"},
        {200, "{\"hits\":{\"hits\":[{\"_id\":\"d", DATA_LOSS, false, "cannot be read"},
        {200, "{\"hits\":{\"hits\":{}}}", DATA_LOSS, false, "hits.hits: must be an array"},
        {200, "{\"hits\":{}}", DATA_LOSS, false, "without 'hits'"},
        {200, "{}", DATA_LOSS, false, "without 'hits'"},
        {200, "{\"responses\":[]}", DATA_LOSS, false, "without 'responses'"},
        {200, "{\"_shards\":{\"total\":3,\"failed\":3},\"hits\":{\"hits\":[]}}", UNAVAILABLE, false,
         "all shards failed"},
        {200, "{\"responses\":[{\"error\":\"down\",\"status\":503},{\"error\":\"down\",\"status\":503}]}", UNAVAILABLE,
         false, "HTTP 503"},
        {400, CAUSE("parsing_exception", "unknown query [knn]"), INVALID_ARGUMENT, false,
         "parsing_exception: unknown query [knn]"},
        {401, "Unauthorized", FAILED_PRECONDITION, false, "HTTP 401"},
        {403, CAUSE("security_exception", "no permissions"), FAILED_PRECONDITION, false, "no permissions"},
        {403, CAUSE("proxy", "Basic cmVhZGVyOlB3 is wrong, basic realm"), FAILED_PRECONDITION, false,
         "Basic ************ is wrong, basic *****"},
        {404, CAUSE("index_not_found_exception", "no such index [kb]"), NOT_FOUND, false, "no such index [kb]"},
        {405, "{\"error\":\"Incorrect HTTP method\",\"status\":405}", INVALID_ARGUMENT, false, "Incorrect HTTP method"},
        {408, "", UNAVAILABLE, false, "HTTP 408"},
        {429, CAUSE("rejected_execution_exception", "queue"), RESOURCE_EXHAUSTED, false,
         "rejected_execution_exception"},
        {500, "{\"error\":{\"type\":\"e\"}}", UNAVAILABLE, false, "e: no reason is given"},
        {503, "{\"error\":{\"root_cause\":[],\"type\":\"t\",\"reason\":\"all shards failed\"}}", UNAVAILABLE, false,
         "t: all shards failed"},
        {502, "<html>", UNAVAILABLE, false, "HTTP 502"},
    };
    const char *told = search_errors_differ("opensearch", "\"index\": \"kb\"", cases, COUNT(cases));
    if (told)
        fail_msg("%s", told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_and_dialect_asks_in_its_own_way),
        cmocka_unit_test(opensearch_asks_for_words_without_a_vector_and_vectors_alone_fail),
        cmocka_unit_test(a_password_that_is_too_long_is_refused),
        cmocka_unit_test(opensearch_settings_that_do_not_fit_together_are_refused),
        cmocka_unit_test(hits_have_their_fields_and_passages),
        cmocka_unit_test(two_searches_make_two_lists),
        cmocka_unit_test(a_partial_answer_of_opensearch_is_used_and_says_why),
        cmocka_unit_test(errors_of_opensearch_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
