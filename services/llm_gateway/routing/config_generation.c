#include "config_generation.h"

#include "admission/admission.h"
#include "base/log.h"
#include "base/memory.h"
#include "deployment.h"
#include "http/client.h"
#include "provider/provider.h"
#include "route.h"

#include <stdlib.h>

/* ---- admissions -------------------------------------------------------------------------------------------------- */

static struct admission *admission_before(struct admission *const *admissions, const struct config_generation *before,
                                          const struct route *route)
{
    const struct route *old = before ? routes_named(before->routes, route->name) : NULL;
    return old ? admissions[old->index] : NULL;
}

static struct admission *config_generation_open_admission(const struct config_generation *generation,
                                                          const struct config *config, const struct route *route,
                                                          unsigned places, struct admission *before)
{
    const struct admission_options options = {
        .in_flight_max = places,
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(generation->routes),
        .tenants = routes_tenants(generation->routes),
        .model = route->name,
    };
    if (!places)
        return NULL;
    return before ? admission_hold(before) : admission_create(&options);
}

/* Adds an admission for each model with deployments that all limit concurrency or requests a minute, so that these
 * queues are fair to clients too. */
static bool create_admissions(struct config_generation *generation, const struct config *config,
                              const struct config_generation *before, struct status *st)
{
    size_t count = routes_count(generation->routes);
    generation->places = calloc(count + 1, sizeof(struct admission *));
    generation->turns = calloc(count + 1, sizeof(struct admission *));
    if (!generation->places || !generation->turns)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the places of %zu models", count);
    for (size_t i = 0; i < count; i++) {
        const struct route *route = routes_at(generation->routes, i);
        generation->places[i] =
            config_generation_open_admission(generation, config, route, route_places(route),
                                             before ? admission_before(before->places, before, route) : NULL);
        generation->turns[i] =
            config_generation_open_admission(generation, config, route, route_has_rate(route),
                                             before ? admission_before(before->turns, before, route) : NULL);
    }
    return true;
}

void config_generation_enforce(const struct config_generation *generation)
{
    const struct limits_table *clients = routes_clients(generation->routes),
                              *tenants = routes_tenants(generation->routes);
    routes_enforce(generation->routes);
    for (size_t i = 0; i < routes_count(generation->routes); i++) {
        const struct route *route = routes_at(generation->routes, i);
        if (generation->places[i])
            admission_limit(generation->places[i], route_places(route), clients, tenants);
        if (generation->turns[i])
            admission_limit(generation->turns[i], route_has_rate(route), clients, tenants);
    }
}

static void add_waiting(struct admission *admission, struct admission_stats *sum)
{
    struct admission_stats stats;
    admission_stats(admission, &stats);
    for (int i = 0; i < ADMISSION_PRIORITIES; i++) {
        sum->waiting[i] += stats.waiting[i];
        sum->inside -= stats.waiting[i] < sum->inside ? stats.waiting[i] : sum->inside;
    }
    sum->refused_queue += stats.refused_queue;
    sum->refused_late += stats.refused_late;
}

void config_generation_count(const struct config_generation *generation, struct admission_stats *sum)
{
    for (size_t i = 0; i < routes_count(generation->routes); i++) {
        if (generation->places[i])
            add_waiting(generation->places[i], sum);
        if (generation->turns[i])
            add_waiting(generation->turns[i], sum);
    }
}

/* ---- log of a generation ----------------------------------------------------------------------------------------- */

static void log_deployment(const struct deployment *deployment)
{
    if (deployment->unset)
        log_warn("llm_gateway.unset",
                 "'%s' cannot be asked: neither a key nor another upstream is set for the provider %s",
                 deployment->name, deployment->provider->name);
    else if (!deployment->chat_url)
        log_info("llm_gateway.upstream", "'%s' is the provider %s in this process", deployment->name,
                 deployment->provider->name);
    else
        log_info("llm_gateway.upstream", "'%s' is %s, %s a key", deployment->name,
                 http_url_origin(deployment->chat_url), deployment->key ? "with" : "without");
}

void config_generation_log(const struct config_generation *generation)
{
    const struct routes *routes = generation->routes;
    log_info("llm_gateway.routes", "%zu models through %zu deployments", routes_listed(routes),
             routes_deployments(routes));
    for (size_t i = 0; i < routes_deployments(routes); i++)
        log_deployment(routes_deployment(routes, i));
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool config_generation_counts(const struct limits *limits)
{
    return limits->tokens_per_minute || limits->micros_per_day;
}

static bool table_counts(const struct limits_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (config_generation_counts(&table->rows[i].limits))
            return true;
    return config_generation_counts(&table->fallback);
}

static bool counts_tokens(const struct routes *routes)
{
    for (size_t i = 0; i < routes_deployments(routes); i++)
        if (config_generation_counts(&routes_deployment(routes, i)->limits))
            return true;
    return table_counts(routes_clients(routes)) || table_counts(routes_tenants(routes));
}

struct config_generation *config_generation_create(const struct config *config, const struct config_generation *before,
                                                   struct status *st)
{
    struct config_generation *generation = calloc(1, sizeof *generation);
    if (!generation) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the routes");
        return NULL;
    }
    generation->holders = 1;
    generation->routes = routes_create(config, before ? before->routes : NULL, st);
    if (!generation->routes || !create_admissions(generation, config, before, st)) {
        config_generation_release(&generation);
        return NULL;
    }
    generation->counts_tokens = counts_tokens(generation->routes);
    return generation;
}

struct config_generation *config_generation_hold(struct config_generation *generation)
{
    atomic_fetch_add_explicit(&generation->holders, 1, memory_order_relaxed);
    return generation;
}

void config_generation_release(struct config_generation **config_generation_pointer)
{
    struct config_generation *generation = *config_generation_pointer;
    *config_generation_pointer = NULL;
    if (!generation || atomic_fetch_sub_explicit(&generation->holders, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; generation->places && generation->turns && i < routes_count(generation->routes); i++) {
        admission_destroy(&generation->places[i]);
        admission_destroy(&generation->turns[i]);
    }
    free(generation->places);
    free(generation->turns);
    routes_destroy(&generation->routes);
    free(generation);
}
