#include "rpc/message_json_priv.h"

#include "base/memory.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JSON_SUFFIX "_json"

/* ---- fields ------------------------------------------------------------------------------------------------------ */

void message_json_key(const ProtobufCFieldDescriptor *field, char key[MESSAGE_JSON_KEY_MAX])
{
    size_t length = strlen(field->name) - (message_field_is_json(field) ? strlen(JSON_SUFFIX) : 0);
    snprintf(key, MESSAGE_JSON_KEY_MAX, "%.*s", (int)length, field->name);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_string(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                         const char *text)
{
    if (message_field_is_json(field) && json_check(text, strlen(text), NULL, &(struct status){0}))
        json_write_raw(out, key, text, strlen(text));
    else
        json_write_string(out, key, text);
}

bool message_write_json_number(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                               const void *value)
{
    const ProtobufCEnumValue *name;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        json_write_int(out, key, *(const int32_t *)value);
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        json_write_bool(out, key, *(const protobuf_c_boolean *)value);
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        name = protobuf_c_enum_descriptor_get_value(field->descriptor, *(const int *)value);
        if (name)
            json_write_string(out, key, name->name);
        else
            json_write_int(out, key, *(const int *)value);
        return true;
    default:
        return false;
    }
}

/* A single value of the field. */
static void message_json_write_value(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                                     const void *value)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        json_write_int(out, key, *(const int64_t *)value);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        json_write_double(out, key, *(const double *)value);
        break;
    case PROTOBUF_C_TYPE_STRING:
        write_string(out, key, field, *(const char *const *)value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        message_write_json(out, key, *(const ProtobufCMessage *const *)value);
        break;
    default: /* messages that are shown or kept as JSON have no other type that this does not write */
        if (!message_write_json_number(out, key, field, value))
            json_write_null(out, key);
        break;
    }
}

static void message_json_write_list(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                                    const char *values, size_t count)
{
    bool map = message_field_is_map(field);
    (map ? json_write_object : json_write_array)(out, key);
    for (size_t i = 0; i < count; i++) {
        const void *value = values + i * message_field_size(field);
        const struct message_map_entry *entry = map ? *(const struct message_map_entry *const *)value : NULL;
        if (map)
            json_write_string(out, entry->key, entry->value);
        else
            message_json_write_value(out, NULL, field, value);
    }
    json_write_end(out);
}

static void message_json_write_field(struct json_writer *out, const ProtobufCMessage *message,
                                     const ProtobufCFieldDescriptor *field)
{
    char key[MESSAGE_JSON_KEY_MAX];
    const char *value = (const char *)message + field->offset;
    message_json_key(field, key);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = *message_field_count(message, field);
        if (count)
            message_json_write_list(out, key, field, *(const char *const *)value, count);
    } else if (message_field_is_set(message, field)) {
        message_json_write_value(out, key, field, value);
    }
}

