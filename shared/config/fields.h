/* Objects of a document, each with a table of its fields: types, ranges and choices are those of options
 * (config/config.h), and a key that is in no table is refused. Errors begin with file, line and column. */
#ifndef RENGA_CONFIG_FIELDS_H
#define RENGA_CONFIG_FIELDS_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document that is being read. */
struct fields_in {
    const struct json_document *document;
    struct config *values; /* without options: it owns the texts that were read, and keeps secrets out of core dumps */
    struct status *st;
    void *owner; /* of the reader that began */
};

#define FIELD_TEXT_MAX 4096 /* bytes of a text, if its option has no `max` of its own */

enum field_kind {
    FIELD_OPTION, /* read as its option says; a text has at most option.max bytes and no control characters */
    FIELD_USD,    /* a number of USD, kept in micro-USD (int64_t) within option.min and option.max */
    FIELD_PART,   /* an object or array that its owner reads */
};

struct field {
    struct option option;
    enum field_kind kind;
    size_t at, size; /* its place: const char *, struct field_list, bool, or an integer of 4 or 8 bytes */
};

/* Of an OPTION_LIST. */
struct field_list {
    const char *const *items;
    size_t count;
};

/* struct field {.option = …, INTO(struct target, weight)} */
#define INTO(type, member) .at = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Reads all fields of `object` into a struct that holds the defaults. The table ends with an entry without a name. */
bool fields_read(const struct fields_in *in, const cJSON *object, const struct field *table, void *into);

/* Calls `read` for each of the 0 to `most` named values of an object; `index` counts them. Names have 1 to `name_max`
 * bytes. */
bool fields_each(const struct fields_in *in, const cJSON *object, size_t most, size_t name_max,
                 bool (*read)(const struct fields_in *in, const cJSON *item, size_t index, void *data), void *data);

/* How many values fields_each will give at most. */
size_t fields_count(const cJSON *object, size_t most);

#endif
