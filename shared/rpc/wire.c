/* Reading is a walk with two ends. Checking is that walk with the descriptor beside it, one frame for each open
 * message. A frame remembers only its beginning: the index of a wrong list element is counted from there, and only for
 * an error. */
#include "rpc/wire.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define VARINT_MAX 10         /* bytes of 64 bits, seven a byte */
#define PREFIX_MAX 5          /* bytes of a tag or a length; protobuf-c reads no more either */
#define NUMBER_MAX 0x1fffffff /* of a field: 2^29 - 1 */
#define LENGTH_MAX INT32_MAX  /* of one value */

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static inline bool varint_next(struct rpc_wire *wire, unsigned bytes_max, uint64_t *value)
{
    const uint8_t *at = wire->next;
    if (at < wire->end && *at < 0x80) {
        *value = *at;
        wire->next = at + 1;
        return true;
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < bytes_max; i++, at++) {
        if (at == wire->end) {
            wire->error = "it ends within a number";
            return false;
        }
        sum |= (uint64_t)(*at & 0x7f) << (7 * i);
        if (*at < 0x80) {
            *value = sum;
            wire->next = at + 1;
            return true;
        }
    }
    wire->error = "a number in it has too many bytes";
    return false;
}

static inline bool fixed_next(struct rpc_wire *wire, size_t size, uint64_t *value)
{
    if ((size_t)(wire->end - wire->next) < size) {
        wire->error = "it ends within a number";
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)wire->next[i] << (8 * i);
    wire->next += size;
    return true;
}

static inline bool bytes_next(struct rpc_wire *wire, struct rpc_wire_field *field)
{
    uint64_t size;
    if (!varint_next(wire, PREFIX_MAX, &size))
        return false;
    if (size > LENGTH_MAX || size > (uint64_t)(wire->end - wire->next)) {
        wire->error = "a length in it reaches beyond its end";
        return false;
    }
    field->bytes = wire->next;
    field->size = size;
    wire->next += size;
    return true;
}

static inline bool field_next(struct rpc_wire *wire, struct rpc_wire_field *field)
{
    uint64_t tag;
    if (wire->next >= wire->end || wire->error || !varint_next(wire, PREFIX_MAX, &tag))
        return false;
    field->type = tag & 7;
    if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX) {
        wire->error = "a field number in it is not from 1 to 536870911";
        return false;
    }
    field->number = (uint32_t)(tag >> 3);
    switch (field->type) {
    case RPC_WIRE_BYTES:
        return bytes_next(wire, field);
    case RPC_WIRE_VARINT:
        return varint_next(wire, VARINT_MAX, &field->value);
    case RPC_WIRE_FIXED64:
        return fixed_next(wire, sizeof(uint64_t), &field->value);
    case RPC_WIRE_FIXED32:
        return fixed_next(wire, sizeof(uint32_t), &field->value);
    }
    wire->error = "a field in it has a wire type other than varint, 64-bit, length-delimited and 32-bit";
    return false;
}

bool rpc_wire_next(struct rpc_wire *wire, struct rpc_wire_field *field)
{
    return field_next(wire, field);
}

/* ---- Checking --------------------------------------------------------------------------------------------------- */

struct check {
    struct rpc_wire_limits left, limits;
    struct status *st;
};

/* A message that is open. */
struct frame {
    const struct frame *outer;
    const ProtobufCMessageDescriptor *type;
    const uint8_t *start;
    struct rpc_wire wire;                  /* the reader's position */
    const ProtobufCFieldDescriptor *field; /* the present field; NULL between fields */
};

