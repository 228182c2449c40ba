#include "vector.h"

#include <math.h>
#include <openssl/evp.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "base64 holds floats with their low byte first");

#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool vector_keep(struct vector *vector, const float *values, size_t count, struct arena *arena)
{
    vector->values = arena_copy(arena, values, count * sizeof values[0]);
    vector->count = vector->values ? count : 0;
    return vector->values != NULL;
}

static bool read_numbers(struct vector *vector, struct json_pull *in, struct arena *arena)
{
    float values[VECTOR_DIMENSIONS_MAX];
    size_t count = 0;
    struct json_scope list;
    json_pull_array(in, &list);
    while (json_pull_next(in, &list)) {
        if (count == VECTOR_DIMENSIONS_MAX)
            json_pull_wrong(in, NULL, "is one more than the %d numbers that a vector may have", VECTOR_DIMENSIONS_MAX);
        else if (!json_pull_float(in, &values[count]))
            json_pull_wrong(in, NULL, "is no number");
        else if (!isfinite(values[count]))
            json_pull_wrong(in, NULL, "is too large for a float");
        else
            count++;
    }
    if (in->wrong || in->broken)
        return false;
    if (count == 0)
        json_pull_wrong(in, NULL, "has no numbers");
    return count > 0 && vector_keep(vector, values, count, arena);
}

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

/* EVP_DecodeBlock reads '=' as A in every position, and skips blanks at both ends: its input is checked before.
 * `text` ends in a byte outside of base64. Returns NULL, or the fault. */
static const char *find_fault(const char *text, size_t size, size_t *padding)
{
    size_t plain = strspn(text, BASE64);
    *padding = size - plain;
    if (size % 4 != 0 || *padding > 2 || strspn(text + plain, "=") != *padding)
        return "is not base64";
    size_t bytes = size / 4 * 3 - *padding;
    if (bytes == 0)
        return "has no numbers";
    if (bytes % sizeof(float) != 0)
        return "has bytes that are no whole number of floats";
    return bytes / sizeof(float) > VECTOR_DIMENSIONS_MAX ? "has more numbers than a vector may have" : NULL;
}

static bool vector_decode(struct vector *vector, struct json_pull *in, const char *text, size_t size,
                          struct arena *arena)
{
    size_t padding;
    const char *fault = find_fault(text, size, &padding);
    if (fault) {
        json_pull_wrong(in, NULL, "%s", fault);
        return false;
    }
    vector->values = arena_alloc(arena, size / 4 * 3);
    if (!vector->values)
        return false;
    vector->count = (size / 4 * 3 - padding) / sizeof(float);
    EVP_DecodeBlock((unsigned char *)vector->values, (const unsigned char *)text, (int)size);
    for (size_t i = 0; i < vector->count; i++)
        if (!isfinite(vector->values[i]))
            json_pull_wrong(in, NULL, "has an element %zu that is not a number", i);
    return !in->wrong;
}

bool vector_pull(struct vector *vector, struct json_pull *in, struct arena *arena)
{
    enum json_kind kind = json_pull_kind(in);
    *vector = (struct vector){0};
    if (kind == JSON_ARRAY)
        return read_numbers(vector, in, arena);
    if (kind == JSON_STRING) {
        /* Slashes and pluses come escaped from some (PHP, .NET). */
        size_t size;
        const char *text = json_pull_borrow(in, &size);
        return text && !in->broken && vector_decode(vector, in, text, size, arena);
    }
    json_pull_wrong(in, NULL, "is neither a list of numbers nor base64");
    return false;
}
