/* Classifies lines: running text, a heading, a list item, a table row or a code fence. */
#include <string.h>

#include "words/sentences_priv.h"

#define FENCE 3 /* backticks or tildes */

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* An ideographic space is three bytes. */
static bool wide_space(const char *text, size_t length, size_t at)
{
    return length - at >= 3 && memcmp(text + at, "\xE3\x80\x80", 3) == 0;
}

size_t skip_space(const char *text, size_t length, size_t at)
{
    while (at < length) {
        if (is_blank(text[at]) || text[at] == '\n')
            at++;
        else if (wide_space(text, length, at))
            at += 3;
        else
            break;
    }
    return at;
}

static size_t sentences_line_skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && is_blank(text[at]))
        at++;
    return at;
}

size_t line_mark(const char *text, size_t length, size_t at)
{
    size_t mark = sentences_line_skip_blanks(text, length, at), behind = mark;
    if (mark == length)
        return at;
    if (text[mark] == '>')
        return mark + 1;
    while (behind < length && text[behind] == '#')
        behind++;
    if (behind == mark && strchr("-*+", text[mark]) != NULL && text[mark] != '\0')
        behind++;
    return behind > mark && behind < length && is_blank(text[behind]) ? behind : at;
}

bool line_is_fence(const char *text, size_t length, size_t at)
{
    at = sentences_line_skip_blanks(text, length, at);
    return length - at >= FENCE && (memcmp(text + at, "```", FENCE) == 0 || memcmp(text + at, "~~~", FENCE) == 0);
}

/* Whether the line is a heading, a table row or a quote: it is not joined with the lines around it. */
static bool sentences_line_stands_alone(const char *text, size_t length, size_t at)
{
    at = sentences_line_skip_blanks(text, length, at);
    return at < length &&
           (text[at] == '|' || text[at] == '>' || (text[at] == '#' && line_mark(text, length, at) != at));
}

bool line_ends_block(const char *text, size_t length, size_t line, size_t at)
{
    size_t next = at + 1, first = sentences_line_skip_blanks(text, length, next);
    if (first == length || text[first] == '\n')
        return true;
    if (sentences_line_stands_alone(text, length, line) || sentences_line_stands_alone(text, length, next))
        return true;
    if (line_mark(text, length, next) != next || line_is_fence(text, length, next))
        return true;
    struct marker marker = marker_of_line(text, length, first);
    return marker.kind == 'b' || marker.kind == 'n';
}
