/* Prompts as templates: {name} is replaced by a value, {{ and }} by plain braces (prompt.proto).
 *
 * Data stands between tags in a prompt, <results>{results}</results>, and no value can end its delimiters. A closing
 * tag in a value is escaped, "</results>" as "<\/results>", if it is one of the template's own tags or of the suite's
 * prompts. JSON with this escape means the same text. */
#ifndef RENGA_JSON_TEMPLATE_H
#define RENGA_JSON_TEMPLATE_H

#include "base/buffer.h"
#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Appends the text with the values of an object: strings as they are, raw text (cJSON_CreateRaw) with its own tags
 * untouched, other values as JSON. INVALID_ARGUMENT names the missing value or the unpaired brace. Filled-in text is
 * not scanned again: no value can name another. */
bool template_fill(const char *text, const cJSON *values, struct buffer *out, struct status *st);

/* Calls `each` for each name in braces, once for each occurrence. False if a call returned false, or with
 * INVALID_ARGUMENT for an unpaired brace. */
bool template_names(const char *text, bool (*each)(const char *name, void *data), void *data, struct status *st);

#endif
