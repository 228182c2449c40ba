#include "base/random.h"
#include "json/json.h"
#include "json/writer.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

static struct buffer out;
static struct json_writer w;

static int begin(void **state)
{
    buffer_init(&out, (size_t)1 << 20);
    json_writer_init(&w, &out);
    return 0;
}

static int end(void **state)
{
    buffer_fini(&out);
    return 0;
}

static void expect_written(const char *expected)
{
    struct status st;
    assert_true(json_writer_done(&w));
    assert_string_equal(buffer_text(&out), expected);
    assert_true(json_check(out.data, out.length, NULL, &st));
    buffer_clear(&out);
}

static void a_document_of_everything_is_written(void **state)
{
    json_write_object(&w, NULL);
    json_write_string(&w, "model", "gpt");
    json_write_array(&w, "messages");
    json_write_object(&w, NULL);
    json_write_string(&w, "role", "user");
    json_write_string(&w, "name", NULL);
    json_write_end(&w);
    json_write_array(&w, NULL);
    json_write_end(&w);
    json_write_string(&w, NULL, "x");
    json_write_end(&w);
    json_write_int(&w, "n", -5);
    json_write_bool(&w, "stream", true);
    json_write_bool(&w, "store", false);
    json_write_null(&w, "none");
    json_write_object(&w, "empty");
    json_write_end(&w);
    json_write_raw(&w, "schema", "{\"a\":1}", 7);
    json_write_end(&w);
    expect_written("{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\",\"name\":null},[],\"x\"],\"n\":-5,"
                   "\"stream\":true,\"store\":false,\"none\":null,\"empty\":{},\"schema\":{\"a\":1}}");
    json_write_int(&w, NULL, 1); /* another value after the first was done */
    expect_written("1");
}

static void integers_are_exact_to_64_bits(void **state)
{
    json_write_array(&w, NULL);
    json_write_int(&w, NULL, 0);
    json_write_int(&w, NULL, INT64_MIN);
    json_write_int(&w, NULL, INT64_MAX);
    json_write_int(&w, NULL, INT64_C(9007199254740993));
    json_write_uint(&w, NULL, UINT64_MAX);
    json_write_end(&w);
    expect_written("[0,-9223372036854775808,9223372036854775807,9007199254740993,18446744073709551615]");
}

static void text_is_escaped_and_utf8_passes(void **state)
{
    json_write_text(&w, NULL, "\"\\/\b\f\n\r\t\x01\x1f\x7f 語😀", strlen("\"\\/\b\f\n\r\t\x01\x1f\x7f 語😀"));
    expect_written("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f 語😀\"");
    json_write_text(&w, NULL, "a\0b", 3);
    assert_true(json_writer_done(&w));
    assert_string_equal(buffer_text(&out), "\"a\\u0000b\"");
    buffer_clear(&out);
    json_write_object(&w, NULL);
    json_write_int(&w, "a\"b", 1);
    json_write_end(&w);
    expect_written("{\"a\\\"b\":1}");
}