static const enum rpc_wire_type wire_types[] = {
    [PROTOBUF_C_TYPE_INT32] = RPC_WIRE_VARINT,     [PROTOBUF_C_TYPE_SINT32] = RPC_WIRE_VARINT,
    [PROTOBUF_C_TYPE_SFIXED32] = RPC_WIRE_FIXED32, [PROTOBUF_C_TYPE_INT64] = RPC_WIRE_VARINT,
    [PROTOBUF_C_TYPE_SINT64] = RPC_WIRE_VARINT,    [PROTOBUF_C_TYPE_SFIXED64] = RPC_WIRE_FIXED64,
    [PROTOBUF_C_TYPE_UINT32] = RPC_WIRE_VARINT,    [PROTOBUF_C_TYPE_FIXED32] = RPC_WIRE_FIXED32,
    [PROTOBUF_C_TYPE_UINT64] = RPC_WIRE_VARINT,    [PROTOBUF_C_TYPE_FIXED64] = RPC_WIRE_FIXED64,
    [PROTOBUF_C_TYPE_FLOAT] = RPC_WIRE_FIXED32,    [PROTOBUF_C_TYPE_DOUBLE] = RPC_WIRE_FIXED64,
    [PROTOBUF_C_TYPE_BOOL] = RPC_WIRE_VARINT,      [PROTOBUF_C_TYPE_ENUM] = RPC_WIRE_VARINT,
    [PROTOBUF_C_TYPE_STRING] = RPC_WIRE_BYTES,     [PROTOBUF_C_TYPE_BYTES] = RPC_WIRE_BYTES,
    [PROTOBUF_C_TYPE_MESSAGE] = RPC_WIRE_BYTES,
};

static const char *const wire_type_names[] = {
    [RPC_WIRE_VARINT] = "a varint",
    [RPC_WIRE_FIXED64] = "a 64-bit number",
    [RPC_WIRE_BYTES] = "length-delimited",
    [RPC_WIRE_FIXED32] = "a 32-bit number",
};

/* Which occurrence of its field, from 0, a frame is looking at. */
static size_t frame_element(const struct frame *frame)
{
    struct rpc_wire wire = {.next = frame->start, .end = frame->wire.next};
    struct rpc_wire_field field;
    size_t count = 0;
    while (field_next(&wire, &field))
        count += field.number == frame->field->id;
    return count == 0 ? 0 : count - 1;
}

