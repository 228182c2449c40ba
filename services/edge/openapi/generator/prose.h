/* Comments of .proto files as texts of the document. A comment has paragraphs and, indented by two blanks or more, a
 * list of errors:
 *
 *      Stops a run, with everything that works for it.
 *        NOT_FOUND  no such run */
#ifndef RENGA_EDGE_OPENAPI_PROSE_H
#define RENGA_EDGE_OPENAPI_PROSE_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define PROSE_ITEMS_MAX 64

/* A paragraph, or one row of the list of errors. */
struct prose_item {
    uint32_t codes; /* a bit for each gRPC code of the row; 0: a paragraph */
    const char *text;
};

/* The items of a comment, at most PROSE_ITEMS_MAX. */
size_t prose_split(struct arena *arena, const char *comment, struct prose_item items[PROSE_ITEMS_MAX]);

/* The whole comment as CommonMark. */
const char *prose_markdown(struct arena *arena, const char *comment);

/* Its first sentence, up to a colon or semicolon, without the mark. */
const char *prose_summary(struct arena *arena, const char *comment);

#endif
