/* Nearly valid JSON of upstreams, which no second request would mend: a byte order mark before it,
 * \u0000 and halves of surrogate pairs in its texts (JSON allows them, our texts do not), bytes that are not UTF-8.
 * The mark is dropped; each of the others becomes U+FFFD. */
#include "answer.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MARK        "\xEF\xBB\xBF"
#define REPLACEMENT "\\uFFFD"
#define ESCAPE_SIZE 6 /* of \uXXXX */

/* The code unit of an escape; -1: not an escape. */
static int escaped_unit(const char *at, const char *end)
{
    int unit = 0;
    if (end - at < ESCAPE_SIZE || at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < ESCAPE_SIZE; i++) {
        char digit[] = {at[i], '\0'}, *rest;
        unit = unit * 16 + (int)strtol(digit, &rest, 16);
        if (rest == digit)
            return -1;
    }
    return unit;
}

static bool is_low(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Bytes from `at` on that are taken together; `good` says whether they stay as they are. */
static size_t sanitize_take_character(const char *at, const char *end, bool *good)
{
    *good = true;
    if (*at != '\\') {
        size_t size = text_character(at, (size_t)(end - at));
        *good = size > 0;
        return size ? size : 1;
    }
    int unit = escaped_unit(at, end);
    if (unit < 0)
        return end - at > 1 && (unsigned char)at[1] < 0x80 ? 2 : 1;
    bool high = unit >= 0xD800 && unit <= 0xDBFF;
    if (high && is_low(escaped_unit(at + ESCAPE_SIZE, end)))
        return (size_t)2 * ESCAPE_SIZE;
    *good = unit != 0 && !high && !is_low(unit);
    return ESCAPE_SIZE;
}

static bool has_mark(const char *text, size_t size)
{
    return size >= strlen(MARK) && memcmp(text, MARK, strlen(MARK)) == 0;
}

/* If `out` is NULL it only measures. */
static size_t copy_sanitized(char *out, const char *text, size_t size, bool *any)
{
    size_t length = 0;
    const char *end = text + size;
    for (const char *at = text; at < end;) {
        bool good;
        size_t taken = sanitize_take_character(at, end, &good), written = good ? taken : strlen(REPLACEMENT);
        if (out)
            memcpy(out + length, good ? at : REPLACEMENT, written);
        *any |= !good;
        length += written;
        at += taken;
    }
    return length;
}

const char *answer_sanitize(struct arena *arena, const char *text, size_t *size)
{
    bool any = has_mark(text, *size);
    const char *from = any ? text + strlen(MARK) : text;
    size_t length = copy_sanitized(NULL, from, *size - (size_t)(from - text), &any);
    char *sanitized = any ? arena_alloc(arena, length + 1) : NULL;
    if (!sanitized)
        return NULL;
    copy_sanitized(sanitized, from, *size - (size_t)(from - text), &any);
    sanitized[length] = '\0';
    *size = length;
    return sanitized;
}
