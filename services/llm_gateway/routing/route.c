#include "route.h"

#include "base/nearest.h"
#include "deployment.h"
#include "provider/provider.h"
#include "route_priv.h"
#include "upstream/endpoint_health.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)64 << 20) /* 1,024 routes take 2 MiB, 20,000 rows of limits as much */

static const char DEFAULT[] = "default";

/* ---- life -------------------------------------------------------------------------------------------------------- */

void route_init(struct route *route, const char *name)
{
    *route = (struct route){
        .name = name,
        .description = "",
        .retry = RETRY_POLICY_DEFAULT,
        .cache = {.ttl_ms = ROUTE_TTL_DEFAULT_MS},
        .chat = true,
        .tools = true,
    };
}

static int route_by_name(const void *left, const void *right)
{
    const struct route *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static bool sort_names(struct routes *routes, struct status *st)
{
    routes->by_name = arena_alloc(&routes->arena, routes->count * sizeof *routes->by_name);
    if (!routes->by_name)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the names of %zu models", routes->count);
    for (size_t i = 0; i < routes->count; i++)
        routes->by_name[i] = &routes->list[i];
    qsort(routes->by_name, routes->count, sizeof *routes->by_name, route_by_name);
    return true;
}

static bool read_routes(struct routes *routes, const struct config *config, struct status *st)
{
    const char *path = config_string(config, "llm_gateway.routes");
    if (!path || !*path)
        return routes_of_options(routes, config, st);
    routes->values = config_create(NULL, 0, st);
    return routes->values && routes_options_are_unset(config, st) && routes_of_document(routes, path, st);
}

/* The earlier deployment of that name, if it is the same upstream. */
static const struct deployment *deployment_before(const struct routes *before, const struct deployment *deployment)
{
    for (size_t i = 0; before && i < before->deployment_count; i++)
        if (strcmp(before->deployments[i]->name, deployment->name) == 0)
            return deployment_is_same(deployment, before->deployments[i]) ? before->deployments[i] : NULL;
    return NULL;
}

static bool find_healths(struct routes *routes, const struct routes *before, bool forgive, struct status *st)
{
    for (size_t i = 0; i < routes->count; i++) {
        struct route *route = &routes->list[i];
        route->index = i;
        for (size_t k = 0; k < route->target_count; k++) {
            struct target *target = &route->targets[k];
            const struct deployment *old = deployment_before(before, target->deployment);
            target->health = deployment_health(target->deployment, target->model, old);
            if (!target->health)
                return fail(st, RESOURCE_EXHAUSTED, "no memory for how the deployments stand");
            if (forgive)
                endpoint_health_disable_breaker(target->health);
        }
    }
    return true;
}

struct routes *routes_create(const struct config *config, const struct routes *before, struct status *st)
{
    struct routes *routes = calloc(1, sizeof *routes);
    if (!routes) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the routes");
        return NULL;
    }
    arena_init(&routes->arena, NULL, 0, ARENA_MAX);
    routes->clients.fallback.weight = routes->tenants.fallback.weight = 1;
    routes->least_confidence = config_integer(config, "llm_gateway.least_confidence");
    bool forgive = strcmp(config_string(config, "llm_gateway.breaker"), "off") == 0;
    if (!read_routes(routes, config, st) || !routes_add_own(routes, st) || !sort_names(routes, st) ||
        !find_healths(routes, before, forgive, st) || !cassettes_open(routes, st))
        routes_destroy(&routes);
    return routes;
}

void routes_enforce(const struct routes *routes)
{
    for (size_t i = 0; i < routes->deployment_count; i++)
        deployment_enforce(routes->deployments[i]);
}

void routes_destroy(struct routes **routes_pointer)
{
    struct routes *routes = *routes_pointer;
    if (!routes)
        return;
    *routes_pointer = NULL;
    cassettes_close(routes);
    for (size_t i = 0; i < routes->deployment_count; i++)
        deployment_destroy(&routes->deployments[i]);
    deployment_destroy(&routes->own);
    config_destroy(routes->values);
    arena_fini(&routes->arena);
    free(routes);
}

/* ---- asked by the calls ------------------------------------------------------------------------------------------ */

size_t routes_count(const struct routes *routes)
{
    return routes->count;
}

size_t routes_listed(const struct routes *routes)
{
    return routes->listed;
}

const struct route *routes_at(const struct routes *routes, size_t index)
{
    assert(index < routes->count);
    return &routes->list[index];
}

static int against_name(const void *name, const void *at)
{
    const struct route *const *route = at;
    return strcmp(name, (*route)->name);
}

const struct route *routes_named(const struct routes *routes, const char *name)
{
    const struct route *const *found =
        bsearch(name, routes->by_name, routes->count, sizeof *routes->by_name, against_name);
    return found ? *found : NULL;
}

const struct route *routes_find(const struct routes *routes, const char *name, struct status *st)
{
    const struct route *route = routes_named(routes, name);
    assert(routes->list);
    if (!route && strcmp(name, DEFAULT) == 0)
        route = &routes->list[0];
    if (!route) {
        struct nearest nearest = nearest_to(name);
        for (size_t i = 0; i < routes->listed; i++)
            nearest_try(&nearest, routes->list[i].name);
        const char *source = routes->values ? "; the document of llm_gateway.routes sets the names"
                                            : "; llm_gateway.models sets the names";
        fail(st, NOT_FOUND, "no model '%s' here; %s%s", name, nearest_hint(&nearest).text, nearest.name ? "" : source);
    }
    return route;
}

bool target_is_unpriced(const struct target *target)
{
    return !target->price && target->deployment->chat_url;
}

bool route_is_set_up(const struct route *route, struct status *st)
{
    for (size_t i = 0; i < route->target_count; i++)
        if (!route->targets[i].deployment->unset || route->replays)
            return true;
    return fail(st, FAILED_PRECONDITION,
                "no model is set up: give the gateway a key (llm_gateway.key, or the provider's own variable, such as "
                "OPENAI_API_KEY or ANTHROPIC_API_KEY), or the URL of an upstream that needs none "
                "(llm_gateway.upstream)");
}

/* A provider of this process is no reason not to wait for a model. */
static bool route_stands_in(const struct deployment *deployment)
{
    return deployment->provider->answer_chat != NULL;
}

unsigned route_places(const struct route *route)
{
    int64_t places = 0;
    for (size_t i = 0; i < route->target_count; i++) {
        const struct deployment *deployment = route->targets[i].deployment;
        int64_t own = deployment->limits.concurrency;
        if (route_stands_in(deployment))
            continue;
        if (!own)
            return 0;
        places += own; /* no target stands in a route twice */
    }
    return (unsigned)places; /* ROUTE_TARGETS_MAX times 1,000,000 */
}

bool route_has_rate(const struct route *route)
{
    bool has_rate = false;
    for (size_t i = 0; i < route->target_count; i++) {
        const struct deployment *deployment = route->targets[i].deployment;
        if (route_stands_in(deployment))
            continue;
        has_rate = deployment->limits.requests_per_minute || deployment->limits.tokens_per_minute;
        if (!has_rate)
            return false;
    }
    return has_rate;
}

size_t routes_deployments(const struct routes *routes)
{
    return routes->deployment_count;
}

struct deployment *routes_deployment(const struct routes *routes, size_t index)
{
    assert(index < routes->deployment_count);
    return routes->deployments[index];
}

const struct limits_table *routes_clients(const struct routes *routes)
{
    return &routes->clients;
}

const struct limits_table *routes_tenants(const struct routes *routes)
{
    return &routes->tenants;
}
