/* Marks of list items inside running text: "1. Apples 2. Pears". */
#include "words/sentences_priv.h"

#define NUMBER_DIGITS_MAX 3
#define CIRCLED_FIRST     0x2460 /* ① */
#define CIRCLED_LAST      0x2473 /* ⑳ */
#define WIDE_ZERO         0xFF10
#define WIDE_OPEN         0xFF08
#define WIDE_CLOSE        0xFF09

static bool sentences_marker_is_bullet(uint32_t code)
{
    return code == 0x2022 || code == 0x2043 || code == 0x30FB || code == 0x25CF || code == 0x25A0; /* • ⁃ ・ ● ■ */
}

/* A number or a letter with its closing mark: "1.", "2)", "3.)", "a.". */
static struct marker sentences_marker_number_read(const char *text, size_t length, size_t at)
{
    struct marker marker = {0};
    size_t behind = at;
    while (behind < length && behind - at < NUMBER_DIGITS_MAX && text[behind] >= '0' && text[behind] <= '9')
        marker.value = marker.value * 10 + (uint32_t)(text[behind++] - '0');
    char kind = behind > at ? 'n' : 'l';
    if (at < length && behind == at && text[at] >= 'a' && text[at] <= 'z')
        marker.value = (uint32_t)text[behind++];
    size_t close = behind;
    if (behind == at || behind == length)
        return marker;
    if (text[behind] == '.')
        marker.close[0] = text[behind++];
    if (behind < length && text[behind] == ')')
        marker.close[1] = text[behind++];
    if (behind == close || behind == length || !is_blank(text[behind]))
        return marker;
    marker.kind = kind;
    marker.end = behind;
    return marker;
}

/* A number may follow the bullet: "• 1. Apples". A second bullet is a separate item, so there is no recursion here. */
static struct marker bullet_read(const char *text, size_t length, size_t behind, uint32_t code)
{
    struct marker marker = {.kind = 'b', .value = code, .end = behind};
    struct marker number = sentences_marker_number_read(text, length, skip_space(text, length, behind));
    if (number.kind == 'n')
        marker.end = number.end;
    return marker;
}

struct marker marker_read(const char *text, size_t length, size_t at)
{
    size_t behind = at;
    if (at >= length)
        return (struct marker){0};
    uint32_t code = utf8_read(text, length, at, &behind);
    return sentences_marker_is_bullet(code) ? bullet_read(text, length, behind, code)
                                            : sentences_marker_number_read(text, length, at);
}

/* ① to ⑳: a number that needs no closing mark. */
static struct marker circled_read(const char *text, size_t length, size_t at)
{
    size_t behind = at;
    uint32_t code = at < length ? utf8_read(text, length, at, &behind) : 0;
    if (code < CIRCLED_FIRST || code > CIRCLED_LAST)
        return (struct marker){0};
    return (struct marker){.kind = 'n', .value = code - CIRCLED_FIRST + 1, .end = behind};
}

static bool is_bracket(uint32_t code, char ascii, uint32_t wide)
{
    return code == (unsigned char)ascii || code == wide;
}

/* "(1)", （1） and （１）. */
static struct marker bracketed_read(const char *text, size_t length, size_t at)
{
    struct marker marker = {.close = "("};
    size_t behind = at;
    unsigned digits = 0;
    if (at >= length || !is_bracket(utf8_read(text, length, at, &behind), '(', WIDE_OPEN))
        return (struct marker){0};
    while (behind < length && digits <= NUMBER_DIGITS_MAX) {
        uint32_t code = utf8_read(text, length, behind, &behind);
        uint32_t digit = code - (code >= WIDE_ZERO ? WIDE_ZERO : '0');
        if (digits && is_bracket(code, ')', WIDE_CLOSE)) {
            marker.kind = 'n';
            marker.end = behind;
            return marker;
        }
        if (digit > 9)
            break;
        marker.value = marker.value * 10 + digit;
        digits++;
    }
    return (struct marker){0};
}

struct marker marker_of_line(const char *text, size_t length, size_t at)
{
    struct marker marker = marker_read(text, length, at);
    if (!marker.kind || marker.kind == 'l')
        marker = circled_read(text, length, at);
    return marker.kind ? marker : bracketed_read(text, length, at);
}

bool marker_follows(const struct marker *first, const struct marker *next)
{
    if (first->kind != next->kind)
        return false;
    if (first->kind == 'b')
        return first->value == next->value;
    return next->value == first->value + 1 && next->close[0] == first->close[0] && next->close[1] == first->close[1];
}

uint32_t sentences_item_number(const char *text, size_t length, size_t *behind)
{
    struct marker marker = marker_read(text, length, 0);
    *behind = marker.kind == 'n' ? skip_space(text, length, marker.end) : 0;
    return marker.kind == 'n' ? marker.value : 0;
}
