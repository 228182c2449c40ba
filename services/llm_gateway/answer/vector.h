/* A vector as it stands in an answer: a list of numbers, or little-endian floats in base64. */
#ifndef RENGA_LLM_GATEWAY_VECTOR_H
#define RENGA_LLM_GATEWAY_VECTOR_H

#include "base/arena.h"
#include "json/pull.h"

#include <stdbool.h>
#include <stddef.h>

#define VECTOR_DIMENSIONS_MAX 8192 /* Embedding.values */

struct vector {
    float *values; /* the arena's */
    size_t count;
};

/* Reads the next value of the text, in either form. False: it is wrong, which is recorded, or the arena is
 * exhausted. */
bool vector_pull(struct vector *vector, struct json_pull *in, struct arena *arena);

#endif
