/* The service: its functions, and the creation of an instance. */
#include "planner.h"
#include "planner_priv.h"

#include "base/memory.h"

#include <stdlib.h>

static void service_plan(Renga__V1__Planner_Service *self, const Renga__V1__PlanRequest *request,
                         Renga__V1__PlanResponse_Closure reply, void *data)
{
    plan_begin((struct planner *)self, data, request, reply);
}

static void improve_queries(Renga__V1__Planner_Service *self, const Renga__V1__ImproveQueriesRequest *request,
                            Renga__V1__ImproveQueriesResponse_Closure reply, void *data)
{
    improve_begin((struct planner *)self, data, request, reply);
}

static void route(Renga__V1__Planner_Service *self, const Renga__V1__RouteRequest *request,
                  Renga__V1__RouteResponse_Closure reply, void *data)
{
    route_begin((struct planner *)self, data, request, reply);
}

static const Renga__V1__Planner_Service functions = {
    .base = {.descriptor = &renga__v1__planner__descriptor, .invoke = rpc_service_invoke},
    .plan = service_plan,
    .improve_queries = improve_queries,
    .route = route,
};

static ProtobufCService *planner_create(const struct service_context *context, struct status *st)
{
    struct planner *planner = calloc(1, sizeof *planner);
    if (!planner) {
        fail_memory(st, "the planner");
        return NULL;
    }
    planner->base = functions;
    model_client_init(&planner->client, "planner", planner_prompts, context);
    return &planner->base.base;
}

static void planner_destroy(ProtobufCService *service)
{
    free(service);
}

const struct option planner_options[] = {
    MODEL_CLIENT_OPTIONS("planner"),
    {.name = NULL},
};

const struct service planner_service = {
    .name = "planner",
    .descriptor = &renga__v1__planner__descriptor,
    .options = planner_options,
    .create = planner_create,
    .destroy = planner_destroy,
};
