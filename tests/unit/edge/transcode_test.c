#include "transcode.h"

#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct status st;

static int refresh(void **state)
{
    arena_reset(&arena);
    st = (struct status){0};
    return 0;
}

static ProtobufCMessage *message_of(const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = arena_alloc(&arena, type->sizeof_message);
    protobuf_c_message_init(type, message);
    return message;
}

static void *read_json(const ProtobufCMessageDescriptor *type, const char *json)
{
    ProtobufCMessage *message = message_of(type);
    return transcode_read_body(message, json, strlen(json), &arena, &st) ? message : NULL;
}

static void *read_query(const ProtobufCMessageDescriptor *type, const char *query)
{
    static const char *const skips[] = {"after", NULL};
    ProtobufCMessage *message = message_of(type);
    return transcode_read_query(message, query, skips, &arena, &st) ? message : NULL;
}

static const char *written(const void *message)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, 1 << 20);
    json_writer_init(&writer, &out);
    transcode_write(&writer, NULL, message);
    const char *text = arena_strdup(&arena, buffer_text(&out));
    buffer_fini(&out);
    return text;
}

static const ProtobufCMessageDescriptor *const START = &renga__v1__start_run_request__descriptor;

static void assert_refused(const char *json, const char *field)
{
    st = (struct status){0};
    if (read_json(START, json))
        fail_msg("%s is read", json);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    if (strcmp(st.field, field) != 0)
        fail_msg("%s names '%s', not '%s': %s", json, st.field, field, st.text);
}

static void both_names_of_a_field_are_read(void **state)
{
    Renga__V1__StartRunRequest *run =
        read_json(START, "{\"agent\":\"a\",\"thread_id\":\"t\",\"requestId\":\"r\",\"timeoutMs\":\"9007199254740993\","
                         "\"recursion_limit\":\"12\",\"on_busy\":\"ON_BUSY_ENQUEUE\",\"durability\":1,\"wait\":true,"
                         "\"interruptBefore\":[\"x\",\"y\",\"z\",\"u\",\"v\"],\"labels\":{\"team\":\"ops\",\"\":\"e\"},"
                         "\"budget\":{\"tokens\":null},\"inputJson\":{\"text\": [1, 2.50]}}");
    assert_non_null(run);
    assert_string_equal(run->agent, "a");
    assert_string_equal(run->thread_id, "t");
    assert_string_equal(run->request_id, "r");
    assert_true(run->timeout_ms == INT64_C(9007199254740993));
    assert_int_equal(run->recursion_limit, 12);
    assert_int_equal(run->durability, 1);
    assert_true(run->wait);
    assert_int_equal(run->n_interrupt_before, 5);
    assert_string_equal(run->interrupt_before[4], "v");
    assert_int_equal(run->n_labels, 2);
    assert_string_equal(run->labels[0]->value, "ops");
    assert_non_null(run->budget);
    assert_string_equal(run->input_json, "{\"text\": [1, 2.50]}");
}

static void hostile_bodies_name_the_field(void **state)
{
    assert_refused("{\"agentt\":\"a\"}", "agentt");
    assert_refused("{\"agent\":1}", "agent");
    assert_refused("{\"budget\":{\"nothing\":1}}", "budget.nothing");
    assert_refused("{\"interruptBefore\":[\"a\",null]}", "interruptBefore[1]");
    assert_refused("{\"interruptBefore\":\"a\"}", "interruptBefore");
    assert_refused("{\"interruptBefore\":{\"a\":1}}", "interruptBefore");
    assert_refused("{\"labels\":[\"a\"]}", "labels");
    assert_refused("{\"labels\":{\"a\":1}}", "labels.a");
    assert_refused("{\"wait\":\"true\"}", "wait");
    assert_refused("{\"wait\":1}", "wait");
    assert_refused("{\"threadId\":\"a\",\"thread_id\":\"b\"}", "thread_id");
    assert_refused("{\"onBusy\":\"NEVER\"}", "onBusy");
    assert_refused("{\"onBusy\":true}", "onBusy");
    assert_refused("{\"budget\":[]}", "budget");
    assert_refused("{\"budget\":\"x\"}", "budget");
    assert_refused("{\"recursionLimit\":2147483648}", "recursionLimit");
    assert_refused("{\"recursionLimit\":1.5}", "recursionLimit");
    assert_refused("{\"recursionLimit\":\"0x10\"}", "recursionLimit");
    assert_refused("{\"recursionLimit\":\" 1\"}", "recursionLimit");
    assert_refused("{\"recursionLimit\":\"+1\"}", "recursionLimit");
    assert_refused("{\"recursionLimit\":\"\"}", "recursionLimit");
    assert_refused("{\"timeoutMs\":9223372036854775808}", "timeoutMs");
    assert_refused("{\"timeoutMs\":\"1e400\"}", "timeoutMs");
    assert_refused("{\"timeoutMs\":1e17}", "timeoutMs");
}

