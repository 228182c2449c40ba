/* Answers and failures as OpenAI's clients get them, byte for byte. */
#include "openai_http/openai_http_priv.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static Renga__V1__ChatResponse response;
static Renga__V1__ChatMessage message;
static Renga__V1__ChatFinish finish;
static Renga__V1__AnsweredBy by;
static Renga__V1__Usage usage;
static struct openai_http_stream stream;
static struct buffer out;

static int begin(void **state)
{
    renga__v1__chat_response__init(&response);
    renga__v1__chat_message__init(&message);
    renga__v1__chat_finish__init(&finish);
    renga__v1__answered_by__init(&by);
    renga__v1__usage__init(&usage);
    by.model = UNCONST("m-1");
    usage.input_tokens = 21;
    usage.output_tokens = 9;
    usage.cached_input_tokens = 5;
    usage.reasoning_tokens = 3;
    finish.answered_by = &by;
    finish.usage = &usage;
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_STOP;
    response.id = UNCONST("c-1");
    response.message = &message;
    response.finish = &finish;
    stream = (struct openai_http_stream){.id = "c-1", .model = "m-1", .created_s = 7};
    buffer_init(&out, 1 << 20);
    return 0;
}

static int end(void **state)
{
    buffer_fini(&out);
    return 0;
}

#define USAGE                                                                                                          \
    "\"usage\":{\"prompt_tokens\":21,\"completion_tokens\":9,\"total_tokens\":30,\"prompt_tokens_details\":{"          \
    "\"cached_tokens\":5,\"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":3,"                   \
    "\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}}"
#define WHOLE(message, reason)                                                                                         \
    "{\"id\":\"c-1\",\"object\":\"chat.completion\",\"created\":7,\"model\":\"m-1\",\"choices\":[{\"index\":0,"        \
    "\"message\":{\"role\":\"assistant\"," message "},\"logprobs\":null,\"finish_reason\":\"" reason "\"}]," USAGE "}"
#define HEAD                 "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":7,\"model\":\"m-1\",\"choices\":"
#define CHUNK(delta, reason) HEAD "[{\"index\":0,\"delta\":{" delta "},\"logprobs\":null,\"finish_reason\":" reason "}]"
#define PIECE(delta)         CHUNK(delta, "null") "}\n\n"
#define ROLE(content)        PIECE("\"role\":\"assistant\",\"content\":" content ",\"refusal\":null")
#define DONE                 "data: [DONE]\n\n"

static void assert_answer(const char *expected)
{
    struct json_writer writer;
    buffer_clear(&out);
    json_writer_init(&writer, &out);
    openai_http_write_answer(&writer, &response, 7);
    assert_true(json_writer_done(&writer));
    assert_string_equal(buffer_text(&out), expected);
}

static void write_event(Renga__V1__ChatStreamEvent__EventCase event_case, const void *value)
{
    Renga__V1__ChatStreamEvent event = RENGA__V1__CHAT_STREAM_EVENT__INIT;
    event.event_case = event_case;
    event.text = UNCONST(value); /* the same place for all */
    openai_http_write_event(&stream, &event, &out);
}

static void write_call(int index, const char *id, const char *name, const char *arguments)
{
    Renga__V1__ToolCallDelta delta = RENGA__V1__TOOL_CALL_DELTA__INIT;
    delta.index = index;
    delta.id = UNCONST(id);
    delta.name = UNCONST(name);
    delta.arguments_json = UNCONST(arguments);
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_TOOL_CALL, &delta);
}

static void text_is_an_answer(void **state)
{
    message.content = UNCONST("\"Pond\" 池\n");
    assert_answer(WHOLE("\"content\":\"\\\"Pond\\\" 池\\n\",\"refusal\":null,\"annotations\":[]", "stop"));
}

static void each_outcome_has_its_word(void **state)
{
    message.content = UNCONST("x");
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH;
    assert_answer(WHOLE("\"content\":\"x\",\"refusal\":null,\"annotations\":[]", "length"));
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER;
    assert_answer(WHOLE("\"content\":\"x\",\"refusal\":null,\"annotations\":[]", "content_filter"));
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_MISSING_TOOL_CALLS;
    assert_answer(WHOLE("\"content\":\"x\",\"refusal\":null,\"annotations\":[]", "stop"));
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_EMPTY;
    message.content = UNCONST("");
    assert_answer(WHOLE("\"content\":\"\",\"refusal\":null,\"annotations\":[]", "stop"));
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_REFUSAL;
    message.refusal = UNCONST("no");
    assert_answer(WHOLE("\"content\":null,\"refusal\":\"no\",\"annotations\":[]", "stop"));
}

