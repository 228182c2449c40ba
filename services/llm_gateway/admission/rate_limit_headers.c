#include "rate_limit_headers.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND_MS 1000
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)

enum { LIMIT_REQUESTS, LEFT_REQUESTS, RESET_REQUESTS, LIMIT_TOKENS, LEFT_TOKENS, RESET_TOKENS };
const char *const rate_limit_header_names[RATE_LIMIT_HEADERS] = {
    [LIMIT_REQUESTS] = "x-ratelimit-limit-requests",    [LIMIT_TOKENS] = "x-ratelimit-limit-tokens",
    [LEFT_REQUESTS] = "x-ratelimit-remaining-requests", [LEFT_TOKENS] = "x-ratelimit-remaining-tokens",
    [RESET_REQUESTS] = "x-ratelimit-reset-requests",    [RESET_TOKENS] = "x-ratelimit-reset-tokens",
};

int rate_limit_write_duration(int64_t ms, char out[RATE_LIMIT_VALUE_MAX])
{
    int64_t hours = ms / HOUR_MS, minutes = ms % HOUR_MS / MINUTE_MS;
    double seconds = (double)(ms % MINUTE_MS) / SECOND_MS;
    if (ms > 0 && ms < SECOND_MS)
        return snprintf(out, RATE_LIMIT_VALUE_MAX, "%" PRId64 "ms", ms);
    if (hours > 0)
        return snprintf(out, RATE_LIMIT_VALUE_MAX, "%" PRId64 "h%" PRId64 "m%gs", hours, minutes, seconds);
    if (minutes > 0)
        return snprintf(out, RATE_LIMIT_VALUE_MAX, "%" PRId64 "m%gs", minutes, seconds);
    return snprintf(out, RATE_LIMIT_VALUE_MAX, "%gs", seconds);
}

/* The three headers of a limit: the limit, the rest, and the time until it is full. */
static size_t write_limit(int64_t limit, int64_t left, int64_t reset_ms, int first, struct rate_limit_header *headers)
{
    if (limit < 0)
        return 0;
    for (int i = 0; i < 3; i++)
        headers[i].name = rate_limit_header_names[first + i];
    snprintf(headers[0].value, sizeof headers[0].value, "%" PRId64, limit);
    snprintf(headers[1].value, sizeof headers[1].value, "%" PRId64, left);
    rate_limit_write_duration(reset_ms, headers[2].value);
    return 3;
}

size_t rate_limit_headers(const struct admission_rate_limits *rate_limits,
                          struct rate_limit_header headers[RATE_LIMIT_HEADERS])
{
    size_t count = write_limit(rate_limits->requests_limit, rate_limits->requests_left, rate_limits->requests_reset_ms,
                               LIMIT_REQUESTS, headers);
    return count + write_limit(rate_limits->tokens_limit, rate_limits->tokens_left, rate_limits->tokens_reset_ms,
                               LIMIT_TOKENS, headers + count);
}
