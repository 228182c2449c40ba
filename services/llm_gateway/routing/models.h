/* LlmGateway.ListModels: the routes, as callers may see them. */
#ifndef RENGA_LLM_GATEWAY_MODELS_H
#define RENGA_LLM_GATEWAY_MODELS_H

#include "base/arena.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>

struct routes;
struct rpc_call;

/* Fills `response` with every route; all is in the arena or borrowed from the routes. False if memory is exhausted. */
bool models_of(const struct routes *routes, struct arena *arena, Renga__V1__ListModelsResponse *response);

/* Ends the call. */
void models_list(const struct routes *routes, struct rpc_call *call, Renga__V1__ListModelsResponse_Closure reply);

#endif
