/* Vectors of paragraphs: of length 1, a byte a number with a scale a vector, and their nearness to that of a query.
 * All vectors of a document are one piece. No index: each search looks at all of them. */
#ifndef RENGA_TOOL_RUNNER_VECTORS_H
#define RENGA_TOOL_RUNNER_VECTORS_H

#include "base/buffer.h"
#include "knowledge/rank.h"

#define VECTOR_DIMENSIONS_MAX 8192 /* as the contract has it */

/* The vector of a query. */
struct vector {
    float scale;
    unsigned dimensions;
    int8_t values[VECTOR_DIMENSIONS_MAX];
};

/* False: too many numbers, or only zeros. */
bool vector_init(struct vector *vector, const float *values, size_t dimensions);

/* Appends one to a document's piece; all of a piece have the same dimensions. */
void vector_append(struct buffer *piece, const struct vector *vector);

/* -1 to 1. */
double vector_nearness(const struct vector *vector, float scale, const int8_t *values);

/* The nearest paragraphs of a collection, inserted among the `ranked`. Pieces of other dimensions are passed over and
 * counted in `unusable`, in documents; damaged ones in `damaged`. */
bool vectors_rank(struct tables *tables, const struct collection *collection, const struct vector *vector,
                  const uint16_t *lengths, bool answers, struct ranked *ranked, size_t room, size_t *count,
                  size_t *unusable, size_t *damaged, struct status *st);

#endif
