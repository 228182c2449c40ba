#include "edition.h"

#include "ask/ask_observe.h"
#include "base/log.h"
#include "http/client.h"
#include "limits/gate.h"
#include "provider/provider.h"
#include "route/deployment.h"
#include "route/route.h"

#include <assert.h>
#include <stdlib.h>

/* ---- gates ------------------------------------------------------------------------------------------------------- */

static struct gate *gate_before(struct gate *const *gates, const struct edition *before, const struct route *route)
{
    const struct route *old = before ? routes_named(before->routes, route->name) : NULL;
    return old ? gates[old->index] : NULL;
}

static struct gate *open_gate(const struct edition *edition, const struct config *config, const struct route *route,
                              unsigned places, struct gate *before)
{
    const struct gate_options options = {
        .in_flight_max = places,
        .queue_max = (unsigned)config_integer(config, "llm_gateway.queue"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .clients = routes_clients(edition->routes),
        .tenants = routes_tenants(edition->routes),
        .model = route->name,
    };
    if (!places)
        return NULL;
    return before ? gate_hold(before) : gate_create(&options);
}

/* Behind each a model whose deployments bound what is under way there, or what comes in a minute: the queues of these
 * are fair to clients as well. */
static bool open_gates(struct edition *edition, const struct config *config, const struct edition *before,
                       struct status *st)
{
    size_t count = routes_count(edition->routes);
    edition->places = calloc(count + 1, sizeof(struct gate *));
    edition->turns = calloc(count + 1, sizeof(struct gate *));
    if (!edition->places || !edition->turns)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the places of %zu models", count);
    for (size_t i = 0; i < count; i++) {
        const struct route *route = routes_at(edition->routes, i);
        edition->places[i] = open_gate(edition, config, route, route_places(route),
                                       before ? gate_before(before->places, before, route) : NULL);
        edition->turns[i] = open_gate(edition, config, route, route_has_rate(route),
                                      before ? gate_before(before->turns, before, route) : NULL);
    }
    return true;
}

static void close_gates(struct edition *edition)
{
    for (size_t i = 0; edition->places && edition->turns && i < routes_count(edition->routes); i++) {
        gate_destroy(&edition->places[i]);
        gate_destroy(&edition->turns[i]);
    }
    free(edition->places);
    free(edition->turns);
}

void edition_enforce(const struct edition *edition)
{
    const struct limits_table *clients = routes_clients(edition->routes), *tenants = routes_tenants(edition->routes);
    routes_enforce(edition->routes);
    for (size_t i = 0; i < routes_count(edition->routes); i++) {
        const struct route *route = routes_at(edition->routes, i);
        if (edition->places[i])
            gate_limit(edition->places[i], route_places(route), clients, tenants);
        if (edition->turns[i])
            gate_limit(edition->turns[i], route_has_rate(route), clients, tenants);
    }
}

static void add_waiting(struct gate *gate, struct gate_stats *sum)
{
    struct gate_stats stats;
    gate_stats(gate, &stats);
    for (int i = 0; i < GATE_PRIORITIES; i++) {
        sum->waiting[i] += stats.waiting[i];
        sum->inside -= stats.waiting[i] < sum->inside ? stats.waiting[i] : sum->inside;
    }
    sum->refused_queue += stats.refused_queue;
    sum->refused_late += stats.refused_late;
}

void edition_count(const struct edition *edition, struct gate_stats *sum)
{
    for (size_t i = 0; i < routes_count(edition->routes); i++) {
        if (edition->places[i])
            add_waiting(edition->places[i], sum);
        if (edition->turns[i])
            add_waiting(edition->turns[i], sum);
    }
}

/* ---- what is said of it ------------------------------------------------------------------------------------------ */

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

void edition_log(const struct edition *edition)
{
    const struct routes *routes = edition->routes;
    log_info("llm_gateway.routes", "%zu models through %zu deployments", routes_listed(routes),
             routes_deployments(routes));
    for (size_t i = 0; i < routes_deployments(routes); i++)
        log_deployment(routes_deployment(routes, i));
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool counts(const struct limits *limits)
{
    return limits->tokens_per_minute || limits->micros_per_day;
}

static bool table_counts(const struct limits_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (counts(&table->rows[i].limits))
            return true;
    return counts(&table->fallback);
}

static bool counts_tokens(const struct routes *routes)
{
    for (size_t i = 0; i < routes_deployments(routes); i++)
        if (counts(&routes_deployment(routes, i)->limits))
            return true;
    return table_counts(routes_clients(routes)) || table_counts(routes_tenants(routes));
}

struct edition *edition_create(const struct config *config, const struct edition *before, struct status *st)
{
    struct edition *edition = calloc(1, sizeof *edition);
    if (!edition) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the routes");
        return NULL;
    }
    edition->holders = 1;
    edition->routes = routes_create(config, before ? before->routes : NULL, st);
    if (!edition->routes || !open_gates(edition, config, before, st)) {
        edition_release(&edition);
        return NULL;
    }
    edition->counts_tokens = counts_tokens(edition->routes);
    return edition;
}

struct edition *edition_hold(struct edition *edition)
{
    atomic_fetch_add_explicit(&edition->holders, 1, memory_order_relaxed);
    return edition;
}

void edition_release(struct edition **edition_pointer)
{
    struct edition *edition = *edition_pointer;
    *edition_pointer = NULL;
    if (!edition || atomic_fetch_sub_explicit(&edition->holders, 1, memory_order_acq_rel) > 1)
        return;
    close_gates(edition);
    routes_destroy(&edition->routes);
    free(edition);
}

/* ---- by one loop ------------------------------------------------------------------------------------------------- */

struct edition_use *edition_use_create(struct edition *edition)
{
    struct edition_use *use = calloc(1, sizeof *use);
    if (!use)
        fatal("llm_gateway.memory", "no memory for the routes of a loop");
    use->edition = edition_hold(edition);
    use->series = ask_series_create(edition->routes);
    return use;
}

static void use_destroy(struct edition_use *use)
{
    ask_series_destroy(&use->series);
    edition_release(&use->edition);
    free(use);
}

void edition_use_end(struct edition_use **use_pointer)
{
    struct edition_use *use = *use_pointer;
    *use_pointer = NULL;
    if (!use)
        return;
    use->over = true;
    if (!use->calls)
        use_destroy(use);
}

void edition_use_leave(struct edition_use *use)
{
    assert(use->calls > 0);
    if (--use->calls == 0 && use->over)
        use_destroy(use);
}
