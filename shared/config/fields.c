#include "config/fields.h"

#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACE_MAX     512 /* bytes of "FILE:LINE:COLUMN" */
#define KNOWN_MAX     256 /* bytes of all names of a table */
#define SHOWN         64  /* bytes of a name in an error */
#define MICROS_IN_USD 1e6

/* ---- one value --------------------------------------------------------------------------------------------------- */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return true;
    return false;
}

static bool fields_check_text(const struct fields_in *in, const struct field *field, const cJSON *item,
                              const char *text)
{
    size_t most = field->option.max ? (size_t)field->option.max : FIELD_TEXT_MAX;
    if (strlen(text) > most)
        return fail_at(in->document, item, in->st, "%s has %zu bytes; at most %zu are allowed", field->option.name,
                       strlen(text), most);
    if (has_control(text))
        return fail_at(in->document, item, in->st, "%s has a control character; leave it out", field->option.name);
    return true;
}

static void fields_put(void *into, const struct field *field, const struct config_item *value)
{
    void *at = (char *)into + field->at;
    int32_t narrow = (int32_t)value->number;
    bool truth = value->number != 0;
    struct field_list list = {value->list, value->count};
    if (value->text)
        memcpy(at, &value->text, sizeof value->text);
    else if (field->option.type == OPTION_LIST)
        memcpy(at, &list, sizeof list);
    else if (field->size == sizeof truth)
        memcpy(at, &truth, sizeof truth);
    else if (field->size == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &value->number, sizeof value->number);
}

/* Line and column of a value are computed only for errors. A missing file or variable of a key is an error of the
 * document too. */
static bool refuse_option(const struct fields_in *in, const struct field *field, const cJSON *item)
{
    char place[PLACE_MAX];
    size_t line, column;
    struct config_item value;
    struct status why = {0};
    json_document_position(in->document, item, &line, &column);
    snprintf(place, sizeof place, "%s:%zu:%zu", in->document->name, line, column);
    config_read_item(in->values, &field->option, item, place, &value, &why);
    return fail(in->st, why.code == RESOURCE_EXHAUSTED ? why.code : INVALID_ARGUMENT, "%s", why.text);
}

static bool fields_read_option(const struct fields_in *in, const struct field *field, const cJSON *item, void *into)
{
    struct config_item value;
    struct status ignored;
    if (!config_read_item(in->values, &field->option, item, "", &value, &ignored))
        return refuse_option(in, field, item);
    if (value.text && !fields_check_text(in, field, item, value.text))
        return false;
    fields_put(into, field, &value);
    return true;
}

static bool read_usd(const struct fields_in *in, const struct field *field, const cJSON *item, void *into)
{
    const struct option *option = &field->option;
    if (!cJSON_IsNumber(item))
        return fail_at(in->document, item, in->st, "%s must be a number of USD, such as 0.4", option->name);
    double micros = item->valuedouble * MICROS_IN_USD;
    if (!(micros >= (double)option->min && micros <= (double)option->max))
        return fail_at(in->document, item, in->st, "%s is %g USD; must be within %g and %g", option->name,
                       item->valuedouble, (double)option->min / MICROS_IN_USD, (double)option->max / MICROS_IN_USD);
    fields_put(into, field, &(struct config_item){.number = llround(micros)});
    return true;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static const struct field *fields_find_field(const struct field *table, const char *name)
{
    for (; table->option.name; table++)
        if (strcmp(table->option.name, name) == 0)
            return table;
    return NULL;
}

static bool fields_refuse_key(const struct fields_in *in, const cJSON *item, const struct field *table)
{
    char known[KNOWN_MAX] = "";
    struct nearest nearest = nearest_to(item->string);
    for (const struct field *field = table; field->option.name; field++) {
        size_t length = strlen(known);
        nearest_try(&nearest, field->option.name);
        snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", field->option.name);
    }
    if (nearest.name)
        return fail_at(in->document, item, in->st, "unknown key '%.*s'; did you mean '%s'?", SHOWN, item->string,
                       nearest.name);
    return fail_at(in->document, item, in->st, "unknown key '%.*s'; there are %s", SHOWN, item->string, known);
}

static bool fields_check_object(const struct fields_in *in, const cJSON *object)
{
    return cJSON_IsObject(object) || fail_at(in->document, object, in->st, "%s%smust be an object, {…}",
                                             object->string ? object->string : "", object->string ? ": " : "");
}

bool fields_read(const struct fields_in *in, const cJSON *object, const struct field *table, void *into)
{
    const cJSON *item;
    if (!fields_check_object(in, object))
        return false;
    cJSON_ArrayForEach(item, object)
    {
        const struct field *field = fields_find_field(table, item->string);
        if (!field)
            return fields_refuse_key(in, item, table);
        if (field->kind == FIELD_OPTION && !fields_read_option(in, field, item, into))
            return false;
        if (field->kind == FIELD_USD && !read_usd(in, field, item, into))
            return false;
    }
    return true;
}

static bool fields_check_name(const struct fields_in *in, const cJSON *item, size_t most)
{
    size_t length = strlen(item->string);
    if (length == 0 || length > most)
        return fail_at(in->document, item, in->st, "a name has %zu bytes; 1 to %zu are allowed", length, most);
    return !has_control(item->string) ||
           fail_at(in->document, item, in->st, "a name has a control character; leave it out");
}

bool fields_each(const struct fields_in *in, const cJSON *object, size_t most, size_t name_max,
                 bool (*read)(const struct fields_in *in, const cJSON *item, size_t index, void *data), void *data)
{
    const cJSON *item;
    size_t index = 0;
    if (!fields_check_object(in, object))
        return false;
    cJSON_ArrayForEach(item, object)
    {
        if (index == most)
            return fail_at(in->document, item, in->st, "%s: more than %zu are not allowed", object->string, most);
        if (!fields_check_name(in, item, name_max) || !read(in, item, index++, data))
            return false;
    }
    return true;
}

size_t fields_count(const cJSON *object, size_t most)
{
    size_t count = (size_t)cJSON_GetArraySize(object);
    return count < most ? count : most;
}
