/* Words that differ by one letter from another one. */
#include "words/slips.h"

#include "words/fold.h"

#include <string.h>

#include "unit.h"

static struct slip_word word_of(const char *text)
{
    struct slip_word word = {.katakana = (unsigned char)*text >= 0x80};
    for (size_t at = 0, next; text[at] && word.length < SLIP_CODES_MAX; at = next)
        word.codes[word.length++] = utf8_read(text, strlen(text), at, &next);
    return word;
}

static enum slip_kind between(const char *written, const char *word)
{
    struct slip_word one = word_of(written), other = word_of(word);
    return slip_of(&one, &other);
}

static bool is_possible(const char *written)
{
    struct slip_word word = word_of(written);
    return slip_is_possible(&word);
}

static void doubled_and_exchanged_letters_are_usual_slips(void **state)
{
    static const char *const pairs[][2] = {
        {"messagge", "message"}, {"mesage", "message"}, {"messaeg", "message"},
        {"emssage", "message"},  {"tokken", "token"},   {"データベス", "データベース"},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (between(pairs[i][0], pairs[i][1]) != SLIP_USUAL)
            fail_msg("%s, %s", pairs[i][0], pairs[i][1]);
}

static void other_letters_are_other_slips_of_longer_words(void **state)
{
    assert_int_equal(between("mexsage", "message"), SLIP_OTHER);
    assert_int_equal(between("mexssage", "message"), SLIP_OTHER);
    assert_int_equal(between("messae", "message"), SLIP_OTHER);
    assert_int_equal(between("カタリグ", "カタログ"), SLIP_OTHER);
    assert_int_equal(between("tokxn", "token"), SLIP_NONE);
}

static void other_words_and_other_forms_are_no_slips(void **state)
{
    static const char *const pairs[][2] = {
        {"message", "message"}, {"message", "mexsaxe"},  {"passage", "massage"},
        {"closed", "closes"},   {"カタログ", "message"},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (between(pairs[i][0], pairs[i][1]) != SLIP_NONE)
            fail_msg("%s, %s", pairs[i][0], pairs[i][1]);
}

static void a_word_that_is_near_to_another_one_is_no_slip(void **state)
{
    static const char *const words[] = {"county",   "stopped", "hostel",   "remainders",
                                        "massages", "stamped", "センサー", "port"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (is_possible(words[i]))
            fail_msg("%s", words[i]);
    assert_true(is_possible("messagge"));
    assert_true(is_possible("データベス"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubled_and_exchanged_letters_are_usual_slips),
        cmocka_unit_test(other_letters_are_other_slips_of_longer_words),
        cmocka_unit_test(other_words_and_other_forms_are_no_slips),
        cmocka_unit_test(a_word_that_is_near_to_another_one_is_no_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
