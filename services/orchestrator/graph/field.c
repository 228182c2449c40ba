/* Which values a field may have. */
#include "graph.h"

#include "base/nearest.h"

#include <math.h>
#include <string.h>

#define INTEGER_MAX 9007199254740991.0 /* beyond it a double does not hold every integer */
#define SHOWN       64                 /* bytes of a name or value in an error */

static const char *const one[] = {
    [FIELD_STRING] = "a string",   [FIELD_INTEGER] = "a whole number", [FIELD_NUMBER] = "a number",
    [FIELD_BOOLEAN] = "a boolean", [FIELD_OBJECT] = "an object",       [FIELD_ANY] = "any value",
};
static const char *const many[] = {
    [FIELD_STRING] = "a list of strings", [FIELD_INTEGER] = "a list of whole numbers",
    [FIELD_NUMBER] = "a list of numbers", [FIELD_BOOLEAN] = "a list of booleans",
    [FIELD_OBJECT] = "a list of objects", [FIELD_ANY] = "a list",
};

const char *field_type_words(enum field_type type, bool list)
{
    return list ? many[type] : one[type];
}

static const char *what_is(const cJSON *value)
{
    switch (value->type & 0xFF) {
    case cJSON_NULL:
        return "null";
    case cJSON_String:
        return "a string";
    case cJSON_Number:
        return "a number";
    case cJSON_Array:
        return "a list";
    case cJSON_Object:
        return "an object";
    default:
        return "a boolean";
    }
}

static bool has_type(enum field_type type, const cJSON *value)
{
    switch (type) {
    case FIELD_STRING:
        return cJSON_IsString(value);
    case FIELD_INTEGER:
        return cJSON_IsNumber(value) && value->valuedouble == trunc(value->valuedouble) &&
               fabs(value->valuedouble) <= INTEGER_MAX;
    case FIELD_NUMBER:
        return cJSON_IsNumber(value);
    case FIELD_BOOLEAN:
        return cJSON_IsBool(value);
    case FIELD_OBJECT:
        return cJSON_IsObject(value);
    case FIELD_ANY:
        return true;
    }
    return false;
}

bool field_allows(const struct field *field, const char *text)
{
    for (size_t i = 0; i < field->value_count; i++)
        if (strcmp(field->values[i], text) == 0)
            return true;
    return !field->values;
}

static bool refuse_value(const struct field *field, const char *text, struct status *st)
{
    struct nearest nearest = nearest_to(text);
    for (size_t i = 0; i < field->value_count; i++)
        nearest_try(&nearest, field->values[i]);
    if (nearest.name)
        return fail(st, INVALID_ARGUMENT, "may not be '%.*s'; did you mean '%s'?", SHOWN, text, nearest.name);
    return fail(st, INVALID_ARGUMENT, "may not be '%.*s'; its \"values\" are '%s'%s", SHOWN, text, field->values[0],
                field->value_count > 1 ? " and others" : "");
}

bool field_item_fits(const struct field *field, const cJSON *item, struct status *st)
{
    if (!has_type(field->type, item))
        return fail(st, INVALID_ARGUMENT, "must be %s, not %s", one[field->type],
                    field->type == FIELD_INTEGER && cJSON_IsNumber(item) ? "one with a fraction or beyond 2^53"
                                                                         : what_is(item));
    return !cJSON_IsString(item) || field_allows(field, item->valuestring) ||
           refuse_value(field, item->valuestring, st);
}

bool field_fits(const struct field *field, const cJSON *value, struct status *st)
{
    struct status why = {0};
    size_t index = 0;
    if (!field->list)
        return field_item_fits(field, value, st);
    if (!cJSON_IsArray(value))
        return fail(st, INVALID_ARGUMENT, "must be %s, not %s", many[field->type], what_is(value));
    for (const cJSON *item = value->child; item; item = item->next, index++)
        if (!field_item_fits(field, item, &why))
            return fail(st, INVALID_ARGUMENT, "[%zu] %s", index, why.text);
    return true;
}

const char *graph_field_nearest(const struct graph *graph, const char *name)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < graph->field_count; i++)
        nearest_try(&nearest, graph->fields[i].name);
    return nearest.name;
}

const struct field *graph_field_wanted(const struct graph *graph, const char *name, struct status *st)
{
    const struct field *field = graph_field(graph, name);
    if (field)
        return field;
    const char *nearest = graph_field_nearest(graph, name);
    if (nearest)
        fail(st, NOT_FOUND, "there is no field '%.*s'; did you mean '%s'?", SHOWN, name, nearest);
    else
        fail(st, NOT_FOUND, "there is no field '%.*s' in the state of '%s'; declare it there", SHOWN, name,
             graph->name);
    return NULL;
}
