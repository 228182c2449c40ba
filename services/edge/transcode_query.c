/* Queries, variables of paths, and single fields from their text. */
#include "transcode.h"

#include "base/nearest.h"
#include "base/text.h"
#include "rpc/message_field.h"

#include <stdio.h>
#include <string.h>

#define NAME_SHOWN 64

/* The fields that the query has set: a field that is not repeated may be set once. */
struct query_reader {
    ProtobufCMessage *message;
    struct arena *arena;
    struct status *st;
    const void *seen[TRANSCODE_PARAMETERS_MAX];
    size_t seen_count;
};

static int query_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* As forms have it: a plus is a space. NULL: not UTF-8, a NUL, or a '%' without its digits; or no memory. */
static char *query_decode(const char *at, size_t length, struct arena *arena)
{
    char *text = arena_alloc(arena, length + 1), *out = text;
    const char *end = at + length;
    for (; text && at < end; at++) {
        int high = *at == '%' && end - at > 2 ? query_hex(at[1]) : -1, low = high >= 0 ? query_hex(at[2]) : -1;
        if (*at == '%' && (low < 0 || (high << 4 | low) == 0))
            return NULL;
        *out++ = *at == '%' ? (char)(high << 4 | low) : *at == '+' ? ' ' : *at;
        at += *at == '%' ? 2 : 0;
    }
    if (!text)
        return NULL;
    *out = '\0';
    return text_is_clean(text, (size_t)(out - text)) ? text : NULL;
}

/* The next "name=value" of the query; false at its end. */
static bool query_next(const char **query, const char **name, size_t *name_length, const char **value,
                       size_t *value_length)
{
    while (**query == '&')
        ++*query;
    if (!**query)
        return false;
    size_t length = strcspn(*query, "&");
    const char *is = memchr(*query, '=', length);
    *name = *query;
    *name_length = is ? (size_t)(is - *query) : length;
    *value = is ? is + 1 : *query + length;
    *value_length = is ? length - *name_length - 1 : 0;
    *query += length;
    return true;
}

const char *transcode_next(const char **query, const char **value, struct arena *arena)
{
    const char *name, *raw;
    size_t length, size;
    if (!*query || !query_next(query, &name, &length, &raw, &size))
        return NULL;
    *value = query_decode(raw, size, arena);
    const char *decoded = query_decode(name, length, arena);
    return decoded ? decoded : "";
}

const char *transcode_parameter(const char *query, const char *name, struct arena *arena)
{
    const char *given, *value;
    size_t length, size;
    while (query && query_next(&query, &given, &length, &value, &size)) {
        const char *decoded = query_decode(given, length, arena);
        if (decoded && strcmp(decoded, name) == 0)
            return query_decode(value, size, arena);
    }
    return NULL;
}

static bool query_is_first(struct query_reader *reader, const void *at)
{
    for (size_t i = 0; i < reader->seen_count; i++)
        if (reader->seen[i] == at)
            return false;
    if (reader->seen_count < TRANSCODE_PARAMETERS_MAX)
        reader->seen[reader->seen_count++] = at;
    return true;
}

static bool query_unknown(struct query_reader *reader, const ProtobufCMessageDescriptor *type, const char *name,
                          const char *word, size_t length)
{
    char wanted[NAME_SHOWN] = "", names[64][TRANSCODE_NAME_MAX], shown[NAME_SHOWN];
    snprintf(shown, sizeof shown, "%.*s", (int)text_cut(name, strlen(name), sizeof shown - 1), name);
    if (!type->n_fields)
        return fail_field(reader->st, shown, "is no parameter of %s, which takes none", type->short_name);
    if (length < sizeof wanted)
        snprintf(wanted, sizeof wanted, "%.*s", (int)length, word);
    struct nearest nearest = nearest_to(wanted);
    for (unsigned i = 0; i < type->n_fields && i < 64; i++) {
        transcode_json_name(type->fields[i].name, names[i]);
        nearest_try(&nearest, names[i]);
    }
    return fail_field(reader->st, shown, "is no parameter of %s; %.200s", type->short_name,
                      nearest_hint(&nearest).text);
}

static bool query_set_map(struct query_reader *reader, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                          const char *name, const char *key, const char *value)
{
    if (!key || !*key)
        return fail_field(reader->st, name, "is a map; write %s.KEY=VALUE", name);
    if (transcode_map_has(message, field, key))
        return fail_field(reader->st, name, "stands twice");
    return transcode_map_add(message, field, key, value, reader->arena) ||
           fail(reader->st, RESOURCE_EXHAUSTED, "no memory for the query");
}

