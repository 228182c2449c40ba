/* Bytes of a file as clean UTF-8. */
#ifndef RENGA_TOOL_RUNNER_ENCODING_H
#define RENGA_TOOL_RUNNER_ENCODING_H

#include "base/buffer.h"
#include "base/status.h"

/* UTF-8 without its byte order mark in `text`, which points into `bytes` or, where they were in another encoding
 * (UTF-16 with a byte order mark, Shift_JIS, EUC-JP), into `room`. INVALID_ARGUMENT where they are no text: binary, or
 * in no encoding that is known. */
bool encoding_read(const char *bytes, size_t size, struct buffer *room, const char **text, size_t *length,
                   struct status *st);

/* Bytes of which their sender says what they are ("Shift_JIS", as HTTP and HTML have it) as clean UTF-8 in `room`; what
 * is not of that encoding becomes U+FFFD. False where the name is not known. */
bool encoding_read_named(const char *name, const char *bytes, size_t size, struct buffer *room);

#endif
