/* Names and denials of a sentence beside the words that are quoted for it. */
#include "words/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool agree(const char *sentence, const char *quote, const char *heading)
{
    return claims_agree((struct claim){sentence, strlen(sentence)}, (struct claim){quote, strlen(quote)},
                        (struct claim){heading, strlen(heading)});
}

static void a_name_that_is_not_quoted_is_another_claim(void **state)
{
    const char *quote = "Mars has two moons, Phobos and Deimos.";
    assert_true(agree("Mars has two moons, Phobos and Deimos.", quote, ""));
    assert_true(agree("The two moons of Mars are Phobos and Deimos.", quote, ""));
    assert_false(agree("Mars has two moons, Phobos and Titan.", quote, ""));
    assert_false(agree("Venus has two moons, Phobos and Deimos.", quote, ""));
    assert_false(agree("According to Smith, Mars has two moons.", quote, ""));
}

static void names_of_the_heading_count_and_openers_do_not(void **state)
{
    assert_true(agree("Mars has two moons.", "It has two moons.", "Mars"));
    assert_true(agree("However, there are two moons.", "There are two moons.", ""));
    assert_true(agree("Additionally, moons are two.", "There are two moons.", ""));
    assert_false(agree("Zorblax has two moons.", "It has two moons.", "Mars"));
}

static void japanese_names_are_known_by_their_script_and_their_endings(void **state)
{
    const char *quote = "バックアップは東京都の本社に保存されます。";
    assert_true(agree("東京都の本社にバックアップが保存される。", quote, ""));
    assert_false(agree("大阪市の本社にバックアップが保存される。", quote, ""));
    assert_false(agree("東京都の本社にスナップショットが保存される。", quote, ""));
    assert_true(agree("使用できる期間は長い。", "利用できる期間は長い。", ""));
}

static void a_denial_is_another_claim(void **state)
{
    assert_false(agree("Backups are not kept.", "Backups are kept.", ""));
    assert_false(agree("Backups aren't kept.", "Backups are kept.", ""));
    assert_false(agree("Backups are kept.", "Backups are not kept.", ""));
    assert_true(agree("Backups are not kept.", "No backups are kept.", ""));
    assert_true(agree("Backups are kept.", "Backups are kept for a month, and they are not moved elsewhere then.", ""));
    assert_false(agree("保存されません。", "保存されます。", ""));
    assert_false(agree("保存される。", "保存されない。", ""));
    assert_true(agree("保存する必要がある。", "保存しなければならない。", ""));
    assert_true(agree("数は少ない。", "数は少ない。", ""));
}

static void a_number_counts_the_same_in_both(void **state)
{
    const char *quote = "Backups are kept for 1,035 days. At most 20 users may read them.";
    assert_true(agree("Backups are kept 1035 days.", quote, ""));
    assert_true(agree("A 20-user limit stands, with 1,035 day retention.", quote, ""));
    assert_false(agree("backups are kept for 20 days.", quote, ""));
    assert_true(agree("第 3 条", "第３条と 4 項", ""));
    assert_false(agree("20 回まで使える。", "1 回まで使える。20 日以内に申請する。", ""));
    assert_true(agree("20 日以内に 1 回使える。", "1 回まで使える。20 日以内に申請する。", ""));
}

static void a_number_of_the_next_sentence_is_another_one(void **state)
{
    const char *quote = "添付ファイルは 20 件までです。ファイルの大きさは 1 件 50 MB が上限です。";
    assert_true(agree("ファイルの大きさは 1 件 50 MB が上限です。", quote, ""));
    assert_false(agree("ファイルの大きさは 20 件 50 MB が上限です。", quote, ""));
    quote = "Backups are kept for 35 days. The period can be set from 7 to 400 days.";
    assert_true(agree("Backups stay 35 days by default, and 7 to 400 days can be set.", quote, ""));
    assert_false(agree("Backups are kept for 400 days.", quote, ""));
}

static void a_quote_without_end_agrees_with_nothing(void **state)
{
    static char quote[200000];
    size_t length = 0;
    for (unsigned i = 0; i < 20000; i++)
        length += (size_t)snprintf(quote + length, sizeof quote - length, "%u ", i);
    assert_false(claims_agree((struct claim){"Mars", 4}, (struct claim){quote, length}, (struct claim){"", 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_quoted_is_another_claim),
        cmocka_unit_test(names_of_the_heading_count_and_openers_do_not),
        cmocka_unit_test(japanese_names_are_known_by_their_script_and_their_endings),
        cmocka_unit_test(a_denial_is_another_claim),
        cmocka_unit_test(a_number_counts_the_same_in_both),
        cmocka_unit_test(a_number_of_the_next_sentence_is_another_one),
        cmocka_unit_test(a_quote_without_end_agrees_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
