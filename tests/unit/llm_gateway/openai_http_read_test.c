/* OpenAI's JSON as ChatRequest: what is read, what is passed over, what is refused and by which name. */
#include "openai_http/openai_http_priv.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define ARENA_MAX ((size_t)1 << 20)

static struct arena arena;
static struct openai_http_chat_request question;
static struct status st;
static cJSON *root;

static int begin(void **state)
{
    arena_init(&arena, NULL, 0, ARENA_MAX);
    root = NULL;
    return 0;
}

static int end(void **state)
{
    cJSON_Delete(root);
    arena_fini(&arena);
    return 0;
}

static bool read_json(const char *json)
{
    struct status parsed = {0};
    st = (struct status){0};
    cJSON_Delete(root);
    root = json_parse(json, strlen(json), NULL, &parsed);
    assert_non_null(root);
    return openai_http_read_chat(root, &arena, &question, &st);
}

#define HELLO      "\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"
#define ASKING     "{" HELLO ","
#define TOOL(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"

static void read_more(const char *fields)
{
    char json[2048];
    snprintf(json, sizeof json, ASKING "%s}", fields);
    if (!read_json(json))
        fail_msg("%s: %s", fields, st.text);
}

static void assert_refused(const char *json, const char *param, const char *code, const char *text)
{
    if (read_json(json))
        fail_msg("taken: %s", json);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, param);
    assert_string_equal(question.code ? question.code : "", code);
    if (!strstr(st.text, text))
        fail_msg("'%s' does not say '%s'", st.text, text);
}

static void assert_more_refused(const char *fields, const char *param, const char *code, const char *text)
{
    char json[2048];
    snprintf(json, sizeof json, ASKING "%s}", fields);
    assert_refused(json, param, code, text);
}

static void a_plain_question_has_nothing_that_was_not_said(void **state)
{
    const Renga__V1__ChatRequest *request = &question.request;
    assert_true(read_json("{" HELLO "}"));
    assert_string_equal(request->model, "m");
    assert_int_equal(request->n_messages, 1);
    assert_int_equal(request->messages[0]->role, RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER);
    assert_string_equal(request->messages[0]->content, "Hi");
    assert_null(request->sampling);
    assert_null(request->tool_choice);
    assert_null(request->response_format);
    assert_null(request->origin);
    assert_int_equal(request->max_output_tokens, 0);
    assert_false(question.stream || question.include_usage);
}

static void every_field_finds_its_place(void **state)
{
    const Renga__V1__ChatRequest *request = &question.request;
    read_more(
        "\"temperature\":0,\"top_p\":0.5,\"seed\":0,\"frequency_penalty\":-1,\"presence_penalty\":1.5,"
        "\"max_completion_tokens\":7,\"stop\":[\"a\",\"b\"],\"reasoning_effort\":\"low\",\"stream\":true,"
        "\"stream_options\":{\"include_usage\":true,\"include_obfuscation\":false},\"parallel_tool_calls\":false");
    assert_int_equal(request->sampling->maybe_temperature_case, RENGA__V1__SAMPLING__MAYBE_TEMPERATURE_TEMPERATURE);
    assert_int_equal(request->sampling->maybe_seed_case, RENGA__V1__SAMPLING__MAYBE_SEED_SEED);
    assert_true(request->sampling->top_p == 0.5 && request->sampling->temperature == 0);
    assert_true(request->sampling->frequency_penalty == -1 && request->sampling->presence_penalty == 1.5);
    assert_int_equal(request->max_output_tokens, 7);
    assert_int_equal(request->n_stop, 2);
    assert_string_equal(request->stop[1], "b");
    assert_int_equal(request->reasoning_effort, RENGA__V1__REASONING_EFFORT__REASONING_EFFORT_LOW);
    assert_true(question.stream && question.include_usage);
    assert_int_not_equal(request->maybe_parallel_tool_calls_case, 0);
    assert_false(request->parallel_tool_calls);
}

