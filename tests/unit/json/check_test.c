#include "base/clock.h"
#include "json/json.h"
#include "json/pull.h"

#include <stdio.h>

#include "unit.h"

/* The text in memory of exactly its size, so that a read beyond it is found. */
static bool check(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    char *exact = malloc(length > 0 ? length : 1);
    memcpy(exact, text, length);
    bool good = json_check(exact, length, limits, st);
    cJSON *tree = json_parse(exact, length, limits, st);
    assert_int_equal(good, tree != NULL); /* what is checked is also read */
    cJSON_Delete(tree);
    free(exact);
    return good;
}

static void expect_good(const char *text, size_t length)
{
    struct status st;
    if (!check(text, length, NULL, &st))
        fail_msg("refused %.*s: %s", (int)length, text, st.text);
    /* And so with space around it, and within an array and an object. */
    char *longer = malloc(length + 20);
    static const char *const around[][2] = {{" \t\r\n", " \n"}, {"[", "]"}, {"[1,", ",2]"}, {"{\"k\" :", "}"}};
    for (size_t i = 0; i < COUNT(around); i++) {
        size_t before = strlen(around[i][0]), after = strlen(around[i][1]);
        memcpy(longer, around[i][0], before);
        memcpy(longer + before, text, length);
        memcpy(longer + before + length, around[i][1], after);
        if (!check(longer, before + length + after, NULL, &st))
            fail_msg("refused %.*s: %s", (int)(before + length + after), longer, st.text);
    }
    free(longer);
}

#define GOOD(text) expect_good(text, sizeof(text) - 1)

static void expect_bad(const char *text, size_t length, const char *why)
{
    struct status st;
    status_clear(&st);
    if (check(text, length, NULL, &st))
        fail_msg("accepted %.*s", (int)length, text);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, why);
}

#define BAD(text, why) expect_bad(text, sizeof(text) - 1, why)

static void what_the_grammar_has_is_accepted(void **state)
{
    GOOD("true");
    GOOD("false");
    GOOD("null");
    GOOD("\"\"");
    GOOD("[]");
    GOOD("{}");
    GOOD("[[]   ]");
    GOOD("[null, 1, \"1\", {}]");
    GOOD("[1\n]");
    GOOD("{\"\":0}");
    GOOD("{\"a\":{\"a\":{\"a\":[{\"a\":1},{\"a\":1}]}}, \"b\":[]}");
    GOOD("{ \"a\" : 1 , \"b\" : 2 }");
}

static void numbers_of_the_grammar_are_accepted(void **state)
{
    GOOD("0");
    GOOD("-0");
    GOOD("-1");
    GOOD("10");
    GOOD("1.5");
    GOOD("-0.1");
    GOOD("1e5");
    GOOD("1E5");
    GOOD("1E+2");
    GOOD("1E-2");
    GOOD("0e1");
    GOOD("0e+1");
    GOOD("1.25e-10");
    GOOD("123456789012345678901234567890");
    GOOD("1.7976931348623157e308");
    GOOD("5e-324");
    GOOD("1e-999"); /* nearest double: 0 */
    GOOD("0e999");
    GOOD("0.00000000000000000000000000000000000000001e330");
}

static void strings_of_the_grammar_are_accepted(void **state)
{
    GOOD("\"plain text of more than eight bytes\"");
    GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"");
    GOOD("\"\\u0060\\u012a\\u12AB\\uFFFF\"");
    GOOD("\"\\u0001\"");
    GOOD("\"\\uD801\\udc37\"");
    GOOD("\"\\uD83d\\uDE00\"");
    GOOD("\"\\\\u0000\""); /* a backslash and letters */
    GOOD("\"\x7f\"");
    GOOD("\"é語😀\"");
    GOOD("\"日本語の長い文字列、八バイトより長い\"");
    GOOD("\"\xE2\x80\xA8\"");
    GOOD("\"\xF4\x8F\xBF\xBF\"");
    GOOD("\"/* no comment */ // none\"");
}

