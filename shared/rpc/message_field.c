#include "rpc/message_field.h"

#include "base/text.h"

#include <string.h>

const uint8_t message_value_sizes[] = {
    [PROTOBUF_C_TYPE_INT32] = 4,    [PROTOBUF_C_TYPE_SINT32] = 4,
    [PROTOBUF_C_TYPE_SFIXED32] = 4, [PROTOBUF_C_TYPE_UINT32] = 4,
    [PROTOBUF_C_TYPE_FIXED32] = 4,  [PROTOBUF_C_TYPE_FLOAT] = 4,
    [PROTOBUF_C_TYPE_INT64] = 8,    [PROTOBUF_C_TYPE_SINT64] = 8,
    [PROTOBUF_C_TYPE_SFIXED64] = 8, [PROTOBUF_C_TYPE_UINT64] = 8,
    [PROTOBUF_C_TYPE_FIXED64] = 8,  [PROTOBUF_C_TYPE_DOUBLE] = 8,
    [PROTOBUF_C_TYPE_ENUM] = 4,     [PROTOBUF_C_TYPE_BOOL] = sizeof(protobuf_c_boolean),
    [PROTOBUF_C_TYPE_STRING] = 8,   [PROTOBUF_C_TYPE_BYTES] = sizeof(ProtobufCBinaryData),
    [PROTOBUF_C_TYPE_MESSAGE] = 8,
};
_Static_assert(sizeof(protobuf_c_boolean) == 4 && sizeof(void *) == 8, "a number or a pointer has four bytes or eight");

bool message_field_is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    static const ProtobufCBinaryData zero;
    const void *value = (const char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return *message_field_count(message, field) != 0;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return *message_field_chosen(message, field) == field->id;
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return *(const char *const *)value && **(const char *const *)value;
    return memcmp(value, &zero, message_field_size(field)) != 0;
}

/* protoc makes the entries of a map messages "LabelsEntry" of `key` and `value`. */
bool message_field_is_map(const ProtobufCFieldDescriptor *field)
{
    const ProtobufCMessageDescriptor *type = field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
    return type && field->label == PROTOBUF_C_LABEL_REPEATED && type->n_fields == 2 &&
           text_ends_with(type->short_name, "Entry") && strcmp(type->fields[0].name, "key") == 0 &&
           strcmp(type->fields[1].name, "value") == 0 && type->fields[0].type == PROTOBUF_C_TYPE_STRING &&
           type->fields[1].type == PROTOBUF_C_TYPE_STRING;
}

bool message_field_is_json(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING && text_ends_with(field->name, "_json");
}
