/* A form as a JSON Schema: an object's properties in their order, and if/then for those that wait for others.
 *
 * `then` makes its own properties fields that are asked only while `if` holds; a property of the object that `then`
 * requires and the object does not is asked and required only then. */
#include "form/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_BYTES_MAX ((size_t)262144)
#define SCHEMA_PLACE_MAX 320

bool schema_fail(struct schema_reading *in, const char *place, const char *format, ...)
{
    char text[STATUS_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return fail_field(in->st, "form.schema_json", "%s%s%s", place, place[0] ? ": " : "", text);
}

static bool schema_exhausted(struct schema_reading *in)
{
    return fail(in->st, RESOURCE_EXHAUSTED, "the form's schema takes more than the %zu bytes that the call may use",
                in->arena->limit);
}

bool schema_text(struct schema_reading *in, const char *text, char **copy)
{
    *copy = arena_strdup(in->arena, text);
    return *copy || schema_exhausted(in);
}

static bool schema_names(const cJSON *required, const char *name)
{
    for (const cJSON *item = required ? required->child : NULL; item; item = item->next) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
            return true;
    }
    return false;
}

static int schema_find(const struct schema_reading *in, const char *name)
{
    for (size_t i = 0; i < in->message->n_fields; i++) {
        if (strcmp(in->message->fields[i]->field_id, name) == 0)
            return (int)i;
    }
    return -1;
}

/* A list of texts, each the name of a field once the properties are read. */
static bool schema_check_required(struct schema_reading *in, const char *place, const cJSON *required)
{
    if (!required)
        return true;
    if (!cJSON_IsArray(required))
        return schema_fail(in, place, "must be an array of names");
    for (const cJSON *item = required->child; item; item = item->next) {
        if (!cJSON_IsString(item))
            return schema_fail(in, place, "must be an array of names");
        if (schema_find(in, item->valuestring) < 0)
            return schema_fail(in, place, "'%.128s' is no property", item->valuestring);
    }
    return true;
}

static bool schema_read_properties(struct schema_reading *in, const char *place, const cJSON *properties,
                                   const cJSON *required)
{
    char name[SCHEMA_PLACE_MAX];
    if (!cJSON_IsObject(properties))
        return schema_fail(in, place, "must be an object whose members are the questions");
    for (const cJSON *property = properties->child; property; property = property->next) {
        snprintf(name, sizeof(name), "%s.%.128s", place, property->string);
        if (in->message->n_fields == FORM_FIELDS_MAX)
            return schema_fail(in, name, "there may be at most %d properties", FORM_FIELDS_MAX);
        if (schema_find(in, property->string) >= 0)
            return schema_fail(in, name, "the property stands in the schema twice; `then` may only add properties");
        if (!schema_read_property(in, name, property, schema_names(required, property->string)))
            return false;
    }
    return true;
}

/* ---- if and then ------------------------------------------------------------------------------------------------- */

static bool schema_wait(struct schema_reading *in, const char *place, size_t field, const cJSON *test)
{
    size_t *count = &in->condition_counts[field];
    if (*count == sizeof(in->conditions[0]) / sizeof(in->conditions[0][0]))
        return schema_fail(in, place, "the field '%s' waits for more than %zu conditions",
                           in->message->fields[field]->field_id, *count);
    in->conditions[field][(*count)++] = test;
    return true;
}

static bool schema_read_then(struct schema_reading *in, const char *place, const cJSON *test, const cJSON *then,
                             const cJSON *root_required)
{
    char name[SCHEMA_PLACE_MAX];
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(then, "properties");
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(then, "required");
    if (!cJSON_IsObject(then))
        return schema_fail(in, place, "`if` needs a `then` that is an object");
    for (const cJSON *item = then->child; item; item = item->next) {
        if (item != properties && item != required)
            return schema_fail(in, place, "unknown keyword '%.128s'; `then` has properties and required", item->string);
    }
    size_t first = in->message->n_fields;
    snprintf(name, sizeof(name), "%.200s.properties", place);
    if (properties && !schema_read_properties(in, name, properties, required))
        return false;
    for (size_t i = first; i < in->message->n_fields; i++) {
        if (!schema_wait(in, place, i, test))
            return false;
    }
    snprintf(name, sizeof(name), "%.200s.required", place);
    if (!schema_check_required(in, name, required))
        return false;
    for (const cJSON *item = required ? required->child : NULL; item; item = item->next) {
        size_t field = (size_t)schema_find(in, item->valuestring);
        if (field >= first || schema_names(root_required, item->valuestring))
            continue;
        in->message->fields[field]->required = true;
        if (!schema_wait(in, name, field, test))
            return false;
    }
    return true;
}

static bool schema_read_if(struct schema_reading *in, const char *place, const cJSON *schema,
                           const cJSON *root_required)
{
    char name[SCHEMA_PLACE_MAX];
    const cJSON *test = cJSON_GetObjectItemCaseSensitive(schema, "if");
    snprintf(name, sizeof(name), "%.200s%sthen", place, place[0] ? "." : "");
    const cJSON *then = cJSON_GetObjectItemCaseSensitive(schema, "then");
    if (!test)
        return !then || schema_fail(in, name, "needs an `if` beside it");
    return schema_read_then(in, name, test, then, root_required);
}

