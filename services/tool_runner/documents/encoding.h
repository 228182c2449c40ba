/* Bytes of a file as clean UTF-8. */
#ifndef RENGA_TOOL_RUNNER_ENCODING_H
#define RENGA_TOOL_RUNNER_ENCODING_H

#include "base/buffer.h"
#include "base/status.h"

/* UTF-8 without its byte order mark in `text`, which points into `bytes` or into `room`. It points into `room` if the
 * bytes were in another encoding, which is found by its bytes: UTF-16 with or without a byte order mark, ISO-2022-JP,
 * Shift_JIS, EUC-JP, Windows-1252. INVALID_ARGUMENT if they are no text: binary, or in an unknown encoding. */
bool encoding_read(const char *bytes, size_t size, struct buffer *room, const char **text, size_t *length,
                   struct status *st);

/* Converts bytes with a named encoding ("Shift_JIS", as in HTTP and HTML) to clean UTF-8 in `room`; bytes outside
 * that encoding become U+FFFD. False if the name is unknown. */
bool encoding_read_named(const char *name, const char *bytes, size_t size, struct buffer *room);

#endif
