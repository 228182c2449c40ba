#include "model_task/check.h"

#include "renga/v1/planner.pb-c.h"

#include "unit.h"

#include "base/field_check.h"

static struct status st;

static const char *field_refused(bool good)
{
    static char field[STATUS_FIELD_MAX];
    memcpy(field, good ? "" : st.field, good ? 1 : sizeof field);
    status_clear(&st);
    return field;
}

static void blanks_are_blank_in_every_width(void **state)
{
    static const char *const blank[] = {"", " \t\r\n\v\f", "\u3000\u00a0", "\u200b\u2003\ufeff \u2029", "\x7f\x01"};
    static const char *const said[] = {"a", " \u3000 池", "\u2010", "。", "\u3001", "é"};
    for (size_t i = 0; i < COUNT(blank); i++)
        assert_true(text_is_blank(blank[i]));
    for (size_t i = 0; i < COUNT(said); i++)
        assert_false(text_is_blank(said[i]));
}

static void what_is_too_long_or_blank_is_named(void **state)
{
    assert_true(text_is_given(&st, "question", "abc", 3));
    assert_string_equal(field_refused(text_is_given(&st, "question", "abcd", 3)), "question");
    assert_string_equal(field_refused(text_is_given(&st, "question", "\u3000", 3)), "question");
}

static void numbers_keep_to_their_ranges(void **state)
{
    assert_true(number_fits(&st, "n", 0, 3) && number_fits(&st, "n", 3, 3));
    assert_string_equal(field_refused(number_fits(&st, "n", 4, 3)), "n");
    assert_string_equal(field_refused(number_fits(&st, "n", -1, 3)), "n");
}

static bool prompting_fits(Renga__V1__Prompting *prompting)
{
    Renga__V1__PlanRequest request = RENGA__V1__PLAN_REQUEST__INIT;
    request.prompting = prompting;
    return check_model_request(&request.base, prompting, &st);
}

static bool language_is_taken(const char *tag)
{
    Renga__V1__Prompting prompting = RENGA__V1__PROMPTING__INIT;
    prompting.language = (char *)(uintptr_t)tag;
    bool good = prompting_fits(&prompting);
    status_clear(&st);
    return good;
}

static void a_language_is_a_tag_and_nothing_that_could_be_read_as_an_instruction(void **state)
{
    static const char *const good[] = {"", "ja", "en-GB", "zh-Hant-TW", "sl-rozaj-1994", "ja-x-a"};
    static const char *const bad[] = {"j",   "ja-",       "ja--JP", "Japanese please", "日本語", "en_GB",
                                      "-ja", "abcdefghi", "1a"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(language_is_taken(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(language_is_taken(bad[i]));
}

static void an_absent_prompting_and_an_empty_one_are_good(void **state)
{
    Renga__V1__Prompting prompting = RENGA__V1__PROMPTING__INIT;
    assert_true(prompting_fits(NULL) && prompting_fits(&prompting));
    prompting.temperature = 9; /* not said: not looked at */
    assert_true(prompting_fits(&prompting));
    prompting.maybe_temperature_case = RENGA__V1__PROMPTING__MAYBE_TEMPERATURE_TEMPERATURE;
    assert_string_equal(field_refused(prompting_fits(&prompting)), "prompting.temperature");
    prompting.temperature = 2;
    prompting.without_model = prompting.model_required = true;
    assert_string_equal(field_refused(prompting_fits(&prompting)), "prompting.without_model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_are_blank_in_every_width),
        cmocka_unit_test(what_is_too_long_or_blank_is_named),
        cmocka_unit_test(numbers_keep_to_their_ranges),
        cmocka_unit_test(a_language_is_a_tag_and_nothing_that_could_be_read_as_an_instruction),
        cmocka_unit_test(an_absent_prompting_and_an_empty_one_are_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
