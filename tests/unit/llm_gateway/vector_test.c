/* Vectors as they stand in JSON: a list of numbers, floats in base64, and what is no vector. */
#include "answer/vector.h"

#include "base/random.h"

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
    struct json_pull in;
    st = (struct status){0};
    json_pull_init(&in, json, strlen(json), NULL, &arena, &st);
    bool good = vector_pull(&vector, &in, &arena);
    return json_pull_end(&in) && good;
}

static void assert_refused(const char *json, const char *part)
{
    if (pull_text(json))
        fail_msg("taken: %s", json);
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_contains(st.text, part);
}

static bool same(float one, float other)
{
    return memcmp(&one, &other, sizeof one) == 0;
}

static float random_float(void)
{
    uint32_t bits = (uint32_t)random_u64();
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 1.0f;
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
    assert_refused("\"AACAPwAAAL8A\"", "no whole number of floats");
    assert_refused("\"AAA=\"", "no whole number of floats");
}

static void what_is_not_finite_is_refused(void **state)
{
    assert_refused("\"AACAPwAAgH8=\"", "an element 1 that is not a number"); /* infinity */
    assert_refused("\"AADA/w==\"", "an element 0 that is not a number");     /* NaN */
    assert_refused("[1,3.5e38]", "[1]: is too large for a float");
    assert_refused("[-1e308]", "[0]: is too large for a float");
}

static void what_is_no_list_of_numbers_is_refused(void **state)
{
    assert_refused("[]", "has no numbers");
    assert_refused("\"\"", "has no numbers");
    assert_refused("[1,null]", "[1]: is no number");
    assert_refused("[[1]]", "[0]: is no number");
    assert_refused("[\"1\"]", "[0]: is no number");
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
            assert_refused(json, "[8192]: is one more than the 8192 numbers");
    }
    static unsigned char floats[(VECTOR_DIMENSIONS_MAX + 1) * sizeof(float)];
    static char base64[sizeof floats / 3 * 4 + 16] = "\"";
    EVP_EncodeBlock((unsigned char *)base64 + 1, floats, sizeof floats);
    strcat(base64, "\"");
    assert_refused(base64, "has more numbers than a vector may have");
}

static void memory_has_its_bound(void **state)
{
    arena_fini(&arena);
    arena_init(&arena, NULL, 0, 64);
    const char *const vectors[] = {"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
                                   "\"AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/"
                                   "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/\""};
    for (size_t i = 0; i < COUNT(vectors); i++) {
        arena_reset(&arena);
        assert_false(pull_text(vectors[i]));
        assert_true(arena.exhausted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_of_numbers_is_a_vector, begin, end),
        cmocka_unit_test_setup_teardown(base64_is_a_vector_bit_for_bit, begin, end),
        cmocka_unit_test_setup_teardown(base64_may_be_escaped, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_base64_of_floats_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_finite_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_list_of_numbers_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_vector_has_8192_numbers_at_most, begin, end),
        cmocka_unit_test_setup_teardown(memory_has_its_bound, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
