#include "check_embed.h"

#include "contract/check_priv.h"
#include "embed/embed_answer.h"

#include <string.h>

#define INPUT_MAX ((size_t)64 << 10) /* bytes */

static const struct place HERE;

/* Default lengths of their vectors. */
static const struct {
    const char *model;
    int32_t dimensions;
} known[] = {
    {"text-embedding-3-small", 1536},
    {"text-embedding-3-large", 3072},
    {"text-embedding-ada-002", 1536},
};

static bool check_inputs(const Renga__V1__EmbedRequest *request, struct status *st)
{
    if (!request->n_inputs)
        return wrong(st, &HERE, "inputs", "is empty; give at least one text");
    if (request->n_inputs > EMBED_INPUTS_MAX)
        return wrong(st, &HERE, "inputs", "has %zu texts; at most %d are allowed", request->n_inputs, EMBED_INPUTS_MAX);
    for (size_t i = 0; i < request->n_inputs; i++) {
        const struct place place = {.list = "inputs", .index = i};
        if (!request->inputs[i][0])
            return wrong(st, &place, "", "is empty; leave it out");
        if (!fits(st, &place, "", request->inputs[i], INPUT_MAX))
            return false;
    }
    return true;
}

static bool check_embed_check_size(const Renga__V1__EmbedRequest *request, size_t dimensions, struct status *st)
{
    if (request->n_inputs * dimensions <= EMBED_NUMBERS_MAX)
        return true;
    return wrong(st, &HERE, "inputs",
                 "has %zu texts, whose vectors of %zu numbers are more than the %d that an answer holds; send at most "
                 "%zu texts at a time",
                 request->n_inputs, dimensions, EMBED_NUMBERS_MAX, EMBED_NUMBERS_MAX / dimensions);
}

bool check_embed_size(const Renga__V1__EmbedRequest *request, const char *model, int32_t dimensions, struct status *st)
{
    for (size_t i = 0; !dimensions && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].model, model) == 0)
            dimensions = known[i].dimensions;
    return request->dimensions || check_embed_check_size(request, (size_t)dimensions, st);
}

bool check_embed_request(const Renga__V1__EmbedRequest *request, struct status *st)
{
    if (!check_model(request->model, st) || !check_inputs(request, st))
        return false;
    if (request->dimensions < 0 || request->dimensions > VECTOR_DIMENSIONS_MAX)
        return wrong(st, &HERE, "dimensions", "is %d; it must be 0 (the model's own) to %d", request->dimensions,
                     VECTOR_DIMENSIONS_MAX);
    return check_embed_check_size(request, (size_t)request->dimensions, st) && check_priority(request->priority, st) &&
           check_cache(request->cache, st) && check_origin(request->origin, st);
}
