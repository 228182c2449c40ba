#include "upstream/retry_hint.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIX_TIME_MIN    1e9  /* seconds: a number this large is no length of time but a moment */
#define UNIX_TIME_MS_MIN 1e12 /* a number this large is a moment in milliseconds */

static int32_t hint_clamp(double ms)
{
    if (!(ms > 0))
        return 0; /* also for NaN, and for Azure's -1 */
    return ms < (double)INT32_MAX ? (int32_t)ceil(ms) : INT32_MAX;
}

/* A number from the beginning of a text; false if the text begins with no number. */
static bool hint_number(const char *text, double *value, const char **rest)
{
    char *end;
    if (!strchr("0123456789.-", *text) || !*text)
        return false;
    *value = strtod(text, &end);
    *rest = end;
    return end != text;
}

static double hint_unit_ms(const char *unit, const char **rest)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 36e5}, {"d", 864e5}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(unit, units[i].name, length) == 0) {
            *rest = unit + length;
            return units[i].ms;
        }
    }
    return 0;
}

/* "6m0s", "1.5s", "250ms"; without a unit, seconds. */
static int32_t hint_duration(const char *text)
{
    double whole = 0, value;
    const char *at = text;
    while (*at) {
        if (!hint_number(at, &value, &at))
            return 0;
        double ms = *at ? hint_unit_ms(at, &at) : 1e3;
        if (ms == 0)
            return 0;
        whole += value * ms;
    }
    return hint_clamp(whole);
}

static int32_t hint_moment_or_duration(const char *text, int64_t now_ms)
{
    double value;
    const char *rest;
    if (!hint_number(text, &value, &rest) || *rest || value < UNIX_TIME_MIN)
        return hint_duration(text);
    return hint_clamp((value < UNIX_TIME_MS_MIN ? value * 1e3 : value) - (double)now_ms);
}

/* RFC 9110 §10.2.3 */
static int32_t hint_retry_after(const char *text, int64_t now_ms)
{
    double value;
    const char *rest;
    if (hint_number(text, &value, &rest))
        return *rest ? 0 : hint_clamp(value * 1e3);
    struct tm date = {0};
    rest = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
    return rest && !*rest ? hint_clamp((double)timegm(&date) * 1e3 - (double)now_ms) : 0;
}

/* ---- rate limits that are left ----------------------------------------------------------------------------------- */

/* Anthropic's tokens are the tightest of its limits at the moment; some accounts have them for each direction. */
static const struct limit {
    const char *remaining, *reset;
    bool of_tokens;
    bool comes_along; /* only with the preceding limit */
} limits[] = {
    {"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", false, false},
    {"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens", true, false},
    {"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset", false, false},
    {"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset", true, true},
    {"anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset", true, true},
    {"anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset", true, true},
};

/* Reads a time zone: "Z", "+09:00". False if it is neither form. */
static bool hint_zone(const char *text, int *minutes)
{
    int hour, minute, length = 0;
    *minutes = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    bool good = (*text == '+' || *text == '-') && sscanf(text + 1, "%2d:%2d%n", &hour, &minute, &length) == 2 &&
                length == 5 && text[6] == '\0' && hour >= 0 && minute >= 0;
    if (good)
        *minutes = (hour * 60 + minute) * (*text == '+' ? 1 : -1);
    return good;
}

/* Reads RFC 3339: "2026-11-06T21:20:00Z". False if it is no date. */
static bool hint_moment(const char *text, int64_t now_ms, int32_t *ms)
{
    struct tm date = {0};
    double fraction = 0;
    int minutes;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &date);
    if (rest && *rest == '.' && !hint_number(rest, &fraction, &rest))
        return false;
    if (!rest || !hint_zone(rest, &minutes))
        return false;
    *ms = hint_clamp(((double)timegm(&date) - minutes * 60 + fraction) * 1e3 - (double)now_ms);
    return true;
}

static int32_t hint_reset(const char *text, int64_t now_ms)
{
    int32_t ms;
    return hint_moment(text, now_ms, &ms) ? ms : hint_moment_or_duration(text, now_ms);
}

static int64_t hint_count(const char *text)
{
    char *end;
    long long value = text && *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    return value >= 0 && *end == '\0' ? value : -1;
}

static int64_t hint_fewer(int64_t one, int64_t other)
{
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* `all`: also reads the headers that tell the reset but not the remaining amount. Otherwise a missing header costs a
 * single lookup, since every answer pays for it. */
static struct rate_left hint_read_limits(const char *(*header)(const void *from, const char *name), const void *from,
                                         int64_t now_ms, bool all)
{
    struct rate_left left = {-1, -1, -1};
    bool exhausted = false, present = false;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].comes_along && !present && !all)
            continue;
        const char *said = header(from, limits[i].remaining);
        present = said || (limits[i].comes_along && present);
        if (!said && !all)
            continue;
        const char *text = header(from, limits[i].reset);
        int64_t remaining = hint_count(said), ms = text ? hint_reset(text, now_ms) : -1;
        int64_t *least = limits[i].of_tokens ? &left.tokens : &left.requests;
        *least = hint_fewer(*least, remaining);
        if (remaining == 0 && !exhausted) {
            exhausted = true;
            left.reset_ms = -1; /* resets of limits that are not exhausted no longer count */
        }
        if ((remaining == 0 || !exhausted) && ms > left.reset_ms)
            left.reset_ms = ms;
    }
    return left;
}

struct rate_left rate_left_of(const char *(*header)(const void *from, const char *name), const void *from,
                              int64_t now_ms)
{
    return hint_read_limits(header, from, now_ms, false);
}

/* ---- the hint ---------------------------------------------------------------------------------------------------- */

int32_t retry_hint_ms(const char *(*header)(const void *from, const char *name), const void *from, int64_t now_ms)
{
    const char *value = header(from, "retry-after-ms"), *rest;
    double ms;
    int32_t hint = value && hint_number(value, &ms, &rest) && !*rest ? hint_clamp(ms) : 0;
    if (!hint && (value = header(from, "retry-after")))
        hint = hint_retry_after(value, now_ms);
    if (!hint) {
        int64_t reset_ms = hint_read_limits(header, from, now_ms, true).reset_ms;
        hint = reset_ms > 0 ? (int32_t)reset_ms : 0;
    }
    if (!hint && (value = header(from, "x-ratelimit-reset")))
        hint = hint_moment_or_duration(value, now_ms);
    return hint;
}
