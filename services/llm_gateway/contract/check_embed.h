/* The boundary of Embed: a request is checked here once, against the limits of the contract, and trusted behind. */
#ifndef RENGA_LLM_GATEWAY_CHECK_EMBED_H
#define RENGA_LLM_GATEWAY_CHECK_EMBED_H

#include "base/status.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* Limits of the contract (llm_gateway.proto). */
#define EMBED_INPUTS_MAX  2048
#define EMBED_NUMBERS_MAX 1000000 /* of all vectors of an answer */

/* False with INVALID_ARGUMENT that names the field, "inputs[3]", and a valid value. */
bool check_embed_request(const Renga__V1__EmbedRequest *request, struct status *st);

/* Whether the vectors fit an answer, before they are paid for. `model` is the upstream's name; `dimensions` is the
 * length of its vectors, 0 if it is not configured. With an unknown length, the answer decides. */
bool check_embed_size(const Renga__V1__EmbedRequest *request, const char *model, int32_t dimensions, struct status *st);

#endif
