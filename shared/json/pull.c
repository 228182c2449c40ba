/* The grammar, value by value. Skipping recurses through json_pull_skip and json_pull_next; its depth is checked before
 * each descent. */
#include "json_private.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#define SHOWN_MAX    80                 /* bytes of a key in an error */
#define EXACT_DIGITS 15                 /* as many are always less than 2^53 */
#define EXACT_MAX    9007199254740992.0 /* 2^53 */

static bool pull_no_memory(struct json_pull *in)
{
    in->broken = true;
    in->waits = false;
    return fail(in->st, RESOURCE_EXHAUSTED, "no memory to read JSON of %zu bytes", (size_t)(in->end - in->start));
}

/* ---- position and kind ------------------------------------------------------------------------------------------- */

enum json_kind json_pull_kind(struct json_pull *in)
{
    if (!in->waits)
        return JSON_NOTHING;
    json_skip_space(in);
    switch (in->at < in->end ? *in->at : '\0') {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
        return JSON_BOOLEAN;
    case 'n':
        return JSON_NULL;
    case '-':
    case '0' ... '9':
        return JSON_NUMBER;
    default:
        return JSON_NOTHING;
    }
}

/* The start of every value, for all readers. */
static bool pull_begin(struct json_pull *in)
{
    if (!in->waits)
        return false;
    in->waits = false;
    if (in->values == 0)
        return json_refuse(in, in->at, "there are more than %zu values", in->limits.values);
    in->values--;
    return true;
}

static bool pull_enter(struct json_pull *in, struct json_scope *scope, bool array)
{
    *scope = (struct json_scope){.outer = in->scope, .keys = in->keys.count, .index = -1, .array = array};
    if (!pull_begin(in))
        return false;
    if (in->depth == 0) {
        json_refuse(in, in->at, "objects and arrays are nested deeper than %u", in->limits.depth);
        return false;
    }
    in->depth--;
    in->at++;
    in->scope = scope;
    return true;
}

static bool key_is_duplicate(struct json_pull *in, const struct json_key *key)
{
    return json_refuse(in, key->at, "the key '%.*s' stands twice in this object",
                       (int)text_cut(key->text, key->length, SHOWN_MAX), key->text);
}

static bool pull_read_key(struct json_pull *in, struct json_scope *scope)
{
    const char *quote = in->at;
    bool escaped;
    if (in->at == in->end || *in->at != '"')
        return json_expected(in, "a key in double quotes");
    if (!json_read_string(in, &escaped))
        return false;
    enum json_keys_result added = json_keys_add(&in->keys, scope->keys, quote, (size_t)(in->at - quote) - 2, escaped);
    if (added == JSON_KEYS_NO_MEMORY)
        return pull_no_memory(in);
    const struct json_key *key = &in->keys.keys[in->keys.count - 1];
    if (added == JSON_KEYS_TWICE)
        return key_is_duplicate(in, key);
    scope->key = key->text;
    scope->key_length = key->length;
    json_skip_space(in);
    return json_take(in, ':') || json_expected(in, "':' after the key");
}

static bool pull_leave(struct json_pull *in, struct json_scope *scope)
{
    const struct json_key *twice = NULL;
    enum json_keys_result ended = scope->array ? JSON_KEYS_NEW : json_keys_end(&in->keys, scope->keys, &twice);
    in->scope = scope->outer;
    in->depth++;
    if (ended == JSON_KEYS_NO_MEMORY)
        pull_no_memory(in);
    if (twice != NULL)
        key_is_duplicate(in, twice);
    return false;
}

