/* Shared by the files of the routes. */
#ifndef RENGA_LLM_GATEWAY_ROUTE_PRIV_H
#define RENGA_LLM_GATEWAY_ROUTE_PRIV_H

#include "base/arena.h"
#include "config/config.h"
#include "config/fields.h"
#include "routing/route.h"

#define ROUTE_NAME_MAX_BYTES                                                                                           \
    128 /* of models, deployments, clients and tenants; as AnsweredBy and the keys have them                           \
         */
#define ROUTE_TTL_DEFAULT_MS 600000

struct price_row {
    const char *name; /* "MODEL" as the upstream calls it, or "DEPLOYMENT/MODEL" */
    struct price price;
};

struct deployment;

struct routes {
    struct arena arena;
    struct config
        *values; /* without options: owns the values read from the document, which keeps keys out of core dumps */
    struct route *list;
    int64_t least_confidence;     /* of deployments that do not say it */
    size_t count, listed;         /* `count` includes the route of this process, which is not listed */
    struct deployment *own;       /* of the route of this process; NULL: a listed route has its name */
    const struct route **by_name; /* sorted */
    struct deployment **deployments;
    size_t deployment_count;
    struct price_row *prices; /* sorted by name */
    size_t price_count;
    struct limits_table clients, tenants;
    struct open_cassette *cassettes; /* each file once */
};

/* Those of the document that is being read. */
static inline struct routes *routes_in(const struct fields_in *in)
{
    return in->owner;
}

/* Sets the defaults of a route. */
void route_init(struct route *route, const char *name);

/* route_options.c: one deployment and a route a model, from the options beside llm_gateway.routes. And whether one of
 * them is set, which they may not be together with a document. */
bool routes_of_options(struct routes *routes, const struct config *config, struct status *st);
bool routes_options_are_unset(const struct config *config, struct status *st);

/* route_document.c: from the document. */
bool routes_of_document(struct routes *routes, const char *path, struct status *st);

/* route_own.c: adds the route "extractive" behind the listed ones, unless one of them has this name. */
bool routes_add_own(struct routes *routes, struct status *st);

/* Its parts; NULL is one that is not there. route_limits.c */
bool limits_table_read(const struct fields_in *in, const cJSON *object, struct limits_table *table);
bool deployment_limits_read(const struct fields_in *in, const cJSON *object, struct limits *limits);
/* route_cassettes.c: opens the routes' record and replay files, each file once; and closes them. */
bool cassettes_open(struct routes *routes, struct status *st);
void cassettes_close(struct routes *routes);
/* route_price.c */
bool prices_read(const struct fields_in *in, const cJSON *object);
const struct price *price_find(const struct routes *routes, const char *deployment, const char *model);
/* route_deployments.c */
bool deployments_read(const struct fields_in *in, const cJSON *object);
/* route_models.c */
bool models_read(const struct fields_in *in, const cJSON *object);

#endif
