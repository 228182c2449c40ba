/* What the characters of HTTP/1 are: digits, blanks, those of a token (RFC 9110 §5.6.2). Private to shared/http. */
#ifndef RENGA_HTTP_HTTP1_CHARS_H
#define RENGA_HTTP_HTTP1_CHARS_H

#include <stdbool.h>
#include <stddef.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* -1: none of a hexadecimal digit. */
static inline int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool is_token(char c)
{
    static const bool known[256] = {
        ['!'] = true,         ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true,         ['\''] = true,
        ['*'] = true,         ['+'] = true, ['-'] = true, ['.'] = true, ['0' ... '9'] = true, ['^'] = true,
        ['A' ... 'Z'] = true, ['_'] = true, ['`'] = true, ['|'] = true, ['~'] = true,         ['a' ... 'z'] = true,
    };
    return known[(unsigned char)c];
}

/* How many bytes in front are of a token. */
static inline size_t token_length(const char *bytes, size_t size)
{
    size_t length = 0;
    while (length < size && is_token(bytes[length]))
        length++;
    return length;
}

#endif
