/* libFuzzer on what reads bytes from outside in shared/rpc: the wire check against protobuf-c, the schema, and what
 * stands on the reader. The first byte picks the target.
 *
 * Built with clang -fsanitize=fuzzer,address,undefined; a serialised FileDescriptorSet behind a byte 3 is a good seed.
 * What the check lets pass has to be unpacked by protobuf-c, and comes out again as a message that passes. */
#include "rpc/details.h"
#include "rpc/schema.h"
#include "rpc/wire.h"

#include "wire_cases.pb-c.h"

#include <stdlib.h>

#include "fuzz.h"

static void check(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size)
{
    struct rpc_wire_limits limits = RPC_WIRE_LIMITS;
    struct status st = {0};
    if (!rpc_wire_check(type, bytes, size, &limits, &st)) {
        must(st.code == INVALID_ARGUMENT || st.code == RESOURCE_EXHAUSTED);
        must(st.text[0] != '\0');
        return;
    }
    ProtobufCMessage *message = protobuf_c_message_unpack(type, NULL, size, bytes);
    must(message != NULL);
    size_t packed_size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(packed_size + 1);
    must(packed != NULL && protobuf_c_message_pack(message, packed) == packed_size);
    must(rpc_wire_check(type, packed, packed_size, &limits, &st));
    free(packed);
    protobuf_c_message_free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct status st = {0};
    if (size == 0)
        return 0;
    switch (data[0] % 4) {
    case 0:
        check(&renga__test__v1__everything__descriptor, data + 1, size - 1);
        break;
    case 1:
        check(&renga__test__v1__tree__descriptor, data + 1, size - 1);
        break;
    case 2:
        rpc_details_decode(data + 1, size - 1, &st);
        must(st.retry_after_ms >= 0);
        break;
    default: {
        struct rpc_schema *schema = rpc_schema_load(data + 1, size - 1, &st);
        must(schema != NULL || st.code != OK);
        rpc_schema_destroy(&schema);
    }
    }
    return 0;
}
