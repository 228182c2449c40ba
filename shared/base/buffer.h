/* A growing, bounded piece of memory for output that is composed before it is sent.
 *
 * When the limit is exceeded or memory runs out, the buffer frees its memory, is marked `failed` and ignores appends
 * until it is cleared. A writer appends without checks and tests once at the end. */
#ifndef RENGA_BASE_BUFFER_H
#define RENGA_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
    char *data; /* NULL before the first append */
    size_t length;
    size_t capacity; /* one more than may be used: there is always room for a NUL */
    size_t limit;    /* the most `length` may be */
    bool failed;
};

void buffer_init(struct buffer *buffer, size_t limit);
void buffer_fini(struct buffer *buffer);

/* Empties it, keeps its memory, forgets a failure. */
void buffer_clear(struct buffer *buffer);

/* Room for `size` bytes at the end, NULL if the buffer failed. Add the written bytes to `length`. */
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

/* The NUL-terminated content; "" if it is empty or failed. Valid until the next append. */
const char *buffer_text(struct buffer *buffer);

/* Hands over the NUL-terminated memory, which the caller frees, and leaves the buffer empty; NULL if it failed.
 * `length` may be NULL. */
char *buffer_take(struct buffer *buffer, size_t *length);

#endif
