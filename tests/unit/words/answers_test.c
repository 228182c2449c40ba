/* Answers held against a known truth. */
#include "unit.h"

#include "words/answers.h"

#include <stdlib.h>
#include <string.h>

struct answer_row {
    const char *answer, *truth;
    bool right;
};

static void assert_rows(enum answer_match match, const struct answer_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (answer_is_right(match, rows[i].answer, rows[i].truth) != rows[i].right)
            fail_msg("%s '%s' of '%s': not %s", answer_match_words[match], rows[i].truth, rows[i].answer,
                     rows[i].right ? "right" : "wrong");
}

static void an_exact_answer_is_the_truth_but_for_marks_at_the_ends(void **state)
{
    static const struct answer_row rows[] = {
        {"Paris", "paris", true},
        {"  \"Paris.\" ", "Paris", true},
        {"Paris, France", "Paris", false},
        {"ＰＡＲＩＳ！", "paris", true},
        {"「東京」。", "東京", true},
        {"東京都", "東京", false},
        {"a  b\nc", "A b c", true},
        {"a-b", "ab", false},
        {"-5", "5", false},
        {"...", "...", true},
        {"", "x", false},
        {"...", "!!!", false},
        {"x", ".x", true},
        {"ｶﾞ", "ガ", true},
    };
    assert_rows(ANSWER_EXACT, rows, COUNT(rows));
}

static void a_contained_truth_stands_as_whole_words(void **state)
{
    static const struct answer_row rows[] = {
        {"The answer is Paris.", "paris", true},
        {"The answer is comparison", "paris", false},
        {"it starts with art", "art", true},
        {"it starts", "art", false},
        {"答えは東京です", "東京", true},
        {"答えは東京都です", "東京", false},
        {"スーパーコンピュータ", "コンピュータ", false},
        {"pi is 3.14", "3", false},
        {"pi is 3.14", "3.14", true},
        {"it is 3.", "3", true},
        {"it is -3", "3", false},
        {"covid-19", "19", true},
        {"1,003 of them", "003", false},
        {"line one\n  line  two", "one line two", true},
        {"aab aaab", "ab", false},
        {"aab ab", "ab", true},
        {"short", "much longer than that", false},
        {"I don’t know", "don't", true},
    };
    assert_rows(ANSWER_CONTAINS, rows, COUNT(rows));
}

static void numbers_are_the_same_in_any_spelling(void **state)
{
    static const struct answer_row rows[] = {
        {"so it is 1,234.50 yen", "1234.5", true},
        {"1.2345e3", "1234.5", true},
        {"12345E-1", "1234.5", true},
        {"first 7, then 42", "42", true},
        {"first 42, then 7", "42", false},
        {"-5", "5", false},
        {"−5", "-5", true},
        {"10-20", "20", true},
        {"0.05", ".05", true},
        {"0.050", "5e-2", true},
        {"-0", "0", true},
        {"000", "0.0", true},
        {"１２３", "123", true},
        {"in 2020,300 people", "300", true},
        {"1,234,567", "1234567", true},
        {"12,34", "34", true},
        {"no number", "1", false},
        {"1e999999999999999999999", "1e999999999999999999998", true}, /* beyond the exponents that are told apart */
        {"100", "10", false},
        {"10", "1e1", true},
        {"0.1", "1", false},
    };
    assert_rows(ANSWER_NUMBER, rows, COUNT(rows));
}

static void a_pattern_matches_the_whole_answer(void **state)
{
    static const struct answer_row rows[] = {
        {"Error E-1024", "error e-\\d+", true},
        {"an Error E-1024", "error e-\\d+", false},
        {"  Paris \n", "PARIS|London", true},
        {"x", "(", false},
    };
    assert_rows(ANSWER_PATTERN, rows, COUNT(rows));
}

static void a_truth_that_nothing_can_match_is_refused(void **state)
{
    static const struct {
        enum answer_match match;
        const char *truth, *part;
    } rows[] = {
        {ANSWER_EXACT, " \n", "is blank"},
        {ANSWER_NUMBER, "many", "has no number"},
        {ANSWER_PATTERN, "(", "must be a regular expression"},
    };
    char large[ANSWER_PATTERN_MAX + 2];
    struct status st = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_false(answer_truth_check(rows[i].match, rows[i].truth, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_contains(st.text, rows[i].part);
    }
    memset(large, 'a', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_false(answer_truth_check(ANSWER_PATTERN, large, &st));
    assert_false(answer_is_right(ANSWER_PATTERN, large, large));
    assert_true(answer_truth_check(ANSWER_CONTAINS, large, &st));
    assert_true(answer_is_right(ANSWER_CONTAINS, large, large));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_answer_is_the_truth_but_for_marks_at_the_ends),
        cmocka_unit_test(a_contained_truth_stands_as_whole_words),
        cmocka_unit_test(numbers_are_the_same_in_any_spelling),
        cmocka_unit_test(a_pattern_matches_the_whole_answer),
        cmocka_unit_test(a_truth_that_nothing_can_match_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