void message_write_json(struct json_writer *out, const char *key, const ProtobufCMessage *message)
{
    json_write_object(out, key);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        message_json_write_field(out, message, &message->descriptor->fields[i]);
    json_write_end(out);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool message_json_no_memory(struct status *st)
{
    return fail_memory(st, "what the JSON says");
}

static bool message_json_wrong(const ProtobufCFieldDescriptor *field, const char *wanted, struct status *st)
{
    return fail_field(st, field->name, "must be %s", wanted);
}

static bool read_string(const ProtobufCFieldDescriptor *field, const cJSON *item, struct arena *arena, char **text,
                        struct status *st)
{
    struct buffer json;
    struct json_writer writer;
    if (message_field_is_json(field)) {
        buffer_init(&json, JSON_BYTES_DEFAULT);
        json_writer_init(&writer, &json);
        json_write_tree(&writer, NULL, item);
        *text = json.failed ? NULL : arena_strdup(arena, buffer_text(&json));
        buffer_fini(&json);
    } else if (cJSON_IsString(item)) {
        *text = arena_strdup(arena, item->valuestring);
    } else {
        return message_json_wrong(field, "a string", st);
    }
    return *text || message_json_no_memory(st);
}

static bool read_enum(const ProtobufCFieldDescriptor *field, const cJSON *item, int *number, struct status *st)
{
    const ProtobufCEnumDescriptor *values = field->descriptor;
    const ProtobufCEnumValue *value =
        cJSON_IsString(item) ? protobuf_c_enum_descriptor_get_value_by_name(values, item->valuestring) : NULL;
    if (!value)
        return fail_field(st, field->name, "must be one of %s, such as \"%s\"", values->short_name,
                          values->values[values->n_values - 1].name);
    *number = value->value;
    return true;
}

/* Whole, and as large as a double has every number: 2^53. */
static bool message_json_read_integer(const ProtobufCFieldDescriptor *field, const cJSON *item, void *value,
                                      struct status *st)
{
    bool wide = message_field_size(field) == sizeof(int64_t);
    double most = wide ? 9007199254740992.0 : 2147483647.0, number = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    if (!(fabs(number) <= most) || number != trunc(number))
        return message_json_wrong(field,
                                  wide ? "a whole number of at most 53 bits" : "a whole number of at most 31 bits", st);
    if (wide)
        *(int64_t *)value = (int64_t)number;
    else
        *(int32_t *)value = (int32_t)number;
    return true;
}

static bool message_json_read_value(const ProtobufCFieldDescriptor *field, const cJSON *item, struct arena *arena,
                                    void *value, struct status *st)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return read_string(field, item, arena, value, st);
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)value = message_read_json(field->descriptor, item, arena, st);
        return *(ProtobufCMessage **)value;
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(field, item, value, st);
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)value = cJSON_IsTrue(item);
        return cJSON_IsBool(item) || message_json_wrong(field, "true or false", st);
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)value = cJSON_IsNumber(item) ? item->valuedouble : 0;
        return cJSON_IsNumber(item) || message_json_wrong(field, "a number", st);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_INT64:
        return message_json_read_integer(field, item, value, st);
    default:
        return message_json_wrong(field, "left out: JSON does not carry it", st);
    }
}

static bool message_json_read_map(const ProtobufCFieldDescriptor *field, const cJSON *item, struct arena *arena,
                                  void *at, struct status *st)
{
    struct message_map_entry *entry = arena_alloc(arena, sizeof *entry);
    if (!entry)
        return message_json_no_memory(st);
    protobuf_c_message_init(field->descriptor, entry);
    if (!cJSON_IsString(item))
        return message_json_wrong(field, "an object of strings", st);
    entry->key = arena_strdup(arena, item->string);
    entry->value = arena_strdup(arena, item->valuestring);
    *(struct message_map_entry **)at = entry;
    return (entry->key && entry->value) || message_json_no_memory(st);
}

static bool message_json_read_list(const ProtobufCFieldDescriptor *field, const cJSON *list, struct arena *arena,
                                   ProtobufCMessage *message, struct status *st)
{
    bool map = message_field_is_map(field);
    if (map ? !cJSON_IsObject(list) : !cJSON_IsArray(list))
        return message_json_wrong(field, map ? "an object" : "a list", st);
    size_t count = (size_t)cJSON_GetArraySize(list), done = 0;
    char *values = arena_zalloc(arena, count * message_field_size(field));
    if (!values)
        return message_json_no_memory(st);
    for (const cJSON *item = list->child; item; item = item->next, done++) {
        void *at = values + done * message_field_size(field);
        if (!(map ? message_json_read_map : message_json_read_value)(field, item, arena, at, st))
            return false;
    }
    *message_field_count(message, field) = count;
    *(char **)((char *)message + field->offset) = values;
    return true;
}

static bool message_json_read_field(const ProtobufCFieldDescriptor *field, const cJSON *object, struct arena *arena,
                                    ProtobufCMessage *message, struct status *st)
{
    char key[MESSAGE_JSON_KEY_MAX];
    message_json_key(field, key);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item || cJSON_IsNull(item))
        return true;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return message_json_read_list(field, item, arena, message, st);
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        *message_field_chosen(message, field) = field->id;
    return message_json_read_value(field, item, arena, (char *)message + field->offset, st);
}

ProtobufCMessage *message_read_json(const ProtobufCMessageDescriptor *type, const cJSON *object, struct arena *arena,
                                    struct status *st)
{
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);
    if (!cJSON_IsObject(object) || !message) {
        fail(st, message ? INVALID_ARGUMENT : RESOURCE_EXHAUSTED,
             message ? "what is to be a %s is no object" : "no memory for a %s", type->short_name);
        return NULL;
    }
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++)
        if (!message_json_read_field(&type->fields[i], object, arena, message, st))
            return NULL;
    return message;
}
