#include "base/json_pull.h"

#include "unit.h"

static struct status st;
static struct arena arena;
static struct json_pull in;

static int begin(void **state)
{
    memset(&st, 0, sizeof st);
    arena_init(&arena, NULL, 0, (size_t)1 << 20);
    return 0;
}

static int release(void **state)
{
    arena_fini(&arena);
    return 0;
}

static void pull(const char *text)
{
    json_pull_init(&in, text, strlen(text), NULL, &arena, &st);
}

static void fields_are_read_in_the_order_they_stand(void **state)
{
    struct json_scope root, usage, list;
    const char *id = NULL;
    int64_t tokens = 0, sum = 0;
    pull("{\"id\":\"c1\\n\\u6c60\",\"skipped\":[1,{\"a\":[]}],\"usage\":{\"more\":true,\"tokens\":12},\"list\":[1, 2 "
         ",3]}");
    assert_true(json_pull_object(&in, &root));
    while (json_pull_next(&in, &root)) {
        if (json_pull_at(&in, "id"))
            id = json_pull_text(&in);
        else if (json_pull_at(&in, "usage") && json_pull_object(&in, &usage))
            while (json_pull_next(&in, &usage))
                tokens = json_pull_at(&in, "tokens") ? json_pull_integer(&in, 0, 100, -1) : tokens;
        else if (json_pull_at(&in, "list") && json_pull_array(&in, &list))
            while (json_pull_next(&in, &list))
                sum += json_pull_integer(&in, 0, 100, -1);
    }
    assert_true(json_pull_end(&in));
    assert_string_equal(id, "c1\n\xE6\xB1\xA0");
    assert_int_equal(tokens, 12);
    assert_int_equal(sum, 6);
}

static void a_null_has_its_fallback(void **state)
{
    struct json_scope list;
    pull("[null,null,null,null,null,null,true]");
    assert_true(json_pull_array(&in, &list));
    assert_true(json_pull_next(&in, &list));
    assert_string_equal(json_pull_text(&in), "");
    assert_true(json_pull_next(&in, &list));
    assert_null(json_pull_text_if_any(&in));
    assert_true(json_pull_next(&in, &list));
    assert_int_equal(json_pull_integer(&in, 0, 9, 7), 7);
    assert_true(json_pull_next(&in, &list));
    assert_true(json_pull_null(&in));
    assert_true(json_pull_next(&in, &list));
    assert_true(json_pull_boolean(&in, true));
    assert_true(json_pull_next(&in, &list) && json_pull_next(&in, &list));
    assert_true(json_pull_boolean(&in, false));
    assert_false(json_pull_next(&in, &list));
    assert_true(json_pull_end(&in));
}

static void what_is_wrong_is_named_by_its_path(void **state)
{
    struct json_scope root, list, inner;
    pull("{\"a\":[{}, {\"b\":7, \"c\":\"x\"}]}");
    assert_true(json_pull_object(&in, &root) && json_pull_next(&in, &root) && json_pull_array(&in, &list));
    while (json_pull_next(&in, &list)) {
        assert_true(json_pull_object(&in, &inner));
        while (json_pull_next(&in, &inner))
            assert_string_equal(json_pull_text(&in), json_pull_at(&in, "b") || inner.index == 0 ? "" : "x");
    }
    assert_false(json_pull_next(&in, &root));
    assert_false(json_pull_end(&in));
    assert_string_equal(st.text, "a[1].b: must be a string, not a number");
}

static void the_first_wrong_thing_counts(void **state)
{
    struct json_scope list;
    pull("[1.5,100,\"x\"]");
    json_pull_array(&in, &list);
    json_pull_next(&in, &list);
    assert_int_equal(json_pull_integer(&in, 0, 9, -1), -1);
    json_pull_next(&in, &list);
    assert_int_equal(json_pull_integer(&in, 0, 9, -1), -1);
    json_pull_next(&in, &list);
    assert_false(json_pull_object(&in, &list));
    json_pull_wrong(&in, "key", "is missing");
    assert_false(json_pull_next(&in, in.scope));
    assert_false(json_pull_end(&in));
    assert_string_equal(st.text, "[0]: must be a whole number, not 1.5");
}

static void no_json_is_graver_than_a_wrong_value(void **state)
{
    struct json_scope root;
    pull("{\"a\":7,\"b\":01}");
    json_pull_object(&in, &root);
    json_pull_next(&in, &root);
    assert_string_equal(json_pull_text(&in), "");
    assert_true(json_pull_next(&in, &root));
    assert_false(json_pull_next(&in, &root));
    assert_true(in.broken);
    assert_false(json_pull_end(&in));
    assert_string_equal(st.text, "1:12: a number may not begin with 0");
    assert_string_equal(st.field, "");
}

static void whole_numbers_are_told_from_others(void **state)
{
    static const struct {
        const char *text;
        bool whole;
        int64_t value;
    } numbers[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"12", true, 12},
        {"-12", true, -12},
        {"1e3", true, 1000},
        {"1.0", true, 1},
        {"999999999999999", true, 999999999999999},
        {"9007199254740991", true, 9007199254740991},
        {"9007199254740992", false, 0},
        {"1.5", false, 0},
        {"1e30", false, 0},
        {"\"1\"", false, 0},
        {"null", false, 0},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        int64_t value = 0;
        pull(numbers[i].text);
        assert_int_equal(json_pull_whole(&in, &value), numbers[i].whole);
        assert_true(json_pull_end(&in));
        assert_int_equal(value, numbers[i].value);
    }
}

static void text_beyond_the_arena_fails(void **state)
{
    char text[4096] = "\"";
    struct arena small;
    memset(text + 1, 'x', sizeof text - 3);
    text[sizeof text - 2] = '"';
    text[sizeof text - 1] = '\0';
    arena_init(&small, NULL, 0, 1024);
    json_pull_init(&in, text, strlen(text), NULL, &small, &st);
    assert_string_equal(json_pull_text(&in), "");
    assert_false(json_pull_end(&in));
    assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    arena_fini(&small);
}

static void what_was_not_read_is_checked(void **state)
{
    struct json_scope root;
    pull("{\"a\":{\"b\":1,\"b\":2}}");
    json_pull_object(&in, &root);
    assert_true(json_pull_next(&in, &root));
    assert_false(json_pull_next(&in, &root));
    assert_false(json_pull_end(&in));
    assert_contains(st.text, "the key 'b' stands twice");

    pull("{} x");
    assert_false(json_pull_end(&in));
    assert_contains(st.text, "expected the end of the text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_read_in_the_order_they_stand, begin, release),
        cmocka_unit_test_setup_teardown(a_null_has_its_fallback, begin, release),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named_by_its_path, begin, release),
        cmocka_unit_test_setup_teardown(the_first_wrong_thing_counts, begin, release),
        cmocka_unit_test_setup_teardown(no_json_is_graver_than_a_wrong_value, begin, release),
        cmocka_unit_test_setup_teardown(whole_numbers_are_told_from_others, begin, release),
        cmocka_unit_test_setup_teardown(text_beyond_the_arena_fails, begin, release),
        cmocka_unit_test_setup_teardown(what_was_not_read_is_checked, begin, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
