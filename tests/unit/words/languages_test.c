/* The language of a question. */
#include "words/languages.h"

#include "unit.h"

static void a_question_is_in_the_language_of_its_words(void **state)
{
    static const struct {
        const char *tag, *text;
    } rows[] = {
        {"en", "How long are backups kept?"},
        {"en", "Who wrote Les Misérables?"},
        {"en", "Was Bismarck a chancellor?"},
        {"en", "Port 8080"},
        {"en", ""},
        {"en", "What does \"バックアップは毎晩\" mean?"},
        {"ja", "バックアップは何日間保存されますか。"},
        {"ja", "有給休暇申請方法"},
        {"ja", "backup 保存期間"},
        {"ja", "「How long are backups kept?」とは何ですか"},
        {"zh", "备份保留多长时间？"},
        {"zh", "備份保留多久，你們知道嗎？"},
        {"zh", "最早的《ドラえもん》是哪一年出版的？"},
        {"ko", "백업은 며칠 동안 보관됩니까?"},
        {"ko", "VPN 연결 방법"},
        {"de", "Wie lange werden Sicherungen aufbewahrt?"},
        {"de", "Wer schrieb Faust?"},
        {"de", "Passwort zurücksetzen"},
        {"fr", "Combien de temps les sauvegardes sont-elles conservées ?"},
        {"fr", "Comment installer Docker"},
        {"es", "¿Cuánto tiempo se guardan las copias?"},
        {"es", "Quién escribió el Quijote"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(language_tag(language_of(rows[i].text, strlen(rows[i].text))), rows[i].tag);
}

static void a_tag_names_the_language_that_it_begins_with(void **state)
{
    assert_int_equal(language_tagged("de-AT"), LANGUAGE_DE);
    assert_int_equal(language_tagged("ja"), LANGUAGE_JA);
    assert_int_equal(language_tagged("den"), LANGUAGE_EN);
    assert_int_equal(language_tagged(""), LANGUAGE_EN);
}

static void what_is_no_text_is_read_to_its_end(void **state)
{
    static const char odd[] = "\xff\xfe\"\xe3\x80\x8c wie \xc3";
    char long_one[4096];
    memset(long_one, 'a', sizeof long_one);
    assert_int_equal(language_of(long_one, sizeof long_one), LANGUAGE_EN);
    for (size_t length = 0; length < sizeof odd; length++)
        language_of(odd, length);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_in_the_language_of_its_words),
        cmocka_unit_test(a_tag_names_the_language_that_it_begins_with),
        cmocka_unit_test(what_is_no_text_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
