/* The protobuf wire format (https://protobuf.dev/programming-guides/encoding/), as far as Renga reads it by hand: a
 * reader that goes from field to field, and a check of a whole message before protobuf-c unpacks it.
 *
 * protobuf-c recurses as deep as the bytes say, takes any bytes for a string, ends it at the first NUL, and allocates
 * for every empty sub-message. Bytes that pass rpc_wire_check cannot do that harm. */
#ifndef RENGA_RPC_WIRE_H
#define RENGA_RPC_WIRE_H

#include "base/status.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rpc_wire_type {
    RPC_WIRE_VARINT = 0,
    RPC_WIRE_FIXED64 = 1,
    RPC_WIRE_BYTES = 2, /* strings, bytes, sub-messages, packed numbers */
    RPC_WIRE_FIXED32 = 5,
};

/* A place in a message. Start with the two ends of the message and no error. */
struct rpc_wire {
    const uint8_t *next, *end;
    const char *error; /* the reason for stopping before the end; NULL: no error */
};

struct rpc_wire_field {
    uint32_t number; /* 1 … 2^29 - 1 */
    enum rpc_wire_type type;
    uint64_t value;       /* of a varint or a fixed number */
    const uint8_t *bytes; /* of RPC_WIRE_BYTES */
    size_t size;
};

static inline struct rpc_wire rpc_wire_over(const void *bytes, size_t size)
{
    const uint8_t *start = bytes ? bytes : (const uint8_t *)"";
    return (struct rpc_wire){.next = start, .end = start + size};
}

/* The next field; false at the end of the message and at malformed bytes (then `error` gives the reason). Groups count
 * as malformed: they were dropped after proto2. */
bool rpc_wire_next(struct rpc_wire *wire, struct rpc_wire_field *field);

/* Bounds of one message. Every field that occurs costs protobuf-c 32 bytes of notes and mostly an allocation. */
struct rpc_wire_limits {
    unsigned depth;    /* of messages within messages, the outermost is 1; never more than RPC_WIRE_DEPTH_MAX */
    unsigned fields;   /* occurrences of fields, sub-messages and unknown ones included, at all depths together */
    unsigned elements; /* of packed repeated fields together */
};

#define RPC_WIRE_DEPTH_MAX    32
#define RPC_WIRE_FIELDS_MAX   (1u << 17)
#define RPC_WIRE_ELEMENTS_MAX (1u << 20)

#define RPC_WIRE_LIMITS                                                                                                \
    ((struct rpc_wire_limits){                                                                                         \
        .depth = RPC_WIRE_DEPTH_MAX, .fields = RPC_WIRE_FIELDS_MAX, .elements = RPC_WIRE_ELEMENTS_MAX})

/* True if the bytes are a well-formed message of the type, within the limits, and all its strings are UTF-8 without
 * NUL. INVALID_ARGUMENT or RESOURCE_EXHAUSTED otherwise, with the path of the error in `st->field`
 * ("messages[2].role"). protobuf-c then unpacks it unless memory runs out. */
bool rpc_wire_check(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                    const struct rpc_wire_limits *limits, struct status *st);

#endif
