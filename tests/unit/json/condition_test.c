#include "json/condition.h"

#include "base/buffer.h"
#include "base/iso_time.h"

#include "unit.h"

#include <stdio.h>

#define MEMORY_MAX ((size_t)8 << 20)

static struct arena arena;

static const struct json_condition *condition_compile(const char *text, struct status *st)
{
    cJSON *tree = json_parse(text, strlen(text), NULL, st);
    assert_non_null(tree);
    const struct json_condition *condition = json_condition_compile(&arena, tree, st);
    cJSON_Delete(tree);
    return condition;
}

static bool condition_holds(const char *condition_text, const char *object_text)
{
    struct status st = {0};
    const struct json_condition *condition = condition_compile(condition_text, &st);
    cJSON *object = json_parse(object_text, strlen(object_text), NULL, &st);
    if (!condition || !object)
        fail_msg("'%s' of '%s': %s", condition_text, object_text, st.text);
    bool result = json_condition_holds(condition, object);
    cJSON_Delete(object);
    return result;
}

static void condition_is_refused(const char *condition_text, const char *part)
{
    struct status st = {0};
    assert_null(condition_compile(condition_text, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, part);
}

static void numbers_have_an_order(void **state)
{
    assert_true(condition_holds("{\"field\":\"a\",\"more\":500}", "{\"a\":500.5}"));
    assert_false(condition_holds("{\"field\":\"a\",\"more\":500}", "{\"a\":500}"));
    assert_true(condition_holds("{\"field\":\"a\",\"at_least\":500}", "{\"a\":500}"));
    assert_true(condition_holds("{\"field\":\"a\",\"less\":0}", "{\"a\":-1}"));
    assert_false(condition_holds("{\"field\":\"a\",\"less\":0}", "{\"a\":0}"));
    assert_true(condition_holds("{\"field\":\"a\",\"at_most\":0}", "{\"a\":0}"));
    assert_false(condition_holds("{\"field\":\"a\",\"at_most\":0}", "{\"a\":1}"));
    assert_false(condition_holds("{\"field\":\"a\",\"more\":5}", "{\"a\":\"6\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"less\":5}", "{}"));
}

static void dates_and_times_have_an_order_within_their_kind(void **state)
{
    assert_true(condition_holds("{\"field\":\"a\",\"less\":\"2026-03-01\"}", "{\"a\":\"2026-02-28\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"less\":\"2026-03-01\"}", "{\"a\":\"2026-02-30\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"less\":\"2026-03-01\"}", "{\"a\":\"09:30\"}"));
    assert_true(condition_holds("{\"field\":\"a\",\"more\":\"09:30\"}", "{\"a\":\"09:30:00.000000001\"}"));
    assert_true(condition_holds("{\"field\":\"a\",\"at_most\":\"2026-01-01T00:00Z\"}",
                                "{\"a\":\"2026-01-01T09:00:00+09:00\"}"));
    assert_false(
        condition_holds("{\"field\":\"a\",\"more\":\"2026-01-01T00:00Z\"}", "{\"a\":\"2026-01-01T09:00:00+09:00\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"more\":\"2026-01-01T00:00Z\"}", "{\"a\":\"2026-01-02T00:00\"}"));
    condition_is_refused("{\"field\":\"a\",\"more\":\"2026-13-01\"}", "more: must be a number, a date");
}

static void days_are_counted_by_the_calendar(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {
        {"1970-01-01", 0},
        {"2000-02-29", 951782400},
        {"2026-01-31T23:59:59Z", 1769903999},
        {"0000-01-01", -62167219200},
        {"9999-12-31", 253402214400},
        {"1900-03-01", -2203891200},
        {"2024-12-31T00:00-01:30", 1735608600},
    };
    struct iso_time time;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(iso_time_parse(rows[i].text, &time));
        assert_int_equal(time.seconds, rows[i].seconds);
    }
    static const char *const wrong[] = {
        "",         "2026-1-1",   "1900-02-29",       "2026-01-01T", "24:00",
        "9:30",     "09:30Z",     "2026-01-01 09:30", "09:30:15.",   "2026-01-01T09:30+9:00",
        "20260101", "2026-00-10", "2026-04-31",       "09:60",       "09:30:60"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (iso_time_parse(wrong[i], &time))
            fail_msg("'%s' was taken", wrong[i]);
}

static void values_of_the_same_type_are_equal(void **state)
{
    assert_true(condition_holds("{\"field\":\"a\",\"equals\":\"x\"}", "{\"a\":\"x\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals\":\"1\"}", "{\"a\":1}"));
    assert_true(condition_holds("{\"field\":\"a\",\"equals\":1}", "{\"a\":1.0}"));
    assert_true(condition_holds("{\"field\":\"a\",\"equals\":true}", "{\"a\":true}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals\":true}", "{\"a\":1}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals\":false}", "{\"a\":true}"));
    assert_true(condition_holds("{\"field\":\"a\",\"equals\":null}", "{\"a\":null}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals\":null}", "{}"));
    assert_true(condition_holds("{\"field\":\"a\",\"one_of\":[1,\"x\",false]}", "{\"a\":false}"));
    assert_false(condition_holds("{\"field\":\"a\",\"one_of\":[1,\"x\",false]}", "{\"a\":\"y\"}"));
    assert_true(condition_holds("{\"field\":\"a\",\"equals_field\":\"b\"}", "{\"b\":\"x\",\"a\":\"x\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals_field\":\"b\"}", "{\"b\":1,\"a\":2}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals_field\":\"b\"}", "{}"));
    assert_false(condition_holds("{\"field\":\"a\",\"equals_field\":\"b\"}", "{\"a\":[],\"b\":[]}"));
}

static void fields_are_ordered(void **state)
{
    static const struct {
        const char *test;
        bool less, same, more;
    } rows[] = {{"more_field", false, false, true},
                {"less_field", true, false, false},
                {"at_least_field", false, true, true},
                {"at_most_field", true, true, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char condition[64];
        snprintf(condition, sizeof condition, "{\"field\":\"a\",\"%s\":\"b.c\"}", rows[i].test);
        assert_int_equal(condition_holds(condition, "{\"a\":1,\"b\":{\"c\":1.5}}"), rows[i].less);
        assert_int_equal(condition_holds(condition, "{\"a\":2,\"b\":{\"c\":2}}"), rows[i].same);
        assert_int_equal(condition_holds(condition, "{\"a\":3,\"b\":{\"c\":2}}"), rows[i].more);
        assert_int_equal(condition_holds(condition, "{\"a\":\"2026-01-31\",\"b\":{\"c\":\"2026-02-01\"}}"),
                         rows[i].less);
        assert_false(condition_holds(condition, "{\"a\":\"2026-01-31\",\"b\":{\"c\":\"09:30\"}}"));
        assert_false(condition_holds(condition, "{\"a\":1,\"b\":{\"c\":\"1\"}}"));
        assert_false(condition_holds(condition, "{\"a\":1}"));
    }
}

static void empty_values_are_not_present(void **state)
{
    static const char *const empty[] = {"{}", "{\"a\":null}", "{\"a\":\"\"}", "{\"a\":[]}", "{\"a\":{}}"};
    static const char *const full[] = {"{\"a\":0}", "{\"a\":false}", "{\"a\":\" \"}", "{\"a\":[null]}",
                                       "{\"a\":{\"b\":1}}"};
    for (size_t i = 0; i < COUNT(empty); i++) {
        assert_false(condition_holds("{\"field\":\"a\",\"present\":true}", empty[i]));
        assert_true(condition_holds("{\"field\":\"a\",\"present\":false}", empty[i]));
        assert_true(condition_holds("{\"field\":\"a\",\"present\":true}", full[i]));
        assert_false(condition_holds("{\"field\":\"a\",\"present\":false}", full[i]));
    }
}

static void lists_contain_their_items(void **state)
{
    const char *two = "{\"all\":[{\"field\":\"a\",\"contains\":\"red\"},{\"field\":\"a\",\"contains\":7},"
                      "{\"field\":\"b\",\"contains\":\"red\"}]}";
    assert_true(condition_holds("{\"field\":\"a\",\"contains\":\"red\"}", "{\"a\":[1,{},\"red\"]}"));
    assert_false(condition_holds("{\"field\":\"a\",\"contains\":\"red\"}", "{\"a\":\"red\"}"));
    assert_false(condition_holds("{\"field\":\"a\",\"contains\":\"red\"}", "{\"a\":[\"reds\"]}"));
    assert_true(condition_holds(two, "{\"a\":[7,\"red\"],\"b\":[\"red\",\"red\"]}"));
    assert_false(condition_holds(two, "{\"a\":[7,\"red\"],\"b\":[\"blue\"]}"));
    assert_false(condition_holds(two, "{\"a\":[\"red\"],\"b\":[\"red\",7]}"));
    assert_true(condition_holds(
        "{\"any\":[{\"not\":{\"field\":\"a\",\"contains\":1}},{\"field\":\"a\",\"contains\":1}]}", "{\"a\":[1]}"));
}

static void a_path_leads_into_objects(void **state)
{
    assert_true(condition_holds("{\"field\":\"a.b.c\",\"equals\":1}", "{\"x\":1,\"a\":{\"b\":{\"c\":1}}}"));
    assert_false(condition_holds("{\"field\":\"a.b.c\",\"equals\":1}", "{\"a\":{\"b\":{\"d\":1}},\"c\":1}"));
    assert_false(condition_holds("{\"field\":\"a.b\",\"equals\":1}", "{\"a\":[{\"b\":1}]}"));
    assert_true(condition_holds("{\"field\":\"a.b\",\"equals\":1}", "{\"a.b\":1,\"a\":{\"b\":2}}"));
    assert_true(condition_holds(
        "{\"all\":[{\"field\":\"a\",\"present\":true},{\"field\":\"a.b\",\"equals\":1},"
        "{\"field\":\"a.a\",\"equals\":2},{\"field\":\"ab\",\"equals\":3},{\"field\":\"a-b\",\"equals\":4}]}",
        "{\"a-b\":4,\"ab\":3,\"a\":{\"a\":2,\"b\":1}}"));
}

static void all_any_and_not_join(void **state)
{
    const char *text = "{\"any\":[{\"all\":[{\"field\":\"a\",\"equals\":1},{\"field\":\"b\",\"equals\":1}]},"
                       "{\"not\":{\"field\":\"c\",\"present\":true}}]}";
    assert_true(condition_holds(text, "{\"a\":1,\"b\":1,\"c\":1}"));
    assert_false(condition_holds(text, "{\"a\":1,\"b\":2,\"c\":1}"));
    assert_true(condition_holds(text, "{\"a\":1,\"b\":2}"));
}

static void faults_name_their_place(void **state)
{
    condition_is_refused("[]", "(the whole): must be {\"field\"");
    condition_is_refused("{}", "must be {\"field\"");
    condition_is_refused("{\"all\":[]}", "all: must be a list of conditions");
    condition_is_refused("{\"all\":[{\"field\":\"a\",\"equals\":1},{\"not\":{\"field\":\"a\",\"more\":\"x\"}}]}",
                         "all[1].not.more: must be a number");
    condition_is_refused("{\"field\":\"a\"}", "has a field, but no test");
    condition_is_refused("{\"field\":\"a\",\"equal\":1}", "did you mean 'equals'?");
    condition_is_refused("{\"field\":\"a\",\"more\":1,\"less\":3}", "both 'more' and 'less'");
    condition_is_refused("{\"field\":7,\"more\":1}", "field: must be the name of a field");
    condition_is_refused("{\"field\":\"a..b\",\"more\":1}", "empty name");
    condition_is_refused("{\"field\":\"a.b.c.d.e.f.g.h.i\",\"more\":1}", "more than 8 names");
    condition_is_refused("{\"field\":\"a\",\"equals\":[1]}", "equals: must be a text");
    condition_is_refused("{\"field\":\"a\",\"one_of\":[1,{}]}", "one_of[1]: must be a text");
    condition_is_refused("{\"field\":\"a\",\"one_of\":[]}", "one_of: must be a list of 1 to");
    condition_is_refused("{\"field\":\"a\",\"present\":1}", "present: must be true or false");
    condition_is_refused("{\"field\":\"a\",\"equals_field\":\"\"}", "equals_field: must be the name of a field");
    condition_is_refused(
        "{\"not\":{\"not\":{\"not\":{\"not\":{\"not\":{\"not\":{\"not\":{\"not\":{\"field\":\"a\",\"more\":1}}}}}}}}}",
        "deeper than 8");
}

/* `count` tests of their own fields, joined. */
static char *many_tests(int count, const char *test)
{
    struct buffer text;
    buffer_init(&text, MEMORY_MAX);
    buffer_print(&text, "{\"any\":[");
    for (int i = 0; i < count; i++)
        buffer_printf(&text, "%s{\"field\":\"f%d\",%s}", i ? "," : "", i, test);
    buffer_print(&text, "]}");
    return buffer_take(&text, NULL);
}

static void a_condition_is_bounded(void **state)
{
    char *most = many_tests(JSON_CONDITION_TERMS_MAX - 1, "\"equals\":1"),
         *more = many_tests(JSON_CONDITION_TERMS_MAX, "\"equals\":1");
    char *values = many_tests(JSON_CONDITION_TERMS_MAX - 1, "\"one_of\":[1,2,3,4,5]");
    assert_true(condition_holds(most, "{\"f254\":1}"));
    assert_false(condition_holds(most, "{\"f255\":1}"));
    condition_is_refused(more, "more than 256 parts");
    condition_is_refused(values, "more than 1024 values");
    free(most);
    free(more);
    free(values);
}

static void the_fields_are_listed_with_the_types_that_can_hold(void **state)
{
    struct status st = {0};
    size_t count;
    const struct json_condition *condition = condition_compile(
        "{\"all\":[{\"field\":\"a.b\",\"more\":1},{\"not\":{\"field\":\"c\",\"one_of\":[\"x\",2,\"y\"]}},"
        "{\"field\":\"d\",\"equals_field\":\"e\"},{\"field\":\"c\",\"contains\":\"z\"},{\"field\":\"c\","
        "\"more\":\"09:30\"}]}",
        &st);
    assert_non_null(condition);
    const struct json_condition_use *uses = json_condition_uses(condition, &count);
    assert_int_equal(count, 6);
    assert_string_equal(uses[0].path, "a.b");
    assert_int_equal(uses[0].name_length, 1);
    assert_int_equal(uses[0].types, JSON_CONDITION_NUMBER);
    assert_string_equal(uses[1].test, "one_of");
    assert_int_equal(uses[1].types, JSON_CONDITION_NUMBER | JSON_CONDITION_TEXT);
    assert_int_equal(uses[1].text_count, 2);
    assert_string_equal(uses[1].texts[1], "y");
    assert_string_equal(uses[2].path, "d");
    assert_string_equal(uses[3].path, "e");
    assert_int_equal(uses[4].types, JSON_CONDITION_LIST);
    assert_int_equal(uses[4].text_count, 0);
    assert_int_equal(uses[5].types, JSON_CONDITION_TEXT);
}

static int set_up(void **state)
{
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_have_an_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dates_and_times_have_an_order_within_their_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(days_are_counted_by_the_calendar, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_of_the_same_type_are_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_are_ordered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_values_are_not_present, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_contain_their_items, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_path_leads_into_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_any_and_not_join, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_name_their_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_condition_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_fields_are_listed_with_the_types_that_can_hold, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