/* "messages[2].role", or as much of it as fits, whole names only. */
static void wire_frame_path(const struct frame *inner, char path[STATUS_FIELD_MAX])
{
    const struct frame *frames[RPC_WIRE_DEPTH_MAX];
    size_t depth = 0, used = 0;
    for (const struct frame *frame = inner; frame && depth < RPC_WIRE_DEPTH_MAX; frame = frame->outer)
        frames[depth++] = frame;
    path[0] = '\0';
    while (depth-- > 0 && frames[depth]->field) {
        const struct frame *frame = frames[depth];
        size_t room = STATUS_FIELD_MAX - used;
        int length;
        if (frame->field->label == PROTOBUF_C_LABEL_REPEATED) {
            length = snprintf(path + used, room, "%s%s[%zu]", used == 0 ? "" : ".", frame->field->name,
                              frame_element(frame));
        } else {
            length = snprintf(path + used, room, "%s%s", used == 0 ? "" : ".", frame->field->name);
        }
        if (length < 0 || (size_t)length >= room) {
            path[used] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* Reports an error at the present field of `frame`. */
__attribute__((format(printf, 4, 5), cold, noinline)) static bool
complain(struct check *check, const struct frame *frame, enum status_code code, const char *format, ...)
{
    char path[STATUS_FIELD_MAX], reason[STATUS_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    wire_frame_path(frame, path);
    if (path[0] == '\0')
        return fail(check->st, code, "the message %s", reason);
    fail_field(check->st, path, "%s", reason);
    check->st->code = code;
    return false;
}

static bool wire_malformed(struct check *check, const struct frame *frame, const char *reason)
{
    return complain(check, frame, INVALID_ARGUMENT, "is no valid %s: %s; serialise it with protobuf",
                    frame->field ? "value of its field" : frame->type->name, reason);
}

static inline const ProtobufCFieldDescriptor *field_find(const ProtobufCMessageDescriptor *type, uint32_t number)
{
    if (type->n_field_ranges == 0)
        return NULL;
    const ProtobufCIntRange *range = type->field_ranges; /* most messages have no gaps: the first is the only one */
    uint32_t offset = number - (uint32_t)range[0].start_value;
    if (offset < range[1].orig_index)
        return &type->fields[offset];
    return type->n_field_ranges == 1 ? NULL : protobuf_c_message_descriptor_get_field(type, number);
}

static bool packed_check(struct check *check, const struct frame *frame, const struct rpc_wire_field *wire)
{
    size_t count = 0;
    unsigned run = 0; /* bytes of the number that is being read */
    switch (wire_types[frame->field->type]) {
    case RPC_WIRE_FIXED64:
    case RPC_WIRE_FIXED32: {
        size_t size = wire_types[frame->field->type] == RPC_WIRE_FIXED64 ? sizeof(uint64_t) : sizeof(uint32_t);
        if (wire->size % size != 0)
            return wire_malformed(check, frame, "its packed numbers end within one");
        count = wire->size / size;
        break;
    }
    default:
        for (size_t i = 0; i < wire->size; i++) {
            run = wire->bytes[i] < 0x80 ? 0 : run + 1;
            count += run == 0;
            if (run == VARINT_MAX)
                return wire_malformed(check, frame, "a number in it has too many bytes");
        }
        if (run != 0)
            return wire_malformed(check, frame, "its packed numbers end within one");
    }
    if (count > check->left.elements) {
        return complain(check, frame, RESOURCE_EXHAUSTED, "has more elements than fit in a message (%u); send fewer",
                        check->limits.elements);
    }
    check->left.elements -= (unsigned)count;
    return true;
}

static bool mismatch_check(struct check *check, const struct frame *frame, const struct rpc_wire_field *wire)
{
    enum rpc_wire_type expected = wire_types[frame->field->type];
    if (wire->type == RPC_WIRE_BYTES && frame->field->label == PROTOBUF_C_LABEL_REPEATED)
        return packed_check(check, frame, wire);
    return complain(check, frame, INVALID_ARGUMENT, "is %s on the wire and has to be %s; use the same proto file",
                    wire_type_names[wire->type], wire_type_names[expected]);
}

static bool text_check(struct check *check, const struct frame *frame, const struct rpc_wire_field *wire)
{
    const char *text = (const char *)wire->bytes;
    if (text_is_clean(text, wire->size))
        return true;
    size_t at = text_clean_length(text, wire->size);
    if (text[at] == '\0')
        return complain(check, frame, INVALID_ARGUMENT, "has a NUL at byte %zu; send text without NUL", at);
    return complain(check, frame, INVALID_ARGUMENT, "is not UTF-8 from byte %zu on (0x%02x); send UTF-8", at,
                    (unsigned)wire->bytes[at]);
}

static bool message_check(struct check *check, const struct frame *outer, const ProtobufCMessageDescriptor *type,
                          const uint8_t *bytes, size_t size);

static inline bool wire_value_check(struct check *check, const struct frame *frame, const struct rpc_wire_field *wire)
{
    const ProtobufCFieldDescriptor *field = frame->field;
    if (wire->type != wire_types[field->type])
        return mismatch_check(check, frame, wire);
    if (wire->type != RPC_WIRE_BYTES)
        return true;
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return text_check(check, frame, wire);
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return message_check(check, frame, field->descriptor, wire->bytes, wire->size);
    return true;
}

static bool message_check(struct check *check, const struct frame *outer, const ProtobufCMessageDescriptor *type,
                          const uint8_t *bytes, size_t size)
{
    struct frame frame = {.outer = outer, .type = type, .start = bytes, .wire = rpc_wire_over(bytes, size)};
    struct rpc_wire_field field;
    if (check->left.depth == 0) {
        return complain(check, outer, RESOURCE_EXHAUSTED, "is nested deeper than %u messages; send a flatter one",
                        check->limits.depth);
    }
    check->left.depth--;
    while (field_next(&frame.wire, &field)) {
        if (check->left.fields-- == 0) {
            return complain(check, &frame, RESOURCE_EXHAUSTED,
                            "has more fields than a message may have (%u); send less", check->limits.fields);
        }
        frame.field = field_find(type, field.number);
        if (frame.field && !wire_value_check(check, &frame, &field))
            return false;
        frame.field = NULL;
    }
    check->left.depth++;
    return !frame.wire.error || wire_malformed(check, &frame, frame.wire.error);
}

bool rpc_wire_check(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                    const struct rpc_wire_limits *limits, struct status *st)
{
    struct check check = {.limits = *limits, .st = st};
    if (check.limits.depth > RPC_WIRE_DEPTH_MAX)
        check.limits.depth = RPC_WIRE_DEPTH_MAX;
    check.left = check.limits;
    return message_check(&check, NULL, type, bytes, size);
}
