/* Ollama's own API, and the lines it streams. */
#include "answer/answer.h"
#include "http/sse.h"
#include "provider/ndjson.h"
#include "provider/provider.h"

#include <string.h>

#include "unit.h"

static struct {
    struct arena arena;
    struct answer answer;
    struct failure failure;
    Renga__V1__ChatRequest request;
    Renga__V1__ChatMessage turns[4], *list[4];
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
    for (int i = 0; i < 4; i++) {
        renga__v1__chat_message__init(&now.turns[i]);
        now.list[i] = &now.turns[i];
    }
    now.turns[0].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    now.turns[0].content = text("Hi");
    now.request.messages = now.list;
    now.request.n_messages = 1;
    now.question = (struct chat_question){.request = &now.request, .model = "m", .context_tokens = 8192};
    restart();
    return 0;
}

static int end(void **state)
{
    arena_fini(&now.arena);
    return 0;
}

static void assert_written_as(const char *expected)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, 1 << 20);
    json_writer_init(&writer, &out);
    ollama_provider.write_chat(&now.question, &writer);
    assert_true(json_writer_done(&writer));
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

static void the_context_and_whether_to_stream_are_always_said(void **state)
{
    assert_written_as("{\"model\":\"m\",\"stream\":false," HI ",\"options\":{\"num_ctx\":8192}}");
    now.question.stream = true;
    now.question.context_tokens = 0;
    assert_written_as("{\"model\":\"m\",\"stream\":true," HI ",\"options\":{}}");
}

static void options_format_and_thinking_have_their_places(void **state)
{
    char *stops[] = {text("\n")};
    Renga__V1__Sampling sampling = RENGA__V1__SAMPLING__INIT;
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    sampling.maybe_seed_case = RENGA__V1__SAMPLING__MAYBE_SEED_SEED;
    sampling.seed = 7;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format.schema_json = text("{\"type\":\"object\"}");
    now.request.sampling = &sampling;
    now.request.response_format = &format;
    now.request.max_output_tokens = 99;
    now.request.stop = stops;
    now.request.n_stop = 1;
    now.request.reasoning_effort = RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_HIGH;
    assert_written_as("{\"model\":\"m\",\"stream\":false," HI ",\"format\":{\"type\":\"object\"},\"think\":true,"
                      "\"options\":{\"num_ctx\":8192,\"num_predict\":99,\"temperature\":0,\"seed\":7,"
                      "\"stop\":[\"\\n\"]}}");
    now.question.capability.effort_words = true;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    assert_written_as("{\"model\":\"m\",\"stream\":false," HI ",\"format\":\"json\",\"think\":\"high\","
                      "\"options\":{\"num_ctx\":8192,\"num_predict\":99,\"temperature\":0,\"seed\":7,"
                      "\"stop\":[\"\\n\"]}}");
}

