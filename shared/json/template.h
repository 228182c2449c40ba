/* Prompts as templates: {name} stands for a value, {{ and }} for plain braces (prompt.proto).
 *
 * Data stands between tags in a prompt, <results>{results}</results>, and no value can end its delimiters: a closing
 * tag in a value loses its meaning, "</results>" becomes "<\/results>", where the tag is one of the template's own or
 * one that prompts of the suite use. Within JSON that is the same text still. */
#ifndef RENGA_JSON_TEMPLATE_H
#define RENGA_JSON_TEMPLATE_H

#include "base/buffer.h"
#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Appends the text with the values of an object: strings as they are, raw text (cJSON_CreateRaw) with its own tags
 * untouched, all else as JSON. INVALID_ARGUMENT names what the
 * object does not have, or a brace that stands alone. What is filled in is not looked at again: no value can name
 * another. */
bool template_fill(const char *text, const cJSON *values, struct buffer *out, struct status *st);

/* Calls `each` for each name that the text has in braces, as often as it stands there. False if a call was false, or
 * with INVALID_ARGUMENT if a brace stands alone. */
bool template_names(const char *text, bool (*each)(const char *name, void *data), void *data, struct status *st);

#endif
