/* JSON from outside: checked strictly by RFC 8259, and built into a cJSON tree (tree.c) without cJSON's parser.
 *
 * Refused: text outside the grammar (01, 1., raw control bytes, text after the value), bad UTF-8, a lone surrogate or
 * NUL in an escape, a repeated key in an object (also if written with escapes), a number beyond a double, and input
 * beyond the limits. Errors are INVALID_ARGUMENT and begin with line:column. */
#ifndef RENGA_JSON_JSON_H
#define RENGA_JSON_JSON_H

#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH_DEFAULT  64
#define JSON_DEPTH_MAX      512 /* the checker recurses, and so does cJSON_Delete */
#define JSON_BYTES_DEFAULT  ((size_t)16 << 20)
#define JSON_VALUES_DEFAULT ((size_t)256 << 10) /* each costs about 80 bytes in a tree */
#define JSON_NUMBER_MAX     63                  /* characters; no double needs as many */

/* 0 means the default. */
struct json_limits {
    unsigned depth; /* of objects and arrays within each other */
    size_t bytes;
    size_t values; /* keys not counted */
};

/* Whether `text` is one JSON value, without building a tree; `limits` may be NULL. The only memory it takes is for
 * the keys of large objects. */
bool json_check(const char *text, size_t length, const struct json_limits *limits, struct status *st);

/* Checks and builds the tree, to be freed with cJSON_Delete; NULL with `st` filled if the text is refused. */
cJSON *json_parse(const char *text, size_t length, const struct json_limits *limits, struct status *st);

/* A text written by people: with // and block comments, and a comma allowed after the last element. It remembers the
 * place of each value, so that errors about the tree can name it. */
struct json_document {
    char *name; /* of the file, for errors */
    char *text; /* as it was written */
    size_t length;
    char *plain; /* with blanks for comments and spare commas */
    cJSON *root;
};

/* Errors begin with name:line:column. After a failure the document is empty. */
bool json_document_parse(struct json_document *document, const char *name, const char *text, size_t length,
                         const struct json_limits *limits, struct status *st);
bool json_document_load(struct json_document *document, const char *path, const struct json_limits *limits,
                        struct status *st);
void json_document_fini(struct json_document *document);

/* The position of `item` (or of its key, if it has one); 1-based, columns in characters. */
void json_document_position(const struct json_document *document, const cJSON *item, size_t *line, size_t *column);

/* The line of each child of the object or array `parent`, in one pass; `lines` has room for all of them. */
void json_document_lines(const struct json_document *document, const cJSON *parent, size_t *lines);

/* Fails with INVALID_ARGUMENT and a text that begins with the place of `item`. */
bool fail_at(const struct json_document *document, const cJSON *item, struct status *st, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