static void a_result_goes_by_the_name_of_its_tool(void **state)
{
    Renga__V1__ToolCall call = RENGA__V1__TOOL_CALL__INIT, *calls[] = {&call};
    Renga__V1__ToolDefinition tool = RENGA__V1__TOOL_DEFINITION__INIT, *tools[] = {&tool};
    Renga__V1__ToolChoice choice = RENGA__V1__TOOL_CHOICE__INIT;
    call.id = text("1");
    call.name = tool.name = text("now");
    call.arguments_json = text("{\"a\":1}");
    now.turns[1].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    now.turns[1].tool_calls = calls;
    now.turns[1].n_tool_calls = 1;
    now.turns[2].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    now.turns[2].tool_call_id = text("1");
    now.turns[2].content = text("noon");
    now.request.n_messages = 3;
    now.request.tools = tools;
    now.request.n_tools = 1;
#define CONVERSATION                                                                                                   \
    "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"\","                   \
    "\"tool_calls\":[{\"function\":{\"name\":\"now\",\"arguments\":{\"a\":1}}}]},"                                     \
    "{\"role\":\"tool\",\"content\":\"noon\",\"tool_name\":\"now\"}]"
    assert_written_as("{\"model\":\"m\",\"stream\":false," CONVERSATION
                      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":\"\","
                      "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],\"options\":{\"num_ctx\":8192}}");
    now.request.tool_choice = &choice; /* there is no way to forbid tools but to hide them */
    choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NONE;
    assert_written_as("{\"model\":\"m\",\"stream\":false," CONVERSATION ",\"options\":{\"num_ctx\":8192}}");
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static bool read_line(const char *line)
{
    struct sse_event event = {.type = "message", .data = line, .size = strlen(line), .id = ""};
    return ollama_provider.read_event(&now.answer, &event, &now.failure);
}

static void an_answer_is_its_last_line_alone(void **state)
{
    static const char body[] = "{\"model\":\"llama\",\"message\":{\"role\":\"assistant\",\"content\":\"Yes\","
                               "\"thinking\":\"hm\"},\"done\":true,\"done_reason\":\"length\","
                               "\"prompt_eval_count\":12,\"eval_count\":3}";
    assert_true(ollama_provider.read_chat(&now.answer, body, sizeof body - 1, &now.failure));
    assert_true(answer_finish(&now.answer, &now.finish, &now.failure));
    assert_string_equal(answer_message(&now.answer)->content, "Yes");
    assert_string_equal(answer_message(&now.answer)->reasoning, "hm");
    assert_int_equal(now.finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH);
    assert_int_equal(now.finish.usage->input_tokens, 12);
    assert_int_equal(now.finish.usage->output_tokens, 3);
}

static void calls_get_ids_of_our_own(void **state)
{
    assert_true(read_line("{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}},"
                          "{\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"done\":false}"));
    assert_true(read_line("{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}"));
    assert_true(answer_finish(&now.answer, &now.finish, &now.failure));
    const Renga__V1__ChatMessage *message = answer_message(&now.answer);
    assert_int_equal(message->n_tool_calls, 2);
    assert_string_equal(message->tool_calls[0]->arguments_json, "{\"a\":1}");
    assert_int_equal(strlen(message->tool_calls[1]->id), strlen("call_0123456789abcdef"));
    assert_string_not_equal(message->tool_calls[0]->id, message->tool_calls[1]->id);
    assert_int_equal(now.finish.finish_reason, RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS);
    assert_true(now.finish.usage->estimated);
}

static void a_stream_without_its_done_was_cut(void **state)
{
    assert_true(read_line("{\"message\":{\"content\":\"Yes\"},\"done\":false}"));
    assert_false(answer_finish(&now.answer, &now.finish, &now.failure));
    assert_int_equal(now.failure.status.code, DATA_LOSS);
    restart();
    assert_false(read_line("{\"message\":{\"content\":\"Yes\"}}"));
    assert_contains(now.failure.status.text, "done");
    restart();
    assert_false(read_line("{\"message\":"));
    assert_int_equal(now.failure.status.code, DATA_LOSS);
}

static void errors_are_a_text_on_a_line_or_with_a_status(void **state)
{
    static const char missing[] = "{\"error\":\"model 'x' not found\"}";
    assert_false(read_line("{\"error\":\"llama runner has died\"}"));
    assert_int_equal(now.failure.status.code, UNAVAILABLE);
    assert_contains(now.failure.status.text, "runner has died");
    restart();
    ollama_provider.read_error(404, missing, sizeof missing - 1, &now.failure);
    assert_int_equal(now.failure.status.code, NOT_FOUND);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static char heard[256];
static int lines_left;

static bool line_came(void *owner, const char *line, size_t size)
{
    assert_int_equal(strlen(line), size);
    strncat(heard, line, sizeof heard - strlen(heard) - 2);
    strcat(heard, "|");
    return --lines_left > 0;
}

static void lines_may_be_split_anywhere(void **state)
{
    static const char bytes[] = "{\"a\":1}\n\n \r\n{\"b\":2}\r\n{\"c\":3}";
    for (size_t step = 1; step < sizeof bytes; step++) {
        struct ndjson lines;
        struct status st = {0};
        heard[0] = '\0';
        lines_left = 9;
        ndjson_init(&lines, 16, line_came, NULL);
        for (size_t at = 0; at < sizeof bytes - 1; at += step)
            assert_true(ndjson_feed(&lines, bytes + at, at + step < sizeof bytes ? step : sizeof bytes - 1 - at, &st));
        assert_string_equal(heard, "{\"a\":1}|{\"b\":2}\r|");
        assert_true(ndjson_end(&lines));
        assert_string_equal(heard, "{\"a\":1}|{\"b\":2}\r|{\"c\":3}|");
        ndjson_fini(&lines);
    }
}

static void a_line_is_bounded_and_a_reader_can_end_it(void **state)
{
    struct ndjson lines;
    struct status st = {0};
    ndjson_init(&lines, 4, line_came, NULL);
    lines_left = 9;
    assert_true(ndjson_feed(&lines, "1234\n123", 8, &st));
    assert_false(ndjson_feed(&lines, "45\n", 3, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    ndjson_fini(&lines);
    ndjson_init(&lines, 4, line_came, NULL);
    lines_left = 1;
    memset(&st, 0, sizeof st);
    assert_false(ndjson_feed(&lines, "1\n2\n", 4, &st));
    assert_int_equal(lines_left, 0);
    assert_int_equal(st.code, OK);
    ndjson_fini(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_context_and_whether_to_stream_are_always_said, begin, end),
        cmocka_unit_test_setup_teardown(options_format_and_thinking_have_their_places, begin, end),
        cmocka_unit_test_setup_teardown(a_result_goes_by_the_name_of_its_tool, begin, end),
        cmocka_unit_test_setup_teardown(an_answer_is_its_last_line_alone, begin, end),
        cmocka_unit_test_setup_teardown(calls_get_ids_of_our_own, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_without_its_done_was_cut, begin, end),
        cmocka_unit_test_setup_teardown(errors_are_a_text_on_a_line_or_with_a_status, begin, end),
        cmocka_unit_test(lines_may_be_split_anywhere),
        cmocka_unit_test(a_line_is_bounded_and_a_reader_can_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
