/* Messages and texts in memory. */
#include "memory.h"
#include "frame.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "store/store.h"

int64_t wall_ms(void)
{
    return clock_wall_ns() / NS_PER_MS;
}

void text_cut_copy(char *to, size_t room, const char *text)
{
    size_t size = text_cut(text, strlen(text), room - 1);
    memcpy(to, text, size);
    to[size] = '\0';
}

static void *memory_allocate(void *data, size_t size)
{
    return arena_alloc(data, size);
}

static void memory_release(void *data, void *pointer) {}

void *message_copy(struct arena *arena, const ProtobufCMessage *message)
{
    char small[1024];
    ProtobufCAllocator allocator = {.alloc = memory_allocate, .free = memory_release, .allocator_data = arena};
    size_t size = protobuf_c_message_get_packed_size(message);
    struct arena scratch;
    arena_init(&scratch, small, sizeof small, FRAME_MEMORY_MAX);
    uint8_t *bytes = xnonnull(arena_alloc(&scratch, size));
    protobuf_c_message_pack(message, bytes);
    void *copy = protobuf_c_message_unpack(message->descriptor, &allocator, size, bytes);
    arena_fini(&scratch);
    return copy;
}

void *message_read(struct arena *arena, const ProtobufCMessageDescriptor *type, struct store_bytes bytes,
                   struct status *st)
{
    ProtobufCAllocator allocator = {.alloc = memory_allocate, .free = memory_release, .allocator_data = arena};
    void *message = protobuf_c_message_unpack(type, &allocator, bytes.size, bytes.bytes);
    if (!message)
        fail(st, DATA_LOSS, "%zu bytes in the store are no %s", bytes.size, type->short_name);
    return message;
}
