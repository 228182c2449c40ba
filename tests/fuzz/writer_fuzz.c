/* libFuzzer on the JSON writer: the bytes are a script of calls to it. What comes out passes the checker whatever the
 * values are; into a buffer that is too small it comes whole or not at all. The first byte is the bound of that one. */
#include "json/json.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#define DEPTH_MAX 60 /* less than the checker's */

struct script {
    const uint8_t *at, *end;
    struct json_writer writer;
    char open[DEPTH_MAX]; /* '{' or '[' */
    unsigned depth, keys;
    char key[300];
};

/* Up to `size` bytes; fewer at the end. */
static size_t take(struct script *script, void *to, size_t size)
{
    size_t left = (size_t)(script->end - script->at);
    size = size < left ? size : left;
    memcpy(to, script->at, size);
    script->at += size;
    return size;
}

static unsigned byte(struct script *script)
{
    uint8_t value = 0;
    take(script, &value, 1);
    return value;
}

/* Any bytes but NUL, behind a number that makes it the only one of its name. */
static const char *key(struct script *script)
{
    if (script->open[script->depth - 1] == '[')
        return NULL;
    int length = snprintf(script->key, sizeof script->key, "%u:", script->keys++);
    size_t size = take(script, script->key + length, byte(script) % 16);
    script->key[(size_t)length + size] = '\0';
    return script->key;
}

static void begin(struct script *script, bool object, const char *name)
{
    if (script->depth == DEPTH_MAX)
        return;
    if (object)
        json_write_object(&script->writer, name);
    else
        json_write_array(&script->writer, name);
    script->open[script->depth++] = object ? '{' : '[';
}

static void write_text(struct script *script, const char *name)
{
    char text[256];
    size_t size = take(script, text, byte(script));
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] ? text[i] : ' '; /* NUL is written, and refused when it is read */
    json_write_text(&script->writer, name, text, size);
}

static void write_value(struct script *script)
{
    unsigned what = byte(script) % 11;
    if (what == 0) {
        if (script->depth > 1) {
            json_write_end(&script->writer);
            script->depth--;
        }
        return;
    }
    const char *name = key(script);
    double real = 0;
    float small = 0;
    int64_t whole = 0;
    switch (what) {
    case 1:
    case 2:
        if (script->depth < DEPTH_MAX)
            begin(script, what == 1, name);
        break;
    case 3:
        take(script, &whole, sizeof whole);
        json_write_int(&script->writer, name, whole);
        break;
    case 4:
        take(script, &whole, sizeof whole);
        json_write_uint(&script->writer, name, (uint64_t)whole);
        break;
    case 5:
        take(script, &real, sizeof real);
        json_write_double(&script->writer, name, real);
        break;
    case 6:
        take(script, &small, sizeof small);
        json_write_float(&script->writer, name, small);
        break;
    case 7:
        json_write_bool(&script->writer, name, byte(script) & 1);
        break;
    case 8:
        json_write_string(&script->writer, name, NULL);
        break;
    case 9:
        json_write_raw(&script->writer, name, "[1,{}]", 6);
        break;
    default:
        write_text(script, name);
    }
}

static bool run(const uint8_t *data, size_t size, struct buffer *out)
{
    struct script script = {.at = data, .end = data + size};
    json_writer_init(&script.writer, out);
    begin(&script, size && data[0] & 1, NULL);
    while (script.at < script.end)
        write_value(&script);
    for (; script.depth; script.depth--)
        json_write_end(&script.writer);
    return json_writer_done(&script.writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct status st = {0};
    struct buffer whole, bounded;
    if (size < 1)
        return 0;
    buffer_init(&whole, SIZE_MAX);
    buffer_init(&bounded, data[0]);
    must(run(data + 1, size - 1, &whole));
    must(json_check(whole.data, whole.length, NULL, &st));
    bool fits = run(data + 1, size - 1, &bounded);
    must(fits == (whole.length <= data[0]));
    must(!fits || (bounded.length == whole.length && memcmp(bounded.data, whole.data, whole.length) == 0));
    buffer_fini(&whole);
    buffer_fini(&bounded);
    return 0;
}
