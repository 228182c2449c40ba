#include "check_embed.h"

#include "contract/check_priv.h"

#include "proto/contract_check.h"

#include <string.h>

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
    return contract_check(&request->base, st) && check_embed_check_size(request, (size_t)request->dimensions, st);
}
