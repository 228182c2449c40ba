/* Files that are read whole: configuration, prompts, secrets. */
#ifndef RENGA_BASE_FILE_H
#define RENGA_BASE_FILE_H

#include "base/buffer.h"
#include "base/status.h"

/* Appends the content of `path` to `out`, at most up to the buffer's limit. The error names the path. */
bool file_read(const char *path, struct buffer *out, struct status *st);

#endif
