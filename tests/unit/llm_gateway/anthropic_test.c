/* Anthropic's Messages: the conversation turned into its shape, and its blocks and events read. */
#include "answer/answer.h"
#include "http/sse.h"
#include "provider/provider.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define TURNS 8

static struct {
    struct arena arena;
    struct answer answer;
    struct failure failure;
    Renga__V1__ChatRequest request;
    Renga__V1__ChatMessage turns[TURNS], *list[TURNS];
    Renga__V1__ChatFinish finish;
    struct chat_question question;
} now;

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static void restart(void)
{
    memset(&now.failure, 0, sizeof now.failure);
    answer_init(&now.answer, &now.arena, &now.request);
    now.answer.keeps_content = now.answer.keeps_rest = true;
}

static int begin(void **state)
{
    memset(&now, 0, sizeof now);
    arena_init(&now.arena, NULL, 0, 32 << 20);
    renga__v1__chat_request__init(&now.request);
    renga__v1__chat_finish__init(&now.finish);
    now.request.messages = now.list;
    now.question = (struct chat_question){.request = &now.request, .model = "m", .output_tokens = 4096};
    restart();
    return 0;
}

static int end(void **state)
{
    arena_fini(&now.arena);
    return 0;
}

static Renga__V1__ChatMessage *say(Renga__V1__ChatRole role, const char *content)
{
    Renga__V1__ChatMessage *turn = &now.turns[now.request.n_messages];
    now.list[now.request.n_messages++] = turn;
    renga__v1__chat_message__init(turn);
    turn->role = role;
    turn->content = text(content);
    return turn;
}

#define SYSTEM    RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM
#define USER      RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER
#define ASSISTANT RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT
#define TOOL      RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL

static void assert_written_as(const char *expected)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, 1 << 20);
    json_writer_init(&writer, &out);
    anthropic_provider.write_chat(&now.question, &writer);
    assert_true(json_writer_done(&writer));
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

#define HI "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]"

static void a_limit_is_always_sent(void **state)
{
    say(USER, "Hi");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096," HI "}");
    now.request.max_output_tokens = 7;
    now.question.stream = true;
    assert_written_as("{\"model\":\"m\",\"max_tokens\":7," HI ",\"stream\":true}");
}

static void system_turns_are_lifted_out_and_neighbours_joined(void **state)
{
    say(SYSTEM, "Be brief");
    say(USER, "Hi");
    say(SYSTEM, "Be kind");
    say(USER, "You");
    say(ASSISTANT, "Yes");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096,"
                      "\"system\":[{\"type\":\"text\",\"text\":\"Be brief\"},{\"type\":\"text\",\"text\":\"Be kind\"}],"
                      "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"},"
                      "{\"type\":\"text\",\"text\":\"You\"}]},"
                      "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Yes\"}]}]}");
}

static void results_of_tools_come_first_in_the_users_turn(void **state)
{
    Renga__V1__ToolCall a = RENGA__V1__TOOL_CALL__INIT, b = RENGA__V1__TOOL_CALL__INIT;
    Renga__V1__ToolCall c = RENGA__V1__TOOL_CALL__INIT, *calls[] = {&a, &b, &c};
    a.id = text("call.1");
    a.name = text("now");
    a.arguments_json = text("{\"tz\": \"JST\"}");
    b.id = text("2");
    b.name = text("now");
    b.arguments_json = text("[1]");
    c.id = text("3");
    c.name = text("now");
    c.arguments_json = text("{not");
    say(USER, "Hi");
    Renga__V1__ChatMessage *turn = say(ASSISTANT, "");
    turn->tool_calls = calls;
    turn->n_tool_calls = 3;
    turn->reasoning = text("hm");
    turn->reasoning_signature = text("seal"); /* nobody thinks in this request: not sent */
    say(TOOL, "noon")->tool_call_id = text("call.1");
    turn = say(TOOL, "");
    turn->tool_call_id = text("2");
    turn->tool_failed = true;
    say(USER, "So?");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096,\"messages\":["
                      "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"
                      "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"now\","
                      "\"input\":{\"tz\": \"JST\"}},{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"now\","
                      "\"input\":{\"arguments\":\"[1]\"}},{\"type\":\"tool_use\",\"id\":\"3\",\"name\":\"now\","
                      "\"input\":{\"arguments\":\"{not\"}}]},"
                      "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"call_1\","
                      "\"content\":\"noon\"},{\"type\":\"tool_result\",\"tool_use_id\":\"2\",\"is_error\":true},"
                      "{\"type\":\"text\",\"text\":\"So?\"}]}]}");
}

