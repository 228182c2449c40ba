#include "words/steps.h"

#include "unit.h"

static void a_question_for_a_method_is_known(void **state)
{
    static const char *const asks[] = {
        "How do I restore a backup?",
        "How can we export the tickets?",
        "How to make a diagnostic file",
        "What are the steps to upgrade?",
        "What is the procedure for setting up SAML?",
        "What do I do when no page appears?",
        "What should we do if the pump fails?",
        "復元の手順は",
        "ロックされたアカウントを解除するには？",
        "出庫の指示を手動で取り込むには",
        "省電力に入るまでの時間を変えるにはどうすればいいですか",
        "代理人を指定する方法を教えてください",
        "Wie füge ich einen Raum hinzu?",
        "Comment louer un vélo ?",
        "¿Cómo se limpia el filtro?",
    };
    static const char *const other[] = {
        "",
        "How long are backups kept?",
        "How many steps has the tower?",
        "What do you do for a living?",
        "What are the roles?",
        "Which port is used?",
        "バックアップは何日保存されますか",
        "会議室には何がありますか",
        "会議室には",
    };
    for (size_t i = 0; i < COUNT(asks); i++)
        if (!words_asks_method(asks[i], strlen(asks[i])))
            fail_msg("'%s' asks for a method", asks[i]);
    for (size_t i = 0; i < COUNT(other); i++)
        if (words_asks_method(other[i], strlen(other[i])))
            fail_msg("'%s' asks for no method", other[i]);
}

static void steps_are_lines_with_numbers_that_follow(void **state)
{
    static const char *const with[] = {
        "1. Close the valve.\n2. Wait.",  "To begin:\n\n  1) Close it.\n\n  2) Wait.",
        "（1）開ける。\n（2）閉める。",   "(1) Open it.\nIt clicks.\n(2) Close it.",
        "①開ける。\n②閉める。",           "9. Go.\n10. Stop.",
        "（１）開ける。\n（２）閉める。",
    };
    static const char *const without[] = {
        "",
        "1. Close the valve.",
        "- Close the valve.\n- Wait.",
        "1. One.\n3. Three.",
        "Version 1. and 2. are old.",
        "2.1 is old.\n2.2 is new.",
        "See (1) and\n(a) too.\n(2x) no.",
        "（１",
        "(",
        "①",
    };
    for (size_t i = 0; i < COUNT(with); i++)
        if (!words_has_steps(with[i], strlen(with[i])))
            fail_msg("'%s' has steps", with[i]);
    for (size_t i = 0; i < COUNT(without); i++)
        if (words_has_steps(without[i], strlen(without[i])))
            fail_msg("'%s' has no steps", without[i]);
}

static void the_number_of_a_step_is_read_with_its_mark(void **state)
{
    static const struct {
        const char *line;
        unsigned number;
        size_t behind;
    } rows[] = {{"12. Go", 12, 3}, {" 3) Go", 3, 3}, {"（4）行く", 4, 7},
                {"⑤行く", 5, 3},   {"- Go", 0, 0},   {"Go", 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t behind;
        assert_int_equal(steps_number(rows[i].line, strlen(rows[i].line), 0, &behind), rows[i].number);
        assert_true(!rows[i].number || behind == rows[i].behind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_for_a_method_is_known),
        cmocka_unit_test(steps_are_lines_with_numbers_that_follow),
        cmocka_unit_test(the_number_of_a_step_is_read_with_its_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
