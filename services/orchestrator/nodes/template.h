/* Prompts as templates: {name} stands for a value, {{ and }} for plain braces (prompt.proto). */
#ifndef RENGA_ORCHESTRATOR_TEMPLATE_H
#define RENGA_ORCHESTRATOR_TEMPLATE_H

#include "base/buffer.h"
#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Appends the text with the values of an object: strings as they are, all else as JSON. INVALID_ARGUMENT names what the
 * object does not have, or a brace that stands alone. What is filled in is not looked at again: no value can name
 * another. */
bool template_fill(const char *text, const cJSON *values, struct buffer *out, struct status *st);

#endif
