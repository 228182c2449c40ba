/* A property of a form's schema as a field, and the values that it tests. */
#include "form/schema.h"

#include <stdio.h>
#include <string.h>

#include "json/number.h"

#define PLACE_MAX 320

/* ---- values ------------------------------------------------------------------------------------------------------ */

const char *schema_value(struct schema_reading *in, const char *place, const cJSON *value)
{
    char number[JSON_NUMBER_SIZE];
    const char *text = NULL;
    if (cJSON_IsBool(value))
        text = cJSON_IsTrue(value) ? "true" : "false";
    else if (cJSON_IsString(value))
        text = value->valuestring;
    char *copy = NULL;
    if (cJSON_IsNumber(value))
        copy = arena_strndup(in->arena, number, json_format_double(value->valuedouble, number));
    else if (text)
        copy = arena_strdup(in->arena, text);
    else
        schema_fail(in, place, "must be a text, a number, true or false");
    if (!copy && in->arena->exhausted)
        fail(in->st, RESOURCE_EXHAUSTED, "out of memory for the form's schema");
    return copy;
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static bool schema_add_choice(struct schema_reading *in, const char *place, Renga__V1__FormField *field,
                              const cJSON *value, const char *label)
{
    Renga__V1__FieldChoice *choice = arena_alloc(in->arena, sizeof(*choice));
    if (field->n_choices == FORM_FIELDS_MAX)
        return schema_fail(in, place, "there may be at most %d choices", FORM_FIELDS_MAX);
    const char *text = schema_value(in, place, value);
    if (!choice || !text)
        return false;
    renga__v1__field_choice__init(choice);
    choice->value = (char *)(uintptr_t)text;
    field->choices[field->n_choices++] = choice;
    return schema_text(in, label, &choice->label);
}

/* oneOf: [{"const": "a", "title": "A"}]. */
static bool schema_read_one_of(struct schema_reading *in, const char *place, const cJSON *list,
                               Renga__V1__FormField *field)
{
    for (const cJSON *item = list->child; item; item = item->next) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "const");
        const cJSON *title = cJSON_GetObjectItemCaseSensitive(item, "title");
        if (!cJSON_IsObject(item) || !value || (title && !cJSON_IsString(title)))
            return schema_fail(in, place, "must be an array of objects with const, and with title as a text");
        for (const cJSON *member = item->child; member; member = member->next) {
            if (member != value && member != title)
                return schema_fail(in, place, "unknown keyword '%.128s'; known are const and title", member->string);
        }
        if (!schema_add_choice(in, place, field, value, title ? title->valuestring : ""))
            return false;
    }
    return true;
}

/* The choices of enum or oneOf, if `schema` has either. */
static bool schema_read_choices(struct schema_reading *in, const char *place, const cJSON *schema,
                                Renga__V1__FormField *field)
{
    char name[PLACE_MAX];
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(schema, "enum");
    const cJSON *one_of = cJSON_GetObjectItemCaseSensitive(schema, "oneOf");
    snprintf(name, sizeof(name), "%.280s.%s", place, list ? "enum" : "oneOf");
    if (list && one_of)
        return schema_fail(in, name, "must not stand beside oneOf");
    if (!list && !one_of)
        return true;
    field->choices = arena_alloc(in->arena, FORM_FIELDS_MAX * sizeof(*field->choices));
    if (!field->choices)
        return fail(in->st, RESOURCE_EXHAUSTED, "out of memory for the form's schema");
    if (!cJSON_IsArray(list ? list : one_of) || !(list ? list : one_of)->child)
        return schema_fail(in, name, "must be an array with at least one value");
    if (one_of)
        return schema_read_one_of(in, name, one_of, field);
    for (const cJSON *item = list->child; item; item = item->next) {
        if (!schema_add_choice(in, name, field, item, ""))
            return false;
    }
    return true;
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

static bool schema_read_format(struct schema_reading *in, const char *place, const cJSON *format,
                               Renga__V1__FormField *field)
{
    static const struct {
        const char *name;
        int type;
    } formats[] = {{"date", FORM_TYPE(DATE)}, {"time", FORM_TYPE(TIME)},   {"email", FORM_TYPE(EMAIL)},
                   {"uri", FORM_TYPE(URL)},   {"phone", FORM_TYPE(PHONE)}, {"tel", FORM_TYPE(PHONE)}};
    if (!format)
        return true;
    for (size_t i = 0; cJSON_IsString(format) && i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(formats[i].name, format->valuestring) == 0) {
            field->type = formats[i].type;
            return true;
        }
    }
    return schema_fail(in, place, "the format '%.64s' is not known; known are date, time, email, uri and phone",
                       cJSON_IsString(format) ? format->valuestring : "");
}

