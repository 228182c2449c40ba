#include "upstream/retry_hint.h"

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

static struct rate_left left(const struct header *headers)
{
    return rate_left_of(header_of, headers, NOW_MS);
}

static void assert_left(struct rate_left it, int64_t requests, int64_t tokens, int64_t reset_ms)
{
    assert_int_equal(it.requests, requests);
    assert_int_equal(it.tokens, tokens);
    assert_int_equal(it.reset_ms, reset_ms);
}

static void what_is_left_is_told_apart_from_what_is_not_said(void **state)
{
    struct header none[] = {{NULL, NULL}};
    struct header openai[] = {{"x-ratelimit-remaining-requests", "4999"},
                              {"x-ratelimit-reset-requests", "12ms"},
                              {"x-ratelimit-remaining-tokens", "159976"},
                              {"x-ratelimit-reset-tokens", "9ms"},
                              {NULL, NULL}};
    struct header azure[] = {{"x-ratelimit-remaining-requests", "0"},
                             {"x-ratelimit-remaining-tokens", "-1"},
                             {"x-ratelimit-reset-tokens", "-1"},
                             {NULL, NULL}};
    assert_left(left(none), -1, -1, -1);
    assert_left(left(openai), 4999, 159976, 12);
    openai[2].value = "0";
    assert_left(left(openai), 4999, 0, 9);
    assert_left(left(azure), 0, -1, -1);
}

static void anthropics_limits_are_read_with_their_moments(void **state)
{
    struct header headers[] = {{"anthropic-ratelimit-requests-remaining", "999"},
                               {"anthropic-ratelimit-requests-reset", "2026-11-06T21:20:01Z"},
                               {"anthropic-ratelimit-tokens-remaining", "96000"},
                               {"anthropic-ratelimit-tokens-reset", "2026-11-06T21:21:00Z"},
                               {"anthropic-ratelimit-input-tokens-remaining", "80000"},
                               {"anthropic-ratelimit-output-tokens-remaining", "0"},
                               {"anthropic-ratelimit-output-tokens-reset", "2026-11-06T21:20:30Z"},
                               {NULL, NULL}};
    assert_left(left(headers), 999, 0, 30000);
    assert_int_equal(retry_hint_ms(header_of, headers, NOW_MS), 30000);
    headers[5].value = "5";
    assert_left(left(headers), 999, 5, 60000);
}

static void moments_are_read_as_rfc_3339_has_them(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"2026-11-06T21:20:00.25Z", 250}, {"2026-11-07T06:20:02+09:00", 2000}, {"2026-11-06T16:50:03-04:30", 3000},
        {"2026-11-06T21:20:05z", 5000},   {"2026-11-06T21:19:00Z", 0},         {"2026-11-06T21:20:05", 0},
        {"2026-11-06T21:20:05Zulu", 0},   {"2026-11-06T21:20:05+9", 0},        {"2026-11-06T21:20:05+09:00 ", 0},
        {"2026-13-06T21:20:05Z", 0},      {"2026-11-06T21:20:05.Z", 0},        {"2026-11-06T21:20:05.-1Z", 0},
        {"2026-11-06T21:20:05+-9:-1", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct header headers[] = {{"anthropic-ratelimit-requests-remaining", "7"},
                                   {"anthropic-ratelimit-requests-reset", cases[i].text},
                                   {NULL, NULL}};
        if (left(headers).reset_ms != cases[i].ms)
            fail_msg("'%s' is read as %lld ms", cases[i].text, (long long)left(headers).reset_ms);
    }
}

static void a_count_is_digits_and_nothing_else(void **state)
{
    static const char *const texts[] = {"", "-1", "+1", " 1", "1 ", "1k", "many", "0x1"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct header headers[] = {{"x-ratelimit-remaining-requests", texts[i]}, {NULL, NULL}};
        assert_left(left(headers), -1, -1, -1);
    }
    struct header endless[] = {{"x-ratelimit-remaining-tokens", "99999999999999999999"}, {NULL, NULL}};
    assert_left(left(endless), -1, INT64_MAX, -1);
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
        cmocka_unit_test(what_is_left_is_told_apart_from_what_is_not_said),
        cmocka_unit_test(anthropics_limits_are_read_with_their_moments),
        cmocka_unit_test(moments_are_read_as_rfc_3339_has_them),
        cmocka_unit_test(a_count_is_digits_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
