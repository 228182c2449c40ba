/* Changes of a message that no wire format shows: one at a time, numbered, through all its fields. For
 * run_damaged_test.c.
 */
#ifndef RENGA_DAMAGE_FIXTURE_H
#define RENGA_DAMAGE_FIXTURE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Changes that are still to be counted before the one that is made. */
static long change_left;

static bool is_its_turn(void)
{
    return change_left-- == 0;
}

static bool change_number(const ProtobufCFieldDescriptor *field, void *at)
{
    static const int64_t values[] = {INT64_MAX, -1, 7};
    bool wide = field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_UINT64;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (!is_its_turn())
            continue;
        if (wide)
            memcpy(at, &values[i], sizeof values[i]);
        else
            memcpy(at, &(int32_t){(int32_t)values[i]}, sizeof(int32_t));
        return true;
    }
    return false;
}

static bool change_message(ProtobufCMessage *message);

static bool change_value(const ProtobufCFieldDescriptor *field, void *at)
{
    static char wrong_text[] = "\xff\xfe", no_text[] = "";
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void **)at && change_message(*(ProtobufCMessage **)at);
    case PROTOBUF_C_TYPE_STRING:
        if (is_its_turn())
            return *(char **)at = wrong_text, true;
        return is_its_turn() ? (*(char **)at = no_text, true) : false;
    case PROTOBUF_C_TYPE_BYTES:
        return is_its_turn() ? (((ProtobufCBinaryData *)at)->len /= 2, true) : false;
    case PROTOBUF_C_TYPE_BOOL:
        return is_its_turn() ? (*(protobuf_c_boolean *)at = !*(protobuf_c_boolean *)at, true) : false;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
        return change_number(field, at);
    default:
        return false;
    }
}

static size_t size_of_element(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    default:
        return 4;
    }
}

static bool change_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    char *start = (char *)message, *at = start + field->offset;
    bool is_oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (is_oneof && *(uint32_t *)(void *)(start + field->quantifier_offset) != field->id)
        return false;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t *count = (size_t *)(void *)(start + field->quantifier_offset);
        if (*count && is_its_turn())
            return *count = 0, true;
        for (size_t i = 0; i < *count; i++)
            if (change_value(field, *(char **)(void *)at + i * size_of_element(field)))
                return true;
        return false;
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE && *(void **)(void *)at && !is_oneof && is_its_turn())
        return *(void **)(void *)at = NULL, true;
    return change_value(field, at);
}

static bool change_message(ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        if (change_field(message, &message->descriptor->fields[i]))
            return true;
    return false;
}

#endif
