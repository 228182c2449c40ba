/* Reads lines of JSON as they arrive (application/x-ndjson). Bytes may be split at any position; blank lines are
 * skipped; the content of lines is not parsed. Used like http/sse.h. */
#ifndef RENGA_LLM_GATEWAY_NDJSON_H
#define RENGA_LLM_GATEWAY_NDJSON_H

#include "base/buffer.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ndjson {
    /* `line` has a NUL behind. False ends the reading: ndjson_feed returns false at once and leaves its status alone.
     */
    bool (*line_came)(void *owner, const char *line, size_t size);
    void *owner;
    struct buffer line; /* the part of the current line received so far */
    size_t line_max;
};

void ndjson_init(struct ndjson *ndjson, size_t line_max, bool (*line_came)(void *owner, const char *line, size_t size),
                 void *owner);
void ndjson_fini(struct ndjson *ndjson);

/* False if a line exceeds line_max (RESOURCE_EXHAUSTED in `st`) or line_came returned false; after that, call only
 * _fini. */
bool ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t size, struct status *st);

/* The bytes have come to their proper end: a last line needs no LF. */
bool ndjson_end(struct ndjson *ndjson);

#endif
