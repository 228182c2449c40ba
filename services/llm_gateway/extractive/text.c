/* Texts that are borrowed: bytes and a length. */
#include "extract.h"

#include <string.h>

struct text text_of(const char *bytes)
{
    return (struct text){bytes, strlen(bytes)};
}

bool text_equal(struct text one, struct text other)
{
    return one.length == other.length && (!one.length || memcmp(one.bytes, other.bytes, one.length) == 0);
}

struct text text_trimmed(struct text text)
{
    while (text.length && strchr(" \t\r\n", text.bytes[0]) && text.bytes[0]) {
        text.bytes++;
        text.length--;
    }
    while (text.length && strchr(" \t\r\n", text.bytes[text.length - 1]) && text.bytes[text.length - 1])
        text.length--;
    return text;
}

void text_print(struct buffer *out, struct text text)
{
    if (text.length)
        buffer_append(out, text.bytes, text.length);
}
