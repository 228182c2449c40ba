/* ChatRequest as OpenAI's JSON, byte for byte. */
#include "provider/provider.h"

#include <string.h>

#include "unit.h"

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static Renga__V1__ChatRequest request;
static Renga__V1__ChatMessage message, *messages[] = {&message};

static int begin(void **state)
{
    renga__v1__chat_request__init(&request);
    renga__v1__chat_message__init(&message);
    message.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    message.content = text("Hi");
    request.messages = messages;
    request.n_messages = 1;
    return 0;
}

static void assert_written_as(bool stream, bool old_token_limit, const char *expected)
{
    struct chat_question question = {
        .request = &request, .model = "m", .stream = stream, .old_token_limit = old_token_limit};
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, 1 << 20);
    json_writer_init(&writer, &out);
    openai_provider.write_chat(&question, &writer);
    assert_true(json_writer_done(&writer));
    assert_string_equal(buffer_text(&out), expected);
    buffer_fini(&out);
}

#define BEGINNING "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

static void only_what_was_said_is_sent(void **state)
{
    assert_written_as(false, false, BEGINNING "}");
    assert_written_as(true, false, BEGINNING ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

static void sampling_is_sent_where_it_is_present_zeros_too(void **state)
{
    Renga__V1__Sampling sampling = RENGA__V1__SAMPLING__INIT;
    sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    sampling.maybe_seed_case = RENGA__V1__SAMPLING__MAYBE_SEED_SEED;
    sampling.seed = INT64_MAX;
    sampling.maybe_top_p_case = RENGA__V1__SAMPLING__MAYBE_TOP_P_TOP_P;
    sampling.top_p = 0.1;
    sampling.frequency_penalty = 1; /* without its case: absent */
    request.sampling = &sampling;
    assert_written_as(false, false, BEGINNING ",\"temperature\":0,\"top_p\":0.1,\"seed\":9223372036854775807}");
}

static void the_token_limit_has_two_names(void **state)
{
    request.max_output_tokens = 100;
    assert_written_as(false, false, BEGINNING ",\"max_completion_tokens\":100}");
    assert_written_as(false, true, BEGINNING ",\"max_tokens\":100}");
}

static void stops_effort_and_parallelism_have_their_places(void **state)
{
    char *stops[] = {text("\n"), text("終")};
    request.stop = stops;
    request.n_stop = 2;
    request.reasoning_effort = RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW;
    request.maybe_parallel_tool_calls_case =
        RENGA__V1__CHAT_REQUEST__MAYBE_PARALLEL_TOOL_CALLS_PARALLEL_TOOL_CALLS; /* without tools: refused there */
    assert_written_as(false, false, BEGINNING ",\"stop\":[\"\\n\",\"終\"],\"reasoning_effort\":\"low\"}");
}

static void tools_are_functions(void **state)
{
    Renga__V1__ToolDefinition search = RENGA__V1__TOOL_DEFINITION__INIT, now = RENGA__V1__TOOL_DEFINITION__INIT;
    Renga__V1__ToolDefinition *tools[] = {&search, &now};
    Renga__V1__ToolChoice choice = RENGA__V1__TOOL_CHOICE__INIT;
    search.name = text("search");
    search.description = text("Finds");
    search.parameters_json = text("{\"type\":\"object\"}");
    search.strict = true;
    now.name = text("now");
    request.tools = tools;
    request.n_tools = 2;
    request.tool_choice = &choice;
    request.maybe_parallel_tool_calls_case = RENGA__V1__CHAT_REQUEST__MAYBE_PARALLEL_TOOL_CALLS_PARALLEL_TOOL_CALLS;
    choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
    choice.name = text("now");
#define TOOLS                                                                                                          \
    ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"search\",\"description\":\"Finds\","                  \
    "\"parameters\":{\"type\":\"object\"},\"strict\":true}},"                                                          \
    "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]"
    assert_written_as(false, false,
                      BEGINNING TOOLS ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"now\"}},"
                                      "\"parallel_tool_calls\":false}");
    choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED;
    assert_written_as(false, false, BEGINNING TOOLS ",\"tool_choice\":\"required\",\"parallel_tool_calls\":false}");
}

static void a_schema_goes_as_it_is(void **state)
{
    Renga__V1__ResponseFormat format = RENGA__V1__RESPONSE_FORMAT__INIT;
    request.response_format = &format;
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_TEXT;
    assert_written_as(false, false, BEGINNING "}");
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT;
    assert_written_as(false, false, BEGINNING ",\"response_format\":{\"type\":\"json_object\"}}");
    format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    format.name = text("plan");
    format.description = text("Steps");
    format.schema_json = text("{ \"type\": \"object\" }");
    format.strict = true;
    assert_written_as(false, false,
                      BEGINNING ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"plan\","
                                "\"description\":\"Steps\",\"schema\":{ \"type\": \"object\" },\"strict\":true}}}");
}

static void a_conversation_with_tools_goes_back_as_it_came(void **state)
{
    Renga__V1__ChatMessage turns[4], *list[4];
    Renga__V1__ToolCall call = RENGA__V1__TOOL_CALL__INIT, *calls[] = {&call};
    for (int i = 0; i < 4; i++) {
        renga__v1__chat_message__init(&turns[i]);
        list[i] = &turns[i];
    }
    turns[0].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM;
    turns[0].content = text("Be brief");
    turns[1].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    turns[1].name = text("Bashō");
    turns[1].content = text("\"Pond\"?\t");
    turns[2].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT;
    turns[2].reasoning = text("hm");
    turns[2].tool_calls = calls;
    turns[2].n_tool_calls = 1;
    call.id = text("call_1");
    call.name = text("now");
    turns[3].role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    turns[3].tool_call_id = text("call_1");
    turns[3].name = text("now");
    request.messages = list;
    request.n_messages = 4;
    assert_written_as(
        false, false,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief\"},"
        "{\"role\":\"user\",\"name\":\"Bashō\",\"content\":\"\\\"Pond\\\"?\\t\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\","
        "\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"\"}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_what_was_said_is_sent, begin),
        cmocka_unit_test_setup(sampling_is_sent_where_it_is_present_zeros_too, begin),
        cmocka_unit_test_setup(the_token_limit_has_two_names, begin),
        cmocka_unit_test_setup(stops_effort_and_parallelism_have_their_places, begin),
        cmocka_unit_test_setup(tools_are_functions, begin),
        cmocka_unit_test_setup(a_schema_goes_as_it_is, begin),
        cmocka_unit_test_setup(a_conversation_with_tools_goes_back_as_it_came, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
