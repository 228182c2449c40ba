#include "json/pull.h"

#include "base/random.h"
#include "json/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- floats ------------------------------------------------------------------------------------------------------ */

static bool same(float one, float other)
{
    return memcmp(&one, &other, sizeof one) == 0;
}

static float read_float(const char *text)
{
    float value = 7;
    pull(text);
    bool good = json_pull_float(&in, &value);
    if (!json_pull_end(&in) || !good)
        fail_msg("%s is no float: %s", text, st.text);
    return value;
}

static void assert_reads(const char *text)
{
    float value = read_float(text);
    if (!same(value, strtof(text, NULL)))
        fail_msg("%s is read as %.9g", text, (double)value);
}

static float random_float(void)
{
    uint32_t bits = (uint32_t)random_u64();
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 1.0f;
}

static void numbers_are_read_to_the_nearest_float(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0",
        "1",
        "0.1",
        "-0.006929283495992422",
        "1e-05",
        "1E+5",
        "3.4028234663852886e38",
        "1e-45",
        "7e-46",
        "1e-400",
        "16777217",
        "16777217.000000001",
        "16777216.999999999",
        "0.000000059604644775390625",
        /* right between two floats, and a hair beside it */
        "1.00000005960464477539062500",
        "1.00000005960464477539062501",
        "1.00000005960464477539062499",
        "1.000000178813934326171875",
        "1.0000001788139343",
        "1.0000001788139344",
        "340282356779733661637539395458142568447",
        "340282356779733661637539395458142568448",
        "0.3333333333333333333333333333333333333",
        "123456789012345678901234567890",
        "99999999999999999999e-20",
        "9007199254740993",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_reads(texts[i]);
}

static void every_way_to_write_a_float_reads_back_the_same(void **state)
{
    char text[64];
    for (int i = 0; i < 200000; i++) {
        float value = i % 2 ? random_float() : (float)((double)random_u64() / 1.8446744073709552e19 - 0.5) / 8;
        snprintf(text, sizeof text, i % 3 == 0 ? "%.9g" : i % 3 == 1 ? "%.17g" : "%.25g", (double)value);
        assert_reads(text);
        text[json_format_float(value, text)] = '\0';
        float read = read_float(text);
        if (!same(read, value))
            fail_msg("%.9g is written %s and read %.9g", (double)value, text, (double)read);
    }
}

static void numbers_next_to_the_middle_of_two_floats_go_the_right_way(void **state)
{
    char text[64];
    for (int i = 0; i < 50000; i++) {
        float value = fabsf(random_float()), next = nextafterf(value, INFINITY);
        double middle = ((double)value + (double)next) / 2;
        for (int k = -2; k <= 2; k++) {
            double beside = middle;
            for (int step = 0; step < abs(k); step++)
                beside = nextafter(beside, k < 0 ? 0 : INFINITY);
            snprintf(text, sizeof text, "%.17g", beside);
            assert_reads(text);
        }
    }
}

static void what_is_no_number_is_no_float(void **state)
{
    static const char *const texts[] = {"null", "\"1\"", "[1]", "{\"a\":1}", "true"};
    float value = 7;
    for (size_t i = 0; i < COUNT(texts); i++) {
        pull(texts[i]);
        assert_false(json_pull_float(&in, &value));
        assert_true(json_pull_end(&in) && value == 7);
    }
    pull("01");
    assert_false(json_pull_float(&in, &value));
    assert_false(json_pull_end(&in));
    pull("3.5e38");
    assert_true(json_pull_float(&in, &value) && isinf(value));
    assert_true(json_pull_end(&in));
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void a_text_is_borrowed_unless_it_has_escapes(void **state)
{
    static const char text[] = "[\"plain\",\"\\u0041b\",\"\",7,{}]";
    static const char *const texts[] = {"plain", "Ab", "", NULL, NULL};
    struct json_scope list;
    size_t length, used = 0;
    json_pull_init(&in, text, strlen(text), NULL, &arena, &st);
    assert_true(json_pull_array(&in, &list));
    while (json_pull_next(&in, &list)) {
        const char *borrowed = json_pull_borrow(&in, &length), *wanted = texts[list.index];
        assert_int_equal(borrowed != NULL, wanted != NULL);
        if (borrowed) {
            assert_int_equal(length, strlen(wanted));
            assert_memory_equal(borrowed, wanted, length);
            assert_true(list.index == 1 || borrowed[length] == '"');
            assert_int_equal(borrowed >= text && borrowed < text + sizeof text, list.index != 1);
        }
        used += length;
    }
    assert_true(json_pull_end(&in));
    assert_int_equal(used, 7);
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

static void a_value_that_was_checked_before_is_hopped_over(void **state)
{
    static const char *const values[] = {
        "1",
        "-1.5e3 ",
        "true",
        "null",
        "\"\"",
        "\"]}\"",
        "\"\\\"\"",
        "\"\\\\\"",
        "\"\\\\\\\",{\"",
        "[]",
        "{ }",
        "[1, [2, \"]\"], {\"a\": \"}\"}]",
        "{\"a\\\"\": {\"b\": []}, \"c\": \"\\\\\"}",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct json_scope root, list;
        char text[200], keys[8] = "";
        snprintf(text, sizeof text, "{\"a\":%s,\"b\": %s ,\"c\":[%s,%s]}", values[i], values[i], values[i], values[i]);
        pull(text);
        assert_true(json_pull_object(&in, &root));
        while (json_pull_next(&in, &root)) {
            strncat(keys, root.key, root.key_length);
            if (!json_pull_at(&in, "c") || !json_pull_array(&in, &list))
                json_pull_hop(&in);
            else
                while (json_pull_next(&in, &list))
                    json_pull_hop(&in);
        }
        assert_string_equal(keys, "abc");
        assert_int_equal(list.index, 1);
        assert_true(json_pull_end(&in));
    }
}

static void a_text_that_ends_within_a_hop_is_no_json(void **state)
{
    static const char *const texts[] = {"{\"a\":\"", "{\"a\":\"\\\"", "{\"a\":[{", "{\"a\":1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct json_scope root;
        pull(texts[i]);
        assert_true(json_pull_object(&in, &root) && json_pull_next(&in, &root));
        json_pull_hop(&in);
        assert_false(json_pull_next(&in, &root));
        assert_false(json_pull_end(&in));
    }
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
        cmocka_unit_test_setup_teardown(numbers_are_read_to_the_nearest_float, begin, release),
        cmocka_unit_test_setup_teardown(every_way_to_write_a_float_reads_back_the_same, begin, release),
        cmocka_unit_test_setup_teardown(numbers_next_to_the_middle_of_two_floats_go_the_right_way, begin, release),
        cmocka_unit_test_setup_teardown(what_is_no_number_is_no_float, begin, release),
        cmocka_unit_test_setup_teardown(a_text_is_borrowed_unless_it_has_escapes, begin, release),
        cmocka_unit_test_setup_teardown(what_was_not_read_is_checked, begin, release),
        cmocka_unit_test_setup_teardown(a_value_that_was_checked_before_is_hopped_over, begin, release),
        cmocka_unit_test_setup_teardown(a_text_that_ends_within_a_hop_is_no_json, begin, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