static void tools_choice_and_schema_have_their_places(void **state)
{
    Renga__V1__ToolDefinition tool = RENGA__V1__TOOL_DEFINITION__INIT, *tools[] = {&tool};
    Renga__V1__ToolChoice choice = RENGA__V1__TOOL_CHOICE__INIT;
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    tool.name = text("now");
    now.request.tools = tools;
    now.request.n_tools = 1;
    now.request.tool_choice = &choice;
    now.request.response_format = &format;
    choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED;
    now.request.maybe_parallel_tool_calls_case = RENGA__V1__CHAT_REQUEST__MAYBE_PARALLEL_TOOL_CALLS_PARALLEL_TOOL_CALLS;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format.schema_json = text("{\"type\":\"object\"}");
    say(USER, "Hi");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096," HI ",\"tools\":[{\"name\":\"now\","
                      "\"input_schema\":{\"type\":\"object\",\"properties\":{}}}],"
                      "\"tool_choice\":{\"type\":\"any\",\"disable_parallel_tool_use\":true},"
                      "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}}}");
}

static void thinking_has_a_budget_and_no_temperature(void **state)
{
    Renga__V1__Sampling sampling = RENGA__V1__SAMPLING__INIT;
    sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    sampling.temperature = 1.5;
    now.request.sampling = &sampling;
    say(USER, "Hi");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096," HI ",\"temperature\":1}");
    now.request.reasoning_effort = RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MEDIUM;
    assert_written_as("{\"model\":\"m\",\"max_tokens\":12288,\"thinking\":{\"type\":\"enabled\","
                      "\"budget_tokens\":8192}," HI "}");
    now.question.capability.adaptive_thinking = true;
    assert_written_as("{\"model\":\"m\",\"max_tokens\":12288,\"thinking\":{\"type\":\"adaptive\"}," HI
                      ",\"output_config\":{\"effort\":\"medium\"}}");
    now.question.capability =
        (struct capability){.refused_parameters = PARAMETER_SAMPLING | PARAMETER_BIT(PARAMETER_EFFORT)};
    assert_written_as("{\"model\":\"m\",\"max_tokens\":4096," HI "}");
}

