/* Messages as JSON. */
#include "transcode.h"

#include "base64.h"
#include "rpc/message_field.h"
#include "rpc/message_json.h"
#include "json/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_wide(struct json_writer *out, const char *key, const void *value, bool is_signed)
{
    char text[JSON_NUMBER_SIZE];
    size_t length =
        is_signed ? json_format_int(*(const int64_t *)value, text) : json_format_uint(*(const uint64_t *)value, text);
    json_write_text(out, key, text, length);
}

static void write_real(struct json_writer *out, const char *key, double value, bool is_float)
{
    if (isnan(value))
        json_write_string(out, key, "NaN");
    else if (isinf(value))
        json_write_string(out, key, value > 0 ? "Infinity" : "-Infinity");
    else if (is_float)
        json_write_float(out, key, (float)value);
    else
        json_write_double(out, key, value);
}

static void transcode_write_bytes(struct json_writer *out, const char *key, const ProtobufCBinaryData *bytes)
{
    size_t length = BASE64_SIZE(bytes->len);
    char *text = malloc(length + 1);
    if (text)
        base64_encode(bytes->data, bytes->len, text);
    json_write_text(out, key, text ? text : "", text ? length : 0);
    out->out->failed |= !text;
    free(text);
}

static void transcode_write_value(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                                  const void *value)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        json_write_uint(out, key, *(const uint32_t *)value);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        write_wide(out, key, value, true);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        write_wide(out, key, value, false);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        write_real(out, key, (double)*(const float *)value, true);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        write_real(out, key, *(const double *)value, false);
        break;
    case PROTOBUF_C_TYPE_STRING:
        json_write_string(out, key, *(const char *const *)value ? *(const char *const *)value : "");
        break;
    case PROTOBUF_C_TYPE_BYTES:
        transcode_write_bytes(out, key, value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        transcode_write(out, key, *(const ProtobufCMessage *const *)value);
        break;
    default:
        message_write_json_number(out, key, field, value);
        break;
    }
}

static void transcode_write_list(struct json_writer *out, const char *key, const ProtobufCFieldDescriptor *field,
                                 const char *values, size_t count)
{
    size_t size = message_field_size(field);
    json_write_array(out, key);
    for (size_t i = 0; i < count; i++)
        transcode_write_value(out, NULL, field, values + i * size);
    json_write_end(out);
}

static void transcode_write_map(struct json_writer *out, const char *key, const struct message_map_entry *const *rows,
                                size_t count)
{
    json_write_object(out, key);
    for (size_t i = 0; i < count; i++)
        json_write_string(out, rows[i]->key, rows[i]->value);
    json_write_end(out);
}

/* Absent fields are a missing message and an unset member of a oneof. All other fields are written. */
static bool write_is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    bool has_presence = field->type == PROTOBUF_C_TYPE_MESSAGE || field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
    return !has_presence || message_field_is_set(message, field);
}

static void transcode_write_field(struct json_writer *out, const ProtobufCMessage *message,
                                  const ProtobufCFieldDescriptor *field)
{
    char key[TRANSCODE_NAME_MAX];
    const char *value = (const char *)message + field->offset;
    transcode_json_name(field->name, key);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = *message_field_count(message, field);
        if (message_field_is_map(field))
            transcode_write_map(out, key, *(const struct message_map_entry *const *const *)value, count);
        else
            transcode_write_list(out, key, field, *(const char *const *)value, count);
    } else if (write_is_present(message, field)) {
        transcode_write_value(out, key, field, value);
    }
}

void transcode_write_fields(struct json_writer *out, const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        transcode_write_field(out, message, &message->descriptor->fields[i]);
}

void transcode_write(struct json_writer *out, const char *key, const ProtobufCMessage *message)
{
    json_write_object(out, key);
    transcode_write_fields(out, message);
    json_write_end(out);
}