static void texts_that_are_no_object_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "null",
                                      "[]",
                                      "1",
                                      "\"x\"",
                                      "{",
                                      "{}x",
                                      "{,}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "\xef\xbb\xbf{}",
                                      "{\"agent\":\"\xff\"}",
                                      "{\"agent\":\"\\ud800\"}",
                                      "{\"agent\":\"\\u0000\"}",
                                      "{\"agent\":\"a\",\"agent\":\"b\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        st = (struct status){0};
        if (read_json(START, bad[i]))
            fail_msg("%s is read", bad[i]);
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
}

static void deep_and_large_bodies_are_bounded(void **state)
{
    char deep[1024] = "{\"inputJson\":";
    memset(deep + strlen(deep), '[', 500);
    assert_null(read_json(START, deep));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    struct arena small;
    arena_init(&small, NULL, 0, 4096);
    static char large[20000] = "{\"interruptBefore\":[";
    for (size_t i = strlen(large); i < sizeof large - 8; i += 4)
        memcpy(large + i, "\"a\",", 5);
    strcpy(large + strlen(large) - 1, "]}");
    st = (struct status){0};
    assert_false(transcode_read_body(message_of(START), large, strlen(large), &small, &st));
    arena_fini(&small);
}

static void whole_numbers_are_read_in_all_their_forms(void **state)
{
    Renga__V1__StartRunRequest *run = read_json(START, "{\"timeoutMs\":1e3,\"recursionLimit\":\"1.0\"}");
    assert_non_null(run);
    assert_int_equal(run->timeout_ms, 1000);
    assert_int_equal(run->recursion_limit, 1);
    run = read_json(START, "{\"timeoutMs\":\"-9223372036854775808\"}");
    assert_true(run && run->timeout_ms == INT64_MIN);
}

static void members_of_a_oneof_exclude_each_other(void **state)
{
    const ProtobufCMessageDescriptor *type = &renga__v1__index_documents_request__descriptor;
    Renga__V1__IndexDocumentsRequest *index = read_json(type, "{\"folder\":null,\"documents\":{\"documents\":["
                                                              "{\"path\":\"a\",\"content\":\"aGk_\"},"
                                                              "{\"content\":\"aGk=\"}]}}");
    assert_non_null(index);
    assert_int_equal(index->source_case, RENGA__V1__INDEX_DOCUMENTS_REQUEST__SOURCE_DOCUMENTS);
    assert_int_equal(index->documents->documents[0]->content.len, 3);
    assert_memory_equal(index->documents->documents[0]->content.data, "hi?", 3);
    assert_int_equal(index->documents->documents[1]->content.len, 2);
    assert_null(read_json(type, "{\"folder\":\"x\",\"documents\":{}}"));
    assert_string_equal(st.field, "documents");
    st = (struct status){0};
    assert_null(read_json(type, "{\"documents\":{\"documents\":[{\"content\":\"a\"}]}}"));
    assert_string_equal(st.field, "documents.documents[0].content");
}

static void an_answer_that_is_not_there_differs_from_one_that_is(void **state)
{
    const ProtobufCMessageDescriptor *type = &renga__v1__resume_run_request__descriptor;
    Renga__V1__ResumeRunRequest *resume = read_json(type, "{\"answerJson\":null}");
    assert_int_equal(resume->maybe_answer_json_case, 0);
    resume = read_json(type, "{\"answerJson\":false}");
    assert_string_equal(resume->answer_json, "false");
    resume = read_json(type, "{\"answerJson\":\"\\\"yes\\\"\"}");
    assert_string_equal(resume->answer_json, "\"yes\"");
}

static void a_query_has_points_lists_and_maps(void **state)
{
    const ProtobufCMessageDescriptor *type = &renga__v1__list_runs_request__descriptor;
    Renga__V1__ListRunsRequest *list = read_query(
        type,
        "agent=a%20b+c&states=RUN_STATE_FAILED&states=2&page_size=7&labels.team.x=o%26ps&createdFromMs=5&after=9&&");
    assert_non_null(list);
    assert_string_equal(list->agent, "a b c");
    assert_int_equal(list->n_states, 2);
    assert_int_equal(list->states[0], RENGA__V1__RUN_STATE__RUN_STATE_FAILED);
    assert_int_equal(list->states[1], 2);
    assert_int_equal(list->page_size, 7);
    assert_int_equal(list->n_labels, 1);
    assert_string_equal(list->labels[0]->key, "team.x");
    assert_string_equal(list->labels[0]->value, "o&ps");
    assert_int_equal(list->created_from_ms, 5);
    const ProtobufCMessageDescriptor *ask = &renga__v1__ask_request__descriptor;
    Renga__V1__AskRequest *asked = read_query(ask, "question=q&options.budget.tokens=3&options.requestId=r");
    assert_non_null(asked);
    assert_int_equal(asked->options->budget->tokens, 3);
    assert_string_equal(asked->options->request_id, "r");
}

