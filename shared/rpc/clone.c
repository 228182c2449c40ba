#include "rpc/clone.h"

#include "base/text.h"
#include "rpc/message_field.h"
#include "rpc/wire.h"

#include <stdint.h>
#include <string.h>

struct clone {
    struct arena *arena;
    struct rpc_wire_limits left;
};

static bool is_number(ProtobufCType type)
{
    return type != PROTOBUF_C_TYPE_STRING && type != PROTOBUF_C_TYPE_BYTES && type != PROTOBUF_C_TYPE_MESSAGE;
}

static bool count_one(struct clone *clone)
{
    return clone->left.fields-- > 0;
}

static ProtobufCMessage *clone_message(struct clone *clone, const ProtobufCMessage *message);

static bool clone_text(struct clone *clone, char **text)
{
    if (!*text || !**text) {
        *text = (char *)(uintptr_t)protobuf_c_empty_string;
        return true;
    }
    size_t length = strlen(*text);
    return text_is_clean(*text, length) && (*text = arena_copy(clone->arena, *text, length + 1));
}

static bool clone_bytes(struct clone *clone, ProtobufCBinaryData *bytes)
{
    if (!bytes->len) {
        bytes->data = NULL;
        return true;
    }
    return (bytes->data = arena_copy(clone->arena, bytes->data, bytes->len));
}

/* The bytes at `value` still point into the original. */
static bool clone_value(struct clone *clone, ProtobufCType type, void *value)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
        return clone_text(clone, value);
    case PROTOBUF_C_TYPE_BYTES:
        return clone_bytes(clone, value);
    default: {
        ProtobufCMessage **inner = value;
        return !*inner || (*inner = clone_message(clone, *inner));
    }
    }
}

static bool clone_repeated(struct clone *clone, ProtobufCType type, size_t count, void **list)
{
    size_t size = message_value_sizes[type];
    if (!count) {
        *list = NULL;
        return true;
    }
    if (count > clone->left.fields || !(*list = arena_copy(clone->arena, *list, count * size)))
        return false;
    clone->left.fields -= (unsigned)count;
    for (size_t i = 0; i < count && !is_number(type); i++)
        if (!clone_value(clone, type, (char *)*list + i * size))
            return false;
    return true;
}

/* True if the field has the value of an absent one. */
static bool clone_is_empty(ProtobufCType type, const void *value)
{
    uint64_t number = 0;
    switch (type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char *text = *(const char *const *)value;
        return !text || !*text;
    }
    case PROTOBUF_C_TYPE_BYTES:
        return !((const ProtobufCBinaryData *)value)->len;
    case PROTOBUF_C_TYPE_MESSAGE:
        return !*(const void *const *)value;
    default:
        if (message_value_sizes[type] == sizeof number)
            memcpy(&number, value, sizeof number);
        else
            memcpy(&number, value, sizeof(uint32_t));
        return number == 0;
    }
}

/* For the selected member of a oneof; protobuf-c packs an empty received text and a NULL message as an absent oneof. */
static bool is_sent(const ProtobufCFieldDescriptor *field, const void *value)
{
    if (is_number(field->type) || field->type == PROTOBUF_C_TYPE_BYTES)
        return true;
    const void *pointer = *(const void *const *)value;
    return pointer && pointer != field->default_value;
}

static bool clone_field(struct clone *clone, const ProtobufCFieldDescriptor *field, char *copy)
{
    void *value = copy + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return clone_repeated(clone, field->type, *(const size_t *)(void *)(copy + field->quantifier_offset), value);
    bool chosen = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (chosen) {
        uint32_t *choice = (void *)(copy + field->quantifier_offset);
        if (*choice != field->id)
            return true;
        if (!is_sent(field, value)) {
            *choice = 0;
            return true;
        }
    }
    if ((chosen || !clone_is_empty(field->type, value)) && !count_one(clone))
        return false;
    return is_number(field->type) || clone_value(clone, field->type, value);
}

static ProtobufCMessage *clone_message(struct clone *clone, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (message->n_unknown_fields || clone->left.depth == 0)
        return NULL;
    ProtobufCMessage *copy = arena_copy(clone->arena, message, type->sizeof_message);
    if (!copy)
        return NULL;
    clone->left.depth--;
    copy->unknown_fields = NULL;
    for (unsigned i = 0; i < type->n_fields; i++)
        if (!clone_field(clone, &type->fields[i], (char *)copy))
            return NULL;
    clone->left.depth++;
    return copy;
}

ProtobufCMessage *rpc_clone(const ProtobufCMessage *message, struct arena *arena)
{
    struct clone clone = {.arena = arena, .left = RPC_WIRE_LIMITS};
    return clone_message(&clone, message);
}
