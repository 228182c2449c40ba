#include "models.h"

#include "base/nearest.h"
#include "deployment.h"
#include "provider/provider.h"
#include "rpc/rpc.h"

#include <string.h>

#define NAME_MAX_BYTES 128

static const char DEFAULT[] = "default";

bool models_init(struct models *models, const struct config *config, struct status *st)
{
    models->names = config_list(config, "llm_gateway.models", &models->count);
    if (models->count < 1 || models->count > MODELS_MAX)
        return fail(st, INVALID_ARGUMENT, "llm_gateway.models: has %zu names; 1 to %d are allowed", models->count,
                    MODELS_MAX);
    for (size_t i = 0; i < models->count; i++)
        if (!models->names[i][0] || strlen(models->names[i]) > NAME_MAX_BYTES)
            return fail(st, INVALID_ARGUMENT, "llm_gateway.models: name %zu has %zu bytes; 1 to %d are allowed", i + 1,
                        strlen(models->names[i]), NAME_MAX_BYTES);
    return true;
}

const char *models_find(const struct models *models, const char *name, struct status *st)
{
    for (size_t i = 0; i < models->count; i++)
        if (strcmp(models->names[i], name) == 0)
            return models->names[i];
    if (strcmp(name, DEFAULT) == 0)
        return models->names[0];
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < models->count; i++)
        nearest_try(&nearest, models->names[i]);
    if (nearest.name)
        fail(st, NOT_FOUND, "no model '%s' here; did you mean '%s'?", name, nearest.name);
    else
        fail(st, NOT_FOUND, "no model '%s' here; ListModels has the names, llm_gateway.models sets them", name);
    return NULL;
}

struct listed {
    Renga__V1__Model model;
    Renga__V1__Deployment deployment, *deployments;
    Renga__V1__AnsweredBy target;
};

static char *unconst(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* What a server that is merely compatible can really do is not known: it is said to do what the API has. */
static void fill(struct listed *listed, const char *name, bool is_default, const struct deployment *deployment)
{
    renga__v1__model__init(&listed->model);
    renga__v1__deployment__init(&listed->deployment);
    renga__v1__answered_by__init(&listed->target);
    listed->model.name = unconst(name);
    if (is_default)
        listed->model.description = unconst("Also answers to the name \"default\".");
    listed->model.chat = listed->model.streaming = true;
    listed->model.tools = listed->model.structured_output = true;
    listed->model.deployments = &listed->deployments;
    listed->model.n_deployments = 1;
    listed->deployments = &listed->deployment;
    listed->deployment.target = &listed->target;
    listed->deployment.weight = 1;
    listed->deployment.circuit = RENGA__V1__CIRCUIT_STATE__CIRCUIT_STATE_CLOSED;
    listed->target.deployment = unconst(deployment->name);
    listed->target.provider = unconst(deployment->provider->name);
    listed->target.model = unconst(name);
}

void models_list(const struct models *models, const struct deployment *deployment, struct rpc_call *call,
                 Renga__V1__ListModelsResponse_Closure reply)
{
    struct listed *listed = arena_alloc(rpc_call_arena(call), models->count * sizeof *listed);
    Renga__V1__Model **list = arena_alloc(rpc_call_arena(call), models->count * sizeof(*list));
    if (!listed || !list) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for a list of %zu models", models->count);
        return;
    }
    for (size_t i = 0; i < models->count; i++) {
        fill(&listed[i], models->names[i], i == 0, deployment);
        list[i] = &listed[i].model;
    }
    Renga__V1__ListModelsResponse response = RENGA__V1__LIST_MODELS_RESPONSE__INIT;
    response.models = list;
    response.n_models = models->count;
    reply(&response, call);
}
