/* What Azure has beyond OpenAI: its ways, its filters, its errors. */
#include "answer/answer.h"
#include "http/sse.h"
#include "provider/provider.h"

#include <string.h>

#include "unit.h"

static struct {
    struct arena arena;
    struct answer answer;
    struct failure failure;
    Renga__V1__ChatRequest request;
    Renga__V1__ChatFinish finish;
} now;

static int begin(void **state)
{
    memset(&now, 0, sizeof now);
    arena_init(&now.arena, NULL, 0, 32 << 20);
    renga__v1__chat_request__init(&now.request);
    renga__v1__chat_finish__init(&now.finish);
    answer_init(&now.answer, &now.arena, &now.request);
    return 0;
}

static int end(void **state)
{
    arena_fini(&now.arena);
    return 0;
}

static void it_is_reached_by_two_ways(void **state)
{
    struct status st = {0};
    struct provider_endpoint way = {0};
    assert_true(azure_provider.find_endpoint(&(struct provider_terms){.version = "", .model = "m"}, &way, &st));
    assert_string_equal(way.path, "/openai/v1/chat/completions");
    assert_string_equal(way.key_header, "api-key");
    assert_false(way.bearer);
    assert_true(
        azure_provider.find_endpoint(&(struct provider_terms){.version = "2024-10-21", .model = "gpt-4.1"}, &way, &st));
    assert_string_equal(way.path, "/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21");
    assert_false(
        azure_provider.find_endpoint(&(struct provider_terms){.version = "2024-10-21", .model = "../m"}, &way, &st));
    assert_contains(st.text, "azure_deployment: ");
    assert_false(azure_provider.find_endpoint(&(struct provider_terms){.version = "1&x=", .model = "m"}, &way, &st));
    assert_contains(st.text, "api_version: ");
}

static void a_first_chunk_of_filters_alone_says_nothing(void **state)
{
    static const char chunk[] = "{\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"prompt_filter_results\":"
                                "[{\"prompt_index\":0,\"content_filter_results\":{}}]}";
    struct sse_event event = {.type = "message", .data = chunk, .size = sizeof chunk - 1, .id = ""};
    assert_true(azure_provider.read_event(&now.answer, &event, &now.failure));
    assert_false(now.answer.had_choice);
}

static void a_blocked_prompt_is_an_outcome(void **state)
{
    static const char blocked[] = "{\"error\":{\"code\":\"content_filter\",\"message\":\"No\",\"param\":\"prompt\","
                                  "\"type\":null,\"status\":400,\"innererror\":{\"code\":"
                                  "\"ResponsibleAIPolicyViolation\"}}}";
    static const char other[] = "{\"error\":{\"code\":\"content\",\"message\":\"content_filter\"}}";
    assert_false(azure_provider.read_outcome(&now.answer, 400, other, sizeof other - 1));
    assert_false(azure_provider.read_outcome(&now.answer, 400, "", 0));
    assert_false(azure_provider.read_outcome(&now.answer, 500, blocked, sizeof blocked - 1));
    assert_true(azure_provider.read_outcome(&now.answer, 400, blocked, sizeof blocked - 1));
    assert_true(answer_finish(&now.answer, &now.finish, &now.failure));
    assert_int_equal(now.finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER);
    assert_string_equal(now.finish.provider_finish_reason, "content_filter");
}

static void its_errors_have_their_codes(void **state)
{
    static const struct {
        int http_status;
        const char *body;
        enum status_code code;
        const char *part;
    } errors[] = {
        {401, "{\"statusCode\":401,\"message\":\"Unauthorized\"}", FAILED_PRECONDITION, "Unauthorized"},
        {429, "{\"error\":{\"code\":\"429\",\"message\":\"Slow\"}}", RESOURCE_EXHAUSTED, "Slow"},
        {404, "{\"error\":{\"code\":\"DeploymentNotFound\",\"message\":\"No such\"}}", NOT_FOUND, "No such"},
        {404, "{\"error\":{\"code\":\"404\",\"message\":\"Resource not found\"}}", FAILED_PRECONDITION, "base URL"},
    };
    for (size_t i = 0; i < COUNT(errors); i++) {
        memset(&now.failure, 0, sizeof now.failure);
        azure_provider.read_error(errors[i].http_status, errors[i].body, strlen(errors[i].body), &now.failure);
        assert_int_equal(now.failure.status.code, errors[i].code);
        assert_contains(now.failure.status.text, errors[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_reached_by_two_ways, begin, end),
        cmocka_unit_test_setup_teardown(a_first_chunk_of_filters_alone_says_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_blocked_prompt_is_an_outcome, begin, end),
        cmocka_unit_test_setup_teardown(its_errors_have_their_codes, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