bool json_pull_next(struct json_pull *in, struct json_scope *scope)
{
    assert(in->broken || in->scope == scope);
    if (in->waits)
        json_pull_skip(in);
    if (in->broken)
        return false;
    json_skip_space(in);
    bool first = scope->index < 0, more = !first && json_take(in, ',');
    if (!more && json_take(in, scope->array ? ']' : '}'))
        return pull_leave(in, scope);
    if (!more && !first)
        return json_expected(in, scope->array ? "',' or ']'" : "',' or '}'");
    scope->index++;
    json_skip_space(in);
    if (!scope->array && !pull_read_key(in, scope))
        return false;
    in->waits = true;
    return true;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static size_t write_path(const struct json_scope *scope, char *out, size_t room)
{
    size_t length = scope->outer != NULL ? write_path(scope->outer, out, room) : 0;
    int added = scope->array ? snprintf(out + length, room - length, "[%lld]", (long long)scope->index)
                             : snprintf(out + length, room - length, "%s%.*s", length > 0 ? "." : "",
                                        (int)text_cut(scope->key, scope->key_length, SHOWN_MAX), scope->key);
    return (size_t)added < room - length ? length + (size_t)added : room - 1;
}

__attribute__((format(printf, 3, 0))) static void note_wrong(struct json_pull *in, const char *field,
                                                             const char *format, va_list arguments)
{
    char path[STATUS_FIELD_MAX] = "";
    struct status why;
    in->wrong = true;
    size_t length = in->scope != NULL ? write_path(in->scope, path, sizeof path) : 0;
    if (field != NULL)
        snprintf(path + length, sizeof path - length, "%s%s", length > 0 ? "." : "", field);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    fail_field(in->st, path[0] != '\0' ? path : "(the whole)", "%s", why.text);
}

void json_pull_wrong(struct json_pull *in, const char *field, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!in->wrong && !in->broken)
        note_wrong(in, field, format, arguments);
    va_end(arguments);
}

static void not_wanted(struct json_pull *in, enum json_kind kind, const char *wanted)
{
    static const char *const names[] = {"an object", "an array", "a string", "a number", "a boolean", "null"};
    if (kind != JSON_NOTHING)
        json_pull_wrong(in, NULL, "must be %s, not %s", wanted, names[kind]);
    json_pull_skip(in);
}

/* ---- checked before ---------------------------------------------------------------------------------------------- */

/* Behind the quote that ends the string at `at`. */
static const char *behind_string(const char *at, const char *end)
{
    for (at++; at < end && (at = memchr(at, '"', (size_t)(end - at))); at++) {
        const char *escapes = at;
        while (escapes[-1] == '\\')
            escapes--;
        if ((at - escapes) % 2 == 0)
            return at + 1;
    }
    return end;
}

void json_pull_hop(struct json_pull *in)
{
    size_t depth = 0;
    if (!in->waits)
        return;
    in->waits = false;
    while (in->at < in->end) {
        char c = *in->at;
        if (c == '"') {
            in->at = behind_string(in->at, in->end);
            continue;
        }
        bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || c == ','))
            return;
        depth += c == '{' || c == '[';
        depth -= closes;
        in->at++;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

bool json_pull_null(struct json_pull *in)
{
    if (json_pull_kind(in) != JSON_NULL)
        return false;
    json_pull_skip(in);
    return true;
}

bool json_pull_object(struct json_pull *in, struct json_scope *scope)
{
    enum json_kind kind = json_pull_kind(in);
    if (kind == JSON_OBJECT)
        return pull_enter(in, scope, false);
    not_wanted(in, kind, "an object");
    return false;
}

bool json_pull_array(struct json_pull *in, struct json_scope *scope)
{
    enum json_kind kind = json_pull_kind(in);
    if (kind == JSON_ARRAY)
        return pull_enter(in, scope, true);
    not_wanted(in, kind, "an array");
    return false;
}

void json_pull_skip(struct json_pull *in)
{
    struct json_scope inside = {.index = -1};
    bool escaped;
    enum json_kind kind = json_pull_kind(in);
    if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
        for (bool more = pull_enter(in, &inside, kind == JSON_ARRAY); more;)
            more = json_pull_next(in, &inside);
        return;
    }
    if (!pull_begin(in))
        return;
    if (kind == JSON_STRING)
        json_read_string(in, &escaped);
    else if (kind == JSON_NUMBER)
        json_read_number(in);
    else if (kind == JSON_NULL)
        json_read_word(in, "null", 4);
    else if (kind == JSON_BOOLEAN)
        *in->at == 't' ? json_read_word(in, "true", 4) : json_read_word(in, "false", 5);
    else
        json_expected(in, "a value");
}

/* The text between the quotes; "" when memory runs out. */
static const char *pull_copy_text(struct json_pull *in, const char *first, size_t *length, bool escaped)
{
    char *text = *length > 0 ? arena_alloc(in->arena, *length + 1) : NULL;
    if (text == NULL) {
        if (*length > 0)
            pull_no_memory(in);
        *length = 0;
        return "";
    }
    if (escaped)
        *length = json_decode(first, *length, text);
    else
        memcpy(text, first, *length);
    text[*length] = '\0';
    return text;
}

static const char *pull_read_text(struct json_pull *in)
{
    bool escaped;
    const char *first = in->at + 1;
    if (!pull_begin(in) || !json_read_string(in, &escaped))
        return "";
    size_t length = (size_t)(in->at - first) - 1;
    return pull_copy_text(in, first, &length, escaped);
}