static void calls_without_arguments_have_an_empty_object(void **state)
{
    Renga__V1__ToolCall call = RENGA__V1__TOOL_CALL__INIT, *calls[] = {&call};
    call.id = UNCONST("t1");
    call.name = UNCONST("now");
    message.tool_calls = calls;
    message.n_tool_calls = 1;
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS;
    assert_answer(WHOLE("\"content\":null,\"refusal\":null,\"annotations\":[],\"tool_calls\":[{\"id\":\"t1\",\"type\":"
                        "\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}}]",
                        "tool_calls"));
}

static void checked_json_is_the_content(void **state)
{
    message.content = UNCONST("broken");
    finish.structured_json = UNCONST("{\"a\":1}");
    assert_answer(WHOLE("\"content\":\"{\\\"a\\\":1}\",\"refusal\":null,\"annotations\":[]", "stop"));
}

static void a_stream_begins_with_the_role_and_ends_with_done(void **state)
{
    Renga__V1__ChatStart start = RENGA__V1__CHAT_START__INIT;
    start.id = UNCONST("c-1");
    start.answered_by = &by;
    stream.id[0] = stream.model[0] = '\0';
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_START, &start);
    assert_int_equal(out.length, 0);
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT, "po");
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT, "nd");
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH, &finish);
    assert_string_equal(buffer_text(&out), ROLE("\"\"") PIECE("\"content\":\"po\"") PIECE("\"content\":\"nd\"")
                                               CHUNK("", "\"stop\"") "}\n\n" DONE);
}

static void usage_comes_in_a_chunk_of_its_own_where_it_is_asked_for(void **state)
{
    stream.include_usage = true;
    stream.has_spoken = true;
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_TEXT, "x");
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH, &finish);
    assert_string_equal(buffer_text(&out), CHUNK("\"content\":\"x\"", "null") ",\"usage\":null}\n\n" CHUNK(
                                               "", "\"stop\"") ",\"usage\":null}\n\n" HEAD "[]," USAGE "}\n\n" DONE);
}

static void calls_come_in_pieces_and_never_without_arguments(void **state)
{
    finish.finish_reason = RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS;
    write_call(0, "t1", "f", "");
    write_call(1, "t2", "g", "");
    write_call(0, "", "", "{}");
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH, &finish);
#define CALL(index, head, arguments)                                                                                   \
    PIECE("\"tool_calls\":[{\"index\":" index "," head "\"arguments\":\"" arguments "\"}}]")
    assert_string_equal(buffer_text(&out),
                        ROLE("null") CALL("0", "\"id\":\"t1\",\"type\":\"function\",\"function\":{\"name\":\"f\",", "")
                            CALL("1", "\"id\":\"t2\",\"type\":\"function\",\"function\":{\"name\":\"g\",", "")
                                CALL("0", "\"function\":{", "{}") CALL("1", "\"function\":{", "{}")
                                    CHUNK("", "\"tool_calls\"") "}\n\n" DONE);
}

static void thinking_and_refusals_have_their_own_fields(void **state)
{
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_REASONING, "hm");
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_REFUSAL, "no");
    assert_string_equal(buffer_text(&out),
                        ROLE("null") PIECE("\"reasoning_content\":\"hm\"") PIECE("\"refusal\":\"no\""));
}

