#include "provider/retry_hint.h"

#include <string.h>

#include "unit.h"

#define NOW_MS INT64_C(1794000000000) /* Fri, 06 Nov 2026 21:20:00 GMT */

struct header {
    const char *name, *value;
};

static const char *header_of(const void *from, const char *name)
{
    for (const struct header *header = from; header->name; header++)
        if (strcmp(header->name, name) == 0)
            return header->value;
    return NULL;
}

static int32_t hint(const char *name, const char *value)
{
    struct header headers[] = {{name, value}, {NULL, NULL}};
    return retry_hint_ms(header_of, headers, NOW_MS);
}

static void milliseconds_and_seconds_are_read(void **state)
{
    assert_int_equal(hint("retry-after-ms", "1250"), 1250);
    assert_int_equal(hint("retry-after-ms", "0.4"), 1);
    assert_int_equal(hint("retry-after", "2"), 2000);
    assert_int_equal(hint("retry-after", "1.5"), 1500);
}

static void a_date_is_a_moment_from_now(void **state)
{
    assert_int_equal(hint("retry-after", "Fri, 06 Nov 2026 21:20:30 GMT"), 30000);
    assert_int_equal(hint("retry-after", "Fri, 06 Nov 2026 21:19:00 GMT"), 0);
}

static void resets_are_durations(void **state)
{
    assert_int_equal(hint("x-ratelimit-reset-requests", "1s"), 1000);
    assert_int_equal(hint("x-ratelimit-reset-requests", "6m0s"), 360000);
    assert_int_equal(hint("x-ratelimit-reset-tokens", "250ms"), 250);
    assert_int_equal(hint("x-ratelimit-reset-tokens", "1h2m3.5s"), 3723500);
    assert_int_equal(hint("x-ratelimit-reset-tokens", "7"), 7000); /* Azure */
    assert_int_equal(hint("x-ratelimit-reset", "1794000001"), 1000);
    assert_int_equal(hint("x-ratelimit-reset", "1794000002500"), 2500);
    assert_int_equal(hint("x-ratelimit-reset", "12"), 12000);
}

static void of_two_limits_the_exhausted_one_counts(void **state)
{
    struct header headers[] = {{"x-ratelimit-remaining-requests", "0"},
                               {"x-ratelimit-reset-requests", "2s"},
                               {"x-ratelimit-remaining-tokens", "100"},
                               {"x-ratelimit-reset-tokens", "9m"},
                               {NULL, NULL}};
    assert_int_equal(retry_hint_ms(header_of, headers, NOW_MS), 2000);
    headers[0].value = "1";
    assert_int_equal(retry_hint_ms(header_of, headers, NOW_MS), 540000);
}

static void nonsense_is_no_hint(void **state)
{
    static const char *const texts[] = {"", "-1", "soon", "1x", "nan", "-", "1 s", "0"};
    static const char *const names[] = {"retry-after-ms", "retry-after", "x-ratelimit-reset-tokens",
                                        "x-ratelimit-reset"};
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(texts); k++)
            assert_int_equal(hint(names[i], texts[k]), 0);
    assert_int_equal(hint("retry-after", "1e300"), INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milliseconds_and_seconds_are_read),
        cmocka_unit_test(a_date_is_a_moment_from_now),
        cmocka_unit_test(resets_are_durations),
        cmocka_unit_test(nonsense_is_no_hint),
        cmocka_unit_test(of_two_limits_the_exhausted_one_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