const char *json_pull_borrow(struct json_pull *in, size_t *length)
{
    bool escaped, is_string = json_pull_kind(in) == JSON_STRING;
    const char *first = in->at + 1;
    *length = 0;
    if (!is_string)
        json_pull_skip(in);
    if (!is_string || !pull_begin(in) || !json_read_string(in, &escaped))
        return NULL;
    *length = (size_t)(in->at - first) - 1;
    return escaped ? pull_copy_text(in, first, length, true) : first;
}

const char *json_pull_text(struct json_pull *in)
{
    enum json_kind kind = json_pull_kind(in);
    if (kind == JSON_STRING)
        return pull_read_text(in);
    if (kind == JSON_NULL)
        json_pull_skip(in);
    else
        not_wanted(in, kind, "a string");
    return "";
}

const char *json_pull_text_if_any(struct json_pull *in)
{
    if (json_pull_kind(in) == JSON_STRING)
        return pull_read_text(in);
    json_pull_skip(in);
    return NULL;
}

bool json_pull_boolean(struct json_pull *in, bool fallback)
{
    enum json_kind kind = json_pull_kind(in);
    bool value = kind == JSON_BOOLEAN ? *in->at == 't' : fallback;
    if (kind == JSON_BOOLEAN || kind == JSON_NULL)
        json_pull_skip(in);
    else
        not_wanted(in, kind, "a boolean");
    return value;
}

/* The value of the number that ends at the present place; true if it is whole and less than 2^53. */
static bool is_whole(const struct json_pull *in, const char *first, double *value)
{
    size_t length = (size_t)(in->at - first);
    int64_t sum = 0;
    const char *at = first;
    for (; length <= EXACT_DIGITS && at < in->at && *at >= '0' && *at <= '9'; at++)
        sum = sum * 10 + (*at - '0');
    *value = at == in->at ? (double)sum : json_value_of(first, length);
    return *value > -EXACT_MAX && *value < EXACT_MAX && *value == (double)(int64_t)*value;
}

bool json_pull_whole(struct json_pull *in, int64_t *value)
{
    double number;
    bool is_number = json_pull_kind(in) == JSON_NUMBER;
    const char *first = in->at;
    json_pull_skip(in);
    if (!is_number || in->broken || !is_whole(in, first, &number))
        return false;
    *value = (int64_t)number;
    return true;
}

int64_t json_pull_integer(struct json_pull *in, int64_t min, int64_t max, int64_t fallback)
{
    double value;
    enum json_kind kind = json_pull_kind(in);
    const char *first = in->at;
    if (kind != JSON_NUMBER && kind != JSON_NULL)
        not_wanted(in, kind, "a number");
    else
        json_pull_skip(in);
    if (in->broken || kind != JSON_NUMBER)
        return fallback;
    if (!is_whole(in, first, &value))
        json_pull_wrong(in, NULL, "must be a whole number, not %.17g", value);
    else if ((int64_t)value < min || (int64_t)value > max)
        json_pull_wrong(in, NULL, "is %lld, must be within %lld and %lld", (long long)value, (long long)min,
                        (long long)max);
    else
        return (int64_t)value;
    return fallback;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

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

void json_pull_init_named(struct json_pull *in, const char *name, const char *shown, const char *text, size_t length,
                          const struct json_limits *limits, struct status *st)
{
    in->limits = with_defaults(limits);
    in->name = name;
    in->shown = shown;
    in->start = in->at = text;
    in->end = text + length;
    in->depth = in->limits.depth;
    in->values = in->limits.values;
    in->waits = true;
    in->broken = in->wrong = false;
    in->scope = NULL;
    in->arena = NULL;
    in->st = st;
    json_keys_init(&in->keys, length);
    if (length > in->limits.bytes)
        json_refuse(in, text, "%zu bytes of JSON, more than the %zu that are accepted", length, in->limits.bytes);
}

void json_pull_init(struct json_pull *in, const char *text, size_t length, const struct json_limits *limits,
                    struct arena *arena, struct status *st)
{
    json_pull_init_named(in, NULL, text, text, length, limits, st);
    in->arena = arena;
}

bool json_pull_end(struct json_pull *in)
{
    assert(in->broken || in->scope == NULL);
    json_pull_skip(in);
    if (!in->broken) {
        json_skip_space(in);
        if (in->at != in->end)
            json_expected(in, "the end of the text");
    }
    json_keys_fini(&in->keys);
    return !in->broken && !in->wrong;
}
