/* Arithmetic as models write it. */
#include "tools/formula.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

static void values_are_those_of_a_pocket_calculator(void **state)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"2 ^ 3 ^ 2", 512},
        {"-2 ^ 2", -4},
        {"2 ^ -1", 0.5},
        {"- - 3", 3},
        {"10 % 4 / 2", 1},
        {"1.5e3 + .5", 1500.5},
        {"7-3-2", 2},
        {"sqrt(16) + abs(-2)", 6},
        {"round(2.345, 2)", 2.35},
        {"round(-2.5)", -3},
        {"min(3, 1, 2) + max(1, 4)", 5},
        {"2*pi", 6.283185307179586},
        {"ln(e)", 1},
        {"\t(\n1\r)", 1},
        {"((((((((1))))))))", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double value = NAN;
        struct status st = {0};
        if (!formula_value(rows[i].text, &value, &st) || fabs(value - rows[i].value) > 1e-9)
            fail_msg("%s is %g: %s", rows[i].text, value, st.text);
    }
}

static void what_cannot_be_read_is_told_with_its_place(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "character 1 "},
        {"1 +", "character 4 "},
        {"1 2", "character 3 "},
        {"1,000 * 2", "no commas into numbers"},
        {"(1", "')' is missing"},
        {"foo(1)", "name is not known"},
        {"sqrt 4", "'(' is wanted"},
        {"sqrt()", "wanted here"},
        {"sqrt(1, 2)", "fewer values"},
        {"min(1", "is missing"},
        {"0x10", "no decimal number"},
        {"1.2.3", "operator"},
        {".", "no decimal number"},
        {"1; rm -rf", "operator"},
        {"１＋１", "wanted here"},
        {"1/0", "no finite number"},
        {"sqrt(-1)", "no finite number"},
        {"10^400", "no finite number"},
        {"inf", "not known"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double value;
        struct status st = {0};
        if (formula_value(rows[i].text, &value, &st) || !strstr(st.text, rows[i].part))
            fail_msg("%s: '%s' instead of '%s'", rows[i].text, st.text, rows[i].part);
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
}

static void depth_and_length_are_bounded(void **state)
{
    static const char opening[] = {'(', '-', '^'};
    char text[FORMULA_MAX + 2];
    double value;
    for (size_t i = 0; i < COUNT(opening); i++) {
        struct status st = {0};
        memset(text, opening[i] == '^' ? '2' : opening[i], FORMULA_MAX);
        for (size_t at = 1; opening[i] == '^' && at < FORMULA_MAX; at += 2)
            text[at] = '^';
        text[FORMULA_MAX] = '\0';
        assert_false(formula_value(text, &value, &st));
        assert_contains(st.text, "too deep");
    }
    struct status st = {0};
    memset(text, '1', FORMULA_MAX + 1);
    text[FORMULA_MAX + 1] = '\0';
    assert_false(formula_value(text, &value, &st));
    assert_contains(st.text, "more than 4096 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_a_pocket_calculator),
        cmocka_unit_test(what_cannot_be_read_is_told_with_its_place),
        cmocka_unit_test(depth_and_length_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
