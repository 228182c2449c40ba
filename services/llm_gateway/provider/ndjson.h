/* Lines of JSON, read as they arrive (application/x-ndjson). Bytes may be split anywhere; blank lines are passed over;
 * this knows nothing of what the lines say. Used like http/sse.h. */
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
    struct buffer line; /* what has come of the line that is being read */
    size_t line_max;
};

void ndjson_init(struct ndjson *ndjson, size_t line_max, bool (*line_came)(void *owner, const char *line, size_t size),
                 void *owner);
void ndjson_fini(struct ndjson *ndjson);

/* False where a line passes line_max (RESOURCE_EXHAUSTED in `st`) or line_came said so; then only _fini is left. */
bool ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t size, struct status *st);

/* The bytes have come to their proper end: a last line needs no LF. */
bool ndjson_end(struct ndjson *ndjson);

#endif