/* allOf: only conditions, so that a form may have several. */
static bool schema_read_all(struct schema_reading *in, const cJSON *all, const cJSON *root_required)
{
    char name[SCHEMA_PLACE_MAX];
    size_t i = 0;
    if (!all)
        return true;
    if (!cJSON_IsArray(all))
        return schema_fail(in, "allOf", "must be an array of objects with if and then");
    for (const cJSON *item = all->child; item; item = item->next, i++) {
        snprintf(name, sizeof(name), "allOf[%zu]", i);
        for (const cJSON *member = item->child; member; member = member->next) {
            if (!member->string || (strcmp(member->string, "if") != 0 && strcmp(member->string, "then") != 0))
                return schema_fail(in, name, "unknown keyword '%.128s'; allOf has objects with if and then",
                                   member->string ? member->string : "");
        }
        if (!schema_read_if(in, name, item, root_required))
            return false;
    }
    return true;
}

static bool schema_write_conditions(struct schema_reading *in, size_t field)
{
    struct buffer out;
    struct json_writer writer;
    size_t count = in->condition_counts[field];
    bool written = true;
    if (count == 0)
        return true;
    buffer_init(&out, SCHEMA_BYTES_MAX);
    json_writer_init(&writer, &out);
    if (count > 1) {
        json_write_object(&writer, NULL);
        json_write_array(&writer, "any");
    }
    for (size_t i = 0; i < count && written; i++)
        written = schema_write_condition(in, "if", in->conditions[field][i], &writer);
    for (unsigned end = 0; written && count > 1 && end < 2; end++)
        json_write_end(&writer);
    if (written)
        written = (json_writer_done(&writer) &&
                   schema_text(in, buffer_text(&out), &in->message->fields[field]->only_if_json)) ||
                  schema_exhausted(in);
    buffer_fini(&out);
    return written;
}

/* ---- the object -------------------------------------------------------------------------------------------------- */

static bool schema_check_keywords(struct schema_reading *in, const cJSON *root)
{
    static const char *const known[] = {
        "type",    "title", "description", "properties",           "required", "if", "then", "allOf",
        "$schema", "$id",   "$comment",    "additionalProperties", NULL};
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(root, "type");
    const cJSON *more = cJSON_GetObjectItemCaseSensitive(root, "additionalProperties");
    if (!cJSON_IsObject(root) || (type && (!cJSON_IsString(type) || strcmp(type->valuestring, "object") != 0)))
        return schema_fail(in, "type", "the schema must be of an object whose properties are the questions");
    if (more && !cJSON_IsBool(more))
        return schema_fail(in, "additionalProperties", "must be true or false");
    for (const cJSON *item = root->child; item; item = item->next) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], item->string) != 0)
            i++;
        if (!known[i])
            return schema_fail(in, "",
                               "unknown keyword '%.128s'; known are type, title, description, properties, "
                               "required, if, then and allOf",
                               item->string);
    }
    return true;
}

static bool schema_read_object(struct schema_reading *in, const cJSON *root)
{
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(root, "title");
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(root, "required");
    if (title && !cJSON_IsString(title))
        return schema_fail(in, "title", "must be a text");
    if (title && !in->message->title[0] && !schema_text(in, title->valuestring, &in->message->title))
        return false;
    if (!schema_read_properties(in, "properties", cJSON_GetObjectItemCaseSensitive(root, "properties"), required) ||
        !schema_read_if(in, "", root, required) ||
        !schema_read_all(in, cJSON_GetObjectItemCaseSensitive(root, "allOf"), required) ||
        !schema_check_required(in, "required", required))
        return false;
    for (size_t i = 0; i < in->message->n_fields; i++) {
        if (!schema_write_conditions(in, i))
            return false;
    }
    return true;
}

bool form_read_schema(struct arena *arena, Renga__V1__SessionForm *message, struct status *st)
{
    struct status wrong = {0};
    size_t length = strlen(message->schema_json);
    if (length > SCHEMA_BYTES_MAX)
        return fail_field(st, "form.schema_json", "must be at most %zu bytes, not %zu", SCHEMA_BYTES_MAX, length);
    if (message->n_fields > 0)
        return fail_field(st, "form.schema_json", "must be empty where there are form.fields");
    struct schema_reading *in = arena_zalloc(arena, sizeof(*in));
    message->fields = arena_zalloc(arena, FORM_FIELDS_MAX * sizeof(*message->fields));
    if (!in || !message->fields)
        return fail(st, RESOURCE_EXHAUSTED, "out of memory for the form's schema");
    *in = (struct schema_reading){.arena = arena, .st = st, .message = message};
    cJSON *root = json_parse(message->schema_json, length, NULL, &wrong);
    if (!root)
        return fail_field(st, "form.schema_json", "%s", wrong.text);
    bool read = schema_check_keywords(in, root) && schema_read_object(in, root);
    cJSON_Delete(root);
    return read && schema_text(in, "", &message->schema_json);
}