/* The client has the broken text already. */
static void a_repair_after_the_fact_is_an_error(void **state)
{
    stream.has_spoken = true;
    finish.repaired = true;
    write_event(RENGA__V1__CHAT_STREAM_EVENT__EVENT_FINISH, &finish);
    assert_non_null(strstr(buffer_text(&out), "data: {\"error\":{\"message\":\"the answer broke its JSON Schema"));
    assert_null(strstr(buffer_text(&out), "[DONE]"));
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void assert_error(enum status_code code, const char *field, int http_status, bool final, const char *expected)
{
    struct status st = {0};
    struct openai_http_error error;
    struct json_writer writer;
    fail(&st, code, "%s%swhy", field, field[0] ? ": " : "");
    snprintf(st.field, sizeof st.field, "%s", field);
    openai_http_error_of(&st, &error);
    buffer_clear(&out);
    json_writer_init(&writer, &out);
    openai_http_write_error(&writer, &error);
    assert_string_equal(buffer_text(&out), expected);
    assert_int_equal(error.http_status, http_status);
    assert_int_equal(error.final, final);
}

#define ERROR(message, type, param, code)                                                                              \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"param\":" param ",\"code\":" code "}}"

static void every_failure_has_a_status_a_type_and_a_code(void **state)
{
    assert_error(INVALID_ARGUMENT, "", 400, true, ERROR("why", "invalid_request_error", "null", "null"));
    assert_error(NOT_FOUND, "", 404, true, ERROR("why", "invalid_request_error", "\"model\"", "\"model_not_found\""));
    assert_error(UNAUTHENTICATED, "", 401, true, ERROR("why", "invalid_request_error", "null", "\"invalid_api_key\""));
    assert_error(PERMISSION_DENIED, "", 403, true,
                 ERROR("why", "invalid_request_error", "null", "\"permission_denied\""));
    assert_error(RESOURCE_EXHAUSTED, "", 429, false, ERROR("why", "requests", "null", "\"rate_limit_exceeded\""));
    assert_error(FAILED_PRECONDITION, "", 500, true, ERROR("why", "server_error", "null", "\"failed_precondition\""));
    assert_error(UNAVAILABLE, "", 503, false, ERROR("why", "server_error", "null", "\"unavailable\""));
    assert_error(DEADLINE_EXCEEDED, "", 504, true, ERROR("why", "server_error", "null", "\"deadline_exceeded\""));
    assert_error(DATA_LOSS, "", 500, true, ERROR("why", "server_error", "null", "\"data_loss\""));
    assert_error((enum status_code)99, "", 500, true, ERROR("why", "server_error", "null", "null"));
}

static void a_field_has_the_clients_own_name(void **state)
{
    static const char *const names[][2] = {
        {"sampling.temperature", "temperature"},
        {"max_output_tokens", "max_completion_tokens"},
        {"response_format.schema_json", "response_format.json_schema.schema"},
        {"tools[3].parameters_json", "tools[3].function.parameters"},
        {"tools[3].name", "tools[3].function.name"},
        {"messages[2].tool_calls[0].arguments_json", "messages[2].tool_calls[0].function.arguments"},
        {"messages[2].tool_calls[0].id", "messages[2].tool_calls[0].id"},
        {"messages[2].name", "messages[2].name"},
        {"tool_choice.mode", "tool_choice"},
        {"origin.labels", "metadata"},
        {"stop[1]", "stop[1]"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char expected[512];
        snprintf(expected, sizeof expected, ERROR("%s: why", "invalid_request_error", "\"%s\"", "null"), names[i][1],
                 names[i][1]);
        assert_error(INVALID_ARGUMENT, names[i][0], 400, true, expected);
    }
}

static void an_error_in_a_stream_is_an_event(void **state)
{
    struct status st = {0};
    struct openai_http_error error;
    fail(&st, DATA_LOSS, "cut");
    openai_http_error_of(&st, &error);
    openai_http_write_stream_error(&error, &out);
    assert_string_equal(buffer_text(&out), "data: " ERROR("cut", "server_error", "null", "\"data_loss\"") "\n\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_is_an_answer),
        TEST(each_outcome_has_its_word),
        TEST(calls_without_arguments_have_an_empty_object),
        TEST(checked_json_is_the_content),
        TEST(a_stream_begins_with_the_role_and_ends_with_done),
        TEST(usage_comes_in_a_chunk_of_its_own_where_it_is_asked_for),
        TEST(calls_come_in_pieces_and_never_without_arguments),
        TEST(thinking_and_refusals_have_their_own_fields),
        TEST(a_repair_after_the_fact_is_an_error),
        TEST(every_failure_has_a_status_a_type_and_a_code),
        TEST(a_field_has_the_clients_own_name),
        TEST(an_error_in_a_stream_is_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
