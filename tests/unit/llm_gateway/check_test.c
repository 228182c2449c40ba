#include "contract/check_chat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define ROLE(name) RENGA__V1__CHAT_ROLE__CHAT_ROLE_##name
#define TURNS      4

/* A conversation that is good, to be spoilt in one place: user, assistant who calls, tool, user. */
struct talk {
    Renga__V1__ChatRequest request;
    Renga__V1__ChatMessage turns[TURNS], *list[TURNS];
    Renga__V1__ToolCall call, *calls[1];
    Renga__V1__ToolDefinition tool, *tools[2];
    Renga__V1__ToolChoice choice;
    Renga__V1__ResponseFormat format;
    Renga__V1__Sampling sampling;
};

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static void begin(struct talk *talk)
{
    static const Renga__V1__ChatRole roles[] = {ROLE(USER), ROLE(ASSISTANT), ROLE(TOOL), ROLE(USER)};
    renga__v1__chat_request__init(&talk->request);
    renga__v1__tool_call__init(&talk->call);
    renga__v1__tool_definition__init(&talk->tool);
    renga__v1__tool_choice__init(&talk->choice);
    renga__v1__response_format__init(&talk->format);
    renga__v1__sampling__init(&talk->sampling);
    for (int i = 0; i < TURNS; i++) {
        renga__v1__chat_message__init(&talk->turns[i]);
        talk->turns[i].role = roles[i];
        talk->turns[i].content = text("said");
        talk->list[i] = &talk->turns[i];
    }
    talk->call.id = talk->turns[2].tool_call_id = text("call_1");
    talk->call.name = text("search");
    talk->calls[0] = &talk->call;
    talk->turns[1].tool_calls = talk->calls;
    talk->turns[1].n_tool_calls = 1;
    talk->turns[1].content = text("");
    talk->tool.name = text("search");
    talk->tool.parameters_json = text("{\"type\":\"object\"}");
    talk->tools[0] = talk->tools[1] = &talk->tool;
    talk->request.model = text("m");
    talk->request.messages = talk->list;
    talk->request.n_messages = TURNS;
    talk->request.tools = talk->tools;
    talk->request.n_tools = 1;
}

static void good(struct talk *talk)
{
    struct status st = {0};
    if (!check_chat_request(&talk->request, &st))
        fail_msg("%s", st.text);
}

