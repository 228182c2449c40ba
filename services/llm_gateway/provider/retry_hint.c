#include "retry_hint.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIX_TIME_MIN    1e9  /* seconds: a number this large is no length of time but a moment */
#define UNIX_TIME_MS_MIN 1e12 /* and this large, one in milliseconds */

static int32_t clamped(double ms)
{
    if (!(ms > 0))
        return 0; /* also for NaN, and -1 as Azure says it */
    return ms < (double)INT32_MAX ? (int32_t)ceil(ms) : INT32_MAX;
}

/* A number from the beginning of a text; false where there is none. */
static bool number(const char *text, double *value, const char **rest)
{
    char *end;
    if (!strchr("0123456789.-", *text) || !*text)
        return false;
    *value = strtod(text, &end);
    *rest = end;
    return end != text;
}

static double unit_ms(const char *unit, const char **rest)
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
static int32_t duration(const char *text)
{
    double whole = 0, value;
    const char *at = text;
    while (*at) {
        if (!number(at, &value, &at))
            return 0;
        double ms = *at ? unit_ms(at, &at) : 1e3;
        if (ms == 0)
            return 0;
        whole += value * ms;
    }
    return clamped(whole);
}

static int32_t moment_or_duration(const char *text, int64_t now_ms)
{
    double value;
    const char *rest;
    if (!number(text, &value, &rest) || *rest || value < UNIX_TIME_MIN)
        return duration(text);
    return clamped((value < UNIX_TIME_MS_MIN ? value * 1e3 : value) - (double)now_ms);
}

/* RFC 9110 §10.2.3 */
static int32_t retry_after(const char *text, int64_t now_ms)
{
    double value;
    const char *rest;
    if (number(text, &value, &rest))
        return *rest ? 0 : clamped(value * 1e3);
    struct tm date = {0};
    rest = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
    return rest && !*rest ? clamped((double)timegm(&date) * 1e3 - (double)now_ms) : 0;
}

/* Of what has run out; where neither says so, the longer wait. */
static int32_t longest_reset(const char *(*header)(const void *from, const char *name), const void *from)
{
    static const struct {
        const char *remaining, *reset;
    } limits[] = {
        {"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
        {"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
    };
    int32_t of_exhausted = 0, of_any = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const char *remaining = header(from, limits[i].remaining), *reset = header(from, limits[i].reset);
        int32_t ms = reset ? duration(reset) : 0;
        if (ms > of_any)
            of_any = ms;
        if (remaining && strcmp(remaining, "0") == 0 && ms > of_exhausted)
            of_exhausted = ms;
    }
    return of_exhausted ? of_exhausted : of_any;
}

int32_t retry_hint_ms(const char *(*header)(const void *from, const char *name), const void *from, int64_t now_ms)
{
    const char *value = header(from, "retry-after-ms"), *rest;
    double ms;
    int32_t hint = value && number(value, &ms, &rest) && !*rest ? clamped(ms) : 0;
    if (!hint && (value = header(from, "retry-after")))
        hint = retry_after(value, now_ms);
    if (!hint)
        hint = longest_reset(header, from);
    if (!hint && (value = header(from, "x-ratelimit-reset")))
        hint = moment_or_duration(value, now_ms);
    return hint;
}
