/* The checker: one recursive descent over the text, no tree. Its depth is bounded before it descends. */
#include "json_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define SHOWN_MAX          80 /* bytes of a key in an error */
#define EXPONENT_DIGITS_OK 2  /* JSON_NUMBER_MAX digits and e99 are still within a double */

struct checker {
    const char *name;        /* of the file, may be NULL */
    const char *shown;       /* the text in which places are counted */
    const char *start, *end; /* the text that is checked */
    const char *at;
    unsigned depth; /* how much deeper it may go */
    size_t values;  /* how many more there may be */
    struct json_limits limits;
    struct json_keys *keys;
    struct status *st;
};

static bool check_value(struct checker *c);

void json_position(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if ((text[i] & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

__attribute__((format(printf, 3, 4))) static bool refuse(struct checker *c, const char *at, const char *format, ...)
{
    struct status why;
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);

    size_t line, column;
    json_position(c->shown, (size_t)(at - c->start), &line, &column);
    return fail(c->st, INVALID_ARGUMENT, "%s%s%zu:%zu: %s", c->name != NULL ? c->name : "", c->name != NULL ? ":" : "",
                line, column, why.text);
}

/* Fails at the place reached, saying what should stand there and what does. */
static bool expected(struct checker *c, const char *what)
{
    if (c->at == c->end)
        return refuse(c, c->at, "expected %s, but the text ends here", what);
    size_t size = text_character(c->at, (size_t)(c->end - c->at));
    if (size == 0 || (size == 1 && (*c->at < 0x20 || *c->at == 0x7F)))
        return refuse(c, c->at, "expected %s, not the byte 0x%02x", what, (unsigned char)*c->at);
    return refuse(c, c->at, "expected %s, not '%.*s'", what, (int)size, c->at);
}

static inline void skip_space(struct checker *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
        c->at++;
}

static inline bool take(struct checker *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static int hex4(const char *at, const char *end)
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

static bool check_escape(struct checker *c)
{
    const char *escape = c->at++;
    if (c->at == c->end)
        return refuse(c, escape, "the string does not end");
    char kind = *c->at++;
    if (kind != 'u') {
        if (kind != '\0' && strchr("\"\\/bfnrt", kind) != NULL)
            return true;
        return refuse(c, escape, "no such escape; \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX are");
    }
    int code = hex4(c->at, c->end);
    if (code < 0)
        return refuse(c, escape, "\\u needs four hexadecimal digits");
    if (code == 0)
        return refuse(c, escape, "\\u0000 is not accepted: text may not contain NUL");
    c->at += 4;
    if (code < 0xD800 || code > 0xDFFF)
        return true;

    int low = code < 0xDC00 && c->end - c->at >= 2 && memcmp(c->at, "\\u", 2) == 0 ? hex4(c->at + 2, c->end) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        return refuse(c, escape, "half of a surrogate pair: \\uD800-\\uDBFF and \\uDC00-\\uDFFF come in pairs");
    c->at += 6;
    return true;
}

static bool check_string(struct checker *c, bool *escaped)
{
    const char *quote = c->at++;
    *escaped = false;
    for (;;) {
        c->at += json_plain_length(c->at, (size_t)(c->end - c->at));
        if (c->at == c->end)
            return refuse(c, quote, "the string does not end");
        if (*c->at == '"') {
            c->at++;
            return true;
        }
        if (*c->at == '\n')
            return refuse(c, quote, "the string does not end on its line; a line break is written \\n");
        if ((unsigned char)*c->at < 0x20)
            return refuse(c, c->at, "the control byte 0x%02x must be escaped in a string", (unsigned char)*c->at);
        if (*c->at != '\\')
            return refuse(c, c->at, "the byte 0x%02x is not UTF-8 here", (unsigned char)*c->at);
        *escaped = true;
        if (!check_escape(c))
            return false;
    }
}

static size_t skip_digits(struct checker *c)
{
    const char *first = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return (size_t)(c->at - first);
}

static bool check_exponent(struct checker *c, const char *number)
{
    bool negative = take(c, '-');
    if (!negative)
        take(c, '+');
    size_t digits = skip_digits(c);
    if (digits == 0)
        return expected(c, "a digit of the exponent");
    size_t length = (size_t)(c->at - number);
    if (negative || digits <= EXPONENT_DIGITS_OK || length > JSON_NUMBER_MAX)
        return true;

    char copy[JSON_NUMBER_MAX + 1];
    memcpy(copy, number, length);
    copy[length] = '\0';
    if (isinf(strtod(copy, NULL)))
        return refuse(c, number, "the number %s is too large for a double", copy);
    return true;
}

static bool check_number(struct checker *c)
{
    const char *number = c->at;
    take(c, '-');
    if (take(c, '0')) {
        if (c->at < c->end && *c->at >= '0' && *c->at <= '9')
            return refuse(c, number, "a number may not begin with 0");
    } else if (skip_digits(c) == 0) {
        return expected(c, "a digit");
    }
    if (take(c, '.') && skip_digits(c) == 0)
        return expected(c, "a digit after '.'");
    if ((take(c, 'e') || take(c, 'E')) && !check_exponent(c, number))
        return false;
    if (c->at - number > JSON_NUMBER_MAX)
        return refuse(c, number, "a number of more than %d characters", JSON_NUMBER_MAX);
    return true;
}

static bool check_word(struct checker *c, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return expected(c, "a value");
    c->at += length;
    return true;
}

static bool stands_twice(struct checker *c, const struct json_key *key)
{
    return refuse(c, key->at, "the key '%.*s' stands twice in this object",
                  (int)text_cut(key->text, key->length, SHOWN_MAX), key->text);
}

static bool check_key(struct checker *c, size_t base)
{
    const char *quote = c->at;
    bool escaped;
    if (c->at == c->end || *c->at != '"')
        return expected(c, "a key in double quotes");
    if (!check_string(c, &escaped))
        return false;
    switch (json_keys_add(c->keys, base, quote, (size_t)(c->at - quote) - 2, escaped)) {
    case JSON_KEYS_NEW:
        break;
    case JSON_KEYS_TWICE:
        return stands_twice(c, &c->keys->keys[c->keys->count - 1]);
    case JSON_KEYS_NO_MEMORY:
        return fail(c->st, RESOURCE_EXHAUSTED, "no memory to check JSON of %zu bytes", (size_t)(c->end - c->start));
    }
    skip_space(c);
    return take(c, ':') || expected(c, "':' after the key");
}

static bool check_object(struct checker *c)
{
    size_t base = c->keys->count;
    c->at++;
    skip_space(c);
    if (take(c, '}'))
        return true;
    for (;;) {
        skip_space(c);
        if (!check_key(c, base) || !check_value(c))
            return false;
        skip_space(c);
        if (take(c, ','))
            continue;
        if (!take(c, '}'))
            return expected(c, "',' or '}'");
        const struct json_key *twice = json_keys_end(c->keys, base);
        return twice == NULL || stands_twice(c, twice);
    }
}

static bool check_array(struct checker *c)
{
    c->at++;
    skip_space(c);
    if (take(c, ']'))
        return true;
    for (;;) {
        if (!check_value(c))
            return false;
        skip_space(c);
        if (take(c, ','))
            continue;
        return take(c, ']') || expected(c, "',' or ']'");
    }
}

static bool check_nested(struct checker *c)
{
    if (c->depth == 0)
        return refuse(c, c->at, "objects and arrays are nested deeper than %u", c->limits.depth);
    c->depth--;
    bool good = *c->at == '{' ? check_object(c) : check_array(c);
    c->depth++;
    return good;
}

static bool check_value(struct checker *c)
{
    bool escaped;
    skip_space(c);
    if (c->values == 0)
        return refuse(c, c->at, "there are more than %zu values", c->limits.values);
    c->values--;
    switch (c->at < c->end ? *c->at : '\0') {
    case '{':
    case '[':
        return check_nested(c);
    case '"':
        return check_string(c, &escaped);
    case 't':
        return check_word(c, "true");
    case 'f':
        return check_word(c, "false");
    case 'n':
        return check_word(c, "null");
    default:
        if (c->at < c->end && (*c->at == '-' || (*c->at >= '0' && *c->at <= '9')))
            return check_number(c);
        return expected(c, "a value");
    }
}

static struct json_limits with_defaults(const struct json_limits *limits)
{
    struct json_limits all = limits != NULL ? *limits : (struct json_limits){0};
    if (all.depth == 0)
        all.depth = JSON_DEPTH_DEFAULT;
    if (all.depth > JSON_DEPTH_MAX)
        all.depth = JSON_DEPTH_MAX;
    if (all.bytes == 0)
        all.bytes = JSON_BYTES_DEFAULT;
    if (all.bytes > INT32_MAX)
        all.bytes = INT32_MAX;
    if (all.values == 0)
        all.values = JSON_VALUES_DEFAULT;
    return all;
}

bool json_check_named(const char *name, const char *shown, const char *text, size_t length,
                      const struct json_limits *limits, struct status *st)
{
    struct json_limits all = with_defaults(limits);
    struct json_keys keys; /* large, so not cleared with the rest */
    struct checker c = {.name = name,
                        .shown = shown,
                        .start = text,
                        .end = text + length,
                        .at = text,
                        .keys = &keys,
                        .depth = all.depth,
                        .values = all.values,
                        .limits = all,
                        .st = st};
    if (length > all.bytes)
        return refuse(&c, text, "%zu bytes of JSON, more than the %zu that are accepted", length, all.bytes);

    json_keys_init(&keys, length);
    bool good = check_value(&c);
    if (good) {
        skip_space(&c);
        good = c.at == c.end || expected(&c, "the end of the text");
    }
    json_keys_fini(&keys);
    return good;
}

bool json_check(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    return json_check_named(NULL, text, text, length, limits, st);
}

cJSON *json_parse(const char *text, size_t length, const struct json_limits *limits, struct status *st)
{
    if (!json_check(text, length, limits, st))
        return NULL;
    cJSON *root = cJSON_ParseWithLength(text, length);
    if (root == NULL)
        fail(st, RESOURCE_EXHAUSTED, "no memory for a tree of %zu bytes of JSON", length);
    return root;
}
