/* Names that a text has often. */
#include "words/proper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void proper_has_name(const char *text, const char *without, unsigned least, const char *wanted)
{
    struct proper_name names[PROPER_NAMES_MAX];
    char found[1024] = "";
    size_t count = proper_names(text, strlen(text), without, strlen(without), least, names), length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%.*s", i ? "," : "",
                                   (int)(names[i].span.end - names[i].span.begin), text + names[i].span.begin);
    assert_string_equal(found, wanted);
}

static void capitalised_words_within_sentences_are_names(void **state)
{
    proper_has_name("The probe of Asaph Hall saw Phobos. Later, Asaph Hall saw Phobos and Phobos again.", "", 2,
                    "Phobos,Asaph Hall");
    proper_has_name("Backups run. Backups end. The backups stay.", "", 1, "");
    proper_has_name("We saw Mars. They saw Mars.", "What is Mars?", 1, "");
}

static void katakana_and_long_han_words_are_names(void **state)
{
    proper_has_name(
        "衛星フォボスは火星を回る。フォボスは小さい。京都大学が見た。京都大学は遠い。利用者が見た。利用者は多い。", "",
        2, "フォボス,京都大学");
    proper_has_name("サーバーを使う。サーバーは速い。", "サーバーとは何か", 1, "");
}

static void texts_with_very_many_names_are_read(void **state)
{
    static char text[400000];
    struct proper_name names[PROPER_NAMES_MAX];
    size_t length = 0;
    for (unsigned i = 0; i < 20000; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "we Nam%c%c%c%c saw. ", 'a' + (char)(i % 26),
                                   'a' + (char)(i / 26 % 26), 'a' + (char)(i / 676 % 26), 'a' + (char)(i / 17576));
    assert_int_equal(proper_names(text, length, "", 0, 1, names), PROPER_NAMES_MAX);
    assert_int_equal(proper_names("", 0, "", 0, 1, names), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capitalised_words_within_sentences_are_names),
        cmocka_unit_test(katakana_and_long_han_words_are_names),
        cmocka_unit_test(texts_with_very_many_names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