static void the_newer_name_of_the_token_limit_counts(void **state)
{
    read_more("\"max_completion_tokens\":7,\"max_tokens\":9");
    assert_int_equal(question.request.max_output_tokens, 7);
    read_more("\"max_tokens\":9,\"max_completion_tokens\":7");
    assert_int_equal(question.request.max_output_tokens, 7);
    read_more("\"max_tokens\":9");
    assert_int_equal(question.request.max_output_tokens, 9);
}

static void a_stop_may_be_one_text(void **state)
{
    read_more("\"stop\":\"end\"");
    assert_int_equal(question.request.n_stop, 1);
    assert_string_equal(question.request.stop[0], "end");
}

static void null_is_as_if_it_were_not_there(void **state)
{
    read_more("\"temperature\":null,\"stop\":null,\"tools\":null,\"tool_choice\":null,\"response_format\":null,"
              "\"logprobs\":null,\"functions\":null,\"audio\":null,\"n\":null,\"stream_options\":null,\"user\":null");
    assert_null(question.request.sampling);
    assert_null(question.request.origin);
}

static void parts_of_text_are_joined_and_a_developer_makes_the_rules(void **state)
{
    assert_true(read_json("{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":[{\"type\":\"text\","
                          "\"text\":\"Be \"},{\"type\":\"text\",\"text\":\"brief\"}]}]}"));
    assert_int_equal(question.request.messages[0]->role, RENGA__V1__CHAT_ROLE__CHAT_ROLE_SYSTEM);
    assert_string_equal(question.request.messages[0]->content, "Be brief");
}

static void a_conversation_with_tools_is_read_back(void **state)
{
    assert_true(read_json(
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":null,\"refusal\":null,\"parsed\":null,"
        "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":"
        "\"f\","
        "\"arguments\":\"{}\",\"parsed_arguments\":{}}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":"
        "\"21\"}]}"));
    const Renga__V1__ChatMessage *asking = question.request.messages[0], *told = question.request.messages[1];
    assert_int_equal(asking->n_tool_calls, 1);
    assert_string_equal(asking->tool_calls[0]->id, "c1");
    assert_string_equal(asking->tool_calls[0]->arguments_json, "{}");
    assert_string_equal(asking->reasoning, "hm");
    assert_string_equal(asking->content, "");
    assert_string_equal(told->tool_call_id, "c1");
    assert_string_equal(told->content, "21");
    assert_false(told->tool_found_nothing);
    assert_true(read_json("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"No results.\"},"
                          "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"No results for x.\"}]}"));
    assert_false(question.request.messages[0]->tool_found_nothing);
    assert_true(question.request.messages[1]->tool_found_nothing);
}

static void a_refusal_is_read_back_as_text_or_as_part(void **state)
{
    assert_true(read_json("{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"refusal\":\"no\"},"
                          "{\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"never\"}]}]}"));
    assert_string_equal(question.request.messages[0]->refusal, "no");
    assert_string_equal(question.request.messages[1]->refusal, "never");
    assert_string_equal(question.request.messages[1]->content, "");
}

static void tools_keep_their_schema(void **state)
{
    read_more(
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"Finds\",\"strict\":true,"
        "\"parameters\":{\"type\":\"object\",\"properties\":{\"q\":{\"minimum\":0.1}}}}}," TOOL("g") "]");
    const Renga__V1__ToolDefinition *tool = question.request.tools[0];
    assert_int_equal(question.request.n_tools, 2);
    assert_string_equal(tool->description, "Finds");
    assert_true(tool->strict);
    assert_string_equal(tool->parameters_json, "{\"type\":\"object\",\"properties\":{\"q\":{\"minimum\":0.1}}}");
    assert_string_equal(question.request.tools[1]->parameters_json, "");
}

static void a_tool_choice_has_three_forms(void **state)
{
    const Renga__V1__ChatRequest *request = &question.request;
    read_more("\"tool_choice\":\"required\",\"tools\":[" TOOL("f") "]");
    assert_int_equal(request->tool_choice->mode, RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED);
    read_more("\"tool_choice\":" TOOL("f") ",\"tools\":[" TOOL("f") "]");
    assert_int_equal(request->tool_choice->mode, RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED);
    assert_string_equal(request->tool_choice->name, "f");
    read_more("\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":[" TOOL(
        "h") "," TOOL("f") "," TOOL("h") "]}},\"tools\":[" TOOL("f") "," TOOL("g") "," TOOL("h") "]");
    assert_int_equal(request->tool_choice->mode, RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_AUTO);
    assert_int_equal(request->n_tools, 2); /* g may not be called, so it is not shown */
    assert_string_equal(request->tools[0]->name, "h");
    assert_string_equal(request->tools[1]->name, "f");
}

static void the_form_of_the_answer_is_text_an_object_or_a_schema(void **state)
{
    const Renga__V1__ChatRequest *request = &question.request;
    read_more("\"response_format\":{\"type\":\"json_object\"}");
    assert_int_equal(request->response_format->kind, RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT);
    read_more("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"plan\",\"strict\":true,"
              "\"schema\":{\"$schema\":\"x\",\"type\":\"object\"}}}");
    assert_int_equal(request->response_format->kind, RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA);
    assert_string_equal(request->response_format->name, "plan");
    assert_string_equal(request->response_format->schema_json, "{\"$schema\":\"x\",\"type\":\"object\"}");
    assert_true(request->response_format->strict);
}

static void user_and_metadata_become_labels(void **state)
{
    char json[1024], long_text[401];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    snprintf(json, sizeof json, "\"user\":\"u1\",\"metadata\":{\"ticket\":\"%s\"}", long_text);
    read_more(json);
    const Renga__V1__CallOrigin *origin = question.request.origin;
    assert_int_equal(origin->n_labels, 2);
    assert_string_equal(origin->labels[0]->key, "user");
    assert_string_equal(origin->labels[0]->value, "u1");
    assert_string_equal(origin->labels[1]->key, "ticket");
    assert_int_equal(strlen(origin->labels[1]->value), 256); /* cut: a label is no reason to refuse a call */
}

static void what_asks_for_nothing_is_taken(void **state)
{
    read_more("\"n\":1,\"logprobs\":false,\"top_logprobs\":0,\"logit_bias\":{},\"modalities\":[\"text\"],"
              "\"verbosity\":\"medium\",\"store\":true,\"service_tier\":\"flex\",\"prompt_cache_key\":\"k\","
              "\"safety_identifier\":\"s\",\"prediction\":{\"type\":\"content\",\"content\":\"x\"}");
}

static void what_would_change_the_answer_is_refused_by_name(void **state)
{
    static const struct {
        const char *fields, *param;
    } cases[] = {
        {"\"n\":2", "n"},
        {"\"logprobs\":true", "logprobs"},
        {"\"top_logprobs\":3", "top_logprobs"},
        {"\"logit_bias\":{\"50256\":-100}", "logit_bias"},
        {"\"modalities\":[\"text\",\"audio\"]", "modalities"},
        {"\"audio\":{\"voice\":\"x\"}", "audio"},
        {"\"verbosity\":\"low\"", "verbosity"},
        {"\"functions\":[{\"name\":\"f\"}]", "functions"},
        {"\"function_call\":\"auto\"", "function_call"},
        {"\"web_search_options\":{}", "web_search_options"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_more_refused(cases[i].fields, cases[i].param, "unsupported_parameter", cases[i].param);
    assert_more_refused("\"temprature\":1", "temprature", "unknown_parameter", "did you mean 'temperature'?");
    assert_more_refused("\"reasoning_effort\":\"xhigh\"", "reasoning_effort", "unsupported_value", "xhigh");
    assert_more_refused("\"response_format\":{\"type\":\"grammar\"}", "response_format.type", "unsupported_value",
                        "grammar");
    assert_more_refused("\"tools\":[{\"type\":\"custom\",\"custom\":{}}]", "tools[0].type", "unsupported_value",
                        "custom");
    assert_refused("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
                   "\"image_url\":{\"url\":\"x\"}}]}]}",
                   "messages[0].content[0]", "unsupported_value", "image_url");
    assert_refused("{\"model\":\"m\",\"messages\":[{\"role\":\"function\",\"content\":\"x\"}]}", "messages[0].role",
                   "unsupported_value", "function");
}

static void what_is_of_the_wrong_kind_is_named(void **state)
{
    assert_more_refused("\"temperature\":\"hot\"", "temperature", "", "must be a number");
    assert_more_refused("\"max_tokens\":0", "max_tokens", "", "max_tokens");
    assert_more_refused("\"max_tokens\":1.5", "max_tokens", "", "max_tokens");
    assert_more_refused("\"stop\":[1]", "stop[0]", "", "must be a string");
    assert_more_refused("\"stream\":\"yes\"", "stream", "", "must be");
    assert_more_refused("\"tool_choice\":7", "tool_choice", "", "must be a string");
    assert_more_refused("\"tools\":[7]", "tools[0]", "", "must be an object");
    assert_more_refused(
        "\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":[" TOOL(
            "nix") "]}},\"tools\":[" TOOL("f") "]",
        "tool_choice.allowed_tools.tools[0]", "", "one of the request's tools");
    assert_refused("{\"messages\":[]}", "model", "", "model");
    assert_refused("{\"model\":\"m\"}", "messages", "", "messages");
    assert_refused("{\"model\":\"m\",\"messages\":[7]}", "messages[0]", "", "must be an object");
    assert_refused("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":null}]}", "messages[0].content", "",
                   "content");
    assert_refused("[1]", "", "", "must be a JSON object");
}

static void a_request_takes_no_more_memory_than_it_may(void **state)
{
    struct arena small;
    arena_init(&small, NULL, 0, 64);
    assert_true(read_json("{" HELLO "}"));
    assert_false(openai_http_read_chat(root, &small, &question, &st));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    arena_fini(&small);
}

static void a_request_with_more_tools_than_may_be_is_refused_before_their_names_are_compared(void **state)
{
    struct buffer json;
    buffer_init(&json, SIZE_MAX);
    buffer_print(&json, ASKING "\"tools\":[" TOOL("f"));
    for (int i = 0; i < OPENAI_HTTP_TOOLS_MAX; i++)
        buffer_print(&json, "," TOOL("f"));
    buffer_print(&json, "]}");
    assert_refused(buffer_text(&json), "tools", "", "has 129 tools; at most 128 are allowed");
    buffer_fini(&json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_question_has_nothing_that_was_not_said),
        TEST(every_field_finds_its_place),
        TEST(the_newer_name_of_the_token_limit_counts),
        TEST(a_stop_may_be_one_text),
        TEST(null_is_as_if_it_were_not_there),
        TEST(parts_of_text_are_joined_and_a_developer_makes_the_rules),
        TEST(a_conversation_with_tools_is_read_back),
        TEST(a_refusal_is_read_back_as_text_or_as_part),
        TEST(tools_keep_their_schema),
        TEST(a_tool_choice_has_three_forms),
        TEST(the_form_of_the_answer_is_text_an_object_or_a_schema),
        TEST(user_and_metadata_become_labels),
        TEST(what_asks_for_nothing_is_taken),
        TEST(what_would_change_the_answer_is_refused_by_name),
        TEST(what_is_of_the_wrong_kind_is_named),
        TEST(a_request_takes_no_more_memory_than_it_may),
        TEST(a_request_with_more_tools_than_may_be_is_refused_before_their_names_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
