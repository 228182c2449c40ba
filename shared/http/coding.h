/* Content codings: what a server packed is unpacked while it comes.
 *
 * gzip (several members in a row too) and deflate, in zlib's wrapping or bare. A decoder costs zlib's 40 KiB while it
 * lives. It bounds nothing but its own pieces: how much may come out is its owner's to count. */
#ifndef RENGA_HTTP_CODING_H
#define RENGA_HTTP_CODING_H

#include <stdbool.h>
#include <stddef.h>

struct coding;

enum coding_event {
    CODING_MORE,  /* it goes on with the next bytes; all were taken */
    CODING_PIECE, /* `*made` bytes came out, and there may be more: to be called again */
    CODING_BROKEN,
};

/* True where `name` is a coding at all: not empty, and not identity. */
bool coding_is_needed(const char *name);
/* NULL for a coding that is not known; the name is that of Content-Encoding. */
struct coding *coding_create(const char *name);
void coding_destroy(struct coding **coding);

enum coding_event coding_next(struct coding *coding, const char *bytes, size_t size, size_t *taken, char *out,
                              size_t room, size_t *made);

/* Whether what came was whole. An answer without any content is. */
bool coding_is_whole(const struct coding *coding);

#endif
