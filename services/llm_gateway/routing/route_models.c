/* "models": {"gpt-4.1-mini": {"targets": [{"deployment": "tokyo"}, …], "retry": {…}, "cache": {…}}}. */
#include "base/nearest.h"
#include "config/fields.h"
#include "deployment.h"
#include "provider/capability.h"
#include "route_priv.h"

#include <string.h>

#define DESCRIPTION_MAX 512 /* bytes, as Model.description has it */
#define TOKENS_MAX      1000000000
#define DIMENSIONS_MAX  1000000
#define WEIGHT_MAX      1000
#define MINUTE_MS       60000LL
#define TTL_MAX_MS      (7 * 24 * 60 * MINUTE_MS) /* as CacheControl.ttl_ms */

#define ROUTE_FIELD(member, ...)                                                                                       \
    {                                                                                                                  \
        .option = {.name = #member, __VA_ARGS__}, INTO(struct route, member)                                           \
    }

static const struct field route_fields[] = {
    ROUTE_FIELD(description, .type = OPTION_STRING, .max = DESCRIPTION_MAX),
    ROUTE_FIELD(chat, .type = OPTION_BOOLEAN),
    ROUTE_FIELD(embeddings, .type = OPTION_BOOLEAN),
    ROUTE_FIELD(tools, .type = OPTION_BOOLEAN),
    ROUTE_FIELD(context_tokens, .type = OPTION_INTEGER, .max = TOKENS_MAX),
    ROUTE_FIELD(max_output_tokens, .type = OPTION_INTEGER, .max = TOKENS_MAX),
    ROUTE_FIELD(dimensions, .type = OPTION_INTEGER, .max = DIMENSIONS_MAX),
    ROUTE_FIELD(record, .type = OPTION_STRING),
    ROUTE_FIELD(replay, .type = OPTION_STRING),
    {.option = {.name = "targets"}, .kind = FIELD_PART},
    {.option = {.name = "retry"}, .kind = FIELD_PART},
    {.option = {.name = "cache"}, .kind = FIELD_PART},
    {.option = {.name = NULL}},
};

static const struct field retry_fields[] = {
    {.option = {.name = "attempts", .type = OPTION_INTEGER, .min = 1, .max = RETRY_ATTEMPTS_MAX},
     INTO(struct retry_policy, attempts)},
    {.option = {.name = "base", .type = OPTION_DURATION, .min = 1, .max = MINUTE_MS},
     INTO(struct retry_policy, base_ms)},
    {.option = {.name = "max", .type = OPTION_DURATION, .min = 1, .max = 10 * MINUTE_MS},
     INTO(struct retry_policy, max_ms)},
    {.option = {.name = "longest_hint", .type = OPTION_DURATION, .max = 60 * MINUTE_MS},
     INTO(struct retry_policy, hint_ms)},
    {.option = {.name = NULL}},
};

static const struct field cache_fields[] = {
    {.option = {.name = "read", .type = OPTION_BOOLEAN}, INTO(struct cache_terms, read)},
    {.option = {.name = "write", .type = OPTION_BOOLEAN}, INTO(struct cache_terms, write)},
    {.option = {.name = "ttl", .type = OPTION_DURATION, .min = 1, .max = TTL_MAX_MS}, INTO(struct cache_terms, ttl_ms)},
    {.option = {.name = NULL}},
};

struct target_terms {
    const char *deployment, *model;
    unsigned weight, rank;
};

static const struct field target_fields[] = {
    {.option = {.name = "deployment", .type = OPTION_STRING, .max = ROUTE_NAME_MAX_BYTES},
     INTO(struct target_terms, deployment)},
    {.option = {.name = "model", .type = OPTION_STRING, .max = ROUTE_NAME_MAX_BYTES}, INTO(struct target_terms, model)},
    {.option = {.name = "weight", .type = OPTION_INTEGER, .min = 1, .max = WEIGHT_MAX},
     INTO(struct target_terms, weight)},
    {.option = {.name = "rank", .type = OPTION_INTEGER, .min = 0, .max = ROUTE_TARGETS_MAX - 1},
     INTO(struct target_terms, rank)},
    {.option = {.name = NULL}},
};

/* ---- targets ----------------------------------------------------------------------------------------------------- */

static struct deployment *find_deployment(const struct fields_in *in, const cJSON *item, const char *name)
{
    const struct routes *routes = routes_in(in);
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(item, "deployment");
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < routes->deployment_count; i++) {
        if (strcmp(routes->deployments[i]->name, name) == 0)
            return routes->deployments[i];
        nearest_try(&nearest, routes->deployments[i]->name);
    }
    if (nearest.name)
        fail_at(in->document, at, in->st, "there is no deployment '%s'; did you mean '%s'?", name, nearest.name);
    else
        fail_at(in->document, at, in->st, "there is no deployment '%s'; \"deployments\" has the names", name);
    return NULL;
}

static bool check_twice(const struct fields_in *in, const cJSON *item, const struct route *route,
                        const struct target *target)
{
    for (size_t i = 0; i < route->target_count; i++)
        if (route->targets[i].deployment == target->deployment && strcmp(route->targets[i].model, target->model) == 0)
            return fail_at(in->document, item, in->st,
                           "deployment '%s' with the model '%s' stands here twice; give the first a greater weight "
                           "instead",
                           target->deployment->name, target->model);
    return true;
}

