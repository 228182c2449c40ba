#include "wrap.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* The characters that should not begin a line, and those that should not end a line. */
static const wchar_t closing[] =
    L"\"、。，．,.!?！？」』）)】〕］]｝}〉》”’・：；:;ー…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ%％";
static const wchar_t opening[] = L"「『（(【〔［[｛{〈《“‘";

#define CHARACTER_BYTES 4 /* of UTF-8 */

struct character {
    wchar_t code;
    size_t size;
    size_t columns;
};

static struct character character_at(const char *text)
{
    struct character one = {.size = 1};
    mbstate_t state = {0};
    if (!*text)
        return (struct character){0};
    size_t size = mbrtowc(&one.code, text, strnlen(text, CHARACTER_BYTES), &state);
    if (size > 4) { /* not UTF-8 */
        one.code = L'?';
        one.columns = 1;
        return one;
    }
    int columns = wcwidth(one.code);
    one.size = size;
    one.columns = columns > 0 ? (size_t)columns : 0;
    if (columns < 0 && one.code != WRAP_DIM && one.code != WRAP_PLAIN && one.code != L'\n') {
        one.code = one.code == L'\t' ? L' ' : L'?';
        one.columns = 1;
    }
    return one;
}

size_t wrap_columns(const char *text)
{
    size_t columns = 0;
    for (struct character one; (one = character_at(text)).size; text += one.size)
        columns += one.columns;
    return columns;
}

size_t wrap_fit(const char *text, size_t columns)
{
    size_t bytes = 0;
    for (struct character one; (one = character_at(text + bytes)).size; bytes += one.size) {
        if (one.columns > columns)
            break;
        columns -= one.columns;
    }
    return bytes;
}

static bool wrap_is_mark(wchar_t code)
{
    return code == WRAP_DIM || code == WRAP_PLAIN;
}

/* Whether a line may break between two neighbours. */
static bool breaks(struct character before, struct character after)
{
    if (!after.size || after.code == L' ' || after.code == L'\n' || before.code == L'\n')
        return true;
    if (wcschr(closing, after.code) || wcschr(opening, before.code) || wrap_is_mark(before.code) ||
        wrap_is_mark(after.code))
        return false;
    return before.code == L' ' || before.columns == 2 || after.columns == 2;
}

/* The bytes up to the next possible line break, and their width. */
static size_t piece(const char *text, size_t *columns)
{
    struct character one = character_at(text), next;
    size_t bytes = one.size;
    *columns = one.columns;
    while (one.size && (next = character_at(text + bytes)).size && !breaks(one, next)) {
        bytes += next.size;
        *columns += next.columns;
        one = next;
    }
    return bytes;
}

static void put(FILE *out, const char *text, size_t bytes, bool coloured)
{
    struct character one;
    for (size_t i = 0; i < bytes; i += one.size) {
        one = character_at(text + i);
        if (wrap_is_mark(one.code))
            fputs(!coloured ? "" : one.code == WRAP_DIM ? "\033[2m" : "\033[0m", out);
        else if (one.code == L'?' || one.code == L' ')
            fputc((int)one.code, out);
        else
            fwrite(text + i, 1, one.size, out);
    }
}

static void begin_line(FILE *out, size_t indent)
{
    fprintf(out, "\n%*s", (int)indent, "");
}

void wrap_text_on(FILE *out, const char *text, size_t indent, size_t width, bool coloured)
{
    size_t column = indent, columns, bytes;
    for (; (bytes = piece(text, &columns)); text += bytes) {
        bool fits = !width || column + columns <= width;
        if (*text == '\n' || (!fits && column > indent)) {
            begin_line(out, indent);
            column = indent;
            bool gone = *text == '\n' || *text == ' '; /* white space at a break */
            text += gone;
            bytes -= gone;
            columns -= *(text - gone) == ' ';
        }
        put(out, text, bytes, coloured);
        column += columns;
    }
    fputc('\n', out);
}

void wrap_text(const char *text, size_t indent, size_t width, bool coloured)
{
    wrap_text_on(stdout, text, indent, width, coloured);
}

void wrap_put(struct buffer *out, const char *text, size_t length, bool one_line)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool white = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (one_line && white) {
            if (out->length && out->data[out->length - 1] != ' ')
                buffer_put(out, ' ');
        } else if (c != '\r') {
            buffer_put(out, c < 0x20 && !white ? '?' : (char)c);
        }
    }
}
