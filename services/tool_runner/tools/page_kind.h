/* The kind of a web server's answer: its format and its encoding. */
#ifndef RENGA_TOOL_RUNNER_PAGE_KIND_H
#define RENGA_TOOL_RUNNER_PAGE_KIND_H

#include "base/buffer.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdbool.h>

#define PAGE_CHARSET_MAX 32 /* bytes of an encoding's name */

struct page_kind {
    Renga__V1__DocumentFormat format;
    bool is_file;                   /* its bytes are no text; they tell their own kind */
    char charset[PAGE_CHARSET_MAX]; /* "": it is not told */
};

/* By Content-Type (NULL: no header) and the path of the URL. False if it is neither text nor a readable kind of
 * file. */
bool page_kind_read(struct page_kind *kind, const char *content_type, const char *path);

/* The page as clean UTF-8 in `text`, which points into `bytes` or `room`. INVALID_ARGUMENT if it is no text. */
bool page_decode(const struct page_kind *kind, const char *bytes, size_t size, struct buffer *room, const char **text,
                 size_t *length, struct status *st);

#endif
