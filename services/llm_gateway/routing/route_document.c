/* The document of llm_gateway.routes, part by part: a target names a deployment and is priced, so those come first. */
#include "base/log.h"
#include "config/fields.h"
#include "deployment.h"
#include "route_priv.h"

#include <stdio.h>

#define DOCUMENT_BYTES_MAX ((size_t)4 << 20)
#define DOCUMENT_DEPTH_MAX 16

static const struct field parts[] = {
    {.option = {.name = "deployments"}, .kind = FIELD_PART}, {.option = {.name = "models"}, .kind = FIELD_PART},
    {.option = {.name = "prices"}, .kind = FIELD_PART},      {.option = {.name = "clients"}, .kind = FIELD_PART},
    {.option = {.name = "tenants"}, .kind = FIELD_PART},     {.option = {.name = NULL}},
};

static const cJSON *route_document_part(const struct fields_in *in, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(in->document->root, name);
}

static bool read_parts(const struct fields_in *in)
{
    struct routes *routes = routes_in(in);
    const cJSON *root = in->document->root, *deployments = route_document_part(in, "deployments"),
                *models = route_document_part(in, "models");
    if (!fields_read(in, root, parts, NULL))
        return false;
    if (!deployments || !models)
        return fail_at(in->document, root, in->st, "%s is missing; a document has at least deployments and models",
                       deployments ? "models" : "deployments");
    return deployments_read(in, deployments) && prices_read(in, route_document_part(in, "prices")) &&
           models_read(in, models) && limits_table_read(in, route_document_part(in, "clients"), &routes->clients) &&
           limits_table_read(in, route_document_part(in, "tenants"), &routes->tenants);
}

/* ---- warnings about likely mistakes ------------------------------------------------------------------------------ */

static bool is_used(const struct routes *routes, const struct deployment *deployment)
{
    for (size_t i = 0; i < routes->count; i++)
        for (size_t j = 0; j < routes->list[i].target_count; j++)
            if (routes->list[i].targets[j].deployment == deployment)
                return true;
    return false;
}

static void warn_of_unused(const struct routes *routes, const char *path)
{
    for (size_t i = 0; i < routes->deployment_count; i++)
        if (!is_used(routes, routes->deployments[i]))
            log_warn("llm_gateway.unused", "%s: no model is asked at the deployment '%s'", path,
                     routes->deployments[i]->name);
}

static bool limits_money(const struct limits_table *table)
{
    bool any = table->fallback.micros_per_day > 0;
    for (size_t i = 0; i < table->count; i++)
        any |= table->rows[i].limits.micros_per_day > 0;
    return any;
}

/* A model without a price is free, in the ledger and for money limits. */
static void warn_of_unpriced(const struct routes *routes, const char *path)
{
    if (!routes->price_count && !limits_money(&routes->clients) && !limits_money(&routes->tenants))
        return;
    for (size_t i = 0; i < routes->count; i++)
        for (size_t j = 0; j < routes->list[i].target_count; j++) {
            const struct target *target = &routes->list[i].targets[j];
            if (target_is_unpriced(target))
                log_warn("llm_gateway.unpriced", "%s: '%s' at '%s' has no price, and counts as free", path,
                         target->model, target->deployment->name);
        }
}

bool routes_of_document(struct routes *routes, const char *path, struct status *st)
{
    static const struct json_limits limits = {.bytes = DOCUMENT_BYTES_MAX, .depth = DOCUMENT_DEPTH_MAX};
    struct json_document document;
    struct status why = {0};
    if (!json_document_load(&document, path, &limits, &why))
        return fail(st, INVALID_ARGUMENT, "llm_gateway.routes: %s", why.text);
    const struct fields_in in = {&document, routes->values, st, routes};
    bool good = read_parts(&in);
    json_document_fini(&document);
    if (!good)
        return false;
    warn_of_unused(routes, path);
    warn_of_unpriced(routes, path);
    return true;
}
