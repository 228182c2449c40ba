/* A command as Redis reads it. */
#ifndef RENGA_REDIS_COMMAND_H
#define RENGA_REDIS_COMMAND_H

#include "base/buffer.h"

struct redis_part {
    const void *bytes;
    size_t size;
};
#define REDIS_PART(text)                                                                                               \
    {                                                                                                                  \
        text, strlen(text)                                                                                             \
    }

/* Appends it. An append beyond the buffer's limit marks the buffer as failed, as usual. */
void redis_command(struct buffer *out, const struct redis_part *parts, size_t count);

/* The same bit by bit: how many parts there will be, then each of them. */
void redis_command_begin(struct buffer *out, size_t count);
void redis_command_part(struct buffer *out, const void *bytes, size_t size);

#endif
