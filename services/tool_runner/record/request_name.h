/* Names in requests: keys, ids and page tokens. A name that passes has neither NUL nor control characters and fits a
 * key of the record's store (row_key.h). Any thread. */
#ifndef RENGA_TOOL_RUNNER_REQUEST_NAME_H
#define RENGA_TOOL_RUNNER_REQUEST_NAME_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* False with INVALID_ARGUMENT that names `field`: the text is longer than `max` bytes, has a control character, or is
 * empty although it is required. */
bool request_check_name(const char *field, const char *text, size_t max, bool required, struct status *st);

#endif
