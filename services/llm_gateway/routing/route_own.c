/* The route of this process: the extractive provider, always available. Callers use it if a model's answer is
 * unusable. It is not listed, and a configured route of the same name replaces it. */
#include "deployment.h"
#include "route_priv.h"

#include "provider/provider.h"

#include <string.h>

static bool own_is_named(const struct routes *routes)
{
    for (size_t i = 0; i < routes->count; i++)
        if (strcmp(routes->list[i].name, extractive_provider.name) == 0)
            return true;
    return false;
}

bool routes_add_own(struct routes *routes, struct status *st)
{
    const struct deployment_terms terms = {.name = extractive_provider.name,
                                           .provider = extractive_provider.name,
                                           .token_limit = "auto",
                                           .least_confidence = routes->least_confidence};
    routes->listed = routes->count;
    if (own_is_named(routes))
        return true;
    struct route *list = arena_zalloc(&routes->arena, (routes->count + 1) * sizeof *list);
    routes->own = list ? deployment_create(&terms, st) : NULL;
    if (!list)
        fail(st, RESOURCE_EXHAUSTED, "no memory for %zu models", routes->count + 1);
    if (!routes->own)
        return false;
    memcpy(list, routes->list, routes->count * sizeof *list);
    struct route *own = &list[routes->count++];
    route_init(own, extractive_provider.name);
    own->target_count = 1;
    own->targets[0] = (struct target){.deployment = routes->own, .model = extractive_provider.name, .weight = 1};
    routes->list = list;
    return true;
}
