#include "base/status.h"

#include "unit.h"

static void failing_gives_false_and_fills_the_status(void **state)
{
    struct status st;
    assert_false(fail(&st, NOT_FOUND, "no agent '%s'", "helpdesk"));
    assert_int_equal(st.code, NOT_FOUND);
    assert_string_equal(st.text, "no agent 'helpdesk'");
    assert_string_equal(st.field, "");
    assert_int_equal(st.retry_after_ms, 0);
}

static void a_field_stands_in_the_text_and_on_its_own(void **state)
{
    struct status st;
    assert_false(fail_field(&st, "messages[2].role", "is '%s'", "robot"));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, "messages[2].role");
    assert_string_equal(st.text, "messages[2].role: is 'robot'");
}

static void the_text_itself_may_be_an_argument(void **state)
{
    struct status st;
    fail_field(&st, "a", "inner");
    fail(&st, st.code, "outer: %s (%s)", st.text, st.field);
    assert_string_equal(st.text, "outer: a: inner (a)");
    fail_field(&st, "b", "%s", st.text);
    fail_field(&st, st.field, "again");
    assert_string_equal(st.text, "b: again");
}

static void a_long_text_is_cut_at_a_character(void **state)
{
    for (size_t lead = 0; lead < 4; lead++) {
        struct status st;
        char text[STATUS_TEXT_MAX * 2];
        memset(text, 'x', lead);
        size_t length = lead;
        for (; length + 3 < sizeof text; length += 3)
            memcpy(text + length, "語", 3);
        text[length] = '\0';
        fail(&st, INTERNAL, "%s", text);
        size_t kept = strlen(st.text);
        assert_true(kept > STATUS_TEXT_MAX - 4 && kept < STATUS_TEXT_MAX);
        assert_int_equal((kept - lead) % 3, 0);
    }
}

static void a_long_field_is_cut_at_a_character(void **state)
{
    struct status st;
    char field[300] = "";
    for (size_t i = 0; i < 60; i++)
        strcat(field, "項");
    fail_field(&st, field, "is wrong");
    assert_int_equal(strlen(st.field) % 3, 0);
    assert_true(strlen(st.field) > STATUS_FIELD_MAX - 4);
}

static void setting_again_forgets_field_and_hint(void **state)
{
    struct status st;
    fail_field(&st, "a", "b");
    st.retry_after_ms = 100;
    fail(&st, UNAVAILABLE, "later");
    assert_string_equal(st.field, "");
    assert_int_equal(st.retry_after_ms, 0);
    status_clear(&st);
    assert_int_equal(st.code, OK);
    assert_string_equal(st.text, "");
}

static void every_code_has_its_name_and_is_found_by_it(void **state)
{
    for (int code = 0; code < 17; code++)
        assert_int_equal(status_code_parse(status_code_name(code)), code);
    assert_string_equal(status_code_name(8), "RESOURCE_EXHAUSTED");
    assert_string_equal(status_code_name(99), "CODE_99");
    assert_int_equal(status_code_parse("NO_SUCH"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_gives_false_and_fills_the_status),
        cmocka_unit_test(a_field_stands_in_the_text_and_on_its_own),
        cmocka_unit_test(the_text_itself_may_be_an_argument),
        cmocka_unit_test(a_long_text_is_cut_at_a_character),
        cmocka_unit_test(a_long_field_is_cut_at_a_character),
        cmocka_unit_test(setting_again_forgets_field_and_hint),
        cmocka_unit_test(every_code_has_its_name_and_is_found_by_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
