/* What limits leave, as headers; and that our own reader of such headers understands them. */
#include "admission/rate_limit_headers.h"

#include "upstream/retry_hint.h"

#include <string.h>

#include "unit.h"

static void times_are_written_as_openai_writes_them(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } times[] = {
        {0, "0s"},         {1, "1ms"},          {250, "250ms"},          {1000, "1s"},
        {8640, "8.64s"},   {59999, "59.999s"},  {60000, "1m0s"},         {360000, "6m0s"},
        {61500, "1m1.5s"}, {3600000, "1h0m0s"}, {3661001, "1h1m1.001s"},
    };
    char text[RATE_LIMIT_VALUE_MAX];
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(rate_limit_write_duration(times[i].ms, text), strlen(times[i].text));
        assert_string_equal(text, times[i].text);
    }
}

static const char *header(const void *from, const char *name)
{
    const struct rate_limit_header *headers = from;
    for (int i = 0; i < RATE_LIMIT_HEADERS; i++)
        if (headers[i].name && strcmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

static void what_is_written_is_what_a_gateway_before_us_reads(void **state)
{
    static const int64_t times[] = {1, 999, 1001, 59999, 60001, 3599999, 3600001};
    for (size_t i = 0; i < COUNT(times); i++) {
        const struct admission_rate_limits rate_limits = {60, 0, times[i], 90000, 89000, 7};
        struct rate_limit_header headers[RATE_LIMIT_HEADERS] = {0};
        assert_int_equal(rate_limit_headers(&rate_limits, headers), RATE_LIMIT_HEADERS);
        struct rate_left left = rate_left_of(header, headers, 0);
        assert_int_equal(left.requests, 0);
        assert_int_equal(left.tokens, 89000);
        assert_int_equal(left.reset_ms, times[i]);
    }
}

static void a_limit_that_is_not_there_has_no_header(void **state)
{
    struct admission_rate_limits rate_limits = {-1, -1, -1, 1000, 900, 6000};
    struct rate_limit_header headers[RATE_LIMIT_HEADERS] = {0};
    assert_int_equal(rate_limit_headers(&rate_limits, headers), 3);
    assert_null(header(headers, "x-ratelimit-limit-requests"));
    assert_string_equal(header(headers, "x-ratelimit-limit-tokens"), "1000");
    assert_string_equal(header(headers, "x-ratelimit-remaining-tokens"), "900");
    assert_string_equal(header(headers, "x-ratelimit-reset-tokens"), "6s");
    rate_limits = (struct admission_rate_limits){3, 0, 60000, -1, -1, -1};
    assert_int_equal(rate_limit_headers(&rate_limits, headers), 3);
    assert_string_equal(headers[2].value, "1m0s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_as_openai_writes_them),
        cmocka_unit_test(what_is_written_is_what_a_gateway_before_us_reads),
        cmocka_unit_test(a_limit_that_is_not_there_has_no_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
