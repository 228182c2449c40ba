/* Prices: exact, rounded up, never past what an int64_t holds. */
#include "usage/price.h"

#include "unit.h"

static const struct price price = {
    .input_micros = 2000000, .cached_input_micros = 500000, .cache_write_micros = 2500000, .output_micros = 8000000};

static int64_t cost(int64_t input, int64_t cached, int64_t stored, int64_t output)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.input_tokens = input;
    usage.cached_input_tokens = cached;
    usage.cache_write_tokens = stored;
    usage.output_tokens = output;
    return price_of(&price, &usage);
}

static void each_kind_of_token_has_its_price(void **state)
{
    assert_int_equal(cost(1000, 0, 0, 0), 2000);
    assert_int_equal(cost(0, 0, 0, 1000), 8000);
    assert_int_equal(cost(1000, 1000, 0, 0), 500);
    assert_int_equal(cost(1000, 0, 1000, 0), 2500);
    assert_int_equal(cost(1000, 400, 100, 50), 500 * 2 + 200 + 250 + 400);
}

static void a_begun_micro_counts_whole(void **state)
{
    const struct price cheap = {.input_micros = 1, .output_micros = 1};
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    assert_int_equal(price_of(&cheap, &usage), 0);
    usage.input_tokens = 1;
    assert_int_equal(price_of(&cheap, &usage), 1);
    usage.input_tokens = 1000000;
    assert_int_equal(price_of(&cheap, &usage), 1);
    usage.output_tokens = 1;
    assert_int_equal(price_of(&cheap, &usage), 2);
}

static void counts_that_contradict_each_other_are_cut(void **state)
{
    assert_int_equal(cost(1000, 5000, 5000, 0), 500);
    assert_int_equal(cost(1000, 400, 5000, 0), 200 + 1500);
    assert_int_equal(cost(-1, -1, -1, -1), 0);
    assert_int_equal(cost(1000, -5, INT64_MIN, 0), 2000);
}

static void the_largest_numbers_do_not_overflow(void **state)
{
    const struct price dear = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.input_tokens = usage.output_tokens = INT64_MAX;
    usage.cached_input_tokens = INT64_MAX / 3;
    usage.cache_write_tokens = INT64_MAX / 3;
    assert_int_equal(price_of(&dear, &usage), INT64_MAX);
    assert_int_equal(cost(INT64_MAX, 0, 0, 0), INT64_MAX);
    assert_int_equal(cost(INT64_MAX / 4, 0, 0, 0), INT64_MAX / 4 * 2);
}

static void without_a_price_or_usage_nothing_is_owed(void **state)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.input_tokens = 1000;
    assert_int_equal(price_of(NULL, &usage), 0);
    assert_int_equal(price_of(&price, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_token_has_its_price),
        cmocka_unit_test(a_begun_micro_counts_whole),
        cmocka_unit_test(counts_that_contradict_each_other_are_cut),
        cmocka_unit_test(the_largest_numbers_do_not_overflow),
        cmocka_unit_test(without_a_price_or_usage_nothing_is_owed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
