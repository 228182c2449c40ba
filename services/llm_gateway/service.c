/* The service: its functions, and what an instance is made of. */
#include "gateway.h"

#include "base/log.h"
#include "chat/chat.h"
#include "door/door.h"
#include "gateway_priv.h"
#include "http/client.h"
#include "provider/provider.h"
#include "route/deployment.h"
#include "route/models.h"
#include "rpc/rpc.h"

#include <stdlib.h>

static void chat(Renga__V1__LlmGateway_Service *self, const Renga__V1__ChatRequest *request,
                 Renga__V1__ChatResponse_Closure reply, void *data)
{
    chat_begin((struct gateway *)self, data, request, reply);
}

static void chat_stream(Renga__V1__LlmGateway_Service *self, const Renga__V1__ChatRequest *request,
                        Renga__V1__ChatStreamEvent_Closure reply, void *data)
{
    chat_stream_begin((struct gateway *)self, data, request, reply);
}

static void embed(Renga__V1__LlmGateway_Service *self, const Renga__V1__EmbedRequest *request,
                  Renga__V1__EmbedResponse_Closure reply, void *data)
{
    rpc_fail_with(data, UNIMPLEMENTED,
                  "Embed comes with the routes of the gateway; this release has Chat and ChatStream");
}

static void list_models(Renga__V1__LlmGateway_Service *self, const Renga__V1__ListModelsRequest *request,
                        Renga__V1__ListModelsResponse_Closure reply, void *data)
{
    struct gateway *gateway = (struct gateway *)self;
    models_list(gateway->routes, data, reply);
}

static void get_usage(Renga__V1__LlmGateway_Service *self, const Renga__V1__GetUsageRequest *request,
                      Renga__V1__GetUsageResponse_Closure reply, void *data)
{
    rpc_fail_with(data, UNIMPLEMENTED,
                  "GetUsage comes with the accounts of the gateway; until then each answer carries its own usage");
}

static const Renga__V1__LlmGateway_Service functions = {
    .base = {.descriptor = &renga__v1__llm_gateway__descriptor, .invoke = rpc_service_invoke},
    .chat = chat,
    .chat_stream = chat_stream,
    .embed = embed,
    .list_models = list_models,
    .get_usage = get_usage,
};

static void gateway_destroy(ProtobufCService *service)
{
    struct gateway *gateway = (struct gateway *)service;
    if (!gateway)
        return;
    door_destroy(&gateway->door);
    if (gateway->owns_routes)
        routes_destroy(&gateway->routes);
    free(gateway);
}

static void log_deployment(const struct deployment *deployment)
{
    if (deployment->unset)
        log_warn("llm_gateway.unset",
                 "'%s' cannot be asked: neither a key nor another upstream is set for the provider %s",
                 deployment->name, deployment->provider->name);
    else
        log_info("llm_gateway.upstream", "'%s' is %s, %s a key", deployment->name,
                 http_url_origin(deployment->chat_url), deployment->key ? "with" : "without");
}

static void log_routes(const struct routes *routes)
{
    log_info("llm_gateway.routes", "%zu models through %zu deployments", routes_count(routes),
             routes_deployments(routes));
    for (size_t i = 0; i < routes_deployments(routes); i++)
        log_deployment(routes_deployment(routes, i));
}

/* One set of routes a process: what one loop learns of a deployment the others know. */
static bool find_routes(struct gateway *gateway, const struct service_context *context, struct status *st)
{
    struct gateway *first = context->instances ? (struct gateway *)context->instances[0] : NULL;
    gateway->owns_routes = first == NULL;
    gateway->routes = first ? first->routes : routes_create(context->config, st);
    if (gateway->owns_routes && gateway->routes)
        log_routes(gateway->routes);
    return gateway->routes != NULL;
}

static ProtobufCService *gateway_create(const struct service_context *context, struct status *st)
{
    const struct config *config = context->config;
    struct gateway *gateway = calloc(1, sizeof *gateway);
    if (!gateway) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the gateway");
        return NULL;
    }
    *gateway = (struct gateway){
        .base = functions,
        .http = context->http,
        .timeout_ms = config_duration_ms(config, "llm_gateway.timeout"),
        .idle_timeout_ms = config_duration_ms(config, "llm_gateway.idle_timeout"),
        .reader_timeout_ms = config_duration_ms(config, "llm_gateway.reader_timeout"),
        .response_max = (size_t)config_size(config, "llm_gateway.response_max"),
        .stream_max = (size_t)config_size(config, "llm_gateway.stream_max"),
    };
    if (!find_routes(gateway, context, st)) {
        gateway_destroy(&gateway->base.base);
        return NULL;
    }
    return &gateway->base.base;
}

/* ---- the HTTP door ----------------------------------------------------------------------------------------------- */

static bool gateway_serve(ProtobufCService *service, const struct service_context *context, struct status *st)
{
    struct gateway *gateway = (struct gateway *)service, *first = (struct gateway *)context->instances[0];
    struct door_options options = {
        .listen = config_string(context->config, "llm_gateway.http.listen"),
        .first = first->door,
        .reader_patience_ms = gateway->reader_timeout_ms,
    };
    if (!options.listen || !options.listen[0])
        return true;
    gateway->door = door_create(context, &options, st);
    if (gateway->door && gateway == first)
        log_info("llm_gateway.listening", "OpenAI's interface on %s, port %d", options.listen,
                 door_port(gateway->door));
    return gateway->door != NULL;
}

static void gateway_drain(ProtobufCService *service, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct gateway *gateway = (struct gateway *)service;
    if (gateway->door)
        door_drain(gateway->door, limit_ms, drained, data);
    else
        drained(data);
}

const struct service llm_gateway_service = {
    .name = "llm_gateway",
    .descriptor = &renga__v1__llm_gateway__descriptor,
    .options = llm_gateway_options,
    .create = gateway_create,
    .destroy = gateway_destroy,
    .serve = gateway_serve,
    .drain = gateway_drain,
};
