/* The service: its RPCs and the parts of an instance. */
#include "gateway.h"

#include "base/log.h"
#include "chat/chat.h"
#include "embed/embed.h"
#include "gateway_shared.h"
#include "http/client.h"
#include "instance/gateway_instance.h"
#include "openai_http/openai_http.h"
#include "pipeline/generation_use.h"
#include "pipeline/pipeline_telemetry.h"
#include "provider/provider.h"
#include "routing/config_generation.h"
#include "routing/deployment.h"
#include "routing/models.h"
#include "rpc/auth.h"
#include "rpc/rpc.h"
#include "usage/ledger.h"

#include <stdlib.h>

#define SEES_ALL_ACCOUNTS "renga.v1.LlmGateway/GetUsage.all" /* a right that a key may have among its methods */

static void service_chat(Renga__V1__LlmGateway_Service *self, const Renga__V1__ChatRequest *request,
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
    models_list(gateway->use->generation->routes, data, reply);
}

static void get_usage(Renga__V1__LlmGateway_Service *self, const Renga__V1__GetUsageRequest *request,
                      Renga__V1__GetUsageResponse_Closure reply, void *data)
{
    struct gateway *gateway = (struct gateway *)self;
    bool sees_all = rpc_auth_grants(gateway->auth, rpc_call_principal(data), SEES_ALL_ACCOUNTS);
    ledger_report(gateway->shared->ledger, data, request, sees_all, reply);
}

static const Renga__V1__LlmGateway_Service functions = {
    .base = {.descriptor = &renga__v1__llm_gateway__descriptor, .invoke = rpc_service_invoke},
    .chat = service_chat,
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
    openai_http_destroy(&gateway->openai_http);
    pipeline_metrics_destroy(&gateway->metrics);
    if (gateway->shared)
        gateway_shared_leave(&gateway->shared, gateway);
    free(gateway);
}

/* One set in a process: loops share their knowledge of deployments, and limits hold for the whole process. */
static bool gateway_find_shared(struct gateway *gateway, const struct service_context *context, struct status *st)
{
    const struct gateway *first = context->instances ? (const struct gateway *)context->instances[0] : NULL;
    struct gateway_shared *shared =
        first ? first->shared : gateway_shared_create(context->config, context->metrics, st);
    gateway->shared = shared ? gateway_shared_join(shared, gateway) : NULL;
    return shared != NULL;
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
    if (!gateway_find_shared(gateway, context, st)) {
        gateway_destroy(&gateway->base.base);
        return NULL;
    }
    gateway->metrics = pipeline_metrics_create(context->metrics, context->spans);
    return &gateway->base.base;
}

/* ---- the OpenAI HTTP interface ------------------------------------------------------------------------------------
 */

static bool gateway_serve(ProtobufCService *service, const struct service_context *context, struct status *st)
{
    struct gateway *gateway = (struct gateway *)service, *first = (struct gateway *)context->instances[0];
    struct openai_http_options options = {
        .listen = config_string(context->config, "llm_gateway.http.listen"),
        .first = first->openai_http,
        .reader_wait_ms = gateway->reader_timeout_ms,
        .read_ms = config_duration_ms(context->config, "llm_gateway.http.read_timeout"),
        .hosts = config_string(context->config, "llm_gateway.http.hosts"),
        .connections = (unsigned)config_integer(context->config, "llm_gateway.http.connections"),
        .connections_per_address =
            (unsigned)config_integer(context->config, "llm_gateway.http.connections_per_address"),
    };
    if (!options.listen || !options.listen[0])
        return true;
    gateway->openai_http = openai_http_create(context, &options, st);
    if (gateway->openai_http && gateway == first)
        log_info("llm_gateway.listening", "OpenAI's interface on %s, port %d", options.listen,
                 openai_http_port(gateway->openai_http));
    return gateway->openai_http != NULL;
}

static void gateway_drain(ProtobufCService *service, int64_t limit_ms, void (*drained)(void *data), void *data)
{
    struct gateway *gateway = (struct gateway *)service;
    if (gateway->openai_http)
        openai_http_drain(gateway->openai_http, limit_ms, drained, data);
    else
        drained(data);
}

/* SIGHUP */
static void gateway_reload(ProtobufCService *service)
{
    gateway_shared_reload(((struct gateway *)service)->shared);
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
