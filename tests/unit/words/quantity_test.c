#include "words/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_question_for_a_number_is_known(void **state)
{
    static const char *const texts[] = {
        "ログは何日で消えますか", "メモリは何 GB 必要ですか",     "上限はいくらですか",
        "更新はいつですか",       "復元にどれくらいかかりますか", "How many users can log in?",
        "how LONG does it take",  "When is the backup made?",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(words_asks_number(texts[i], strlen(texts[i])));
}

static void a_question_for_something_else_is_not(void **state)
{
    static const char *const texts[] = {
        "",
        "何",
        "設定画面は何をするところですか",
        "これは何ですか",
        "誰が承認しますか",
        "How do I log in?",
        "Show many users",
        "whenever",
        "Which command restores a backup?",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(words_asks_number(texts[i], strlen(texts[i])));
}

static void numbers_are_digits_of_any_width_or_words(void **state)
{
    static const char *const with[] = {"30分間", "３回まで", "毎晩取ります", "up to Five users", "E-1024", "twice"};
    static const char *const without[] = {"", "再起動が必要です", "Restart the service.", "tension", "\xff\xe3"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_true(words_has_number(with[i], strlen(with[i])));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(words_has_number(without[i], strlen(without[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_for_a_number_is_known),
        cmocka_unit_test(a_question_for_something_else_is_not),
        cmocka_unit_test(numbers_are_digits_of_any_width_or_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