static void bytes_that_are_not_utf8_become_replacement_characters(void **state)
{
    json_write_text(&w, NULL, "a\xFF\xFE z", 5);
    expect_written("\"a\xEF\xBF\xBD\xEF\xBF\xBD z\"");
    json_write_text(&w, NULL, "語\xE8\xAA", 5);
    expect_written("\"語\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

/* Text is looked at in pieces of 16, 8 and 4 bytes, which overlap at its end. */
static void no_place_in_a_text_hides_what_must_be_escaped(void **state)
{
    static const struct {
        const char *byte, *written;
    } marks[] = {{"\"", "\\\""}, {"\\", "\\\\"}, {"\x1f", "\\u001f"}, {"\xFF", "\xEF\xBF\xBD"}, {" ", " "}, {"~", "~"}};
    for (size_t length = 1; length <= 40; length++) {
        for (size_t place = 0; place < length; place++) {
            for (size_t mark = 0; mark < COUNT(marks); mark++) {
                char text[64], expected[64];
                memset(text, 'x', length);
                text[place] = *marks[mark].byte;
                snprintf(expected, sizeof expected, "\"%.*s%s%.*s\"", (int)place, text, marks[mark].written,
                         (int)(length - place - 1), text + place + 1);
                json_write_text(&w, NULL, text, length);
                expect_written(expected);
            }
        }
    }
}

/* Any bytes come out as JSON that the checker accepts; clean text comes back as it was. */
static void every_text_survives_the_round_trip(void **state)
{
    static const char *const parts[] = {"a",  "plain text",   "\"", "\\", "\n", "\x01", "é",
                                        "語", "日本語の文章", "😀",  "/",  " ",  "\x7f", "\xFF"};
    struct status st;
    for (int round = 0; round < 20000; round++) {
        char text[200] = "";
        bool clean = true;
        for (uint64_t count = random_below(10); count > 0; count--) {
            size_t part = random_below(COUNT(parts));
            strcat(text, parts[part]);
            clean = clean && part + 1 < COUNT(parts);
        }
        json_write_string(&w, NULL, text);
        assert_true(json_writer_done(&w));
        cJSON *tree = json_parse(out.data, out.length, NULL, &st);
        assert_non_null(tree);
        if (clean)
            assert_string_equal(tree->valuestring, text);
        cJSON_Delete(tree);
        buffer_clear(&out);
    }
}

static void expect_double(double value, const char *expected)
{
    json_write_double(&w, NULL, value);
    expect_written(expected);
}

static void doubles_have_the_fewest_digits_that_read_back(void **state)
{
    expect_double(0, "0");
    expect_double(-0.0, "-0");
    expect_double(1, "1");
    expect_double(0.1, "0.1");
    expect_double(0.7, "0.7");
    expect_double(-0.25, "-0.25");
    expect_double(0.1 + 0.2, "0.30000000000000004");
    expect_double(1.0 / 3, "0.3333333333333333");
    expect_double(100, "100");
    expect_double(123456789.125, "123456789.125");
    expect_double(0.00001, "0.00001");
    expect_double(1e21, "1e+21");
    expect_double(5e-324, "5e-324");
    expect_double(1.7976931348623157e308, "1.7976931348623157e+308");
    expect_double(9007199254740992, "9007199254740992");
    expect_double(999999999999999, "999999999999999");
    expect_double(NAN, "null");
    expect_double(INFINITY, "null");
    expect_double(-INFINITY, "null");
}

static void every_double_reads_back_the_same_and_none_is_longer_than_it_must_be(void **state)
{
    for (int round = 0; round < 200000; round++) {
        char shortest[40];
        double value;
        uint64_t bits = random_u64();
        if (round % 2 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value = (double)(int64_t)random_below(1 << 30) / pow(10, (double)random_below(12));
        if (!isfinite(value))
            continue;
        json_write_double(&w, NULL, value);
        assert_true(json_writer_done(&w));
        if (strtod(buffer_text(&out), NULL) != value)
            fail_msg("%s is not %.17g", buffer_text(&out), value);
        int digits = 0, written = 0;
        do
            snprintf(shortest, sizeof shortest, "%.*e", digits++, value);
        while (strtod(shortest, NULL) != value);
        const char *c = buffer_text(&out);
        for (c += strspn(c, "-0."); *c != '\0' && *c != 'e'; c++)
            written += *c != '.';
        if (strchr(buffer_text(&out), '.') != NULL && written > digits)
            fail_msg("%s could have %d digits", buffer_text(&out), digits);
        buffer_clear(&out);
    }
}

/* As few digits as %.*e needs to be nearer to this float than to the next, and no zero behind them. */
static void assert_short(const char *written, float value)
{
    char shortest[40];
    int needed = 0, digits = 0;
    double reach = ((double)fabsf(value) - (double)nextafterf(fabsf(value), 0)) / 2;
    do
        snprintf(shortest, sizeof shortest, "%.*e", needed++, (double)value);
    while (fabs(strtod(shortest, NULL) - (double)value) >= reach && value != 0);
    bool has_point = strchr(written, '.') != NULL;
    for (written += strspn(written, "-0."); *written != '\0' && *written != 'e'; written++)
        digits += *written != '.';
    if (has_point && (digits > needed || written[-1] == '0'))
        fail_msg("%.9g could have %d digits instead of %d", (double)value, needed, digits);
}

static void every_float_reads_back_the_same_and_none_is_longer_than_it_must_be(void **state)
{
    json_write_float(&w, NULL, 0.1f);
    expect_written("0.1");
    json_write_float(&w, NULL, 1e-20f);
    expect_written("1e-20");
    json_write_float(&w, NULL, -0.99999994f);
    expect_written("-0.99999994");
    json_write_float(&w, NULL, 1e-45f);
    expect_written("1e-45");
    json_write_float(&w, NULL, -3.40282347e38f);
    expect_written("-3.4028235e+38");
    json_write_float(&w, NULL, NAN);
    expect_written("null");
    for (int round = 0; round < 200000; round++) {
        float value;
        uint32_t bits = (uint32_t)random_u64();
        if (round % 2 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value = ((float)random_below(1 << 24) / (1 << 23) - 1) / 30; /* as embeddings are */
        if (!isfinite(value))
            continue;
        json_write_float(&w, NULL, value);
        assert_true(json_writer_done(&w));
        if (strtof(buffer_text(&out), NULL) != value || (float)strtod(buffer_text(&out), NULL) != value)
            fail_msg("%s is not %.9g", buffer_text(&out), (double)value);
        assert_short(buffer_text(&out), value);
        assert_true(out.length <= 20);
        buffer_clear(&out);
    }
}

static void a_tree_is_written_as_it_was_read(void **state)
{
    static const char text[] = "{\"a\":[1,-2.5,true,false,null,\"\\u0001語\",[],{}],\"b\":{\"c\":1e+300}}";
    struct status st;
    cJSON *tree = json_parse(text, strlen(text), NULL, &st);
    json_write_array(&w, NULL);
    json_write_tree(&w, NULL, tree);
    json_write_end(&w);
    cJSON_Delete(tree);
    char expected[200];
    snprintf(expected, sizeof expected, "[%s]", text);
    expect_written(expected);
}

static void a_buffer_over_its_limit_shows_at_the_end(void **state)
{
    buffer_fini(&out);
    buffer_init(&out, 100);
    json_write_array(&w, NULL);
    for (int i = 0; i < 100; i++)
        json_write_string(&w, NULL, "some text");
    json_write_end(&w);
    assert_false(json_writer_done(&w));
}

static void nesting_may_be_as_deep_as_is_read(void **state)
{
    struct status st;
    struct json_limits limits = {.depth = JSON_DEPTH_MAX};
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        if (i % 3 == 0)
            json_write_object(&w, i % 3 == 1 ? "k" : NULL);
        else
            json_write_array(&w, i % 3 == 1 ? "k" : NULL);
    }
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_write_end(&w);
    assert_true(json_writer_done(&w));
    assert_true(json_check(out.data, out.length, &limits, &st));
}

static void write_a_value_without_key(void)
{
    json_write_object(&w, NULL);
    json_write_int(&w, NULL, 1);
}

static void write_a_key_in_an_array(void)
{
    json_write_array(&w, NULL);
    json_write_int(&w, "key", 1);
}

static void end_too_often(void)
{
    json_write_array(&w, NULL);
    json_write_end(&w);
    json_write_end(&w);
}

static void write_two_values(void)
{
    json_write_int(&w, NULL, 1);
    json_write_int(&w, NULL, 2);
}

static void finish_too_early(void)
{
    json_write_object(&w, NULL);
    json_writer_done(&w);
}

static void misuse_asserts(void **state)
{
    assert_asserts(write_a_value_without_key);
    assert_asserts(write_a_key_in_an_array);
    assert_asserts(end_too_often);
    assert_asserts(write_two_values);
    assert_asserts(finish_too_early);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_document_of_everything_is_written),
        TEST(integers_are_exact_to_64_bits),
        TEST(text_is_escaped_and_utf8_passes),
        TEST(bytes_that_are_not_utf8_become_replacement_characters),
        TEST(no_place_in_a_text_hides_what_must_be_escaped),
        TEST(every_text_survives_the_round_trip),
        TEST(doubles_have_the_fewest_digits_that_read_back),
        TEST(every_double_reads_back_the_same_and_none_is_longer_than_it_must_be),
        TEST(every_float_reads_back_the_same_and_none_is_longer_than_it_must_be),
        TEST(a_tree_is_written_as_it_was_read),
        TEST(a_buffer_over_its_limit_shows_at_the_end),
        TEST(nesting_may_be_as_deep_as_is_read),
        TEST(misuse_asserts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
