/* HTTP errors of OpenAI and those who speak its API. */
#include "contract/failure.h"
#include "provider/provider.h"
#include "routing/deployment.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static struct failure failure;

static void read_error(int http_status, const char *body)
{
    memset(&failure, 0, sizeof failure);
    openai_provider.read_error(http_status, body, strlen(body), &failure);
}

static void every_http_status_has_a_code(void **state)
{
    static const struct {
        int http_status;
        enum status_code code;
    } codes[] = {
        {301, FAILED_PRECONDITION}, {400, INVALID_ARGUMENT},    {401, FAILED_PRECONDITION}, {402, RESOURCE_EXHAUSTED},
        {403, FAILED_PRECONDITION}, {404, FAILED_PRECONDITION}, {405, INVALID_ARGUMENT},    {408, UNAVAILABLE},
        {409, UNAVAILABLE},         {413, INVALID_ARGUMENT},    {422, INVALID_ARGUMENT},    {425, UNAVAILABLE},
        {429, RESOURCE_EXHAUSTED},  {500, UNAVAILABLE},         {503, UNAVAILABLE},         {529, UNAVAILABLE},
    };
    for (size_t i = 0; i < COUNT(codes); i++) {
        char http[16];
        read_error(codes[i].http_status, "<html>");
        assert_int_equal(failure.status.code, codes[i].code);
        snprintf(http, sizeof http, "HTTP %d", codes[i].http_status);
        assert_contains(failure.status.text, http);
        assert_contains(failure.status.text, "does not say why");
    }
}

static void the_message_is_found_wherever_it_stands(void **state)
{
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"So it is\"}}",
        "{\"error\":\"So it is\"}",
        "{\"message\":\"So it is\"}",
        "{\"detail\":\"So it is\"}",
        "[{\"error\":{\"message\":\"So it is\"}}]",
        "{\"object\":\"error\",\"message\":\"So it is\",\"code\":400}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        read_error(400, bodies[i]);
        assert_contains(failure.status.text, "So it is");
    }
}

static void a_long_message_is_cut_between_characters(void **state)
{
    char body[4096] = "{\"error\":{\"message\":\"";
    for (int i = 0; i < 300; i++)
        strcat(body, "池");
    strcat(body, "\"}}");
    read_error(500, body);
    assert_true(strlen(failure.status.text) < STATUS_TEXT_MAX);
    assert_string_equal(failure.status.text + strlen(failure.status.text) - strlen("池"), "池");
}

static void a_missing_model_is_told_from_a_wrong_address(void **state)
{
    read_error(404, "{\"error\":{\"message\":\"The model `x` does not exist\",\"code\":\"model_not_found\"}}");
    assert_int_equal(failure.status.code, NOT_FOUND);
    read_error(404, "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"code\":404}");
    assert_int_equal(failure.status.code, NOT_FOUND);
    read_error(404, "{\"detail\":\"Not Found\"}");
    assert_int_equal(failure.status.code, FAILED_PRECONDITION);
    read_error(403, "{\"error\":{\"message\":\"No access\",\"code\":\"model_not_found\"}}");
    assert_int_equal(failure.status.code, NOT_FOUND);
}

static void an_empty_account_has_a_reason_and_a_rate_has_none(void **state)
{
    read_error(429,
               "{\"error\":{\"message\":\"Pay\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}");
    assert_string_equal(failure.reason, "INSUFFICIENT_QUOTA");
    read_error(402, "{\"error\":{\"message\":\"Insufficient Balance\"}}");
    assert_string_equal(failure.reason, "INSUFFICIENT_QUOTA");
    read_error(429, "{\"error\":{\"message\":\"Slow\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}");
    assert_null(failure.reason);
    read_error(500, "{\"error\":{\"message\":\"Odd\",\"code\":\"insufficient_quota\"}}");
    assert_int_equal(failure.status.code, UNAVAILABLE);
}

static void what_is_longer_than_the_context_has_a_reason_however_it_is_said(void **state)
{
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"Too much\",\"code\":\"context_length_exceeded\"}}",
        "{\"error\":{\"message\":\"Too much\",\"type\":\"exceed_context_size_error\"}}",
        "{\"object\":\"error\",\"message\":\"This model's maximum context length is 8 tokens.\",\"code\":400}",
        "{\"error\":\"the input length exceeds the context length\"}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        read_error(400, bodies[i]);
        assert_int_equal(failure.status.code, INVALID_ARGUMENT);
        assert_string_equal(failure.reason, "CONTEXT_LENGTH_EXCEEDED");
        assert_string_equal(failure.status.field, "messages");
        assert_false(failure_is_quota(&failure));
    }
    read_error(500, bodies[2]);
    assert_null(failure.reason);
    read_error(400, "{\"error\":{\"message\":\"No\",\"param\":\"temperature\"}}");
    assert_null(failure.reason);
}

static void a_param_becomes_our_field(void **state)
{
    static const struct {
        const char *param, *field;
    } params[] = {
        {"temperature", "sampling.temperature"},
        {"max_completion_tokens", "max_output_tokens"},
        {"messages.[2].content", "messages[2].content"},
        {"messages[1].tool_calls", "messages[1].tool_calls"},
        {"tools[0].function.parameters", "tools[0].parameters_json"},
        {"tools[12].function.name", "tools[12].name"},
        {"response_format.json_schema.schema", "response_format.schema_json"},
        {"response_format", "response_format"},
        {"logit_bias", ""},
        {"modelling", ""},
    };
    for (size_t i = 0; i < COUNT(params); i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"error\":{\"message\":\"No\",\"param\":\"%s\"}}", params[i].param);
        read_error(400, body);
        assert_string_equal(failure.status.field, params[i].field);
    }
}

static void the_key_is_taken_out_of_a_text(void **state)
{
    static const struct deployment deployment = {.key = "secret-0123"};
    char text[] = "Incorrect: secret-0123, sk-abc, sk-proj-abcdefgh and sk-pr*****mnop (secret-0123)";
    deployment_redact(&deployment, text);
    assert_string_equal(text, "Incorrect: [key], sk-abc, [key] and [key] ([key])");
    char other[] = "a ***bold*** word stays? the stars make it a key; task-force stays";
    deployment_redact(&deployment, other);
    assert_string_equal(other, "a [key] word stays? the stars make it a key; task-force stays");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_http_status_has_a_code),
        cmocka_unit_test(the_message_is_found_wherever_it_stands),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(a_missing_model_is_told_from_a_wrong_address),
        cmocka_unit_test(an_empty_account_has_a_reason_and_a_rate_has_none),
        cmocka_unit_test(what_is_longer_than_the_context_has_a_reason_however_it_is_said),
        cmocka_unit_test(a_param_becomes_our_field),
        cmocka_unit_test(the_key_is_taken_out_of_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
