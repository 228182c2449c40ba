#include "base/text.h"

#include <stdint.h>
#include <string.h>

#define CHARACTER_MAX 4 /* bytes, in UTF-8 */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static bool text_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The rows of Unicode's table 3-7: the first byte decides the length and the range of the second. */
size_t text_character(const char *text, size_t length)
{
    const unsigned char *c = (const unsigned char *)text;
    if (length == 0)
        return 0;
    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4)
        return 0;
    if (c[0] < 0xE0)
        return length >= 2 && text_continues(c[1]) ? 2 : 0;

    unsigned char least = c[0] == 0xE0 ? 0xA0 : c[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c[0] == 0xED ? 0x9F : c[0] == 0xF4 ? 0x8F : 0xBF;
    if (length < 3 || c[1] < least || c[1] > most || !text_continues(c[2]))
        return 0;
    if (c[0] < 0xF0)
        return 3;
    return length >= 4 && text_continues(c[3]) ? 4 : 0;
}

/* The offset up to which there is certainly ASCII without NUL, in steps of eight bytes. */
static size_t skip_ascii(const char *text, size_t at, size_t length)
{
    for (; length - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, text + at, 8);
        /* A high bit is set already, or appears when the subtraction borrows from a zero byte. */
        if (((eight - EACH_BYTE(0x01)) | eight) & EACH_BYTE(0x80))
            break;
    }
    return at;
}

size_t text_clean_length(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        at = skip_ascii(text, at, length);
        for (size_t stop = length - at < 8 ? length : at + 8; at < stop;) {
            size_t size = text[at] == '\0' ? 0 : text_character(text + at, length - at);
            if (size == 0)
                return at;
            at += size;
        }
    }
    return length;
}

/* ASCII without NUL, eight bytes at a time: most text of most calls. A high bit is set already, or appears when the
 * subtraction borrows because a byte is zero. */
static bool text_is_plain(const char *text, size_t length)
{
    uint64_t bad = 0, eight;
    if (length < sizeof eight) {
        for (size_t i = 0; i < length; i++)
            bad |= (uint64_t)(unsigned char)text[i] | ((uint64_t)(unsigned char)text[i] - 1);
        return (bad & 0x80) == 0;
    }
    for (size_t at = 0; at < length - sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        bad |= (eight - EACH_BYTE(0x01)) | eight;
    }
    memcpy(&eight, text + length - sizeof eight, sizeof eight); /* the rest, and some bytes once more */
    bad |= (eight - EACH_BYTE(0x01)) | eight;
    return (bad & EACH_BYTE(0x80)) == 0;
}

bool text_is_clean(const char *text, size_t length)
{
    return text_is_plain(text, length) || text_clean_length(text, length) == length;
}

size_t text_cut(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    while (room > 0 && text_continues((unsigned char)text[room]))
        room--;
    return room;
}

size_t text_cut_characters(const char *text, size_t length, size_t characters)
{
    size_t at = 0;
    for (; at < length && (characters || text_continues((unsigned char)text[at])); at++)
        characters -= !text_continues((unsigned char)text[at]);
    return at;
}

/* Beyond ASCII: no-break, ogham, the general punctuation's, narrow, mathematical and ideographic spaces, the BOM. */
static bool is_wide_blank(const char *text, size_t length)
{
    static const char *const blanks[] = {"\u00a0", "\u1680", "\u2028", "\u2029", "\u202f",
                                         "\u205f", "\u2060", "\u3000", "\ufeff"};
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
        if (strlen(blanks[i]) == length && memcmp(text, blanks[i], length) == 0)
            return true;
    return length == 3 && memcmp(text, "\xe2\x80", 2) == 0 && (unsigned char)text[2] <= 0x8f; /* U+2000 to U+200F */
}

bool text_is_blank(const char *text)
{
    while (*text) {
        size_t length = text_character(text, strnlen(text, CHARACTER_MAX));
        bool blank = length == 1 ? (unsigned char)*text <= ' ' || *text == 0x7f : is_wide_blank(text, length);
        if (!length || !blank)
            return false;
        text += length;
    }
    return true;
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);
    return length > size && memcmp(text + length - size, ending, size) == 0;
}
