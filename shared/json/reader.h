/* Reads fields of a checked tree into C; errors name the path of the field.
 *
 *     struct json_reader in = json_reader_of(root, st);
 *     const cJSON *choice = json_element(&in, json_array(&in, root, "choices"), 0);
 *     const char *text = json_string(&in, json_object(&in, choice, "message"), "content");
 *     int64_t tokens = json_integer_or(&in, json_object(&in, root, "usage"), "total_tokens", 0, INT32_MAX, 0);
 *     if (in.failed)
 *         return false;   // "choices[0].message.content: must be a string, not a number"
 *
 * The first failure fills the status, and then every getter returns an empty value at once: a caller reads all fields
 * and checks once at the end. Values are borrowed from the tree. The `_or` variants return `fallback` for a missing or
 * null field; a field of the wrong type fails in both. */
#ifndef RENGA_JSON_READER_H
#define RENGA_JSON_READER_H

#include "json/json.h"

#include <stdint.h>

struct json_reader {
    const cJSON *root; /* the root of paths */
    struct status *st;
    bool failed;
};

struct json_reader json_reader_of(const cJSON *root, struct status *st);

const char *json_string(struct json_reader *in, const cJSON *object, const char *name);
const char *json_string_or(struct json_reader *in, const cJSON *object, const char *name, const char *fallback);

/* A whole number within min and max. Beyond ±2^53 a double does not hold every integer, so larger numbers fail. */
int64_t json_integer(struct json_reader *in, const cJSON *object, const char *name, int64_t min, int64_t max);
int64_t json_integer_or(struct json_reader *in, const cJSON *object, const char *name, int64_t min, int64_t max,
                        int64_t fallback);

double json_double(struct json_reader *in, const cJSON *object, const char *name);
double json_double_or(struct json_reader *in, const cJSON *object, const char *name, double fallback);
bool json_boolean(struct json_reader *in, const cJSON *object, const char *name);
bool json_boolean_or(struct json_reader *in, const cJSON *object, const char *name, bool fallback);

/* NULL after a failure; the getters accept NULL for `object` then. */
const cJSON *json_object(struct json_reader *in, const cJSON *object, const char *name);
const cJSON *json_array(struct json_reader *in, const cJSON *object, const char *name);
/* NULL also if the field is missing or null: check before reading from it. */
const cJSON *json_object_or_null(struct json_reader *in, const cJSON *object, const char *name);
const cJSON *json_array_or_null(struct json_reader *in, const cJSON *object, const char *name);

/* An element of an array, which must be an object; fails if the array is shorter. */
const cJSON *json_element(struct json_reader *in, const cJSON *array, int index);

/* Fails for a reason of the caller's own, naming the path of `item`. Always false. */
bool json_reader_fail(struct json_reader *in, const cJSON *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
