/* The tool by which a model asks a person. */
#include "unit.h"

#include "nodes/tool_ask.h"

#include <stdio.h>

static struct arena arena;
static Renga__V1__RunNodeRequest told = RENGA__V1__RUN_NODE_REQUEST__INIT;

static Renga__V1__ToolCall call_of(const char *arguments)
{
    Renga__V1__ToolCall call = RENGA__V1__TOOL_CALL__INIT;
    call.id = (char *)(uintptr_t) "c1";
    call.name = (char *)(uintptr_t)TOOL_ASK_NAME;
    call.arguments_json = (char *)(uintptr_t)arguments;
    return call;
}

static int set_up(void **state)
{
    arena_init(&arena, NULL, 0, 1 << 20);
    renga__v1__run_node_request__init(&told);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

static void a_question_waits_and_its_answer_is_the_result(void **state)
{
    struct status st = {0};
    struct tool_asks asks = {0}, later = {0};
    Renga__V1__ChatMessage *turn;
    Renga__V1__ToolCall call = call_of("{\"question\": \"Which?\"}");
    assert_true(tool_ask(&asks, &call, 3, &told, &arena, &turn, &st));
    assert_null(turn);
    assert_true(asks.open);
    assert_string_equal(asks.questions[0]->question, "Which?");
    static const char *const answers[][2] = {
        {"\"this one\"", "this one"}, {"{\"n\": 1}", "{\"n\": 1}"}, {"0", "0"}, {"\"\"", ""}};
    for (size_t i = 0; i < COUNT(answers); i++) {
        Renga__V1__NodeAnswer answer = RENGA__V1__NODE_ANSWER__INIT, *list[] = {&answer};
        answer.key = asks.questions[0]->key;
        answer.answer_json = (char *)(uintptr_t)answers[i][0];
        told.answers = list;
        told.n_answers = 1;
        assert_true(tool_ask(&later, &call, 3, &told, &arena, &turn, &st));
        assert_string_equal(turn->content, answers[i][1]);
        assert_string_equal(turn->tool_call_id, "c1");
        assert_false(turn->tool_failed);
    }
    assert_false(later.open);
}

static void what_is_no_question_is_answered_by_us(void **state)
{
    struct status st = {0};
    static const char *const wrong[] = {"", "nonsense", "[]", "{}", "{\"question\": 7}", "{\"question\": \"\"}"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct tool_asks asks = {0};
        Renga__V1__ChatMessage *turn;
        Renga__V1__ToolCall call = call_of(wrong[i]);
        assert_true(tool_ask(&asks, &call, 0, &told, &arena, &turn, &st));
        assert_non_null(turn);
        assert_true(turn->tool_failed);
        assert_contains(turn->content, "INVALID_ARGUMENT");
        assert_false(asks.open);
    }
}

static void only_so_many_are_asked_at_once(void **state)
{
    struct status st = {0};
    struct tool_asks asks = {0};
    Renga__V1__ToolCall call = call_of("{\"question\": \"?\"}");
    for (size_t i = 0; i < TOOL_ASKS_MAX + 3; i++) {
        Renga__V1__ChatMessage *turn;
        assert_true(tool_ask(&asks, &call, i, &told, &arena, &turn, &st));
        assert_int_equal(turn != NULL, i >= TOOL_ASKS_MAX);
    }
    assert_int_equal(asks.count, TOOL_ASKS_MAX);
    for (size_t i = 1; i < asks.count; i++)
        assert_string_not_equal(asks.questions[i]->key, asks.questions[0]->key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_question_waits_and_its_answer_is_the_result, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_question_is_answered_by_us, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_so_many_are_asked_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
