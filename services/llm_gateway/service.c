/* The service: its functions, and what an instance is made of. */
#include "gateway.h"

#include "accounts/ledger.h"
#include "ask/ask_observe.h"
#include "base/log.h"
#include "chat/chat.h"
#include "door/door.h"
#include "edition.h"
#include "embed/embed.h"
#include "gateway_priv.h"
#include "http/client.h"
#include "provider/provider.h"
#include "route/deployment.h"
#include "route/models.h"
#include "rpc/auth.h"
#include "rpc/rpc.h"

#include <stdlib.h>

#define SEES_ALL_ACCOUNTS "renga.v1.LlmGateway/GetUsage.all" /* a right that a key may have among its methods */

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
    embed_begin((struct gateway *)self, data, request, reply);
}

static void list_models(Renga__V1__LlmGateway_Service *self, const Renga__V1__ListModelsRequest *request,
                        Renga__V1__ListModelsResponse_Closure reply, void *data)
{
    struct gateway *gateway = (struct gateway *)self;
    models_list(gateway->use->edition->routes, data, reply);
}

static void get_usage(Renga__V1__LlmGateway_Service *self, const Renga__V1__GetUsageRequest *request,
                      Renga__V1__GetUsageResponse_Closure reply, void *data)
{
    struct gateway *gateway = (struct gateway *)self;
    bool sees_all = rpc_auth_grants(gateway->auth, rpc_call_principal(data), SEES_ALL_ACCOUNTS);
    ledger_report(gateway->commons->ledger, data, request, sees_all, reply);
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
    ask_metrics_destroy(&gateway->metrics);
    if (gateway->commons)
        commons_leave(&gateway->commons, gateway);
    free(gateway);
}

/* One set a process: what one loop learns of a deployment the others know, and limits are limits of the whole. */
static bool find_commons(struct gateway *gateway, const struct service_context *context, struct status *st)
{
    const struct gateway *first = context->instances ? (const struct gateway *)context->instances[0] : NULL;
    struct commons *commons = first ? first->commons : commons_create(context->config, context->metrics, st);
    gateway->commons = commons ? commons_join(commons, gateway) : NULL;
    return commons != NULL;
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
        .auth = context->auth,
        .loop = context->loop,
        .timeout_ms = config_duration_ms(config, "llm_gateway.timeout"),
        .idle_timeout_ms = config_duration_ms(config, "llm_gateway.idle_timeout"),
        .queue_wait_ms = config_duration_ms(config, "llm_gateway.queue_wait"),
        .reader_timeout_ms = config_duration_ms(config, "llm_gateway.reader_timeout"),
        .response_max = (size_t)config_size(config, "llm_gateway.response_max"),
        .logs_content = config_boolean(config, "llm_gateway.log_content"),
        .stream_max = (size_t)config_size(config, "llm_gateway.stream_max"),
    };
    if (!find_commons(gateway, context, st)) {
        gateway_destroy(&gateway->base.base);
        return NULL;
    }
    gateway->metrics = ask_metrics_create(context->metrics, context->spans);
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
        .read_ms = config_duration_ms(context->config, "llm_gateway.http.read_timeout"),
        .hosts = config_string(context->config, "llm_gateway.http.hosts"),
        .connections = (unsigned)config_integer(context->config, "llm_gateway.http.connections"),
        .connections_per_address =
            (unsigned)config_integer(context->config, "llm_gateway.http.connections_per_address"),
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

/* SIGHUP */
static void gateway_reload(ProtobufCService *service)
{
    commons_reload(((struct gateway *)service)->commons);
}

const struct service llm_gateway_service = {
    .name = "llm_gateway",
    .descriptor = &renga__v1__llm_gateway__descriptor,
    .options = llm_gateway_options,
    .create = gateway_create,
    .destroy = gateway_destroy,
    .serve = gateway_serve,
    .drain = gateway_drain,
    .reload = gateway_reload,
};
