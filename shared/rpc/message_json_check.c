/* A message that a person writes as JSON: each mistake is named with its place in the file. */
#include "rpc/message_json_priv.h"

#include "base/nearest.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool message_check_value(const struct json_document *document, const ProtobufCFieldDescriptor *field,
                                const cJSON *item, struct status *st);

static const ProtobufCFieldDescriptor *message_find_field(const ProtobufCMessageDescriptor *type, const char *key)
{
    char name[MESSAGE_JSON_KEY_MAX];
    for (unsigned i = 0; i < type->n_fields; i++) {
        message_json_key(&type->fields[i], name);
        if (strcmp(name, key) == 0)
            return &type->fields[i];
    }
    return NULL;
}

static bool no_such_key(const struct json_document *document, const ProtobufCMessageDescriptor *type, const cJSON *item,
                        struct status *st)
{
    struct nearest nearest = nearest_to(item->string);
    char names[64][MESSAGE_JSON_KEY_MAX];
    for (unsigned i = 0; i < type->n_fields && i < 64; i++) {
        message_json_key(&type->fields[i], names[i]);
        nearest_try(&nearest, names[i]);
    }
    return fail_at(document, item, st, "there is no '%.64s'; %s", item->string, nearest_hint(&nearest).text);
}

/* "email" for FIELD_TYPE_EMAIL. */
static bool message_name_ends_with(const char *name, const char *word)
{
    size_t length = strlen(name), ending = strlen(word);
    return ending && ending < length && name[length - ending - 1] == '_' &&
           strcasecmp(name + length - ending, word) == 0;
}

static bool check_enum(const struct json_document *document, const ProtobufCFieldDescriptor *field, const cJSON *item,
                       struct status *st)
{
    const ProtobufCEnumDescriptor *values = field->descriptor;
    const char *word = cJSON_GetStringValue(item);
    if (word && protobuf_c_enum_descriptor_get_value_by_name(values, word))
        return true;
    struct nearest nearest = nearest_to(word ? word : "");
    for (unsigned i = 0; i < values->n_values; i++)
        nearest_try(&nearest, values->values[i].name);
    for (unsigned i = 0; word && i < values->n_values; i++)
        if (message_name_ends_with(values->values[i].name, word))
            nearest.name = values->values[i].name;
    return fail_at(document, item, st, "'%s' is '%.64s', which is no %s; %s", field->name, word ? word : "no string",
                   values->short_name, nearest_hint(&nearest).text);
}

static bool message_number_is_whole(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble == trunc(item->valuedouble) &&
           fabs(item->valuedouble) <= INT32_MAX;
}

static bool check_type(const struct json_document *document, const ProtobufCFieldDescriptor *field, const cJSON *item,
                       bool good, const char *wanted, struct status *st)
{
    return good || fail_at(document, item, st, "'%s' must be %s", field->name, wanted);
}

static bool message_check_list(const struct json_document *document, const ProtobufCFieldDescriptor *field,
                               const cJSON *list, struct status *st)
{
    const cJSON *item;
    bool map = message_field_is_map(field);
    if (!check_type(document, field, list, map ? cJSON_IsObject(list) : cJSON_IsArray(list),
                    map ? "an object of strings" : "a list", st))
        return false;
    cJSON_ArrayForEach(item, list)
    {
        bool good = map ? check_type(document, field, item, cJSON_IsString(item), "an object of strings", st)
                        : message_check_value(document, field, item, st);
        if (!good)
            return false;
    }
    return true;
}

static bool message_check_value(const struct json_document *document, const ProtobufCFieldDescriptor *field,
                                const cJSON *item, struct status *st)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return message_field_is_json(field) || check_type(document, field, item, cJSON_IsString(item), "a string", st);
    case PROTOBUF_C_TYPE_BOOL:
        return check_type(document, field, item, cJSON_IsBool(item), "true or false", st);
    case PROTOBUF_C_TYPE_ENUM:
        return check_enum(document, field, item, st);
    case PROTOBUF_C_TYPE_INT32:
        return check_type(document, field, item, message_number_is_whole(item), "a whole number", st);
    case PROTOBUF_C_TYPE_MESSAGE:
        return check_type(document, field, item, cJSON_IsObject(item), "an object", st) &&
               message_check_json(document, field->descriptor, item, st);
    default:
        return true; /* message_read_json judges it */
    }
}

bool message_check_json(const struct json_document *document, const ProtobufCMessageDescriptor *type,
                        const cJSON *object, struct status *st)
{
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return fail_at(document, object, st, "must be an object, a %s", type->short_name);
    cJSON_ArrayForEach(item, object)
    {
        const ProtobufCFieldDescriptor *field = message_find_field(type, item->string);
        if (!field)
            return no_such_key(document, type, item, st);
        if (cJSON_IsNull(item))
            continue;
        if (!(field->label == PROTOBUF_C_LABEL_REPEATED ? message_check_list : message_check_value)(document, field,
                                                                                                    item, st))
            return false;
    }
    return true;
}
