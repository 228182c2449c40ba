#include "vector.h"

#include <math.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "base64 holds floats with their low byte first");

#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

#define DIGITS_MAX 19 /* that a uint64_t holds, whichever they are */
#define POWER_MAX  22 /* powers of ten up to here are exact doubles */

static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number without its sign: digits times ten to the power of exponent. */
struct decimal {
    uint64_t digits;
    int count; /* of digits, leading zeros apart */
    int exponent;
};

static const char *read_digits(const char *at, struct decimal *decimal)
{
    for (; *at >= '0' && *at <= '9'; at++) {
        decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
        decimal->count += decimal->digits != 0;
    }
    return at;
}

static const char *read_exponent(const char *at, struct decimal *decimal)
{
    char *end;
    if (*at != 'e' && *at != 'E')
        return at;
    long exponent = strtol(at + 1, &end, 10);
    if (exponent < -POWER_MAX * 4 || exponent > POWER_MAX * 4)
        exponent = exponent < 0 ? -POWER_MAX * 4 : POWER_MAX * 4; /* out of reach of the quick way, and no overflow */
    decimal->exponent += (int)exponent;
    return end;
}

/* Converting the digits and dividing them round a double twice, by one unit of its last place together. That moves a
 * float only where the double stands right between two floats; of those and of longer numbers nothing is known. */
static bool is_sure(const struct decimal *decimal, double value)
{
    uint64_t bits, between = UINT64_C(1) << 28, below = (UINT64_C(1) << 29) - 1;
    memcpy(&bits, &value, sizeof bits);
    return (bits & below) - (between - 4) > 8 && decimal->count <= DIGITS_MAX;
}

const char *vector_read_float(const char *text, float *value)
{
    struct decimal decimal = {0};
    const char *point = read_digits(text + (*text == '-'), &decimal), *at = point;
    if (*point == '.') {
        at = read_digits(point + 1, &decimal);
        decimal.exponent = (int)(point + 1 - at);
    }
    at = read_exponent(at, &decimal);
    if (decimal.exponent >= -POWER_MAX && decimal.exponent <= POWER_MAX) {
        double exact = (double)decimal.digits;
        exact = decimal.exponent < 0 ? exact / powers[-decimal.exponent] : exact * powers[decimal.exponent];
        *value = (float)(*text == '-' ? -exact : exact);
        if (is_sure(&decimal, exact))
            return at;
    }
    *value = strtof(text, NULL);
    return at;
}

static bool is_number(char first)
{
    return first == '-' || (first >= '0' && first <= '9');
}

static bool read_numbers(struct vector *vector, struct pull *in, struct arena *arena, struct status *st)
{
    float values[VECTOR_DIMENSIONS_MAX];
    size_t count = 0;
    for (; pull_next(in); count++) {
        if (!is_number(pull_kind(in)))
            return fail(st, DATA_LOSS, "element %zu is no number", count);
        if (count == VECTOR_DIMENSIONS_MAX)
            return fail(st, DATA_LOSS, "has more than %d numbers", VECTOR_DIMENSIONS_MAX);
        in->at = vector_read_float(in->at, &values[count]);
        if (!isfinite(values[count]))
            return fail(st, DATA_LOSS, "element %zu is too large for a float", count);
    }
    vector->count = count;
    vector->values = arena_copy(arena, values, count * sizeof values[0]);
    return vector->values || fail(st, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
}

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

static bool all_finite(const struct vector *vector, struct status *st)
{
    for (size_t i = 0; i < vector->count; i++)
        if (!isfinite(vector->values[i]))
            return fail(st, DATA_LOSS, "element %zu is not a number", i);
    return true;
}

/* EVP_DecodeBlock takes a '=' anywhere for an A, and blanks at both ends for nothing: what it is given is looked at
 * before. `text` ends in a byte that is not of base64. */
static bool decode(struct vector *vector, const char *text, size_t size, struct arena *arena, struct status *st)
{
    size_t plain = strspn(text, BASE64), padding = size - plain, bytes = size / 4 * 3 - padding;
    if (size % 4 != 0 || padding > 2 || strspn(text + plain, "=") != padding)
        return fail(st, DATA_LOSS, "is not base64");
    if (bytes % sizeof(float) != 0)
        return fail(st, DATA_LOSS, "has %zu bytes, which are no whole number of floats", bytes);
    vector->count = bytes / sizeof(float);
    if (vector->count > VECTOR_DIMENSIONS_MAX)
        return fail(st, DATA_LOSS, "has more than %d numbers", VECTOR_DIMENSIONS_MAX);
    vector->values = arena_alloc(arena, bytes + padding);
    if (!vector->values)
        return fail(st, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
    EVP_DecodeBlock((unsigned char *)vector->values, (const unsigned char *)text, (int)size);
    return all_finite(vector, st);
}

/* Slashes and pluses come escaped from some (PHP, .NET). */
static bool read_base64(struct vector *vector, struct pull *in, struct arena *arena, struct status *st)
{
    struct pull before = *in;
    struct pull_text text = pull_string(in);
    if (!text.escaped)
        return decode(vector, text.bytes, text.size, arena, st);
    cJSON *tree = pull_tree(&before);
    bool good = tree ? decode(vector, tree->valuestring, strlen(tree->valuestring), arena, st)
                     : fail(st, RESOURCE_EXHAUSTED, "no memory for a vector");
    cJSON_Delete(tree);
    return good;
}

bool vector_pull(struct vector *vector, struct pull *in, struct arena *arena, struct status *st)
{
    char kind = pull_kind(in);
    *vector = (struct vector){0};
    if (kind != '"' && kind != '[')
        return fail(st, DATA_LOSS, "is neither a list of numbers nor base64");
    bool good =
        kind == '"' ? read_base64(vector, in, arena, st) : pull_enter(in, '[') && read_numbers(vector, in, arena, st);
    return good && (vector->count > 0 || fail(st, DATA_LOSS, "has no numbers"));
}