static bool schema_read_items(struct schema_reading *in, const char *place, const cJSON *items,
                              Renga__V1__FormField *field)
{
    char name[PLACE_MAX];
    snprintf(name, sizeof(name), "%.280s.items", place);
    if (!cJSON_IsObject(items))
        return schema_fail(in, name, "an array needs items with enum or oneOf");
    for (const cJSON *member = items->child; member; member = member->next) {
        if (strcmp(member->string, "enum") != 0 && strcmp(member->string, "oneOf") != 0 &&
            strcmp(member->string, "type") != 0)
            return schema_fail(in, name, "unknown keyword '%.128s'; known are type, enum and oneOf", member->string);
    }
    if (!schema_read_choices(in, name, items, field))
        return false;
    field->type = FORM_TYPE(CHOICES);
    return field->n_choices > 0 || schema_fail(in, name, "an array needs items with enum or oneOf");
}

static bool schema_read_type(struct schema_reading *in, const char *place, const cJSON *property,
                             Renga__V1__FormField *field)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(property, "type");
    const char *name = cJSON_IsString(type) ? type->valuestring : type ? "" : "string";
    if (!schema_read_choices(in, place, property, field))
        return false;
    bool known = strcmp(name, "string") == 0 || strcmp(name, "number") == 0 || strcmp(name, "integer") == 0 ||
                 strcmp(name, "boolean") == 0 || strcmp(name, "array") == 0;
    if (!known)
        return schema_fail(in, place, "the type must be string, number, integer, boolean or array");
    if (strcmp(name, "array") == 0)
        return schema_read_items(in, place, cJSON_GetObjectItemCaseSensitive(property, "items"), field);
    if (cJSON_GetObjectItemCaseSensitive(property, "items"))
        return schema_fail(in, place, "only an array has items");
    field->type = FORM_TYPE(TEXT);
    if (strcmp(name, "number") == 0 || strcmp(name, "integer") == 0)
        field->type = FORM_TYPE(NUMBER);
    if (strcmp(name, "boolean") == 0)
        field->type = FORM_TYPE(YES_NO);
    field->limits->whole = strcmp(name, "integer") == 0 && field->n_choices == 0;
    if (field->n_choices > 0)
        field->type = FORM_TYPE(CHOICE);
    return schema_read_format(in, place, cJSON_GetObjectItemCaseSensitive(property, "format"), field);
}

/* ---- keywords ---------------------------------------------------------------------------------------------------- */

static bool schema_count(struct schema_reading *in, const char *place, const cJSON *value, int32_t *count)
{
    double number = cJSON_IsNumber(value) ? value->valuedouble : -1;
    if (number < 0 || number > 1e9 || number != (double)(int32_t)number)
        return schema_fail(in, place, "must be a whole number from 0 on");
    *count = (int32_t)number;
    return true;
}

static bool schema_bound(struct schema_reading *in, const char *place, const cJSON *value, char **bound)
{
    char number[JSON_NUMBER_SIZE];
    if (!cJSON_IsNumber(value))
        return schema_fail(in, place, "must be a number");
    /* Not 1e+30: a bound is written out. */
    size_t length = json_format_double(value->valuedouble, number);
    *bound = arena_strndup(in->arena, number, length);
    return *bound || fail(in->st, RESOURCE_EXHAUSTED, "out of memory for the form's schema");
}

/* Values of an array are joined as a person says them. */
static bool schema_default(struct schema_reading *in, const char *place, const cJSON *value, char **prefilled)
{
    const char *text = "";
    if (!cJSON_IsArray(value)) {
        text = schema_value(in, place, value);
        return text && schema_text(in, text, prefilled);
    }
    for (const cJSON *item = value->child; item && text; item = item->next) {
        const char *next = schema_value(in, place, item);
        if (!next)
            return false;
        text = arena_printf(in->arena, "%s%s%s", text, text[0] ? ", " : "", next);
    }
    return (text || fail(in->st, RESOURCE_EXHAUSTED, "out of memory for the form's schema")) &&
           schema_text(in, text, prefilled);
}

static bool schema_label(struct schema_reading *in, const char *place, const cJSON *value, char **text)
{
    if (!cJSON_IsString(value))
        return schema_fail(in, place, "must be a text");
    return schema_text(in, value->valuestring, text);
}

