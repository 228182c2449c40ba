#include "redis/command.h"

#define LINE_MAX_BYTES 32 /* a sign, a number, the line's end */

/* Printed by hand: a batch has hundreds of parts. */
static void command_write_line(struct buffer *out, char sign, size_t number)
{
    char line[LINE_MAX_BYTES], *at = line + sizeof line;
    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    *--at = sign;
    buffer_append(out, at, (size_t)(line + sizeof line - at));
}

void redis_command_begin(struct buffer *out, size_t count)
{
    command_write_line(out, '*', count);
}

void redis_command_part(struct buffer *out, const void *bytes, size_t size)
{
    command_write_line(out, '$', size);
    if (size)
        buffer_append(out, bytes, size);
    buffer_append(out, "\r\n", 2);
}

void redis_command(struct buffer *out, const struct redis_part *parts, size_t count)
{
    redis_command_begin(out, count);
    for (size_t i = 0; i < count; i++)
        redis_command_part(out, parts[i].bytes, parts[i].size);
}
