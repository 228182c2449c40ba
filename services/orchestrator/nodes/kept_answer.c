#include "kept_answer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "rpc/call.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define KEPT_MS 2000 /* a new tool is offered after that */

struct kept_answer {
    const ProtobufCMessageDescriptor *type;
    pthread_mutex_t lock;
    uint8_t *bytes; /* packed; NULL: no answer */
    size_t size;
    int64_t kept_ns;
};

struct kept_answer *kept_answer_create(const ProtobufCMessageDescriptor *type)
{
    struct kept_answer *kept = xcalloc(1, sizeof *kept);
    kept->type = type;
    pthread_mutex_init(&kept->lock, NULL);
    return kept;
}

void kept_answer_destroy(struct kept_answer **kept)
{
    if (!*kept)
        return;
    pthread_mutex_destroy(&(*kept)->lock);
    free((*kept)->bytes);
    free(*kept);
    *kept = NULL;
}

void *kept_answer_recall(struct kept_answer *kept, struct arena *arena)
{
    ProtobufCAllocator allocator = rpc_arena_allocator(arena);
    void *answer = NULL;
    pthread_mutex_lock(&kept->lock);
    if (kept->bytes && clock_now_ns() - kept->kept_ns < KEPT_MS * NS_PER_MS)
        answer = protobuf_c_message_unpack(kept->type, &allocator, kept->size, kept->bytes);
    pthread_mutex_unlock(&kept->lock);
    return answer;
}

void kept_answer_keep(struct kept_answer *kept, const ProtobufCMessage *answer)
{
    assert(answer->descriptor == kept->type);
    size_t size = protobuf_c_message_get_packed_size(answer);
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes)
        return;
    protobuf_c_message_pack(answer, bytes);
    pthread_mutex_lock(&kept->lock);
    uint8_t *old = kept->bytes;
    kept->bytes = bytes;
    kept->size = size;
    kept->kept_ns = clock_now_ns();
    pthread_mutex_unlock(&kept->lock);
    free(old);
}
