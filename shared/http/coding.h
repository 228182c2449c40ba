/* Content codings: unpacks a server's compressed body as it arrives.
 *
 * gzip (also several members in a row) and deflate, with or without zlib's wrapping. A decoder takes zlib's 40 KiB
 * while it lives. It bounds only its own pieces; its owner bounds the total output. */
#ifndef RENGA_HTTP_CODING_H
#define RENGA_HTTP_CODING_H

#include <stdbool.h>
#include <stddef.h>

struct coding;

enum coding_event {
    CODING_MORE,  /* it goes on with the next bytes; all were taken */
    CODING_PIECE, /* `*made` bytes were produced, and there may be more: call again */
    CODING_BROKEN,
};

/* False for an empty name and for identity. */
bool coding_is_needed(const char *name);
/* NULL for a coding that is not known; the name is that of Content-Encoding. */
struct coding *coding_create(const char *name);
void coding_destroy(struct coding **coding);

enum coding_event coding_next(struct coding *coding, const char *bytes, size_t size, size_t *taken, char *out,
                              size_t room, size_t *made);

/* True if the body was complete. An empty body is. */
bool coding_is_whole(const struct coding *coding);

#endif