static void hostile_queries_name_the_parameter(void **state)
{
    static const struct {
        const char *query, *field;
    } bad[] = {
        {"nothing=1", "nothing"},
        {"agent=a&agent=b", "agent"},
        {"pageSize=1&page_size=1", "page_size"},
        {"pageSize=x", "pageSize"},
        {"agent.x=1", "agent.x"},
        {"labels=x", "labels"},
        {"labels.a=1&labels.a=2", "labels.a"},
        {"states=NO", "states"},
        {"=x", ""},
        {"agent=%ff", ""},
        {"agent=%0", ""},
        {"%00=x", ""},
        {".=x", "."},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        st = (struct status){0};
        if (read_query(&renga__v1__list_runs_request__descriptor, bad[i].query))
            fail_msg("%s is read", bad[i].query);
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.field, bad[i].field);
    }
    char many[8192] = "";
    for (int i = 0; i < 300; i++)
        strcat(many, "states=1&");
    st = (struct status){0};
    assert_null(read_query(&renga__v1__list_runs_request__descriptor, many));
    assert_int_equal(st.code, INVALID_ARGUMENT);
}

static void a_value_of_the_path_must_not_differ_from_the_body(void **state)
{
    const ProtobufCMessageDescriptor *type = &renga__v1__cancel_run_request__descriptor;
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(type, "run_id");
    Renga__V1__CancelRunRequest *cancel = read_json(type, "{\"runId\":\"a\"}");
    assert_true(transcode_set(&cancel->base, field, "a", "the path", &arena, &st));
    assert_false(transcode_set(&cancel->base, field, "b", "the path", &arena, &st));
    assert_string_equal(st.field, "runId");
    assert_non_null(strstr(st.text, "the path"));
}

static void written_messages_have_defaults_and_texts_for_wide_numbers(void **state)
{
    Renga__V1__RunEvent event = RENGA__V1__RUN_EVENT__INIT;
    event.event_id = INT64_C(9007199254740993);
    event.event_case = RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON;
    event.progress_json = (char[]){""};
    assert_string_equal(written(&event),
                        "{\"eventId\":\"9007199254740993\",\"runId\":\"\",\"timeMs\":\"0\","
                        "\"provisional\":false,\"step\":\"0\",\"path\":\"\",\"node\":\"\",\"branch\":0,"
                        "\"progressJson\":\"\"}");
    Renga__V1__SearchHit hit = RENGA__V1__SEARCH_HIT__INIT;
    hit.score = NAN;
    assert_non_null(strstr(written(&hit), "\"score\":\"NaN\""));
    Renga__V1__Run run = RENGA__V1__RUN__INIT;
    run.state = (Renga__V1__RunState)99;
    assert_non_null(strstr(written(&run), "\"state\":99"));
    assert_non_null(strstr(written(&run), "\"labels\":{}"));
    assert_null(strstr(written(&run), "usage"));
}

static void what_is_written_is_read_again(void **state)
{
    Renga__V1__StartRunRequest *run =
        read_json(START, "{\"agent\":\"月\",\"inputJson\":\"{}\",\"timeoutMs\":\"7\",\"labels\":{\"a\":\"b\"},"
                         "\"budget\":{},\"interruptAfter\":[\"*\"],\"onBusy\":1}");
    const char *once = written(run);
    Renga__V1__StartRunRequest *again = read_json(START, once);
    assert_non_null(again);
    assert_string_equal(written(again), once);
}

static void paths_of_fields_are_told_in_the_clients_form(void **state)
{
    char json[64];
    transcode_json_path("options.request_id", json, sizeof json);
    assert_string_equal(json, "options.requestId");
    transcode_json_path("messages[2].tool_calls[0].arguments_json", json, sizeof json);
    assert_string_equal(json, "messages[2].toolCalls[0].argumentsJson");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(both_names_of_a_field_are_read, refresh),
        cmocka_unit_test_setup(hostile_bodies_name_the_field, refresh),
        cmocka_unit_test_setup(texts_that_are_no_object_are_refused, refresh),
        cmocka_unit_test_setup(deep_and_large_bodies_are_bounded, refresh),
        cmocka_unit_test_setup(whole_numbers_are_read_in_all_their_forms, refresh),
        cmocka_unit_test_setup(members_of_a_oneof_exclude_each_other, refresh),
        cmocka_unit_test_setup(an_answer_that_is_not_there_differs_from_one_that_is, refresh),
        cmocka_unit_test_setup(a_query_has_points_lists_and_maps, refresh),
        cmocka_unit_test_setup(hostile_queries_name_the_parameter, refresh),
        cmocka_unit_test_setup(a_value_of_the_path_must_not_differ_from_the_body, refresh),
        cmocka_unit_test_setup(written_messages_have_defaults_and_texts_for_wide_numbers, refresh),
        cmocka_unit_test_setup(what_is_written_is_read_again, refresh),
        cmocka_unit_test_setup(paths_of_fields_are_told_in_the_clients_form, refresh),
    };
    arena_init(&arena, NULL, 0, 16 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
