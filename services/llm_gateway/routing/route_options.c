/* One deployment and one route a model, from the options of the gateway itself. */
#include "deployment.h"
#include "provider/capability.h"
#include "provider/provider.h"
#include "route_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "llm_gateway."

static const char *const single[] = {"attempts", "provider",    "upstream",      "api_version",   "key",
                                     "models",   "token_limit", "output_tokens", "context_tokens"};

bool routes_options_are_unset(const struct config *config, struct status *st)
{
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        char name[64] = PREFIX;
        strcat(name, single[i]);
        const char *source = config_source(config, name);
        if (strcmp(source, "default") != 0)
            return fail(st, INVALID_ARGUMENT,
                        "llm_gateway.routes and %s (from %s) are both set; leave %s out, and say it of a deployment in "
                        "%s",
                        name, source, name, config_string(config, "llm_gateway.routes"));
    }
    return true;
}

/* ---- the deployment ---------------------------------------------------------------------------------------------- */

/* An option that was not set gives way to the variable that the provider's own libraries read. NULL: neither is. */
static const char *setting(const struct config *config, const char *option, const char *variable)
{
    const char *set = config_string(config, option);
    const char *value = set && *set ? set : variable ? getenv(variable) : NULL;
    return value && *value ? value : NULL;
}

static bool is_default(const struct config *config, const char *option)
{
    return strcmp(config_source(config, option), "default") == 0;
}

/* Without a configured upstream or key, the extractive provider of this process answers. */
static const char *provider_of(const struct config *config)
{
    const char *name = config_string(config, "llm_gateway.provider");
    const struct provider *provider = provider_named(name);
    assert(provider); /* the option's choices are the table's names */
    bool unsaid = is_default(config, "llm_gateway.provider") && is_default(config, "llm_gateway.models") &&
                  !setting(config, "llm_gateway.upstream", provider->url_variable) &&
                  !setting(config, "llm_gateway.key", provider->key_variable);
    return unsaid ? extractive_provider.name : name;
}

/* The models. If none are set, the one of the provider's variable, or the extractive provider's only one. NULL: no
 * memory. */
static const char *const *route_options_models_of(struct arena *arena, const struct config *config, size_t *count)
{
    static const char *const itself[] = {"extractive"};
    const char *provider = provider_of(config), *variable = provider_named(provider)->model_variable;
    const char *named = variable ? getenv(variable) : NULL;
    if (!is_default(config, "llm_gateway.models"))
        return config_list(config, "llm_gateway.models", count);
    *count = 1;
    if (strcmp(provider, extractive_provider.name) == 0)
        return itself;
    if (!named || !*named)
        return config_list(config, "llm_gateway.models", count);
    const char **one = arena_alloc(arena, sizeof *one);
    if (one)
        one[0] = arena_strdup(arena, named);
    return one && one[0] ? one : NULL;
}

static bool name_azure_deployment(struct deployment_terms *terms, const struct config *config, struct status *st)
{
    size_t count;
    const char *const *models = config_list(config, "llm_gateway.models", &count);
    if (strcmp(terms->provider, azure_provider.name) != 0 || !terms->api_version)
        return true;
    if (count > 1)
        return fail(st, INVALID_ARGUMENT,
                    "llm_gateway.models: has %zu names; classic Azure has one model a deployment: name one, leave "
                    "llm_gateway.api_version unset for the v1 API, or write a document for llm_gateway.routes",
                    count);
    terms->azure_deployment = models[0];
    return true;
}

/* A field of the terms is an option of the same name, but for the one that the models give. */
static bool fail_with_option(const struct status *why, struct status *st)
{
    static const char from_models[] = "azure_deployment";
    if (strcmp(why->field, from_models) == 0)
        return fail(st, why->code, PREFIX "models%s", why->text + strlen(from_models));
    return fail(st, why->code, "%s%s", why->field[0] ? PREFIX : "", why->text);
}

static bool create_deployment(struct routes *routes, const struct config *config, struct status *st)
{
    struct deployment_terms terms = {
        .name = "upstream",
        .provider = provider_of(config),
        .api_version = setting(config, "llm_gateway.api_version", NULL),
        .token_limit = config_string(config, "llm_gateway.token_limit"),
        .output_tokens = config_integer(config, "llm_gateway.output_tokens"),
        .context_tokens = config_integer(config, "llm_gateway.context_tokens"),
        .least_confidence = routes->least_confidence,
    };
    const struct provider *provider = provider_named(terms.provider);
    terms.upstream = setting(config, "llm_gateway.upstream", provider->url_variable);
    terms.key = setting(config, "llm_gateway.key", provider->key_variable);
    if (!name_azure_deployment(&terms, config, st))
        return false;
    struct status why = {0};
    routes->deployments = arena_alloc(&routes->arena, sizeof(struct deployment *));
    if (!routes->deployments)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a deployment");
    routes->deployments[0] = deployment_create(&terms, &why);
    routes->deployment_count = routes->deployments[0] != NULL;
    return routes->deployment_count || fail_with_option(&why, st);
}

/* ---- the routes -------------------------------------------------------------------------------------------------- */

static bool check_models(const char *const *names, size_t count, struct status *st)
{
    if (count < 1 || count > ROUTES_MAX)
        return fail(st, INVALID_ARGUMENT, "llm_gateway.models: has %zu names; 1 to %d are allowed", count, ROUTES_MAX);
    for (size_t i = 0; i < count; i++)
        if (!names[i][0] || strlen(names[i]) > ROUTE_NAME_MAX_BYTES)
            return fail(st, INVALID_ARGUMENT, "llm_gateway.models: name %zu has %zu bytes; 1 to %d are allowed", i + 1,
                        strlen(names[i]), ROUTE_NAME_MAX_BYTES);
    return true;
}

bool routes_of_options(struct routes *routes, const struct config *config, struct status *st)
{
    size_t count;
    const char *const *names = route_options_models_of(&routes->arena, config, &count);
    if (!names)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a model's name");
    if (!check_models(names, count, st) || !create_deployment(routes, config, st))
        return false;
    routes->list = arena_zalloc(&routes->arena, count * sizeof *routes->list);
    if (!routes->list)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for %zu models", count);
    routes->count = count;
    for (size_t i = 0; i < count; i++) {
        struct route *route = &routes->list[i];
        route_init(route, names[i]);
        route->tools = !capability_of(names[i]).no_tools;
        route->retry.attempts = (unsigned)config_integer(config, "llm_gateway.attempts");
        route->embeddings = routes->deployments[0]->embed_url != NULL;
        route->target_count = 1;
        route->targets[0] = (struct target){.deployment = routes->deployments[0], .model = names[i], .weight = 1};
    }
    return true;
}
