/* Writes JSON into a buffer, without a tree.
 *
 *     json_write_object(&w, NULL);
 *     json_write_string(&w, "model", model);
 *     json_write_array(&w, "stop");
 *     json_write_string(&w, NULL, "\n");
 *     json_write_end(&w);
 *     json_write_end(&w);
 *     return json_writer_done(&w);
 *
 * A value within an object has a key; one within an array, or on its own, has NULL. Misuse is our own bug and asserted.
 * A buffer that passes its limit shows once, in json_writer_done. */
#ifndef RENGA_JSON_WRITER_H
#define RENGA_JSON_WRITER_H

#include "base/buffer.h"

#include <cjson/cJSON.h>
#include <stdint.h>

#define JSON_WRITER_DEPTH_MAX 512

struct json_writer {
    struct buffer *out;
    unsigned depth;
    bool comma;                                   /* before the next value */
    uint64_t objects[JSON_WRITER_DEPTH_MAX / 64]; /* a bit a level: object or array */
};

/* `out` is borrowed and appended to. */
void json_writer_init(struct json_writer *writer, struct buffer *out);

/* True if one whole value was written and the buffer did not fail. After it another value may begin. */
bool json_writer_done(struct json_writer *writer);

void json_write_object(struct json_writer *writer, const char *key);
void json_write_array(struct json_writer *writer, const char *key);
/* Ends the object or array begun last. */
void json_write_end(struct json_writer *writer);

/* Text is UTF-8; a byte that is not becomes U+FFFD. A NULL string is written as null. */
void json_write_string(struct json_writer *writer, const char *key, const char *text);
void json_write_text(struct json_writer *writer, const char *key, const char *text, size_t length);
/* An array of strings. */
void json_write_strings(struct json_writer *writer, const char *key, char *const *texts, size_t count);

void json_write_int(struct json_writer *writer, const char *key, int64_t value);
void json_write_uint(struct json_writer *writer, const char *key, uint64_t value);
void json_write_bool(struct json_writer *writer, const char *key, bool value);
void json_write_null(struct json_writer *writer, const char *key);

/* The fewest digits that read back as the same value; NaN and the infinities become null. The float variant needs
 * only as many as a float has (embeddings). */
void json_write_double(struct json_writer *writer, const char *key, double value);
void json_write_float(struct json_writer *writer, const char *key, float value);

/* `json` is one value that was checked or written before. */
void json_write_raw(struct json_writer *writer, const char *key, const char *json, size_t length);
void json_write_tree(struct json_writer *writer, const char *key, const cJSON *tree);

/* The caller appends one value to the buffer itself, straight after. */
void json_write_key(struct json_writer *writer, const char *key);

/* Only the string with its quotes, for output that is composed by hand. */
void json_append_string(struct buffer *out, const char *text, size_t length);

#endif
