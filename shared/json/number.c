/* Decimal forms of numbers, shortest that read back the same. */
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALED_MAX   1e15 /* an integer up to here and half of it are exact */
#define DECIMALS_MAX 17   /* of the quick way; powers of ten up to 1e22 are exact doubles */

static const double powers[DECIMALS_MAX + 1] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

size_t json_format_uint(uint64_t value, char *out)
{
    char digits[JSON_NUMBER_SIZE];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t json_format_int(int64_t value, char *out)
{
    if (value >= 0)
        return json_format_uint((uint64_t)value, out);
    *out = '-';
    return 1 + json_format_uint(-(uint64_t)value, out + 1);
}

size_t json_format_fixed(uint64_t scaled, unsigned decimals, char *out)
{
    char digits[JSON_NUMBER_SIZE];
    size_t length = json_format_uint(scaled, digits), written = 0;
    if (decimals == 0) {
        memcpy(out, digits, length);
        return length;
    }
    size_t whole = length > decimals ? length - decimals : 0;
    if (whole == 0)
        out[written++] = '0';
    memcpy(out + written, digits, whole);
    written += whole;
    out[written++] = '.';
    for (size_t zeros = length < decimals ? decimals - length : 0; zeros > 0; zeros--)
        out[written++] = '0';
    memcpy(out + written, digits + whole, length - whole);
    return written + length - whole;
}

/* The slow path: numbers with an exponent or with all their digits. */
static size_t format_digits(double value, int digits, char *out)
{
    for (;; digits++) {
        int length = snprintf(out, JSON_NUMBER_SIZE, "%.*g", digits, value);
        if (digits >= DBL_DECIMAL_DIG || strtod(out, NULL) == value)
            return (size_t)length;
    }
}

/* The quick way: n decimals are right if the digits as an integer, divided by 10^n, give the value. Both are exact
 * doubles, so the division rounds exactly as reading the decimal form does. */
size_t json_format_double(double value, char *out)
{
    double magnitude = fabs(value);
    size_t sign = signbit(value) ? 1 : 0;
    if (!isfinite(value)) {
        memcpy(out, "null", 4);
        return 4;
    }
    *out = '-';
    for (unsigned decimals = 0; decimals <= DECIMALS_MAX; decimals++) {
        double scaled = magnitude * powers[decimals];
        if (!(scaled < SCALED_MAX))
            break;
        uint64_t rounded = (uint64_t)(scaled + 0.5);
        if ((double)rounded / powers[decimals] == magnitude)
            return sign + json_format_fixed(rounded, decimals, out + sign);
    }
    bool needs_all = magnitude >= 1e-2 && magnitude < SCALED_MAX;
    return format_digits(value, needs_all ? DBL_DECIMAL_DIG - 1 : 1, out);
}
