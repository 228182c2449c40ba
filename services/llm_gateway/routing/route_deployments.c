/* "deployments": {"tokyo": {"provider": "azure", "upstream": "https://…", "key": "env:AZURE_KEY"}}. */
#include "config/fields.h"
#include "deployment.h"
#include "route_priv.h"

#include <string.h>

#define DEPLOYMENTS_MAX 256
#define URL_MAX         2048 /* bytes */
#define KEY_MAX         16384
#define VERSION_MAX     64

static const struct field fields[] = {
    {.option = {.name = "provider", .type = OPTION_CHOICE, .choices = DEPLOYMENT_PROVIDERS},
     INTO(struct deployment_terms, provider)},
    {.option = {.name = "upstream", .type = OPTION_STRING, .max = URL_MAX}, INTO(struct deployment_terms, upstream)},
    {.option = {.name = "key", .type = OPTION_STRING, .secret = true, .max = KEY_MAX},
     INTO(struct deployment_terms, key)},
    {.option = {.name = "api_version", .type = OPTION_STRING, .max = VERSION_MAX},
     INTO(struct deployment_terms, api_version)},
    {.option = {.name = "azure_deployment", .type = OPTION_STRING, .max = ROUTE_NAME_MAX_BYTES},
     INTO(struct deployment_terms, azure_deployment)},
    {.option = {.name = "token_limit", .type = OPTION_CHOICE, .choices = DEPLOYMENT_TOKEN_LIMITS},
     INTO(struct deployment_terms, token_limit)},
    {.option = {.name = "output_tokens", .type = OPTION_INTEGER, .min = 1, .max = DEPLOYMENT_OUTPUT_TOKENS_MAX},
     INTO(struct deployment_terms, output_tokens)},
    {.option = {.name = "context_tokens", .type = OPTION_INTEGER, .min = 0, .max = DEPLOYMENT_CONTEXT_TOKENS_MAX},
     INTO(struct deployment_terms, context_tokens)},
    {.option = {.name = "least_confidence", .type = OPTION_INTEGER, .min = 1, .max = 99},
     INTO(struct deployment_terms, least_confidence)},
    {.option = {.name = "limits"}, .kind = FIELD_PART},
    {.option = {.name = NULL}},
};

/* For an invalid deployment, the field names the wrong value of the document. */
static bool route_deployments_create(const struct fields_in *in, const cJSON *item,
                                     const struct deployment_terms *terms)
{
    struct routes *routes = routes_in(in);
    struct status why = {0};
    struct deployment *deployment = deployment_create(terms, &why);
    if (deployment) {
        routes->deployments[routes->deployment_count++] = deployment;
        return true;
    }
    if (why.code != INVALID_ARGUMENT)
        return fail(in->st, why.code, "%s", why.text);
    const cJSON *field = why.field[0] ? cJSON_GetObjectItemCaseSensitive(item, why.field) : NULL;
    return fail_at(in->document, field ? field : item, in->st, "%s", why.text);
}

static bool read_deployment(const struct fields_in *in, const cJSON *item, size_t index, void *data)
{
    struct deployment_terms terms = {
        .provider = "openai",
        .token_limit = "auto",
        .output_tokens = 4096,
        .context_tokens = 16384,
        .least_confidence = routes_in(in)->least_confidence,
        .name = arena_strdup(&routes_in(in)->arena, item->string),
    };
    if (!terms.name)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the deployment '%s'", item->string);
    if (strchr(item->string, '/'))
        return fail_at(in->document, item, in->st,
                       "the deployment '%s' has a '/' in its name; prices are told apart by it, choose another sign",
                       item->string);
    return fields_read(in, item, fields, &terms) &&
           deployment_limits_read(in, cJSON_GetObjectItemCaseSensitive(item, "limits"), &terms.limits) &&
           route_deployments_create(in, item, &terms);
}

bool deployments_read(const struct fields_in *in, const cJSON *object)
{
    struct routes *routes = routes_in(in);
    routes->deployments = arena_zalloc(&routes->arena, DEPLOYMENTS_MAX * sizeof(struct deployment *));
    if (!routes->deployments)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for deployments");
    return fields_each(in, object, DEPLOYMENTS_MAX, ROUTE_NAME_MAX_BYTES, read_deployment, NULL);
}
