/* Private to services/form: a JSON Schema while it becomes fields. Errors name the place in the schema. */
#ifndef RENGA_FORM_SCHEMA_H
#define RENGA_FORM_SCHEMA_H

#include "form/form_priv.h"

#include "json/json.h"
#include "json/writer.h"

#define SCHEMA_CONDITIONS_MAX 64 /* if/then of a schema */

struct schema_reading {
    struct arena *arena;
    struct status *st;
    Renga__V1__SessionForm *message;
    const cJSON *conditions[FORM_FIELDS_MAX][4]; /* the `if` that a field waits for; any of them */
    size_t condition_counts[FORM_FIELDS_MAX];
};

/* INVALID_ARGUMENT of form.schema_json with the place in the schema, "properties.age.minimum". Always false. */
bool schema_fail(struct schema_reading *in, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A property becomes a field of the message; its name is the item's key. */
bool schema_read_property(struct schema_reading *in, const char *place, const cJSON *property, bool required);

/* Copies a text into the arena. False if it is exhausted. */
bool schema_text(struct schema_reading *in, const char *text, char **copy);

/* A const, an enum's value or a default as text: true and false, numbers and texts. NULL with the status filled. */
const char *schema_value(struct schema_reading *in, const char *place, const cJSON *value);

/* Writes the test of `if` as a condition over fields. */
bool schema_write_condition(struct schema_reading *in, const char *place, const cJSON *test, struct json_writer *out);

#endif
