/* The shortest decimal form of a float, without trial reads: a double is precise enough to tell the distance of a
 * decimal from the float, and the largest allowed distance. A million numbers of an answer take a few milliseconds each
 * way. */
#include "number.h"

#include <math.h>
#include <string.h>

#define DIGITS_MAX    9  /* as many always read back */
#define DECIMALS_MAX  17 /* written without an exponent */
#define EXACT_MAX     22 /* powers of ten up to here are exact doubles */
#define NINE_DIGITS   1e9
#define SCALING_ERROR 1e-6 /* of a number of nine digits: three roundings of a double are less */

static const double powers[EXACT_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double scale(double value, int exponent)
{
    for (; exponent > EXACT_MAX; exponent -= EXACT_MAX)
        value *= powers[EXACT_MAX];
    for (; exponent < -EXACT_MAX; exponent += EXACT_MAX)
        value /= powers[EXACT_MAX];
    return exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
}

/* digits times ten to the power of exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Half way to the float below, which is never farther than the one above: a decimal that is nearer reads back. */
static double reach_of(float value)
{
    uint32_t bits;
    float below;
    memcpy(&bits, &value, sizeof bits);
    bits--;
    memcpy(&below, &bits, sizeof below);
    return ((double)value - (double)below) / 2;
}

/* The power of ten of the first digit, or the one below it. `value` is above 0. */
static int magnitude_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int two = (int)(bits >> 52) - 1023;
    return (two * 1233) / 4096 - (two < 0); /* log10(2) */
}

/* `value` is above 0 and finite. */
static struct decimal shortest(float value)
{
    int exponent = magnitude_of((double)value) - (DIGITS_MAX - 1);
    double nine = scale((double)value, -exponent);
    if (nine >= NINE_DIGITS)
        nine = scale((double)value, -++exponent);
    double reach = scale(reach_of(value), -exponent) - SCALING_ERROR;
    struct decimal decimal = {.digits = (uint64_t)(nine + 0.5), .exponent = exponent};
    for (int zeros = 1; zeros <= DIGITS_MAX; zeros++) { /* each a digit less; the last rounds 9.99 up to 10 */
        uint64_t digits = (uint64_t)(nine / powers[zeros] + 0.5);
        if (fabs((double)digits * powers[zeros] - nine) >= reach)
            break;
        decimal = (struct decimal){.digits = digits, .exponent = exponent + zeros};
    }
    return decimal;
}

/* 1.25e-20: a point behind the first digit. */
static size_t format_exponent(const struct decimal *decimal, char *out)
{
    char digits[JSON_NUMBER_SIZE];
    size_t length = json_format_uint(decimal->digits, digits), written = 0;
    int exponent = decimal->exponent + (int)length - 1;
    out[written++] = digits[0];
    if (length > 1)
        out[written++] = '.';
    memcpy(out + written, digits + 1, length - 1);
    written += length - 1;
    out[written++] = 'e';
    out[written++] = exponent < 0 ? '-' : '+';
    return written + json_format_uint((uint64_t)(exponent < 0 ? -exponent : exponent), out + written);
}

size_t json_format_float(float value, char *out)
{
    size_t sign = signbit(value) ? 1 : 0;
    if (!isfinite(value)) {
        memcpy(out, "null", 4);
        return 4;
    }
    *out = '-';
    if (value == 0)
        return sign + json_format_uint(0, out + sign);
    struct decimal decimal = shortest(fabsf(value));
    if (decimal.exponent < -DECIMALS_MAX || fabsf(value) >= (float)NINE_DIGITS)
        return sign + format_exponent(&decimal, out + sign);
    while (decimal.exponent > 0) {
        decimal.digits *= 10;
        decimal.exponent--;
    }
    return sign + json_format_fixed(decimal.digits, (unsigned)-decimal.exponent, out + sign);
}
