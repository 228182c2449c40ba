/* Single values from their text. */
#include "transcode.h"

#include "base/nearest.h"
#include "base64.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53: beyond it a double does not hold every integer */

static bool scalar_is_wrong(char why[TRANSCODE_WHY_MAX], const char *wanted)
{
    snprintf(why, TRANSCODE_WHY_MAX, "must be %s", wanted);
    return false;
}

/* Digits from `at` on; NULL without one. */
static const char *digits_end(const char *at)
{
    size_t length = strspn(at, "0123456789");
    return length ? at + length : NULL;
}

/* A number as JSON writes it: no sign '+', no blank, no leading zero. `*whole` without a point and an exponent. */
static bool number_is_valid(const char *text, bool *whole)
{
    const char *first = text + (*text == '-'), *at = digits_end(first);
    *whole = true;
    if (!at || (*first == '0' && at > first + 1))
        return false;
    if (*at == '.') {
        *whole = false;
        if (!(at = digits_end(at + 1)))
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        *whole = false;
        at++;
        at += *at == '+' || *at == '-';
        if (!(at = digits_end(at)))
            return false;
    }
    return *at == '\0';
}

static bool read_signed(const char *text, long long least, long long most, long long *value)
{
    bool whole;
    if (!number_is_valid(text, &whole))
        return false;
    errno = 0;
    double real = whole ? 0 : strtod(text, NULL);
    if (!whole && !(fabs(real) <= EXACT_MAX && real == trunc(real)))
        return false;
    *value = whole ? strtoll(text, NULL, 10) : (long long)real;
    return errno == 0 && *value >= least && *value <= most;
}

static bool read_unsigned(const char *text, unsigned long long most, unsigned long long *value)
{
    bool whole;
    if (!number_is_valid(text, &whole))
        return false;
    errno = 0;
    double real = whole ? 0 : strtod(text, NULL);
    if (!whole && !(real >= 0 && real <= EXACT_MAX && real == trunc(real)))
        return false;
    if (whole && *text == '-')
        return strtod(text, NULL) == 0 && (*value = 0, true);
    *value = whole ? strtoull(text, NULL, 10) : (unsigned long long)real;
    return errno == 0 && *value <= most;
}

static bool read_double(const char *text, bool is_float, double *value)
{
    static const struct {
        const char *name;
        double value;
    } others[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    bool whole;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(text, others[i].name) == 0) {
            *value = others[i].value;
            return true;
        }
    if (!number_is_valid(text, &whole))
        return false;
    *value = strtod(text, NULL);
    return isfinite(is_float ? (double)(float)*value : *value);
}

/* "succeeded" is the end of RUN_STATE_SUCCEEDED, in any case of letters. */
static bool scalar_is_end(const char *name, const char *text)
{
    size_t length = strlen(name), end = strlen(text);
    return end && end < length && name[length - end - 1] == '_' && strcasecmp(name + length - end, text) == 0;
}

static bool scalar_enum(const ProtobufCEnumDescriptor *values, const char *text, int *number,
                        char why[TRANSCODE_WHY_MAX])
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(values, text);
    long long wide;
    if (value) {
        *number = value->value;
        return true;
    }
    if (read_signed(text, INT32_MIN, INT32_MAX, &wide)) {
        *number = (int)wide;
        return true;
    }
    struct nearest nearest = nearest_to(text);
    for (unsigned i = 0; i < values->n_values; i++) {
        nearest_try(&nearest, values->values[i].name);
        if (!nearest.name && scalar_is_end(values->values[i].name, text))
            nearest.name = values->values[i].name;
    }
    snprintf(why, TRANSCODE_WHY_MAX, "is no %s; %s", values->short_name, nearest_hint(&nearest).text);
    return false;
}

static bool scalar_bytes(const char *text, ProtobufCBinaryData *bytes, struct arena *arena, char why[TRANSCODE_WHY_MAX])
{
    size_t length = strlen(text);
    bytes->data = arena_alloc(arena, length / 4 * 3 + 3);
    if (bytes->data && base64_decode(text, length, bytes->data, &bytes->len))
        return true;
    return scalar_is_wrong(why, bytes->data ? "bytes in base64" : "shorter: there is no memory for it");
}

static bool scalar_boolean(const char *text, protobuf_c_boolean *value, char why[TRANSCODE_WHY_MAX])
{
    *value = strcmp(text, "true") == 0;
    return *value || strcmp(text, "false") == 0 || scalar_is_wrong(why, "true or false");
}

bool transcode_scalar(const ProtobufCFieldDescriptor *field, const char *text, void *at, struct arena *arena,
                      char why[TRANSCODE_WHY_MAX])
{
    long long wide;
    unsigned long long natural;
    double real;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        if (!read_signed(text, INT32_MIN, INT32_MAX, &wide))
            return scalar_is_wrong(why, "a whole number from -2147483648 to 2147483647");
        *(int32_t *)at = (int32_t)wide;
        return true;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        if (!read_signed(text, INT64_MIN, INT64_MAX, &wide))
            return scalar_is_wrong(why, "a whole number of 64 bits, best written as a string");
        *(int64_t *)at = wide;
        return true;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        if (!read_unsigned(text, UINT32_MAX, &natural))
            return scalar_is_wrong(why, "a whole number from 0 to 4294967295");
        *(uint32_t *)at = (uint32_t)natural;
        return true;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        if (!read_unsigned(text, UINT64_MAX, &natural))
            return scalar_is_wrong(why, "a whole number of 64 bits that is not negative, best written as a string");
        *(uint64_t *)at = natural;
        return true;
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_double(text, false, at) || scalar_is_wrong(why, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
    case PROTOBUF_C_TYPE_FLOAT:
        if (!read_double(text, true, &real))
            return scalar_is_wrong(why, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
        *(float *)at = (float)real;
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        return scalar_boolean(text, at, why);
    case PROTOBUF_C_TYPE_ENUM:
        return scalar_enum(field->descriptor, text, at, why);
    case PROTOBUF_C_TYPE_BYTES:
        return scalar_bytes(text, at, arena, why);
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = arena_strdup(arena, text);
        return *(char **)at || scalar_is_wrong(why, "shorter: there is no memory for it");
    default:
        return scalar_is_wrong(why, "an object; name its fields");
    }
}