static void what_the_grammar_has_not_is_refused_with_the_reason(void **state)
{
    BAD("", "expected a value, but the text ends here");
    BAD(" ", "the text ends");
    BAD("[", "the text ends");
    BAD("]", "expected a value, not ']'");
    BAD("[1", "expected ',' or ']'");
    BAD("[1,", "expected a value");
    BAD("[1,]", "expected a value, not ']'");
    BAD("[,1]", "expected a value, not ','");
    BAD("[1,,2]", "expected a value, not ','");
    BAD("[1 2]", "expected ',' or ']'");
    BAD("[1}", "expected ',' or ']'");
    BAD("[\"x\"", "expected ',' or ']'");
    BAD("[1]]", "expected the end of the text, not ']'");
    BAD("1 2", "expected the end of the text");
    BAD("{} x", "expected the end of the text, not 'x'");
    BAD("{", "expected a key");
    BAD("{\"a\"", "expected ':'");
    BAD("{\"a\":", "expected a value");
    BAD("{\"a\":1", "expected ',' or '}'");
    BAD("{\"a\":1,}", "expected a key in double quotes, not '}'");
    BAD("{,\"a\":1}", "expected a key");
    BAD("{\"a\" 1}", "expected ':'");
    BAD("{a:1}", "expected a key in double quotes, not 'a'");
    BAD("{'a':1}", "expected a key in double quotes");
    BAD("{1:1}", "expected a key in double quotes");
    BAD("{\"a\":1 \"b\":2}", "expected ',' or '}'");
    BAD("{\"a\":1]", "expected ',' or '}'");
    BAD("{\"a\"::1}", "expected a value, not ':'");
    BAD("tru", "expected a value");
    BAD("True", "expected a value");
    BAD("nul", "expected a value");
    BAD("truex", "expected the end");
    BAD("[truefalse]", "expected ','");
    BAD("undefined", "expected a value");
    BAD("'a'", "expected a value");
    BAD("/* c */ 1", "expected a value, not '/'");
    BAD("1 // c", "expected the end");
    BAD("\xEF\xBB\xBF{}", "begins with a byte order mark; save it as UTF-8 without one");
    BAD("[\xEF\xBB\xBF]", "expected a value");
    BAD("\xC2\xA0 1", "expected a value"); /* a space, but not one of JSON's */
    BAD("\f1", "not the byte 0x0c");
    BAD("[1]\0", "not the byte 0x00");
    BAD("\0", "not the byte 0x00");
    BAD("[\0]", "not the byte 0x00");
}

static void numbers_the_grammar_has_not_are_refused(void **state)
{
    BAD("01", "may not begin with 0");
    BAD("-01", "may not begin with 0");
    BAD("00", "may not begin with 0");
    BAD("1.", "expected a digit after '.'");
    BAD("[1.]", "expected a digit after '.', not ']'");
    BAD(".5", "expected a value");
    BAD("-.5", "expected a digit");
    BAD("-", "expected a digit");
    BAD("+1", "expected a value");
    BAD("--1", "expected a digit");
    BAD("1e", "a digit of the exponent");
    BAD("1e+", "a digit of the exponent");
    BAD("1e1.5", "expected the end");
    BAD("1.e1", "expected a digit after '.'");
    BAD("0x10", "expected the end");
    BAD("1_000", "expected the end");
    BAD("1a", "expected the end");
    BAD("NaN", "expected a value");
    BAD("Infinity", "expected a value");
    BAD("-Infinity", "expected a digit");
    BAD("１", "expected a value, not '１'"); /* full-width */
}

static void numbers_that_no_double_holds_are_refused(void **state)
{
    BAD("1e309", "too large for a double");
    BAD("-1e309", "too large for a double");
    BAD("1.8e308", "too large for a double");
    BAD("1e999999999999999999999", "too large for a double");
    BAD("1111111111111111111111111111111111111111111111111111111111111111", "more than 63 characters");
    BAD("1e0000000000000000000000000000000000000000000000000000000000000000001", "more than 63 characters");
}

static void strings_the_grammar_has_not_are_refused(void **state)
{
    BAD("\"", "does not end");
    BAD("\"a", "does not end");
    BAD("\"a\\", "does not end");
    BAD("\"a\\\"", "does not end");
    BAD("\"\n\"", "a line break is written \\n");
    BAD("\"\t\"", "control byte 0x09");
    BAD("\"abcdefgh\x01ijk\"", "control byte 0x01");
    BAD("\"\x1f\"", "control byte 0x1f");
    BAD("\"a\0b\"", "control byte 0x00");
    BAD("\"\\x41\"", "no such escape");
    BAD("\"\\'\"", "no such escape");
    BAD("\"\\\0\"", "no such escape");
    BAD("\"\\a\"", "no such escape");
    BAD("\"\\U0041\"", "no such escape");
    BAD("\"\\u12G4\"", "four hexadecimal digits");
    BAD("\"\\u12\"", "four hexadecimal digits");
    BAD("\"\\u\"", "four hexadecimal digits");
    BAD("\"\\u123", "four hexadecimal digits");
    BAD("\"\\u+123\"", "four hexadecimal digits");
    BAD("\"\\u0000\"", "may not contain NUL");
    BAD("{\"a\\u0000b\":1}", "may not contain NUL");
    BAD("\"\\ud800\"", "surrogate");
    BAD("\"\\udc00\"", "surrogate");
    BAD("\"\\udc00\\ud800\"", "surrogate");
    BAD("\"\\ud800\\ud800\"", "surrogate");
    BAD("\"\\ud800\\u0041\"", "surrogate");
    BAD("\"\\ud800\\\"", "surrogate");
    BAD("\"\\ud800\\udc", "surrogate");
    BAD("\"\\ud800 \\udc00\"", "surrogate");
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    BAD("\"\xFF\"", "byte 0xff is not UTF-8");
    BAD("\"\x80\"", "not UTF-8");
    BAD("\"\xC0\x80\"", "not UTF-8");
    BAD("\"\xED\xA0\x80\"", "not UTF-8");
    BAD("\"\xF4\x90\x80\x80\"", "not UTF-8");
    BAD("\"\xE8\xAA\"", "not UTF-8");
    BAD("\"some plain text \xE8\xAA", "not UTF-8");
    BAD("{\"\xFF\":1}", "not UTF-8");
    BAD("\xFF", "not the byte 0xff");
}

