/* Vectors as they stand in JSON: every float to the bit, and what is no vector. */
#include "embed/vector.h"

#include "base/json.h"
#include "base/json_number.h"
#include "base/random.h"

#include <float.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct arena arena;
static struct vector vector;
static struct status st;

static int begin(void **state)
{
    arena_init(&arena, NULL, 0, 4 << 20);
    return 0;
}

static int end(void **state)
{
    arena_fini(&arena);
    return 0;
}

static bool pull_text(const char *json)
{
    struct pull in = {.at = json};
    st = (struct status){0};
    assert_true(json_check(json, strlen(json), NULL, &st));
    bool good = vector_pull(&vector, &in, &arena, &st);
    if (good)
        assert_string_equal(in.at, "");
    return good;
}

static void assert_refused(const char *json, const char *part)
{
    if (pull_text(json))
        fail_msg("taken: %s", json);
    assert_int_equal(st.code, DATA_LOSS);
    assert_contains(st.text, part);
}

static bool same(float one, float other)
{
    return memcmp(&one, &other, sizeof one) == 0;
}

static void assert_reads(const char *text)
{
    char terminated[128];
    float value;
    snprintf(terminated, sizeof terminated, "%s,", text);
    const char *after = vector_read_float(terminated, &value);
    if (!same(value, strtof(text, NULL)) || *after != ',')
        fail_msg("%s is read as %.9g, up to '%s'", text, (double)value, after);
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
        float read;
        vector_read_float(text, &read);
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

static void a_list_of_numbers_is_a_vector(void **state)
{
    assert_true(pull_text("[ 1 ,\n-0.5,\t2.5e-3 ]"));
    assert_int_equal(vector.count, 3);
    assert_true(same(vector.values[0], 1) && same(vector.values[1], -0.5f) && same(vector.values[2], 0.0025f));
}

static void base64_is_a_vector_bit_for_bit(void **state)
{
    assert_true(pull_text("\"AACAPwAAAL8=\""));
    assert_int_equal(vector.count, 2);
    assert_true(same(vector.values[0], 1) && same(vector.values[1], -0.5f));
    for (size_t count = 1; count <= 64; count++) {
        float values[64];
        char json[512] = "\"";
        for (size_t i = 0; i < count; i++)
            values[i] = random_float();
        int length = EVP_EncodeBlock((unsigned char *)json + 1, (unsigned char *)values, (int)(count * sizeof(float)));
        strcpy(json + 1 + length, "\"");
        assert_true(pull_text(json));
        assert_int_equal(vector.count, count);
        assert_memory_equal(vector.values, values, count * sizeof(float));
    }
}

static void base64_may_be_escaped(void **state)
{
    assert_true(pull_text("\"\\u0041ACAPwAAAL8\\u003d\""));
    assert_int_equal(vector.count, 2);
    assert_true(pull_text("\"\\/\\/\\u002bAPw==\"")); /* ff ff 80 3f */
    assert_int_equal(vector.count, 1);
    assert_true(same(vector.values[0], 0x1.01fffep0f));
}

static void what_is_no_base64_of_floats_is_refused(void **state)
{
    assert_refused("\"AACAPwAAAL8\"", "is not base64");
    assert_refused("\" AACAPwAAAL8=   \"", "is not base64");
    assert_refused("\"AACA=wAAAL8=\"", "is not base64");
    assert_refused("\"AACAPwAA====\"", "is not base64");
    assert_refused("\"AAC-PwAAAL8=\"", "is not base64");
    assert_refused("\"AACA\\nwAAAL8=\"", "is not base64");
    assert_refused("\"AACAPwAAAL8A\"", "has 9 bytes");
    assert_refused("\"AAA=\"", "has 2 bytes");
}

static void what_is_not_finite_is_refused(void **state)
{
    assert_refused("\"AACAPwAAgH8=\"", "element 1 is not a number"); /* infinity */
    assert_refused("\"AADA/w==\"", "element 0 is not a number");     /* NaN */
    assert_refused("[1,3.5e38]", "element 1 is too large for a float");
    assert_refused("[-1e308]", "element 0 is too large for a float");
}

static void what_is_no_list_of_numbers_is_refused(void **state)
{
    assert_refused("[]", "has no numbers");
    assert_refused("\"\"", "has no numbers");
    assert_refused("[1,null]", "element 1 is no number");
    assert_refused("[[1]]", "element 0 is no number");
    assert_refused("[\"1\"]", "element 0 is no number");
    assert_refused("{\"0\":1}", "neither a list of numbers nor base64");
    assert_refused("null", "neither a list of numbers nor base64");
    assert_refused("1", "neither a list of numbers nor base64");
}

static void a_vector_has_8192_numbers_at_most(void **state)
{
    static char json[3 * VECTOR_DIMENSIONS_MAX + 64];
    for (size_t count = VECTOR_DIMENSIONS_MAX; count <= VECTOR_DIMENSIONS_MAX + 1; count++) {
        strcpy(json, "[1");
        for (size_t i = 1; i < count; i++)
            strcpy(json + 2 * i, ",1");
        strcpy(json + 2 * count, "]");
        if (count == VECTOR_DIMENSIONS_MAX)
            assert_true(pull_text(json));
        else
            assert_refused(json, "has more than 8192 numbers");
    }
    static unsigned char floats[(VECTOR_DIMENSIONS_MAX + 1) * sizeof(float)];
    static char base64[sizeof floats / 3 * 4 + 16] = "\"";
    EVP_EncodeBlock((unsigned char *)base64 + 1, floats, sizeof floats);
    strcat(base64, "\"");
    assert_refused(base64, "has more than 8192 numbers");
}

static void no_memory_is_said(void **state)
{
    arena_fini(&arena);
    arena_init(&arena, NULL, 0, 64);
    const char *const vectors[] = {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
                                   "\"AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"
                                   "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/\""};
    for (size_t i = 0; i < COUNT(vectors); i++) {
        assert_false(pull_text(vectors[i]));
        assert_int_equal(st.code, RESOURCE_EXHAUSTED);
    }
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static void values_of_every_kind_are_passed_over(void **state)
{
    struct pull in = {.at = "{ \"a\\\"]}\" : [ {\"b\":\"}]\\\\\"} , [[]] , {} ] , \"c\" : -1.5e3 , "
                            "\"d\":null,\"e\":\"\\\"\" ,\"f\":true }"};
    const char *const keys[] = {"a\\\"]}", "c", "d", "e", "f"};
    size_t count = 0;
    assert_true(pull_enter(&in, '{'));
    for (; pull_next(&in); count++) {
        struct pull_text key = pull_key(&in);
        assert_true(count < COUNT(keys) && pull_is(&key, keys[count]));
        pull_skip(&in);
    }
    assert_int_equal(count, COUNT(keys));
    assert_string_equal(in.at, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_read_to_the_nearest_float, begin, end),
        cmocka_unit_test_setup_teardown(every_way_to_write_a_float_reads_back_the_same, begin, end),
        cmocka_unit_test_setup_teardown(numbers_next_to_the_middle_of_two_floats_go_the_right_way, begin, end),
        cmocka_unit_test_setup_teardown(a_list_of_numbers_is_a_vector, begin, end),
        cmocka_unit_test_setup_teardown(base64_is_a_vector_bit_for_bit, begin, end),
        cmocka_unit_test_setup_teardown(base64_may_be_escaped, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_base64_of_floats_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_finite_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_list_of_numbers_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_vector_has_8192_numbers_at_most, begin, end),
        cmocka_unit_test_setup_teardown(no_memory_is_said, begin, end),
        cmocka_unit_test_setup_teardown(values_of_every_kind_are_passed_over, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
