/* Texts of schemas and of their errors: places and types. */
#include "schema_private.h"

#include "base/text.h"
#include "json/writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define NAME_SHOWN_MAX 64 /* bytes of one name in a path */

static const struct {
    unsigned set;
    const char *name, *noun;
} types[] = {
    {SCHEMA_OBJECT, "object", "an object"},
    {SCHEMA_ARRAY, "array", "an array"},
    {SCHEMA_STRING, "string", "a string"},
    {SCHEMA_WHOLE | SCHEMA_FRACTION, "number", "a number"},
    {SCHEMA_WHOLE, "integer", "an integer"},
    {SCHEMA_FRACTION, NULL, "a number"}, /* that is no integer: only values have this type */
    {SCHEMA_BOOLEAN, "boolean", "true or false"},
    {SCHEMA_NULL, "null", "null"},
};

#define TYPES (sizeof types / sizeof types[0])

unsigned schema_type_named(const char *name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].name && strcmp(types[i].name, name) == 0)
            return types[i].set;
    return 0;
}

unsigned schema_type_of(const cJSON *value)
{
    switch (value->type & 0xFF) {
    case cJSON_NULL:
        return SCHEMA_NULL;
    case cJSON_True:
    case cJSON_False:
        return SCHEMA_BOOLEAN;
    case cJSON_Number:
        return floor(value->valuedouble) == value->valuedouble ? SCHEMA_WHOLE : SCHEMA_FRACTION;
    case cJSON_String:
        return SCHEMA_STRING;
    case cJSON_Array:
        return SCHEMA_ARRAY;
    default:
        return SCHEMA_OBJECT;
    }
}

void schema_types_print(unsigned set, struct buffer *out)
{
    const char *separator = "";
    for (size_t i = 0; i < TYPES && set; i++) {
        if ((set & types[i].set) != types[i].set)
            continue;
        set &= ~types[i].set;
        buffer_printf(out, "%s%s", separator, types[i].noun);
        unsigned rest = set & ~SCHEMA_FRACTION;
        separator = rest && (rest & (rest - 1)) == 0 ? " or " : ", ";
    }
}

static bool schema_words_is_plain(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    while (*at > 0x7F || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
           *at == '_' || *at == '$' || *at == '-')
        at++;
    return at > (const unsigned char *)name && *at == '\0';
}

static void print_place(const struct schema_place *place, struct buffer *out)
{
    if (!place)
        return;
    print_place(place->up, out);
    if (!place->name) {
        buffer_printf(out, "[%zu]", place->index);
        return;
    }
    size_t size = text_cut(place->name, strlen(place->name), NAME_SHOWN_MAX);
    if (schema_words_is_plain(place->name)) {
        buffer_print(out, out->length ? "." : "");
        buffer_append(out, place->name, size);
    } else {
        buffer_put(out, '[');
        json_append_string(out, place->name, size);
        buffer_put(out, ']');
    }
}

const char *schema_place_text(const struct schema_place *place, struct buffer *out)
{
    buffer_clear(out);
    print_place(place, out);
    if (out->length > SCHEMA_PATH_MAX) {
        out->length = text_cut(out->data, out->length, SCHEMA_PATH_MAX);
        buffer_print(out, "…");
    }
    return out->length ? buffer_text(out) : "(the whole)";
}

bool schema_refuse(struct status *st, const struct schema_place *place, const char *format, ...)
{
    struct status why;
    struct buffer path;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    buffer_init(&path, SIZE_MAX);
    fail(st, INVALID_ARGUMENT, "%s: %s", schema_place_text(place, &path), why.text);
    buffer_fini(&path);
    return false;
}

const struct schema_property *schema_property_find(const struct schema_node *node, const char *name)
{
    size_t low = 0, high = node->property_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, node->properties[middle].name);
        if (order == 0)
            return &node->properties[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
