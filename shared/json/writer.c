#include "json/writer.h"

#include "json_private.h"
#include "number.h"

#include <assert.h>

void json_writer_init(struct json_writer *writer, struct buffer *out)
{
    writer->out = out;
    writer->depth = 0;
    writer->comma = false;
}

bool json_writer_done(struct json_writer *writer)
{
    assert(writer->depth == 0 && writer->comma);
    writer->comma = false;
    return !writer->out->failed;
}

static inline bool in_object(const struct json_writer *writer)
{
    unsigned level = writer->depth - 1;
    return writer->depth > 0 && (writer->objects[level / 64] >> level % 64 & 1);
}

/* The comma and the key. */
static inline void before(struct json_writer *writer, const char *key)
{
    assert(writer->depth > 0 || !writer->comma); /* one value at the top */
    assert(in_object(writer) == (key != NULL));
    if (writer->comma)
        buffer_put(writer->out, ',');
    writer->comma = true;
    if (key != NULL) {
        json_append_string(writer->out, key, strlen(key));
        buffer_put(writer->out, ':');
    }
}

static void writer_begin(struct json_writer *writer, const char *key, bool object)
{
    before(writer, key);
    assert(writer->depth < JSON_WRITER_DEPTH_MAX);
    uint64_t bit = UINT64_C(1) << writer->depth % 64, *bits = &writer->objects[writer->depth / 64];
    *bits = object ? *bits | bit : *bits & ~bit;
    writer->depth++;
    writer->comma = false;
    buffer_put(writer->out, object ? '{' : '[');
}

void json_write_object(struct json_writer *writer, const char *key)
{
    writer_begin(writer, key, true);
}

void json_write_array(struct json_writer *writer, const char *key)
{
    writer_begin(writer, key, false);
}

void json_write_end(struct json_writer *writer)
{
    assert(writer->depth > 0);
    buffer_put(writer->out, in_object(writer) ? '}' : ']');
    writer->depth--;
    writer->comma = true;
}

void json_write_strings(struct json_writer *writer, const char *key, char *const *texts, size_t count)
{
    json_write_array(writer, key);
    for (size_t i = 0; i < count; i++)
        json_write_string(writer, NULL, texts[i]);
    json_write_end(writer);
}

void json_write_string(struct json_writer *writer, const char *key, const char *text)
{
    if (text == NULL)
        json_write_null(writer, key);
    else
        json_write_text(writer, key, text, strlen(text));
}

void json_write_text(struct json_writer *writer, const char *key, const char *text, size_t length)
{
    before(writer, key);
    json_append_string(writer->out, text, length);
}

void json_write_int(struct json_writer *writer, const char *key, int64_t value)
{
    char digits[JSON_NUMBER_SIZE];
    before(writer, key);
    buffer_append(writer->out, digits, json_format_int(value, digits));
}

void json_write_uint(struct json_writer *writer, const char *key, uint64_t value)
{
    char digits[JSON_NUMBER_SIZE];
    before(writer, key);
    buffer_append(writer->out, digits, json_format_uint(value, digits));
}

void json_write_double(struct json_writer *writer, const char *key, double value)
{
    char digits[JSON_NUMBER_SIZE];
    before(writer, key);
    buffer_append(writer->out, digits, json_format_double(value, digits));
}

void json_write_float(struct json_writer *writer, const char *key, float value)
{
    char digits[JSON_NUMBER_SIZE];
    before(writer, key);
    buffer_append(writer->out, digits, json_format_float(value, digits));
}

void json_write_bool(struct json_writer *writer, const char *key, bool value)
{
    before(writer, key);
    buffer_print(writer->out, value ? "true" : "false");
}

void json_write_null(struct json_writer *writer, const char *key)
{
    before(writer, key);
    buffer_append(writer->out, "null", 4);
}

void json_write_raw(struct json_writer *writer, const char *key, const char *json, size_t length)
{
    assert(length > 0);
    before(writer, key);
    buffer_append(writer->out, json, length);
}

void json_write_key(struct json_writer *writer, const char *key)
{
    before(writer, key);
}

void json_write_tree(struct json_writer *writer, const char *key, const cJSON *tree)
{
    switch (tree->type & 0xFF) {
    case cJSON_Object:
    case cJSON_Array:
        writer_begin(writer, key, cJSON_IsObject(tree));
        for (const cJSON *child = tree->child; child != NULL; child = child->next)
            json_write_tree(writer, cJSON_IsObject(tree) ? child->string : NULL, child);
        json_write_end(writer);
        break;
    case cJSON_String:
        json_write_string(writer, key, tree->valuestring);
        break;
    case cJSON_Raw:
        json_write_raw(writer, key, tree->valuestring, strlen(tree->valuestring));
        break;
    case cJSON_Number:
        json_write_double(writer, key, tree->valuedouble);
        break;
    case cJSON_True:
    case cJSON_False:
        json_write_bool(writer, key, cJSON_IsTrue(tree));
        break;
    default:
        json_write_null(writer, key);
    }
}

static void append_escaped(struct buffer *out, char c)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i < sizeof named - 1; i += 2) {
        if (named[i] == c) {
            char escape[2] = {'\\', named[i + 1]};
            buffer_append(out, escape, sizeof escape);
            return;
        }
    }
    if ((unsigned char)c < 0x20)
        buffer_printf(out, "\\u%04x", (unsigned char)c);
    else
        buffer_print(out, "\xEF\xBF\xBD"); /* U+FFFD for invalid UTF-8 */
}

void json_append_string(struct buffer *out, const char *text, size_t length)
{
    char *room = buffer_reserve(out, length + 2);
    if (room == NULL)
        return;
    size_t plain = json_plain_length(text, length);
    if (plain == length) {
        room[0] = room[length + 1] = '"';
        memcpy(room + 1, text, length);
        out->length += length + 2;
        return;
    }
    buffer_put(out, '"');
    for (size_t at = 0; at < length; at++) {
        plain = json_plain_length(text + at, length - at);
        buffer_append(out, text + at, plain);
        at += plain;
        if (at < length)
            append_escaped(out, text[at]);
    }
    buffer_put(out, '"');
}
