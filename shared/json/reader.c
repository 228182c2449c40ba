/* cJSON keeps no parents, so a path is searched from the root, and only after a failure. */
#include "json/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53 */

struct path {
    char text[STATUS_FIELD_MAX];
    size_t length;
};

struct json_reader json_reader_of(const cJSON *root, struct status *st)
{
    return (struct json_reader){.root = root, .st = st};
}

static void path_name(struct path *path, const char *name)
{
    size_t room = sizeof path->text - path->length;
    int length = snprintf(path->text + path->length, room, "%s%s", path->length > 0 ? "." : "", name);
    path->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void path_index(struct path *path, int index)
{
    size_t room = sizeof path->text - path->length;
    int length = snprintf(path->text + path->length, room, "[%d]", index);
    path->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Extends `path`, which leads to `from`, to lead to `item`. */
static bool reader_find(const cJSON *from, const cJSON *item, struct path *path)
{
    if (from == item)
        return true;
    int index = 0;
    for (const cJSON *child = from->child; child != NULL; child = child->next, index++) {
        struct path deeper = *path;
        if (cJSON_IsArray(from))
            path_index(&deeper, index);
        else
            path_name(&deeper, child->string);
        if (reader_find(child, item, &deeper)) {
            *path = deeper;
            return true;
        }
    }
    return false;
}

static const char *type_name(const cJSON *item)
{
    switch (item->type & 0xFF) {
    case cJSON_Object:
        return "an object";
    case cJSON_Array:
        return "an array";
    case cJSON_String:
        return "a string";
    case cJSON_Number:
        return "a number";
    case cJSON_True:
    case cJSON_False:
        return "a boolean";
    default:
        return "null";
    }
}

__attribute__((format(printf, 4, 5))) static void wrong(struct json_reader *in, const cJSON *item, const char *name,
                                                        const char *format, ...)
{
    struct path path = {.length = 0};
    struct status why;
    va_list arguments;
    if (in->failed)
        return;
    in->failed = true;
    if (in->root != NULL && item != NULL)
        reader_find(in->root, item, &path);
    if (name != NULL)
        path_name(&path, name);
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    fail_field(in->st, path.length > 0 ? path.text : "(the whole)", "%s", why.text);
}

bool json_reader_fail(struct json_reader *in, const cJSON *item, const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    wrong(in, item, NULL, "%s", why.text);
    return false;
}

/* The field; NULL if it is missing or null (an error only if it is required), or after an earlier failure. */
static const cJSON *field(struct json_reader *in, const cJSON *object, const char *name, bool required)
{
    if (in->failed)
        return NULL;
    if (!cJSON_IsObject(object)) {
        wrong(in, object, NULL, "must be an object, not %s", object == NULL ? "missing" : type_name(object));
        return NULL;
    }
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item != NULL && !cJSON_IsNull(item))
        return item;
    if (required)
        wrong(in, object, name, item == NULL ? "is missing" : "is null");
    return NULL;
}

static const cJSON *reader_typed(struct json_reader *in, const cJSON *object, const char *name, bool required,
                                 int types, const char *wanted)
{
    const cJSON *item = field(in, object, name, required);
    if (item == NULL || (item->type & types))
        return item;
    wrong(in, item, NULL, "must be %s, not %s", wanted, type_name(item));
    return NULL;
}

const char *json_string(struct json_reader *in, const cJSON *object, const char *name)
{
    const cJSON *item = reader_typed(in, object, name, true, cJSON_String, "a string");
    return item != NULL ? item->valuestring : "";
}

const char *json_string_or(struct json_reader *in, const cJSON *object, const char *name, const char *fallback)
{
    const cJSON *item = reader_typed(in, object, name, false, cJSON_String, "a string");
    return item != NULL ? item->valuestring : fallback;
}

static int64_t reader_integer(struct json_reader *in, const cJSON *item, int64_t min, int64_t max, int64_t otherwise)
{
    if (item == NULL)
        return otherwise;
    double value = item->valuedouble;
    if (!(value > -EXACT_MAX && value < EXACT_MAX) || value != (double)(int64_t)value)
        wrong(in, item, NULL, "must be a whole number, not %.17g", value);
    else if ((int64_t)value < min || (int64_t)value > max)
        wrong(in, item, NULL, "is %lld, must be within %lld and %lld", (long long)value, (long long)min,
              (long long)max);
    return in->failed ? otherwise : (int64_t)value;
}

int64_t json_integer(struct json_reader *in, const cJSON *object, const char *name, int64_t min, int64_t max)
{
    return reader_integer(in, reader_typed(in, object, name, true, cJSON_Number, "a number"), min, max, 0);
}

int64_t json_integer_or(struct json_reader *in, const cJSON *object, const char *name, int64_t min, int64_t max,
                        int64_t fallback)
{
    return reader_integer(in, reader_typed(in, object, name, false, cJSON_Number, "a number"), min, max, fallback);
}

double json_double(struct json_reader *in, const cJSON *object, const char *name)
{
    const cJSON *item = reader_typed(in, object, name, true, cJSON_Number, "a number");
    return item != NULL ? item->valuedouble : 0;
}

double json_double_or(struct json_reader *in, const cJSON *object, const char *name, double fallback)
{
    const cJSON *item = reader_typed(in, object, name, false, cJSON_Number, "a number");
    return item != NULL ? item->valuedouble : fallback;
}

bool json_boolean(struct json_reader *in, const cJSON *object, const char *name)
{
    const cJSON *item = reader_typed(in, object, name, true, cJSON_True | cJSON_False, "a boolean");
    return item != NULL && cJSON_IsTrue(item);
}

bool json_boolean_or(struct json_reader *in, const cJSON *object, const char *name, bool fallback)
{
    const cJSON *item = reader_typed(in, object, name, false, cJSON_True | cJSON_False, "a boolean");
    return item != NULL ? cJSON_IsTrue(item) : fallback;
}

const cJSON *json_object(struct json_reader *in, const cJSON *object, const char *name)
{
    return reader_typed(in, object, name, true, cJSON_Object, "an object");
}

const cJSON *json_array(struct json_reader *in, const cJSON *object, const char *name)
{
    return reader_typed(in, object, name, true, cJSON_Array, "an array");
}

const cJSON *json_object_or_null(struct json_reader *in, const cJSON *object, const char *name)
{
    return reader_typed(in, object, name, false, cJSON_Object, "an object");
}

const cJSON *json_array_or_null(struct json_reader *in, const cJSON *object, const char *name)
{
    return reader_typed(in, object, name, false, cJSON_Array, "an array");
}

const cJSON *json_element(struct json_reader *in, const cJSON *array, int index)
{
    if (in->failed)
        return NULL;
    const cJSON *item = cJSON_GetArrayItem(array, index);
    if (item == NULL)
        wrong(in, array, NULL, "has %d elements, needs more than %d", cJSON_GetArraySize(array), index);
    else if (!cJSON_IsObject(item))
        wrong(in, item, NULL, "must be an object, not %s", type_name(item));
    return in->failed ? NULL : item;
}