static void thinking_goes_back_with_its_seal(void **state)
{
    now.request.reasoning_effort = RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_MINIMAL;
    Renga__V1__ChatMessage *turn = say(ASSISTANT, "Yes");
    turn->reasoning = text("hm");
    turn->reasoning_signature = text("seal");
    assert_written_as("{\"model\":\"m\",\"max_tokens\":5120,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"
                      "\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
                      "\"signature\":\"seal\"},{\"type\":\"text\",\"text\":\"Yes\"}]}]}");
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static bool read_whole(const char *body)
{
    restart();
    return anthropic_provider.read_chat(&now.answer, body, strlen(body), &now.failure) &&
           answer_finish(&now.answer, &now.finish, &now.failure);
}

static bool read_event(const char *data)
{
    struct sse_event event = {.type = "message", .data = data, .size = strlen(data), .id = ""};
    return anthropic_provider.read_event(&now.answer, &event, &now.failure);
}

static void blocks_become_text_thinking_and_calls(void **state)
{
    assert_true(read_whole("{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":["
                           "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"seal\"},"
                           "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"},"
                           "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"now\",\"input\":{\"tz\":\"京\"}}],"
                           "\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":5,\"output_tokens\":9,"
                           "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":300}}"));
    const Renga__V1__ChatMessage *message = answer_message(&now.answer);
    assert_string_equal(message->content, "ab");
    assert_string_equal(message->reasoning, "hm");
    assert_string_equal(message->reasoning_signature, "seal");
    assert_string_equal(message->tool_calls[0]->id, "toolu_1");
    assert_string_equal(message->tool_calls[0]->arguments_json, "{\"tz\":\"京\"}");
    assert_int_equal(now.finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
    assert_int_equal(now.finish.usage->input_tokens, 325);
    assert_int_equal(now.finish.usage->cached_input_tokens, 300);
    assert_int_equal(now.finish.usage->cache_write_tokens, 20);
    assert_int_equal(now.finish.usage->output_tokens, 9);
}

static void every_reason_to_stop_has_a_name(void **state)
{
    static const struct {
        const char *body;
        Renga__V1__FinishReason reason;
    } stops[] = {
        {"end_turn", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
        {"stop_sequence", RENGA__V1__FINISH_REASON__FINISH_REASON_STOP},
        {"max_tokens", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
        {"model_context_window_exceeded", RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH},
        {"tool_use", RENGA__V1__FINISH_REASON__FINISH_REASON_MISSING_TOOL_CALLS},
        {"refusal", RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER},
    };
    char body[256];
    for (size_t i = 0; i < COUNT(stops); i++) {
        snprintf(body, sizeof body, "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"%s\"}",
                 stops[i].body);
        assert_true(read_whole(body));
        assert_int_equal(now.finish.finish_reason, stops[i].reason);
    }
    assert_false(read_whole("{\"content\":[],\"stop_reason\":\"pause_turn\"}"));
    assert_false(read_whole("{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":null}"));
    assert_false(read_whole("{\"content\":[7],\"stop_reason\":\"end_turn\"}"));
    assert_contains(now.failure.status.text, "content[0]: must be an object");
}

#define START                                                                                                          \
    "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"c\",\"content\":[],\"stop_reason\":null,"   \
    "\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}"

static void a_stream_is_read_block_by_block(void **state)
{
    static const char *const events[] = {
        START,
        "{\"type\":\"ping\"}",
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"se\"}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"al\"}}",
        "{\"type\":\"content_block_stop\",\"index\":0}",
        "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Yes\"}}",
        "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\","
        "\"name\":\"now\",\"input\":{}}}",
        "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"{\\\"a\\\":\"}}",
        "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"1}\"}}",
        "{\"type\":\"of_tomorrow\"}",
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":8}}",
        "{\"type\":\"message_stop\"}",
    };
    for (size_t i = 0; i < COUNT(events); i++) {
        assert_false(now.answer.ended);
        assert_true(read_event(events[i]));
    }
    assert_true(now.answer.ended);
    assert_true(answer_finish(&now.answer, &now.finish, &now.failure));
    const Renga__V1__ChatMessage *message = answer_message(&now.answer);
    assert_string_equal(message->content, "Yes");
    assert_string_equal(message->reasoning_signature, "seal");
    assert_string_equal(message->tool_calls[0]->arguments_json, "{\"a\":1}");
    assert_int_equal(now.finish.usage->input_tokens, 15);
    assert_int_equal(now.finish.usage->cached_input_tokens, 5);
    assert_int_equal(now.finish.usage->output_tokens, 8);
    assert_false(now.finish.usage->estimated);
}

static void a_stream_that_is_cut_has_its_output_estimated(void **state)
{
    assert_true(read_event(START));
    assert_true(read_event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
                           "\"text\":\"four times three is twelve\"}}"));
    assert_false(answer_finish(&now.answer, &now.finish, &now.failure));
    const Renga__V1__Usage *usage = answer_usage(&now.answer);
    assert_int_equal(usage->input_tokens, 15);
    assert_int_equal(usage->output_tokens, 5);
    assert_true(usage->estimated);
}

static void an_answer_is_estimated_once_for_the_pieces_that_have_come(void **state)
{
    static const char SAID[] = "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
                               "\"text\":\"four times three is twelve\"}}";
    assert_true(read_event(START));
    assert_true(read_event(SAID));
    int64_t first = answer_usage(&now.answer)->output_tokens;
    struct answer_text *text = &now.answer.parts[ANSWER_TEXT];
    memset(text->bytes, ',', text->size); /* another count, after a second counting */
    assert_int_equal(answer_usage(&now.answer)->output_tokens, first);
    assert_true(read_event(SAID));
    assert_int_not_equal(answer_usage(&now.answer)->output_tokens, first);
}

static void a_seal_on_a_part_is_none(void **state)
{
    assert_true(read_whole("{\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"1\"},"
                           "{\"type\":\"thinking\",\"thinking\":\"b\",\"signature\":\"2\"},"
                           "{\"type\":\"text\",\"text\":\"c\"}],\"stop_reason\":\"end_turn\"}"));
    assert_string_equal(answer_message(&now.answer)->reasoning, "ab");
    assert_string_equal(answer_message(&now.answer)->reasoning_signature, "");
}

static void errors_have_their_codes_in_band_and_out(void **state)
{
    static const struct {
        int http_status;
        const char *type, *message;
        enum status_code code, in_band;
    } errors[] = {
        {400, "invalid_request_error", "bad", INVALID_ARGUMENT, INVALID_ARGUMENT},
        {401, "authentication_error", "bad", FAILED_PRECONDITION, FAILED_PRECONDITION},
        {404, "not_found_error", "model: x", NOT_FOUND, NOT_FOUND},
        {413, "request_too_large", "bad", INVALID_ARGUMENT, INVALID_ARGUMENT},
        {429, "rate_limit_error", "bad", RESOURCE_EXHAUSTED, RESOURCE_EXHAUSTED},
        {500, "api_error", "bad", UNAVAILABLE, UNAVAILABLE},
        {529, "overloaded_error", "bad", UNAVAILABLE, UNAVAILABLE},
        {400, "invalid_request_error", "Your credit balance is too low", RESOURCE_EXHAUSTED, INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < COUNT(errors); i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}",
                 errors[i].type, errors[i].message);
        restart();
        anthropic_provider.read_error(errors[i].http_status, body, strlen(body), &now.failure);
        assert_int_equal(now.failure.status.code, errors[i].code);
        assert_contains(now.failure.status.text, errors[i].message);
        restart();
        assert_false(read_event(body));
        assert_int_equal(now.failure.status.code, errors[i].in_band);
    }
}

static void a_prompt_that_is_too_long_has_a_reason(void **state)
{
    static const char body[] = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                               "\"prompt is too long: 208310 tokens > 200000 maximum\"}}";
    anthropic_provider.read_error(400, body, strlen(body), &now.failure);
    assert_int_equal(now.failure.status.code, INVALID_ARGUMENT);
    assert_string_equal(now.failure.status.field, "messages");
    assert_string_equal(now.failure.reason, "CONTEXT_LENGTH_EXCEEDED");
}

static void an_error_without_a_word_is_one_too(void **state)
{
    assert_true(read_event(START));
    assert_false(read_event("{\"type\":\"error\"}"));
    assert_int_equal(now.failure.status.code, UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_limit_is_always_sent, begin, end),
        cmocka_unit_test_setup_teardown(system_turns_are_lifted_out_and_neighbours_joined, begin, end),
        cmocka_unit_test_setup_teardown(results_of_tools_come_first_in_the_users_turn, begin, end),
        cmocka_unit_test_setup_teardown(tools_choice_and_schema_have_their_places, begin, end),
        cmocka_unit_test_setup_teardown(thinking_has_a_budget_and_no_temperature, begin, end),
        cmocka_unit_test_setup_teardown(thinking_goes_back_with_its_seal, begin, end),
        cmocka_unit_test_setup_teardown(blocks_become_text_thinking_and_calls, begin, end),
        cmocka_unit_test_setup_teardown(every_reason_to_stop_has_a_name, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_is_read_block_by_block, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_that_is_cut_has_its_output_estimated, begin, end),
        cmocka_unit_test_setup_teardown(an_answer_is_estimated_once_for_the_pieces_that_have_come, begin, end),
        cmocka_unit_test_setup_teardown(a_seal_on_a_part_is_none, begin, end),
        cmocka_unit_test_setup_teardown(a_prompt_that_is_too_long_has_a_reason, begin, end),
        cmocka_unit_test_setup_teardown(an_error_without_a_word_is_one_too, begin, end),
        cmocka_unit_test_setup_teardown(errors_have_their_codes_in_band_and_out, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
