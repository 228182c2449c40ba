/* The words of the grammar: strings, numbers, names; and how a text is refused. */
#include "json_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define EXPONENT_DIGITS_OK 2 /* JSON_NUMBER_MAX digits and e99 are still within a double */

bool json_refuse(struct json_pull *in, const char *at, const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);

    size_t line, column;
    in->broken = true;
    in->waits = false;
    in->st->field[0] = '\0';
    json_position(in->shown, (size_t)(at - in->start), &line, &column);
    return fail(in->st, INVALID_ARGUMENT, "%s%s%zu:%zu: %s", in->name != NULL ? in->name : "",
                in->name != NULL ? ":" : "", line, column, why.text);
}

bool json_expected(struct json_pull *in, const char *what)
{
    if (in->at == in->end)
        return json_refuse(in, in->at, "expected %s, but the text ends here", what);
    if (in->at == in->start && in->end - in->at >= 3 && memcmp(in->at, "\xEF\xBB\xBF", 3) == 0)
        return json_refuse(in, in->at, "begins with a byte order mark; save it as UTF-8 without one");
    size_t size = text_character(in->at, (size_t)(in->end - in->at));
    if (size == 0 || (size == 1 && (*in->at < 0x20 || *in->at == 0x7F)))
        return json_refuse(in, in->at, "expected %s, not the byte 0x%02x", what, (unsigned char)*in->at);
    return json_refuse(in, in->at, "expected %s, not '%.*s'", what, (int)size, in->at);
}

static int words_hex4(const char *at, const char *end)
{
    int value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* True for an escape that no text may have: NUL, or half of a surrogate pair. `at` is behind "\\u"; `*size` is how many
 * bytes the escape, or the pair of them, takes from there. */
static bool json_escape_is_broken(const char *at, const char *end, size_t *size)
{
    int code = words_hex4(at, end);
    *size = code < 0 ? 0 : 4;
    if (code < 0xD800 || code > 0xDFFF)
        return code == 0;
    int low = code < 0xDC00 && end - at >= 10 && memcmp(at + 4, "\\u", 2) == 0 ? words_hex4(at + 6, end) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return true;
    *size = 10;
    return false;
}

/* The four digits of the next broken escape after `at`; NULL: no broken escape. */
static const char *json_broken_escape(const char *at, const char *end)
{
    size_t size;
    while ((at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 2) {
        bool unicode = at[1] == 'u';
        at += 2;
        if (!unicode)
            continue;
        if (json_escape_is_broken(at, end, &size))
            return at;
        at += size;
    }
    return NULL;
}

const char *json_mended(const char *text, size_t length, struct arena *arena)
{
    const char *broken = json_broken_escape(text, text + length);
    if (!broken)
        return text;
    char *copy = arena_strndup(arena, text, length);
    for (; copy && broken; broken = json_broken_escape(broken + 4, text + length))
        memcpy(copy + (broken - text), "FFFD", 4);
    return copy;
}

static bool read_escape(struct json_pull *in)
{
    const char *escape = in->at++;
    if (in->at == in->end)
        return json_refuse(in, escape, "the string does not end");
    char kind = *in->at++;
    if (kind != 'u') {
        if (kind != '\0' && strchr("\"\\/bfnrt", kind) != NULL)
            return true;
        return json_refuse(in, escape, "no such escape; \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX are");
    }
    size_t size;
    bool broken = json_escape_is_broken(in->at, in->end, &size);
    if (!size)
        return json_refuse(in, escape, "\\u needs four hexadecimal digits");
    if (broken && words_hex4(in->at, in->end) == 0)
        return json_refuse(in, escape, "\\u0000 is not accepted: text may not contain NUL");
    in->at += size;
    return !broken ||
           json_refuse(in, escape, "half of a surrogate pair: \\uD800-\\uDBFF and \\uDC00-\\uDFFF come in pairs");
}

bool json_read_string(struct json_pull *in, bool *escaped)
{
    const char *quote = in->at++;
    *escaped = false;
    for (;;) {
        in->at += json_plain_length(in->at, (size_t)(in->end - in->at));
        if (in->at == in->end)
            return json_refuse(in, quote, "the string does not end");
        if (*in->at == '"') {
            in->at++;
            return true;
        }
        if (*in->at == '\n')
            return json_refuse(in, quote, "the string does not end on its line; a line break is written \\n");
        if ((unsigned char)*in->at < 0x20)
            return json_refuse(in, in->at, "the control byte 0x%02x must be escaped in a string",
                               (unsigned char)*in->at);
        if (*in->at != '\\')
            return json_refuse(in, in->at, "the byte 0x%02x is not UTF-8 here", (unsigned char)*in->at);
        *escaped = true;
        if (!read_escape(in))
            return false;
    }
}

static size_t skip_digits(struct json_pull *in)
{
    const char *first = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
        in->at++;
    return (size_t)(in->at - first);
}

double json_value_of(const char *number, size_t length)
{
    char copy[JSON_NUMBER_MAX + 1];
    memcpy(copy, number, length);
    copy[length] = '\0';
    return strtod(copy, NULL);
}

static bool words_read_exponent(struct json_pull *in, const char *number)
{
    bool negative = json_take(in, '-');
    if (!negative)
        json_take(in, '+');
    size_t digits = skip_digits(in);
    if (digits == 0)
        return json_expected(in, "a digit of the exponent");
    size_t length = (size_t)(in->at - number);
    if (negative || digits <= EXPONENT_DIGITS_OK || length > JSON_NUMBER_MAX || !isinf(json_value_of(number, length)))
        return true;
    return json_refuse(in, number, "the number %.*s is too large for a double", (int)length, number);
}

bool json_read_number(struct json_pull *in)
{
    const char *number = in->at;
    json_take(in, '-');
    if (json_take(in, '0')) {
        if (in->at < in->end && *in->at >= '0' && *in->at <= '9')
            return json_refuse(in, number, "a number may not begin with 0");
    } else if (skip_digits(in) == 0) {
        return json_expected(in, "a digit");
    }
    if (json_take(in, '.') && skip_digits(in) == 0)
        return json_expected(in, "a digit after '.'");
    if ((json_take(in, 'e') || json_take(in, 'E')) && !words_read_exponent(in, number))
        return false;
    if (in->at - number > JSON_NUMBER_MAX)
        return json_refuse(in, number, "a number of more than %d characters", JSON_NUMBER_MAX);
    return true;
}

bool json_read_word(struct json_pull *in, const char *word, size_t length)
{
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return json_expected(in, "a value");
    in->at += length;
    return true;
}