static void bad(struct talk *talk, const char *field, const char *part)
{
    struct status st = {0};
    assert_false(check_chat_request(&talk->request, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, field);
    assert_contains(st.text, part);
    begin(talk);
}

static void a_good_conversation_passes(void **state)
{
    struct talk talk;
    begin(&talk);
    good(&talk);
    talk.call.arguments_json = text("a model may write anything");
    talk.turns[2].content = text("");
    talk.turns[2].tool_failed = true;
    good(&talk);
}

static void what_is_missing_is_named(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.request.model = text("");
    bad(&talk, "model", "is empty; it is required (a model's name, or \"default\")");
    talk.request.n_messages = 0;
    bad(&talk, "messages", "has 0 entries; 1 to 1024");
    talk.turns[3].content = text("");
    bad(&talk, "messages[3].content", "is empty");
    talk.turns[2].tool_call_id = text("");
    bad(&talk, "messages[2].tool_call_id", "is empty");
    talk.call.id = text("");
    bad(&talk, "messages[1].tool_calls[0].id", "is empty");
    talk.turns[1].n_tool_calls = 0;
    bad(&talk, "messages[1].content", "is empty");
}

static void roles_keep_to_their_fields(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.turns[0].role = ROLE(UNSPECIFIED);
    bad(&talk, "messages[0].role", "is 0; it must be one of CHAT_ROLE_SYSTEM (1)");
    talk.turns[0].role = (Renga__V1__ChatRole)-3;
    bad(&talk, "messages[0].role", "is -3");
    talk.turns[0].refusal = text("no");
    bad(&talk, "messages[0].refusal", "belongs to an assistant's turn");
    talk.turns[0].tool_failed = true;
    bad(&talk, "messages[0].tool_failed", "belongs to a tool's turn");
    talk.turns[0].tool_call_id = text("call_1");
    bad(&talk, "messages[0].tool_call_id", "belongs to a tool's turn");
}

static void every_call_is_answered_once(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.turns[2].role = ROLE(USER);
    talk.turns[2].tool_call_id = text("");
    bad(&talk, "messages[1].tool_calls[0].id", "is answered by no turn behind");
    talk.turns[2].tool_call_id = text("call_2");
    bad(&talk, "messages[2].tool_call_id", "names no tool call");
    talk.list[3] = &talk.turns[2];
    bad(&talk, "messages[3].tool_call_id", "answered already");
    talk.request.n_messages = 2;
    bad(&talk, "messages[1].tool_calls[0].id", "is answered by no turn behind");
}

static void limits_are_those_of_the_contract(void **state)
{
    struct talk talk;
    char *long_text = malloc((1 << 20) + 2);
    memset(long_text, 'x', (1 << 20) + 1);
    long_text[(1 << 20) + 1] = '\0';
    begin(&talk);
    talk.turns[0].content = long_text;
    bad(&talk, "messages[0].content", "has 1048577 bytes; at most 1048576 are allowed");
    talk.turns[0].content = long_text + 1;
    good(&talk);
    begin(&talk);
    talk.request.model = long_text + (1 << 20) - 128;
    bad(&talk, "model", "has 129 bytes");
    char *stops[5] = {text("a"), text("b"), text(""), text("d"), text("e")};
    talk.request.stop = stops;
    talk.request.n_stop = 5;
    bad(&talk, "stop", "has 5 entries");
    talk.request.stop = stops;
    talk.request.n_stop = 3;
    bad(&talk, "stop[2]", "is empty");
    talk.request.max_output_tokens = -1;
    bad(&talk, "max_output_tokens", "is -1");
    talk.request.max_model_calls = -1;
    bad(&talk, "max_model_calls", "is -1");
    talk.request.idempotency_key = long_text + (1 << 20) - 128;
    bad(&talk, "idempotency_key", "has 129 bytes");
    free(long_text);
}

static void sampling_stays_within_its_ranges(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.request.sampling = &talk.sampling;
    talk.sampling.temperature = 3; /* not said: not sent */
    good(&talk);
    talk.sampling.maybe_temperature_case = RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE;
    bad(&talk, "sampling.temperature", "is 3; it must be within 0 and 2");
    talk.request.sampling = &talk.sampling;
    talk.sampling.maybe_top_p_case = RENGA__V1__SAMPLING__MAYBE_TOP_P_TOP_P;
    bad(&talk, "sampling.top_p", "is 0; it is required (above 0");
    talk.request.sampling = &talk.sampling;
    talk.sampling.maybe_presence_penalty_case = RENGA__V1__SAMPLING__MAYBE_PRESENCE_PENALTY_PRESENCE_PENALTY;
    talk.sampling.presence_penalty = (double)NAN;
    bad(&talk, "sampling.presence_penalty", "must be within -2 and 2");
}

static void tools_have_names_and_schemas(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.tool.name = text("look up");
    bad(&talk, "tools[0].name", "has the byte 0x20 at 4; A-Z");
    talk.request.n_tools = 2;
    bad(&talk, "tools[1].name", "is that of tools[0] too");
    talk.tool.parameters_json = text("{\"type\":}");
    bad(&talk, "tools[0].parameters_json", "is not JSON: 1:9");
    talk.tool.parameters_json = text("[]");
    bad(&talk, "tools[0].parameters_json", "must be a JSON object");
    talk.request.tool_choice = &talk.choice;
    talk.choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
    talk.choice.name = text("serach");
    bad(&talk, "tool_choice.name", "is 'serach'; it must be one of the request's tools");
    talk.request.tool_choice = &talk.choice;
    talk.request.n_tools = 0;
    talk.choice.mode = RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED;
    bad(&talk, "tool_choice.mode", "offers no tools");
}

static void a_schema_needs_a_name_and_json(void **state)
{
    struct talk talk;
    begin(&talk);
    talk.request.response_format = &talk.format;
    talk.format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    bad(&talk, "response_format.name", "must be 1 to 64");
    talk.request.response_format = &talk.format;
    talk.format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    talk.format.name = text("plan");
    bad(&talk, "response_format.schema_json", "is empty");
    talk.request.response_format = &talk.format;
    talk.format.kind = RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
    talk.format.name = text("plan");
    talk.format.schema_json = text("{} {}");
    bad(&talk, "response_format.schema_json", "is not JSON: 1:4");
    talk.request.response_format = &talk.format;
    talk.format.kind = (Renga__V1__ResponseFormatKind)7;
    bad(&talk, "response_format.kind", "is 7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_conversation_passes),       cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(roles_keep_to_their_fields),       cmocka_unit_test(every_call_is_answered_once),
        cmocka_unit_test(limits_are_those_of_the_contract), cmocka_unit_test(sampling_stays_within_its_ranges),
        cmocka_unit_test(tools_have_names_and_schemas),     cmocka_unit_test(a_schema_needs_a_name_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
