/* A vector as it stands in an answer: a list of numbers, or little-endian floats in base64. */
#ifndef RENGA_LLM_GATEWAY_VECTOR_H
#define RENGA_LLM_GATEWAY_VECTOR_H

#include "base/arena.h"
#include "base/status.h"
#include "pull.h"

#include <stdbool.h>
#include <stddef.h>

#define VECTOR_DIMENSIONS_MAX 8192 /* Embedding.values */

struct vector {
    float *values; /* the arena's; NULL where the value was null */
    size_t count;
};

/* Takes the next value of the text, in whichever of the two forms it is. False with DATA_LOSS, or RESOURCE_EXHAUSTED
 * where the arena is out; the text says what is wrong, to stand behind "vector 3: ". */
bool vector_pull(struct vector *vector, struct pull *in, struct arena *arena, struct status *st);

/* The float that is nearest to a number of checked JSON; gives where it ends. Past the largest float it is infinite. */
const char *vector_read_float(const char *text, float *value);

#endif