static bool schema_keyword(struct schema_reading *in, const char *place, const cJSON *value,
                           Renga__V1__FormField *field)
{
    Renga__V1__FieldLimits *limits = field->limits;
    const struct {
        const char *name;
        bool (*read)(struct schema_reading *, const char *, const cJSON *, char **);
        char **text;
    } texts[] = {{"title", schema_label, &field->label},      {"description", schema_label, &field->intent},
                 {"pattern", schema_label, &limits->pattern}, {"minimum", schema_bound, &limits->minimum},
                 {"maximum", schema_bound, &limits->maximum}, {"default", schema_default, &field->prefilled}};
    const struct {
        const char *name;
        int32_t *count;
    } counts[] = {{"minLength", &limits->min_length},
                  {"maxLength", &limits->max_length},
                  {"minItems", &limits->min_choices},
                  {"maxItems", &limits->max_choices}};
    static const char *const read_already[] = {"type", "enum", "oneOf", "items", "format", "$comment", "examples"};
    char name[PLACE_MAX];
    snprintf(name, sizeof(name), "%.180s.%.128s", place, value->string);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (strcmp(texts[i].name, value->string) == 0)
            return texts[i].read(in, name, value, texts[i].text);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        if (strcmp(counts[i].name, value->string) == 0)
            return schema_count(in, name, value, counts[i].count);
    }
    for (size_t i = 0; i < sizeof(read_already) / sizeof(*read_already); i++) {
        if (strcmp(read_already[i], value->string) == 0)
            return true;
    }
    if (strcmp(value->string, "uniqueItems") == 0 && cJSON_IsTrue(value)) /* choices are */
        return true;
    return schema_fail(in, place,
                       "unknown keyword '%.128s'; known are type, title, description, enum, oneOf, items, "
                       "format, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default",
                       value->string);
}

bool schema_read_property(struct schema_reading *in, const char *place, const cJSON *property, bool required)
{
    Renga__V1__FormField *field = arena_alloc(in->arena, sizeof(*field));
    Renga__V1__FieldLimits *limits = arena_alloc(in->arena, sizeof(*limits));
    if (!field || !limits)
        return fail(in->st, RESOURCE_EXHAUSTED, "out of memory for the form's schema");
    renga__v1__form_field__init(field);
    renga__v1__field_limits__init(limits);
    if (!cJSON_IsObject(property))
        return schema_fail(in, place, "must be an object");
    if (property->string[0] == '\0' || strlen(property->string) > 128)
        return schema_fail(in, place, "a property's name must be 1 to 128 bytes");
    field->limits = limits;
    field->required = required;
    if (!schema_text(in, property->string, &field->id) || !schema_text(in, property->string, &field->field_id) ||
        !schema_text(in, property->string, &field->label) || !schema_read_type(in, place, property, field))
        return false;
    for (const cJSON *item = property->child; item; item = item->next) {
        if (!schema_keyword(in, place, item, field))
            return false;
    }
    in->message->fields[in->message->n_fields++] = field;
    return true;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* A constant as the field's values are typed: a choice's is a text, a number's a number. */
static bool schema_write_constant(struct schema_reading *in, const char *place, const Renga__V1__FormField *field,
                                  const cJSON *value, const char *key, struct json_writer *out)
{
    bool typed = field->type == FORM_TYPE(NUMBER) || field->type == FORM_TYPE(YES_NO);
    const char *text = schema_value(in, place, value);
    if (!text)
        return false;
    if (typed && cJSON_IsNumber(value))
        json_write_double(out, key, value->valuedouble);
    else if (typed && cJSON_IsBool(value))
        json_write_bool(out, key, cJSON_IsTrue(value));
    else
        json_write_string(out, key, text);
    return true;
}

static bool schema_write_test(struct schema_reading *in, const char *place, const cJSON *test, struct json_writer *out)
{
    const cJSON *constant = cJSON_GetObjectItemCaseSensitive(test, "const");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(test, "enum");
    const Renga__V1__FormField *field = NULL;
    for (size_t i = 0; i < in->message->n_fields; i++) {
        if (strcmp(in->message->fields[i]->field_id, test->string) == 0)
            field = in->message->fields[i];
    }
    if (!field)
        return schema_fail(in, place, "'%.128s' is no property", test->string);
    if (!cJSON_IsObject(test) || !test->child || test->child->next || (!constant && !cJSON_IsArray(list)))
        return schema_fail(in, place, "'%.128s' must be tested by const or by enum alone", test->string);
    json_write_object(out, NULL);
    json_write_string(out, "field", field->field_id);
    if (constant) {
        if (!schema_write_constant(in, place, field, constant, "equals", out))
            return false;
    } else {
        json_write_array(out, "one_of");
        for (const cJSON *item = list->child; item; item = item->next) {
            if (!schema_write_constant(in, place, field, item, NULL, out))
                return false;
        }
        json_write_end(out);
    }
    json_write_end(out);
    return true;
}

bool schema_write_condition(struct schema_reading *in, const char *place, const cJSON *test, struct json_writer *out)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(test, "properties");
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(test, "required");
    if (!cJSON_IsObject(properties) || !properties->child)
        return schema_fail(in, place, "must have properties that are tested by const or enum");
    for (const cJSON *item = test->child; item; item = item->next) {
        if (item != properties && item != required)
            return schema_fail(in, place, "unknown keyword '%.128s'; `if` has properties and required", item->string);
    }
    json_write_object(out, NULL);
    json_write_array(out, "all");
    for (const cJSON *item = properties->child; item; item = item->next) {
        if (!schema_write_test(in, place, item, out))
            return false;
    }
    json_write_end(out);
    json_write_end(out);
    return true;
}
