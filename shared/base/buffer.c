#include "base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY_MIN 256 /* bytes */

void buffer_init(struct buffer *buffer, size_t limit)
{
    *buffer = (struct buffer){.limit = limit < SIZE_MAX ? limit : SIZE_MAX - 1};
}

void buffer_fini(struct buffer *buffer)
{
    free(buffer->data);
    buffer_init(buffer, buffer->limit);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

static bool buffer_give_up(struct buffer *buffer)
{
    buffer_fini(buffer);
    buffer->failed = true;
    return false;
}

static bool buffer_grow(struct buffer *buffer, size_t size)
{
    if (buffer->failed)
        return false;
    if (size > buffer->limit - buffer->length)
        return buffer_give_up(buffer);

    size_t need = buffer->length + size + 1;
    size_t capacity = buffer->capacity < CAPACITY_MIN ? CAPACITY_MIN : buffer->capacity;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    if (capacity > buffer->limit + 1)
        capacity = buffer->limit + 1;

    char *data = realloc(buffer->data, capacity);
    if (data == NULL)
        return buffer_give_up(buffer);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *buffer_reserve(struct buffer *buffer, size_t size)
{
    if (size >= buffer->capacity - buffer->length && !buffer_grow(buffer, size))
        return NULL;
    return buffer->data + buffer->length;
}

void buffer_append_slow(struct buffer *buffer, const void *bytes, size_t size)
{
    if (size == 0 || !buffer_grow(buffer, size))
        return;
    memcpy(buffer->data + buffer->length, bytes, size);
    buffer->length += size;
}

void buffer_print(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
    size_t room = buffer->capacity - buffer->length;
    va_list again;
    va_copy(again, arguments);
    int printed = vsnprintf(room > 0 ? buffer->data + buffer->length : NULL, room, format, arguments);
    size_t length = printed < 0 ? 0 : (size_t)printed;
    if (length >= room) {
        char *out = buffer_reserve(buffer, length);
        if (out != NULL)
            vsnprintf(out, length + 1, format, again);
        else
            length = 0;
    }
    buffer->length += length;
    va_end(again);
}

const char *buffer_text(struct buffer *buffer)
{
    if (buffer->data == NULL)
        return "";
    buffer->data[buffer->length] = '\0';
    return buffer->data;
}

char *buffer_take(struct buffer *buffer, size_t *length)
{
    if (buffer_reserve(buffer, 0) == NULL)
        return NULL;
    char *data = buffer->data;
    data[buffer->length] = '\0';
    if (length != NULL)
        *length = buffer->length;
    buffer_init(buffer, buffer->limit);
    return data;
}
