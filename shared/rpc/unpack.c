/* Messages in arenas, from unchecked bytes. */
#include "rpc/call.h"
#include "rpc/wire.h"

static void *arena_allocate(void *data, size_t size)
{
    return arena_alloc(data, size);
}

static void arena_release(void *data, void *memory) {}

ProtobufCAllocator rpc_arena_allocator(struct arena *arena)
{
    return (ProtobufCAllocator){.alloc = arena_allocate, .free = arena_release, .allocator_data = arena};
}

void *rpc_message_copy(struct arena *arena, const ProtobufCMessage *message)
{
    ProtobufCAllocator allocator = rpc_arena_allocator(arena);
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_alloc(arena, size);
    if (!bytes)
        return NULL;
    protobuf_c_message_pack(message, bytes);
    return protobuf_c_message_unpack(message->descriptor, &allocator, size, bytes);
}

ProtobufCMessage *rpc_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes, size_t size,
                             struct arena *arena, struct status *st)
{
    static const struct rpc_wire_limits limits = {
        .depth = RPC_WIRE_DEPTH_MAX, .fields = RPC_WIRE_FIELDS_MAX, .elements = RPC_WIRE_ELEMENTS_MAX};
    if (!rpc_wire_check(descriptor, bytes, size, &limits, st))
        return NULL;
    ProtobufCAllocator allocator = rpc_arena_allocator(arena);
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &allocator, size, bytes);
    if (!message && arena->exhausted)
        fail(st, RESOURCE_EXHAUSTED, "%s of %zu bytes needs more memory than the %zu bytes a call may take",
             descriptor->name, size, arena->limit);
    else if (!message)
        fail(st, INVALID_ARGUMENT, "the bytes are not a %s", descriptor->name);
    return message;
}
