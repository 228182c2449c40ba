/* Floats of JSON, to the nearest, by one division of exact doubles instead of strtof: vectors come as a million of
 * them. */
#include "json_private.h"

#include <stdlib.h>

#define DIGITS_MAX   19  /* any number with so many digits fits into a uint64_t */
#define POWER_MAX    22  /* powers of ten up to here are exact doubles */
#define EXPONENT_MAX 999 /* large enough for every case; no overflow */

static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number without its sign: digits times ten to the power of exponent. */
struct decimal {
    uint64_t digits;
    int count; /* of digits, leading zeros apart */
    int exponent;
};

static const char *pull_float_read_digits(const char *at, const char *end, struct decimal *decimal)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
        decimal->count += decimal->digits != 0;
    }
    return at;
}

/* Behind the 'e'. */
static int pull_float_read_exponent(const char *at, const char *end)
{
    int exponent = 0;
    bool negative = *at == '-';
    for (at += *at == '-' || *at == '+'; at < end && exponent < EXPONENT_MAX; at++)
        exponent = exponent * 10 + (*at - '0');
    return negative ? -exponent : exponent;
}

static struct decimal read_decimal(const char *at, const char *end)
{
    struct decimal decimal = {0};
    at = pull_float_read_digits(at + (*at == '-'), end, &decimal);
    if (at < end && *at == '.') {
        const char *point = at + 1;
        at = pull_float_read_digits(point, end, &decimal);
        decimal.exponent = (int)(point - at);
    }
    if (at < end)
        decimal.exponent += pull_float_read_exponent(at + 1, end);
    return decimal;
}

/* Converting the digits and dividing them rounds the double twice, together by one unit of its last place. That changes
 * the float only if the double lies right between two floats. Such doubles and longer numbers need the slow path. */
static bool is_sure(const struct decimal *decimal, double value)
{
    uint64_t bits, between = UINT64_C(1) << 28, below = (UINT64_C(1) << 29) - 1;
    memcpy(&bits, &value, sizeof bits);
    return (bits & below) - (between - 4) > 8 && decimal->count <= DIGITS_MAX;
}

static float slowly(const char *number, size_t length)
{
    char copy[JSON_NUMBER_MAX + 1];
    memcpy(copy, number, length);
    copy[length] = '\0';
    return strtof(copy, NULL);
}

static float float_of(const char *number, const char *end)
{
    struct decimal decimal = read_decimal(number, end);
    if (decimal.exponent < -POWER_MAX || decimal.exponent > POWER_MAX)
        return slowly(number, (size_t)(end - number));
    double exact = (double)decimal.digits;
    exact = decimal.exponent < 0 ? exact / powers[-decimal.exponent] : exact * powers[decimal.exponent];
    if (!is_sure(&decimal, exact))
        return slowly(number, (size_t)(end - number));
    return (float)(*number == '-' ? -exact : exact);
}

bool json_pull_float(struct json_pull *in, float *value)
{
    bool is_number = json_pull_kind(in) == JSON_NUMBER;
    const char *first = in->at;
    json_pull_skip(in);
    if (!is_number || in->broken)
        return false;
    *value = float_of(first, in->at);
    return true;
}
