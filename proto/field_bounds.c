#include "field_bounds.h"

#define BOUNDS_NUMBER 50500 /* of the extension */

/* protobuf-c knows no extensions: the option is an unknown field, with its length in front. */
Renga__V1__FieldBounds *field_bounds(const Google__Protobuf__FieldDescriptorProto *field)
{
    const ProtobufCMessage *options = field->options ? &field->options->base : NULL;
    for (unsigned i = 0; options && i < options->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *unknown = &options->unknown_fields[i];
        if (unknown->tag != BOUNDS_NUMBER || unknown->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
            continue;
        size_t prefix = 1;
        while (prefix < unknown->len && unknown->data[prefix - 1] & 0x80)
            prefix++;
        return renga__v1__field_bounds__unpack(NULL, unknown->len - prefix, unknown->data + prefix);
    }
    return NULL;
}
