/* The character classes of HTTP/1: digits, blanks, token characters (RFC 9110 §5.6.2). Private to shared/http. */
#ifndef RENGA_HTTP_HTTP1_CHARS_H
#define RENGA_HTTP_HTTP1_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* -1: not a hexadecimal digit. */
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

/* A byte that no line may have: below the space but for a tab, or DEL. */
static inline bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

/* True if one of eight bytes is below the space, or DEL; a tab counts too, and the caller excludes it. The borrow of a
 * byte may mark its neighbour as well, but never hides one. */
static inline bool may_have_control(uint64_t eight)
{
    const uint64_t ones = UINT64_MAX / 255, tops = ones << 7;
    uint64_t as_del = eight ^ (ones * 0x7f);
    return (((eight - ones * ' ') & ~eight) | ((as_del - ones) & ~as_del)) & tops;
}

static inline bool has_control(const char *bytes, size_t size)
{
    size_t at = 0;
    for (uint64_t eight; at + sizeof eight <= size; at += sizeof eight) {
        memcpy(&eight, bytes + at, sizeof eight);
        if (!may_have_control(eight))
            continue;
        for (size_t i = 0; i < sizeof eight; i++)
            if (is_control(bytes[at + i]))
                return true;
    }
    while (at < size)
        if (is_control(bytes[at++]))
            return true;
    return false;
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