static bool read_target(const struct fields_in *in, const cJSON *item, struct route *route)
{
    struct target_terms terms = {.model = route->name, .weight = 1};
    if (!fields_read(in, item, target_fields, &terms))
        return false;
    if (!terms.deployment)
        return fail_at(in->document, item, in->st, "a target needs a deployment: {\"deployment\": \"NAME\"}");
    if (!terms.model[0])
        return fail_at(in->document, item, in->st, "model is empty; leave it out for '%s'", route->name);
    struct deployment *deployment = find_deployment(in, item, terms.deployment);
    if (!deployment)
        return false;
    const struct target target = {.deployment = deployment,
                                  .model = terms.model,
                                  .weight = terms.weight,
                                  .rank = terms.rank,
                                  .price = price_find(routes_in(in), deployment->name, terms.model)};
    if (!check_twice(in, item, route, &target))
        return false;
    route->targets[route->target_count++] = target;
    return true;
}

static bool read_targets(const struct fields_in *in, const cJSON *item, struct route *route)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "targets"), *target;
    if (!list)
        return fail_at(
            in->document, item, in->st,
            "the model '%s' has no targets; say where it is asked: \"targets\": [{\"deployment\": \"NAME\"}]",
            route->name);
    if (!cJSON_IsArray(list))
        return fail_at(in->document, list, in->st, "targets must be an array, [{\"deployment\": \"NAME\"}]");
    int count = cJSON_GetArraySize(list);
    if (count < 1 || count > ROUTE_TARGETS_MAX)
        return fail_at(in->document, list, in->st, "targets: has %d; 1 to %d are allowed", count, ROUTE_TARGETS_MAX);
    cJSON_ArrayForEach(target, list)
    {
        if (!read_target(in, target, route))
            return false;
    }
    /* By rank; those of one rank stay as they were. */
    for (size_t i = 1; i < route->target_count; i++) {
        const struct target moved = route->targets[i];
        size_t to = i;
        for (; to > 0 && route->targets[to - 1].rank > moved.rank; to--)
            route->targets[to] = route->targets[to - 1];
        route->targets[to] = moved;
    }
    if (route->targets[0].rank != 0)
        return fail_at(in->document, list, in->st, "targets: none has rank 0, which is asked first; 1 and up stand in");
    return true;
}

/* ---- the rest of a route ----------------------------------------------------------------------------------------- */

static bool route_models_read_retry(const struct fields_in *in, const cJSON *item, struct retry_policy *retry)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(item, "retry");
    if (!object)
        return true;
    if (!fields_read(in, object, retry_fields, retry))
        return false;
    return retry->base_ms <= retry->max_ms ||
           fail_at(in->document, object, in->st, "retry: base is %lldms and max %lldms; base must be the shorter one",
                   (long long)retry->base_ms, (long long)retry->max_ms);
}

static bool read_cache(const struct fields_in *in, const cJSON *item, struct cache_terms *cache)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(item, "cache");
    return !object || fields_read(in, object, cache_fields, cache);
}

static bool check_uses(const struct fields_in *in, const cJSON *item, const struct route *route)
{
    if (!route->chat && !route->embeddings)
        return fail_at(in->document, item, in->st,
                       "the model '%s' can neither chat nor make embeddings; let \"chat\" or \"embeddings\" be true",
                       route->name);
    bool any = false;
    for (size_t i = 0; i < route->target_count; i++)
        any |= route->targets[i].deployment->embed_url != NULL;
    if (route->embeddings && !any)
        return fail_at(in->document, item, in->st,
                       "the model '%s' has embeddings, but none of its deployments' providers does", route->name);
    if (route->record && route->replay)
        return fail_at(in->document, item, in->st, "the model '%s' has record and replay; leave one of them out",
                       route->name);
    return true;
}

static bool read_model(const struct fields_in *in, const cJSON *item, size_t index, void *data)
{
    struct routes *routes = routes_in(in);
    struct route *route = &routes->list[index];
    route_init(route, arena_strdup(&routes->arena, item->string));
    if (!route->name)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the model '%s'", item->string);
    routes->count = index + 1;
    if (!cJSON_IsObject(item))
        return fields_read(in, item, route_fields, route);
    if (!read_targets(in, item, route))
        return false;
    route->tools = !capability_of(route->targets[0].model).no_tools;
    return fields_read(in, item, route_fields, route) && route_models_read_retry(in, item, &route->retry) &&
           read_cache(in, item, &route->cache) && check_uses(in, item, route);
}

bool models_read(const struct fields_in *in, const cJSON *object)
{
    struct routes *routes = routes_in(in);
    size_t count = fields_count(object, ROUTES_MAX);
    routes->list = arena_zalloc(&routes->arena, (count + 1) * sizeof *routes->list);
    if (!routes->list)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for %zu models", count);
    if (!fields_each(in, object, ROUTES_MAX, ROUTE_NAME_MAX_BYTES, read_model, NULL))
        return false;
    return routes->count > 0 || fail_at(in->document, object, in->st, "models: is empty; name at least one");
}