static bool query_set_scalar(struct query_reader *reader, ProtobufCMessage *message,
                             const ProtobufCFieldDescriptor *field, const char *name, const char *value)
{
    char why[TRANSCODE_WHY_MAX];
    void *at = (char *)message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        at = transcode_append(message, field, reader->arena);
        if (!at)
            return fail(reader->st, RESOURCE_EXHAUSTED, "no memory for the query");
    } else if (!query_is_first(reader, at)) {
        return fail_field(reader->st, name, "stands twice");
    } else if (!transcode_choose(message, field)) {
        return fail_field(reader->st, name, "stands beside another parameter of which only one may be given");
    }
    return transcode_scalar(field, value, at, reader->arena, why) || fail_field(reader->st, name, "%s", why);
}

/* Goes down the words of the name, "a.b.c". */
static bool query_set(struct query_reader *reader, const char *name, const char *value)
{
    ProtobufCMessage *message = reader->message;
    const char *word = name;
    for (;;) {
        size_t length = strcspn(word, ".");
        const ProtobufCFieldDescriptor *field = length ? transcode_field(message->descriptor, word, length) : NULL;
        const char *rest = word[length] ? word + length + 1 : NULL;
        if (!field)
            return query_unknown(reader, message->descriptor, name, word, length);
        if (message_field_is_map(field))
            return query_set_map(reader, message, field, name, rest, value);
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            return rest ? fail_field(reader->st, name, "has no fields")
                        : query_set_scalar(reader, message, field, name, value);
        if (!rest || field->label == PROTOBUF_C_LABEL_REPEATED)
            return fail_field(reader->st, name, "is an object%s; a query cannot carry it",
                              rest ? "" : ", whose fields are named with a point");
        if (!transcode_choose(message, field))
            return fail_field(reader->st, name, "stands beside another parameter of which only one may be given");
        message = transcode_submessage(message, field, reader->arena);
        if (!message)
            return fail(reader->st, RESOURCE_EXHAUSTED, "no memory for the query");
        word = rest;
    }
}

/* "labels[team]", as OpenAPI's deepObject writes it, becomes "labels.team". */
static void query_plain_name(char *name)
{
    char *open = strchr(name, '[');
    size_t length = strlen(name);
    if (!open || open == name || name[length - 1] != ']')
        return;
    name[length - 1] = '\0';
    *open = '.';
}

/* The entry of `skips` that is the name; NULL if it is none of them. */
static const void *query_skip(const char *const *skips, const char *name)
{
    for (; skips && *skips; skips++)
        if (strcmp(*skips, name) == 0)
            return skips;
    return NULL;
}

bool transcode_read_query(ProtobufCMessage *message, const char *query, const char *const *skips, struct arena *arena,
                          struct status *st)
{
    struct query_reader reader = {.message = message, .arena = arena, .st = st};
    const char *name, *value;
    size_t length, size, count = 0;
    while (query && query_next(&query, &name, &length, &value, &size)) {
        if (++count > TRANSCODE_PARAMETERS_MAX)
            return fail(st, INVALID_ARGUMENT, "the query has more than %d parameters", TRANSCODE_PARAMETERS_MAX);
        char *decoded = query_decode(name, length, arena), *text = query_decode(value, size, arena);
        if (!decoded || !text)
            return fail(st, INVALID_ARGUMENT, "parameter %zu of the query " TRANSCODE_UNDECODABLE, count);
        query_plain_name(decoded);
        const void *skip = query_skip(skips, decoded);
        if (skip && !query_is_first(&reader, skip))
            return fail_field(st, decoded, "stands twice");
        if (!skip && !query_set(&reader, decoded, text))
            return false;
    }
    return true;
}

bool transcode_set(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *text,
                   const char *where, struct arena *arena, struct status *st)
{
    char name[TRANSCODE_NAME_MAX], why[TRANSCODE_WHY_MAX];
    union {
        char *text;
        int64_t number;
        ProtobufCBinaryData bytes;
    } value = {0};
    void *at = (char *)message + field->offset;
    transcode_json_name(field->name, name);
    if (!transcode_scalar(field, text, &value, arena, why))
        return fail_field(st, name, "%s", why);
    bool same = field->type == PROTOBUF_C_TYPE_STRING
                    ? message_field_is_set(message, field) && strcmp(*(char **)at, text) == 0
                    : memcmp(at, &value, message_field_size(field)) == 0;
    if (message_field_is_set(message, field) && !same)
        return fail_field(st, name, "is given twice: %s has another value", where);
    if (!transcode_choose(message, field))
        return fail_field(st, name, "stands beside another field of which only one may be given");
    memcpy(at, &value, message_field_size(field));
    return true;
}
