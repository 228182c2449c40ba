/* The models that callers may ask for. All are asked of one deployment, by the same name. */
#ifndef RENGA_LLM_GATEWAY_MODELS_H
#define RENGA_LLM_GATEWAY_MODELS_H

#include "base/config.h"
#include "base/status.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stddef.h>

struct deployment;
struct rpc_call;

#define MODELS_MAX 1024

struct models {
    const char *const *names; /* the configuration's */
    size_t count;             /* at least 1 */
};

bool models_init(struct models *models, const struct config *config, struct status *st);

/* What the upstream calls it; NULL with NOT_FOUND. "default" is the first of the list. */
const char *models_find(const struct models *models, const char *name, struct status *st);

/* LlmGateway.ListModels */
void models_list(const struct models *models, const struct deployment *deployment, struct rpc_call *call,
                 Renga__V1__ListModelsResponse_Closure reply);

#endif
