/* A growing piece of memory with a bound, for what is composed before it is sent.
 *
 * When the limit is passed or the heap is out, the buffer lets go of its memory, is marked `failed` and ignores what
 * is appended until it is cleared: a writer appends without looking and asks once at the end. */
#ifndef RENGA_BASE_BUFFER_H
#define RENGA_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
    char *data; /* NULL while nothing was appended */
    size_t length;
    size_t capacity; /* one more than may be used: there is always room for a NUL */
    size_t limit;    /* the most `length` may be */
    bool failed;
};

void buffer_init(struct buffer *buffer, size_t limit);
void buffer_fini(struct buffer *buffer);

/* Empties it, keeps its memory, forgets a failure. */
void buffer_clear(struct buffer *buffer);

/* `size` bytes behind the end to be written to, NULL where the buffer failed. What was written becomes part of the
 * buffer by adding to `length`. */
char *buffer_reserve(struct buffer *buffer, size_t size);

void buffer_append_slow(struct buffer *buffer, const void *bytes, size_t size);

static inline void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    if (__builtin_expect(size >= buffer->capacity - buffer->length, 0)) {
        buffer_append_slow(buffer, bytes, size);
        return;
    }
    memcpy(buffer->data + buffer->length, bytes, size);
    buffer->length += size;
}

static inline void buffer_put(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

void buffer_print(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments);

/* What is in it, NUL-terminated; "" where it is empty or failed. Valid until the next append. */
const char *buffer_text(struct buffer *buffer);

/* Hands the memory over, NUL-terminated, to be freed by the taker, and leaves the buffer empty; NULL where it failed.
 * `length` may be NULL. */
char *buffer_take(struct buffer *buffer, size_t *length);

#endif
