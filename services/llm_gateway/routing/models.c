#include "models.h"

#include "base/clock.h"
#include "deployment.h"
#include "provider/provider.h"
#include "route.h"
#include "rpc/rpc.h"
#include "upstream/endpoint_health.h"

struct listed_target {
    Renga__V1__Deployment deployment;
    Renga__V1__AnsweredBy target;
};

struct listed {
    Renga__V1__Model model;
    Renga__V1__Price price;
};

static char *models_unconst(const char *text)
{
    return (char *)(uintptr_t)text;
}

static void fill_target(struct listed_target *listed, const struct target *target)
{
    renga__v1__deployment__init(&listed->deployment);
    renga__v1__answered_by__init(&listed->target);
    listed->deployment.target = &listed->target;
    listed->deployment.weight = (int32_t)target->weight;
    listed->deployment.rank = (int32_t)target->rank;
    static const Renga__V1__CircuitState states[] = {
        [CIRCUIT_CLOSED] = RENGA__V1__CIRCUIT_STATE__CIRCUIT_STATE_CLOSED,
        [CIRCUIT_OPEN] = RENGA__V1__CIRCUIT_STATE__CIRCUIT_STATE_OPEN,
        [CIRCUIT_HALF_OPEN] = RENGA__V1__CIRCUIT_STATE__CIRCUIT_STATE_HALF_OPEN,
    };
    struct endpoint_health_view view;
    endpoint_health_view(target->health, clock_now_ns(), &view);
    listed->deployment.circuit = states[view.circuit];
    listed->target.deployment = models_unconst(target->deployment->name);
    listed->target.provider = models_unconst(target->deployment->provider->name);
    listed->target.model = models_unconst(target->model);
}

static bool fill_targets(Renga__V1__Model *model, const struct route *route, struct arena *arena)
{
    struct listed_target *listed = arena_alloc(arena, route->target_count * sizeof *listed);
    model->deployments = arena_alloc(arena, route->target_count * sizeof(*model->deployments));
    if (!listed || !model->deployments)
        return false;
    for (size_t i = 0; i < route->target_count; i++) {
        fill_target(&listed[i], &route->targets[i]);
        model->deployments[i] = &listed[i].deployment;
    }
    model->n_deployments = route->target_count;
    return true;
}

static void fill_price(struct listed *listed, const struct price *price)
{
    if (!price)
        return;
    renga__v1__price__init(&listed->price);
    listed->price.input_micros = price->input_micros;
    listed->price.cached_input_micros = price->cached_input_micros;
    listed->price.cache_write_micros = price->cache_write_micros;
    listed->price.output_micros = price->output_micros;
    listed->model.price = &listed->price;
}

/* The real abilities of a compatible server are unknown: it is listed with those of the API. */
static bool models_fill(struct listed *listed, const struct route *route, bool is_default, struct arena *arena)
{
    Renga__V1__Model *model = &listed->model;
    renga__v1__model__init(model);
    model->name = models_unconst(route->name);
    model->description = models_unconst(route->description);
    if (is_default && !route->description[0])
        model->description = models_unconst("Also answers to the name \"default\".");
    model->chat = model->streaming = model->structured_output = route->chat;
    model->tools = route->chat && route->tools;
    model->embeddings = route->embeddings;
    model->context_tokens = route->context_tokens;
    model->max_output_tokens = route->max_output_tokens;
    model->dimensions = route->embeddings ? route->dimensions : 0;
    fill_price(listed, route->targets[0].price);
    return fill_targets(model, route, arena);
}

bool models_of(const struct routes *routes, struct arena *arena, Renga__V1__ListModelsResponse *response)
{
    size_t count = routes_listed(routes);
    struct listed *listed = arena_alloc(arena, count * sizeof *listed);
    Renga__V1__Model **list = arena_alloc(arena, count * sizeof(*list));
    if (!listed || !list)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!models_fill(&listed[i], routes_at(routes, i), i == 0, arena))
            return false;
        list[i] = &listed[i].model;
    }
    renga__v1__list_models_response__init(response);
    response->models = list;
    response->n_models = count;
    return true;
}

void models_list(const struct routes *routes, struct rpc_call *call, Renga__V1__ListModelsResponse_Closure reply)
{
    Renga__V1__ListModelsResponse response;
    if (models_of(routes, rpc_call_arena(call), &response))
        reply(&response, call);
    else
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for a list of %zu models", routes_listed(routes));
}
