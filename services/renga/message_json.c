/* Any message as JSON, after its descriptor: for --json. */
#include "orchestra.h"

#include "base/json_writer.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)64 << 20)
#define NAME_MAX_BYTES 128
#define JSON_SUFFIX    "_json"

static void write_message(struct json_writer *out, const char *key, const ProtobufCMessage *message);

/* "output_json" is written as the value "output". */
static bool is_json(const char *name)
{
    size_t length = strlen(name), suffix = strlen(JSON_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, JSON_SUFFIX) == 0;
}

static void write_string(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                         const char *text)
{
    if (is_json(field->name) && json_check(text, strlen(text), NULL, &(struct status){0}))
        json_write_raw(out, key, text, strlen(text));
    else
        json_write_string(out, key, text);
}

static void write_enum(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field, int number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(field->descriptor, number);
    if (value)
        json_write_string(out, key, value->name);
    else
        json_write_int(out, key, number);
}

/* One value of the field. */
static void write_value(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                        const void *value)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        json_write_int(out, key, *(const int32_t *)value);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        json_write_int(out, key, *(const int64_t *)value);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        json_write_bool(out, key, *(const protobuf_c_boolean *)value);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(out, key, field, *(const int *)value);
        break;
    case PROTOBUF_C_TYPE_STRING:
        write_string(out, key, field, *(const char *const *)value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        write_message(out, key, *(const ProtobufCMessage *const *)value);
        break;
    default: /* the contract of the orchestrator has no others */
        json_write_null(out, key);
        break;
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return sizeof(int64_t);
    default:
        return sizeof(int32_t);
    }
}

static bool is_map(const ProtobufCFieldDescriptor *field)
{
    const char *suffix = "Entry";
    if (field->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;
    const char *name = ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name;
    size_t length = strlen(name);
    return length > strlen(suffix) && strcmp(name + length - strlen(suffix), suffix) == 0;
}

struct map_entry {
    ProtobufCMessage base;
    const char *key, *value;
};

static void write_list(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                       const char *values, size_t count)
{
    bool map = is_map(field);
    (map ? json_write_object : json_write_array)(out, key);
    for (size_t i = 0; i < count; i++) {
        const void *value = values + i * size_of(field);
        const struct map_entry *entry = map ? *(const struct map_entry *const *)value : NULL;
        if (map)
            json_write_string(out, entry->key, entry->value);
        else
            write_value(out, NULL, field, value);
    }
    json_write_end(out);
}

/* Whether it is there: not zero, or the member of its oneof that is set. */
static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const void *value)
{
    static const int64_t zero;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *(const unsigned *)((const char *)message + field->quantifier_offset) == field->id;
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return **(const char *const *)value != '\0';
    return memcmp(value, &zero, size_of(field)) != 0;
}

static void write_field(struct json_writer *out, const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    char name[NAME_MAX_BYTES];
    const char *value = (const char *)message + field->offset;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(field->name) - (is_json(field->name) ? strlen(JSON_SUFFIX) : 0)),
             field->name);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = *(const size_t *)((const char *)message + field->quantifier_offset);
        if (count)
            write_list(out, name, field, *(const char *const *)value, count);
    } else if (is_set(message, field, value)) {
        write_value(out, name, field, value);
    }
}

static void write_message(struct json_writer *out, const char *key, const ProtobufCMessage *message)
{
    json_write_object(out, key);
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        write_field(out, message, &message->descriptor->fields[i]);
    json_write_end(out);
}

void message_print_json(const ProtobufCMessage *message)
{
    struct buffer line;
    struct json_writer out;
    buffer_init(&line, LINE_MAX_BYTES);
    json_writer_init(&out, &line);
    write_message(&out, NULL, message);
    puts(buffer_text(&line));
    fflush(stdout);
    buffer_fini(&line);
}
