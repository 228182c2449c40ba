/* Private to the orchestrator: messages and texts in memory. A copy lives in the arena of its caller. The process
 * ends if memory is out. Any thread. */
#ifndef RENGA_ORCHESTRATOR_MEMORY_H
#define RENGA_ORCHESTRATOR_MEMORY_H

#include "base/memory.h"
#include "store/store.h"

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct status;

#define RECORD_MEMORY_MAX ((size_t)256 << 20) /* bytes, of an unpacked record */
#define TENANT_MAX        128
#define THREAD_MAX        128

void *message_copy(struct arena *arena, const ProtobufCMessage *message);
/* Bytes of this process's own; rows of the store go through row_read (log/rows.h). */
void *message_read(struct arena *arena, const ProtobufCMessageDescriptor *type, struct store_bytes bytes,
                   struct status *st);
int64_t wall_ms(void);
/* Writes at most `room` bytes with the NUL; a longer text is cut at a character. */
void text_cut_copy(char *to, size_t room, const char *text);

static inline char *unconst(const char *text)
{
    return (char *)(uintptr_t)(text ? text : "");
}

#endif