static void a_duplicate_key_is_refused_with_its_name(void **state)
{
    BAD("{\"model\":1,\"b\":2,\"model\":3}", "1:18: the key 'model' stands twice in this object");
    BAD("{\"\":1,\"\":2}", "the key '' stands twice");
    BAD("[{\"x\":{\"y\":1,\"y\":1}}]", "the key 'y'");
    BAD("{\"語\":1,\"語\":1}", "the key '語'");
}

static void a_key_written_with_escapes_is_the_same_key(void **state)
{
    BAD("{\"abc\":1,\"a\\u0062c\":2}", "the key 'abc' stands twice");
    BAD("{\"\\u8a9e\":1,\"語\":2}", "the key '語' stands twice");
    BAD("{\"😀\":1,\"\\ud83d\\ude00\":2}", "the key '😀' stands twice");
    BAD("{\"\\n\\t\\/\\\\\\\"\":1,\"\\u000a\\u0009/\\u005C\\u0022\":2}", "stands twice");
    BAD("{\"\\u00e9\":1,\"é\":2}", "stands twice");
    GOOD("{\"a\\u0062\":1,\"a\\u0063\":2,\"\\\\u0062\":3}");
}

static void equal_keys_of_different_objects_are_fine(void **state)
{
    GOOD("[{\"a\":1},{\"a\":1}]");
    GOOD("{\"a\":{\"a\":{}},\"b\":{\"a\":1,\"b\":2}}");
    GOOD("{\"a\":1,\"A\":2}");
}

/* Keys "k0", "k1" and so on, the last one being `last`. */
static char *many_keys(int count, const char *last, size_t *length)
{
    char *text = malloc((size_t)count * 24 + 100), *at = text;
    *at++ = '{';
    for (int i = 0; i < count; i++)
        at += sprintf(at, "\"k%d\":{\"k1\":[]},", i);
    at += sprintf(at, "\n\"%s\":0}", last);
    *length = (size_t)(at - text);
    return text;
}

static void duplicates_are_found_among_any_number_of_keys(void **state)
{
    static const int counts[] = {1, 14, 15, 16, 17, 18, 47, 48, 49, 100, 5000};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct status st;
        size_t length;
        char *text = many_keys(counts[i], "k0", &length);
        assert_false(check(text, length, NULL, &st));
        assert_string_equal(st.text, "2:1: the key 'k0' stands twice in this object");
        free(text);
        text = many_keys(counts[i], "other", &length);
        if (!check(text, length, NULL, &st))
            fail_msg("%s", st.text);
        free(text);
    }
}

static void a_hundred_thousand_keys_are_checked_in_no_time(void **state)
{
    struct status st;
    size_t length;
    struct json_limits limits = {.values = 1000000};
    char *text = many_keys(100000, "other", &length);
    int64_t before = clock_now_ns();
    assert_true(json_check(text, length, &limits, &st));
    assert_true(clock_now_ns() - before < 2 * NS_PER_SEC); /* quadratic would take minutes */
    free(text);
}

static char *nested(size_t depth)
{
    char *text = calloc(2 * depth + 1, 1);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return text;
}

static void nesting_is_bounded(void **state)
{
    struct status st;
    char *text = nested(64);
    assert_true(json_check(text, strlen(text), NULL, &st));
    free(text);
    text = nested(65);
    assert_false(json_check(text, strlen(text), NULL, &st));
    assert_string_equal(st.text, "1:65: objects and arrays are nested deeper than 64");
    struct json_limits limits = {.depth = 65};
    assert_true(check(text, strlen(text), &limits, &st));
    free(text);
    text = nested(100000);
    limits.depth = 1000000;
    assert_false(check(text, strlen(text), &limits, &st));
    assert_contains(st.text, "deeper than 512");
    free(text);
    text = nested(JSON_DEPTH_MAX);
    assert_true(check(text, strlen(text), &limits, &st));
    free(text);
}

