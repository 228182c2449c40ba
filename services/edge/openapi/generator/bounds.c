#include "bounds.h"

#include "field_bounds.h"

#include <math.h>

#define TOKEN_PATTERN "^[A-Za-z0-9_-]*$"

static void bounds_write_text(const FieldProto *field, const Renga__V1__FieldBounds *bounds, bool item, cJSON *value)
{
    if (contract_field_is_json(field))
        return; /* may be the value itself instead of a text */
    if (bounds->required || item)
        cJSON_AddNumberToObject(value, "minLength", 1);
    if (bounds->bytes)
        cJSON_AddNumberToObject(value, "maxLength", bounds->bytes);
    if (bounds->form == RENGA__V1__FIELD_BOUNDS__FORM__FORM_TOKEN)
        cJSON_AddStringToObject(value, "pattern", TOKEN_PATTERN);
}

static void bounds_write_number(const Renga__V1__FieldBounds *bounds, cJSON *value)
{
    const char *least = bounds->required && bounds->min == 0 ? "exclusiveMinimum" : "minimum"; /* zero is missing */
    if (bounds->maybe_min_case)
        cJSON_AddNumberToObject(value, least, bounds->or_zero ? fmin(bounds->min, 0) : bounds->min);
    if (bounds->maybe_max_case)
        cJSON_AddNumberToObject(value, "maximum", bounds->or_zero ? fmax(bounds->max, 0) : bounds->max);
}

static void bounds_write_map(const Renga__V1__FieldBounds *bounds, cJSON *schema, cJSON *values)
{
    cJSON *keys = cJSON_AddObjectToObject(schema, "propertyNames");
    cJSON_AddNumberToObject(schema, "maxProperties", bounds->items);
    if (bounds->not_blank)
        cJSON_AddNumberToObject(keys, "minLength", 1);
    cJSON_AddNumberToObject(keys, "maxLength", bounds->key_bytes);
    cJSON_AddNumberToObject(values, "maxLength", bounds->bytes);
}

void bounds_write(const FieldProto *field, cJSON *schema)
{
    Renga__V1__FieldBounds *bounds = field_bounds(field);
    cJSON *items = cJSON_GetObjectItemCaseSensitive(schema, "items");
    if (bounds && bounds->key_bytes) {
        bounds_write_map(bounds, schema, cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties"));
    } else if (bounds) {
        if (items && bounds->required)
            cJSON_AddNumberToObject(schema, "minItems", 1);
        if (items && bounds->items)
            cJSON_AddNumberToObject(schema, "maxItems", bounds->items);
        if (field->type == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_STRING)
            bounds_write_text(field, bounds, items, items ? items : schema);
        else
            bounds_write_number(bounds, items ? items : schema);
    }
    renga__v1__field_bounds__free_unpacked(bounds, NULL);
}

bool bounds_require(const FieldProto *field)
{
    Renga__V1__FieldBounds *bounds = field_bounds(field);
    bool required = bounds && bounds->required && !field->has_oneof_index;
    renga__v1__field_bounds__free_unpacked(bounds, NULL);
    return required;
}
