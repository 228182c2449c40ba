#include "rpc/message_json.h"

#include "json/json.h"

#include "renga/v1/helpdesk.pb-c.h"
#include "renga/v1/interview.pb-c.h"
#include "renga/v1/orchestrator.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static char *written(const ProtobufCMessage *message, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, 65536);
    json_writer_init(&out, &text);
    message_write_json(&out, NULL, message);
    assert_true(json_writer_done(&out));
    char *copy = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
    return copy;
}

static void *read_text(const ProtobufCMessageDescriptor *type, const char *text, struct arena *arena, struct status *st)
{
    cJSON *tree = json_parse(text, strlen(text), NULL, st);
    assert_non_null(tree);
    void *message = message_read_json(type, tree, arena, st);
    cJSON_Delete(tree);
    return message;
}

static void what_is_written_is_read_again(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"task_name\":\"池\",\"tool_results\":[{\"results\":[{\"tool_name\":\"t\",\"args\":\"{}\",\"results\":[{"
        "\"uri\":"
        "\"a.md\",\"heading_path\":[\"A\",\"B\"],\"line_from\":3,\"score\":0.5}],\"truncated\":true,\"duration_ms\":"
        "9007199254740991}]}],\"is_completed\":true,\"challenge_count\":-2}",
    };
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, 1 << 20);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const ProtobufCMessage *message = read_text(&renga__v1__subtask__descriptor, texts[i], &arena, &st);
        assert_non_null(message);
        assert_string_equal(written(message, &arena), texts[i]);
    }
    arena_fini(&arena);
}

static void maps_enums_oneofs_and_json_in_fields_are_read_again(void **state)
{
    static const char text[] =
        "{\"agent\":\"a\",\"input\":{\"x\":[1,null,\"y\"]},\"on_busy\":\"ON_BUSY_ENQUEUE\",\"budget\":{"
        "\"tokens\":0},\"labels\":{\"k\":\"v\",\"l\":\"\"}}";
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, 1 << 20);
    const Renga__V1__StartRunRequest *request = read_text(&renga__v1__start_run_request__descriptor, text, &arena, &st);
    assert_non_null(request);
    assert_string_equal(request->input_json, "{\"x\":[1,null,\"y\"]}");
    assert_int_equal(request->on_busy, RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE);
    assert_int_equal(request->budget->maybe_tokens_case, RENGA__V1__BUDGET__MAYBE_TOKENS_TOKENS);
    assert_string_equal(request->labels[1]->key, "l");
    assert_string_equal(written(&request->base, &arena), text);
    arena_fini(&arena);
}

static void unknown_keys_and_null_are_passed_over(void **state)
{
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, 1 << 20);
    const Renga__V1__Subtask *subtask =
        read_text(&renga__v1__subtask__descriptor, "{\"other\":1,\"task_name\":null,\"citations\":null}", &arena, &st);
    assert_non_null(subtask);
    assert_string_equal(subtask->task_name, "");
    assert_int_equal(subtask->n_citations, 0);
    arena_fini(&arena);
}

static void a_wrong_type_is_refused_with_its_field(void **state)
{
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"{\"task_name\":1}", "task_name"},
        {"{\"is_completed\":\"yes\"}", "is_completed"},
        {"{\"challenge_count\":1.5}", "challenge_count"},
        {"{\"challenge_count\":2147483648}", "challenge_count"},
        {"{\"citations\":{}}", "citations"},
        {"{\"citations\":[{\"line_from\":\"1\"}]}", "line_from"},
        {"{\"usage\":{\"input_tokens\":1e300}}", "input_tokens"},
    };
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status st = {0};
        assert_null(read_text(&renga__v1__subtask__descriptor, cases[i].text, &arena, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.field, cases[i].field);
    }
    arena_fini(&arena);
}

static void a_message_that_is_called_an_entry_is_no_map(void **state)
{
    static const char text[] = "{\"agent_stack\":[{\"agent\":\"INTERVIEW_AGENT_INTERVIEWER\",\"field_id\":\"name\"}]}";
    struct arena arena;
    struct status st = {0};
    arena_init(&arena, NULL, 0, 1 << 20);
    const ProtobufCMessage *message = read_text(&renga__v1__main_session_state__descriptor, text, &arena, &st);
    assert_non_null(message);
    assert_string_equal(written(message, &arena), text);
    arena_fini(&arena);
}

/* ---- messages that a person writes ------------------------------------------------------------------------------- */

static void check_text(const char *text, const char *why)
{
    struct json_document document;
    struct status st = {0};
    assert_true(json_document_parse(&document, "form", text, strlen(text), NULL, &st));
    bool good = message_check_json(&document, &renga__v1__start_interview_request__descriptor, document.root, &st);
    json_document_fini(&document);
    assert_int_equal(good, !why);
    if (why) {
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_string_equal(st.text, why);
    }
}

static void a_message_that_a_person_writes_is_checked_with_its_place(void **state)
{
    check_text("{\"form\": {\"fields\": [{\"only_if\": {\"x\": 1}, \"type\": \"FIELD_TYPE_DATE\", \"label\": null}]}}",
               NULL);
    check_text("{\"labels\": {\"team\": \"blue\"}, \"max_loops\": 3}", NULL);
    check_text("[]", "form:1:1: must be an object, a StartInterviewRequest");
    check_text("{\n \"lables\": {}}", "form:2:2: there is no 'lables'; did you mean 'labels'?");
    check_text("{\"labels\": {\"a\": 1}}", "form:1:13: 'labels' must be an object of strings");
    check_text("{\"labels\": []}", "form:1:2: 'labels' must be an object of strings");
    check_text("{\"max_loops\": 1.5}", "form:1:2: 'max_loops' must be a whole number");
    check_text("{\"form\": []}", "form:1:2: 'form' must be an object");
    check_text("{\"form\": {\"fields\": {}}}", "form:1:11: 'fields' must be a list");
    check_text("{\"form\": {\"fields\": [1]}}", "form:1:22: 'fields' must be an object");
    check_text("{\"form\": {\"fields\": [{\"required\": 1}]}}", "form:1:23: 'required' must be true or false");
    check_text("{\"form\": {\"fields\": [{\"type\": \"url\"}]}}",
               "form:1:23: 'type' is 'url', which is no FieldType; did you mean 'FIELD_TYPE_URL'?");
}

static void a_full_arena_is_no_crash(void **state)
{
    struct status st = {0};
    for (size_t room = 0; room < 4096; room += 256) {
        struct arena arena;
        arena_init(&arena, NULL, 0, room);
        if (!read_text(&renga__v1__subtask__descriptor,
                       "{\"task_name\":\"abc\",\"citations\":[{\"quote\":\"q\"},{\"quote\":\"r\"}]}", &arena, &st))
            assert_int_equal(st.code, RESOURCE_EXHAUSTED);
        arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(maps_enums_oneofs_and_json_in_fields_are_read_again),
        cmocka_unit_test(unknown_keys_and_null_are_passed_over),
        cmocka_unit_test(a_wrong_type_is_refused_with_its_field),
        cmocka_unit_test(a_message_that_is_called_an_entry_is_no_map),
        cmocka_unit_test(a_message_that_a_person_writes_is_checked_with_its_place),
        cmocka_unit_test(a_full_arena_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