static void bytes_and_values_are_bounded(void **state)
{
    struct status st;
    struct json_limits limits = {.bytes = 10};
    assert_true(check("[1,2,3,45]", 10, &limits, &st));
    assert_false(check("[1,2,3,456]", 11, &limits, &st));
    assert_contains(st.text, "11 bytes of JSON, more than the 10");
    limits = (struct json_limits){.values = 4};
    assert_true(check("[1,2,3]", 7, &limits, &st));
    assert_false(check("[1,2,3,4]", 9, &limits, &st));
    assert_contains(st.text, "more than 4 values");
    assert_false(check("{\"a\":{\"b\":{\"c\":[1]}}}", 21, &limits, &st));
}

static void places_are_counted_in_lines_and_characters(void **state)
{
    BAD("{\n  \"語\": x}", "2:8: ");
    BAD("[1,\r\n 2,\r\n x]", "3:2: ");
    BAD("\"日本\\q\"", "1:4: no such escape");
}

static void every_start_of_a_good_text_is_refused(void **state)
{
    static const char text[] = "{\"a\": [1, -2.5e3, true, null, \"\\u00e9\\ud83d\\ude00 語\"], \"b\": {\"c\": false}}";
    struct status st;
    GOOD(text);
    for (size_t length = 0; length < sizeof text - 1; length++)
        assert_false(check(text, length, NULL, &st));
}

static void no_byte_put_anywhere_breaks_the_checker(void **state)
{
    static const char text[] = "{\"a\":[1,-2.5e3,true,\"\\u00e9\\\\\xE8\xAA\x9E\"],\"b\":{\"c\":null}}";
    char changed[sizeof text];
    struct status st;
    for (size_t at = 0; at < sizeof text - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(changed, text, sizeof text);
            changed[at] = (char)byte;
            check(changed, sizeof text - 1, NULL, &st); /* cJSON agrees wherever the checker accepts */
        }
    }
}

/* The size of the text stays, and whole pairs and escaped backslashes too. */
static void halves_of_pairs_and_nul_are_mended_where_that_is_asked_for(void **state)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"\"a\\ud83d\"", "\"a\\uFFFD\""},
        {"\"\\ude00b\"", "\"\\uFFFDb\""},
        {"\"\\ud83d\\ud83d\\ude00\"", "\"\\uFFFD\\ud83d\\ude00\""},
        {"\"\\ud83d\\n\\u0000\"", "\"\\uFFFD\\n\\uFFFD\""},
        {"\"\\\\ud83d \\u00e9\"", "\"\\\\ud83d \\u00e9\""},
        {"\"\\ud83d\\u0041\"", "\"\\uFFFD\\u0041\""},
    };
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct status st = {0};
        const char *mended = json_mended(rows[i].from, strlen(rows[i].from), &arena);
        assert_string_equal(mended, rows[i].to);
        assert_true(json_check(mended, strlen(mended), NULL, &st));
        assert_ptr_equal(json_mended(mended, strlen(mended), &arena), mended);
    }
    arena_fini(&arena);
}

/* It reads no byte behind the end: each text stands at the end of a block of its size. */
static void a_text_that_ends_within_an_escape_is_mended_within_its_bytes(void **state)
{
    static const char text[] = "\"\\ud83d\\ude00\\ud83d";
    struct arena arena;
    arena_init(&arena, NULL, 0, 1 << 20);
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + !length);
        memcpy(copy, text, length);
        assert_non_null(json_mended(copy, length, &arena));
        free(copy);
    }
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_grammar_has_is_accepted),
        cmocka_unit_test(numbers_of_the_grammar_are_accepted),
        cmocka_unit_test(strings_of_the_grammar_are_accepted),
        cmocka_unit_test(what_the_grammar_has_not_is_refused_with_the_reason),
        cmocka_unit_test(numbers_the_grammar_has_not_are_refused),
        cmocka_unit_test(numbers_that_no_double_holds_are_refused),
        cmocka_unit_test(strings_the_grammar_has_not_are_refused),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(a_duplicate_key_is_refused_with_its_name),
        cmocka_unit_test(a_key_written_with_escapes_is_the_same_key),
        cmocka_unit_test(equal_keys_of_different_objects_are_fine),
        cmocka_unit_test(duplicates_are_found_among_any_number_of_keys),
        cmocka_unit_test(a_hundred_thousand_keys_are_checked_in_no_time),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(bytes_and_values_are_bounded),
        cmocka_unit_test(places_are_counted_in_lines_and_characters),
        cmocka_unit_test(every_start_of_a_good_text_is_refused),
        cmocka_unit_test(no_byte_put_anywhere_breaks_the_checker),
        cmocka_unit_test(halves_of_pairs_and_nul_are_mended_where_that_is_asked_for),
        cmocka_unit_test(a_text_that_ends_within_an_escape_is_mended_within_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
