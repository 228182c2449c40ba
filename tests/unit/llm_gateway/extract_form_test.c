#include "extract_fixture.h"

#include <stdio.h>

#define SUBTASKS                                                                                                       \
    "{\"type\":\"object\",\"properties\":{\"subtasks\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"type\":"        \
    "\"string\"}}},"                                                                                                   \
    "\"required\":[\"subtasks\"],\"additionalProperties\":false}"
#define REFLECTION                                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"advice\":{\"type\":\"string\"},\"is_completed\":{\"type\":\"boolean\"}},"  \
    "\"required\":[\"advice\",\"is_completed\"],\"additionalProperties\":false}"

static const char results[] = "[1] a.md:1-2 | 設定 > 再試行\n再試行の回数は3回です。間隔は指数的に延びます。\n\n"
                              "[2] b.md:1-2 | Operating > Ports\nThe server listens on port 8080.";

static cJSON *form_of(struct asking *asking)
{
    const char *text = answer_of(asking);
    assert_non_null(text);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    return root;
}

static void a_plan_is_a_split_question(void **state)
{
    struct asking asking;
    asking_init(&asking);
    want_json(&asking, SUBTASKS);
    user_says(&asking, "Plan it.\n<question>XとYとZの設定方法は？</question>");
    cJSON *root = form_of(&asking), *list = cJSON_GetObjectItem(root, "subtasks");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_string_equal(cJSON_GetArrayItem(list, 0)->valuestring, "Xの設定方法は？");
    cJSON_Delete(root);
    asking_fini(&asking);
}

static void queries_are_words_too(void **state)
{
    struct asking asking;
    asking_init(&asking);
    want_json(&asking, "{\"type\":\"object\",\"properties\":{\"queries\":{\"type\":\"array\"}}}");
    user_says(&asking, "<subtask>How do I change the port?</subtask>");
    cJSON *root = form_of(&asking), *list = cJSON_GetObjectItem(root, "queries");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_string_equal(cJSON_GetArrayItem(list, 1)->valuestring, "change port");
    cJSON_Delete(root);
    asking_fini(&asking);
}

static void expect_judgement(const char *subtask, const char *answer, bool completed, const char *advice)
{
    struct asking asking;
    char prompt[4096];
    asking_init(&asking);
    want_json(&asking, REFLECTION);
    snprintf(prompt, sizeof prompt, "<subtask>%s</subtask>\n<results>%s</results>\n<answer>%s</answer>", subtask,
             results, answer);
    user_says(&asking, prompt);
    cJSON *root = form_of(&asking);
    assert_contains(cJSON_GetObjectItem(root, "advice")->valuestring, advice);
    assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(root, "is_completed")), completed);
    cJSON_Delete(root);
    asking_fini(&asking);
}

static void an_answer_is_judged_by_what_was_found(void **state)
{
    expect_judgement("再試行の回数は？", "再試行の回数は3回です。", true, "見つかり");
    expect_judgement("Which port does the server listen on?", "The server listens on port 8080.", true, "was found");
    expect_judgement("再試行の回数は？", "再試行の回数は5回です。", false, "「5」");
    expect_judgement("料金プランはいくらですか？再試行の回数は？", "再試行の回数は3回です。", false, "「料金プラン");
    expect_judgement("How often is mail collected?", "The server listens on port 8080.", false, "\"mail\"");
    expect_judgement("Which port does the server listen on?", "8080", true, "was found");
    expect_judgement("Which port does the server listen on?", "The server.", false, "repeats");
    expect_judgement("再試行の回数は？", "「再試行の回数は？」に答える記述は、調べた範囲では見つかりませんでした。",
                     false, "再試行");
    expect_judgement("Which port does the server listen on?",
                     "I found nothing that answers \"Which port does the server listen on?\" in what was searched.",
                     false, "Search again");
    expect_judgement("再試行の回数は？", "", false, "探し直して");
}

static void a_form_that_cannot_be_filled_is_refused(void **state)
{
    static const char *const schemas[] = {
        "{\"type\":\"object\",\"properties\":{\"poem\":{\"type\":\"string\"}}}",
        "{\"type\":\"object\",\"properties\":{\"subtasks\":{\"type\":\"array\"},\"why\":{\"type\":\"string\"}},"
        "\"required\":[\"subtasks\",\"why\"]}",
        "{\"type\":\"object\",\"properties\":{\"advice\":{\"type\":\"string\"}}}",
        "{\"type\":\"array\"}",
    };
    for (size_t i = 0; i < COUNT(schemas); i++) {
        struct asking asking;
        asking_init(&asking);
        want_json(&asking, schemas[i]);
        user_says(&asking, "Anything.");
        assert_null(answer_of(&asking));
        assert_int_equal(asking.failure.status.code, FAILED_PRECONDITION);
        assert_contains(asking.failure.status.text, "extractive");
        asking_fini(&asking);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_a_split_question),
        cmocka_unit_test(queries_are_words_too),
        cmocka_unit_test(an_answer_is_judged_by_what_was_found),
        cmocka_unit_test(a_form_that_cannot_be_filled_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
