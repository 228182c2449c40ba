/* A route: the configuration of a model's name. It lists the deployments that share its load, the fallbacks, the
 * retry policy, the prices and the cache settings. It is read from the document of the option llm_gateway.routes, or
 * built from the single deployment of the other options. Immutable, and shared by the loops (config_generation.h). */
#ifndef RENGA_LLM_GATEWAY_ROUTE_H
#define RENGA_LLM_GATEWAY_ROUTE_H

#include "base/status.h"
#include "config/config.h"
#include "upstream/limits.h"
#include "upstream/retry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUTES_MAX        1024
#define ROUTE_TARGETS_MAX 32

struct cassette;
struct deployment;
struct endpoint_health;

/* In micro-USD for 1,000,000 tokens. */
struct price {
    int64_t input_micros, cached_input_micros, cache_write_micros, output_micros;
};

/* One place a model's requests may go. */
struct target {
    struct deployment *deployment;
    const char *model;              /* as the upstream calls it */
    struct endpoint_health *health; /* how it stands there; shared with other routes that ask the same */
    unsigned weight;                /* share of the load among those of the same rank, at least 1 */
    unsigned rank;                  /* 0 shares the load; 1 and up stand in, asked when all lower ranks have failed */
    const struct price *price;      /* NULL: not in the price table */
};

/* It is asked over the network and has no price, so its cost is not known. The extractive model is free. */
bool target_is_unpriced(const struct target *target);

/* Use of the answer cache if a request does not set it. */
struct cache_terms {
    bool read, write;
    int64_t ttl_ms; /* also of a request that says read or write and no time */
};

struct route {
    size_t index; /* among all routes */
    const char *name, *description;
    struct target targets[ROUTE_TARGETS_MAX]; /* by rank */
    size_t target_count;                      /* at least 1 */
    struct retry_policy retry;
    struct cache_terms cache;
    bool chat, embeddings, tools;
    int32_t context_tokens, max_output_tokens, dimensions; /* 0: not configured */
    const char *record, *replay;                           /* files; may be NULL (shared/http/cassette.h) */
    struct cassette *records, *replays;                    /* ... opened */
};

struct routes;

/* INVALID_ARGUMENT names the file, the line and a remedy, or the option. Deployments that are unchanged since
 * `before` (may be NULL) keep their state, under the old limits until routes_enforce. */
struct routes *routes_create(const struct config *config, const struct routes *before, struct status *st);
void routes_enforce(const struct routes *routes);
void routes_destroy(struct routes **routes);

/* In the order of the configuration. The last one may be the route of this process, which is not listed. */
size_t routes_count(const struct routes *routes);
size_t routes_listed(const struct routes *routes);
const struct route *routes_at(const struct routes *routes, size_t index);

/* NULL with NOT_FOUND, which suggests the nearest name. "default" is the first of the list. */
const struct route *routes_find(const struct routes *routes, const char *name, struct status *st);

/* False with FAILED_PRECONDITION if no deployment is configured. */
bool route_is_set_up(const struct route *route, struct status *st);

/* How much may be under way at its deployments together; 0: as much as there is. */
unsigned route_places(const struct route *route);

/* True if all its deployments outside this process limit requests a minute, so that callers may have to wait. */
bool route_has_rate(const struct route *route);

/* The route of exactly this name; NULL: not found. */
const struct route *routes_named(const struct routes *routes, const char *name);

/* Every deployment once. */
size_t routes_deployments(const struct routes *routes);
struct deployment *routes_deployment(const struct routes *routes, size_t index);

/* Limits of clients and tenants, by their names (upstream/limits.h). */
const struct limits_table *routes_clients(const struct routes *routes);
const struct limits_table *routes_tenants(const struct routes *routes);

#endif
