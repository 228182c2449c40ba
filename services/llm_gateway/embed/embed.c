#include "embed.h"

#include "admission/tokens.h"
#include "base/log.h"
#include "cache/replay.h"
#include "contract/check_embed.h"
#include "embed_priv.h"
#include "instance/gateway_instance.h"
#include "pipeline/generation_use.h"
#include "pipeline/pipeline.h"
#include "provider/provider.h"
#include "routing/config_generation.h"
#include "routing/deployment.h"
#include "routing/route.h"

#include <string.h>

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const struct http_url *embed_way(const struct deployment *deployment)
{
    return deployment->embed_url;
}

static void embed_write_question(struct pipeline *pipeline, struct json_writer *writer)
{
    struct embed *embed = (struct embed *)pipeline;
    const struct deployment *deployment = pipeline->target->deployment;
    const struct embed_question question = {
        .request = embed->request,
        .model = pipeline->target->model,
        .base64 = deployment->embeds_base64,
        .context_tokens = deployment->context_tokens,
    };
    if (pipeline->attempt_count)
        embed_answer_init(&embed->answer, embed->answer.arena, embed->request);
    deployment->provider->write_embed(&question, writer);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const Renga__V1__Usage *embed_used(struct pipeline *pipeline)
{
    struct embed_answer *answer = &((struct embed *)pipeline)->answer;
    return answer->spent || answer->came ? embed_answer_usage(answer) : NULL;
}

static const char *embed_model(const struct pipeline *pipeline)
{
    return ((const struct embed *)pipeline)->answer.model;
}

static bool embed_fill_response(struct embed *embed, Renga__V1__EmbedResponse *response)
{
    struct pipeline *pipeline = &embed->pipeline;
    size_t count = embed->request->n_inputs;
    renga__v1__embed_response__init(response);
    pipeline_answered_by(pipeline, &embed->answered_by);
    response->embeddings = arena_alloc(rpc_call_arena(pipeline->call), count * sizeof(*response->embeddings));
    if (!response->embeddings)
        return false;
    for (size_t i = 0; i < count; i++)
        response->embeddings[i] = &embed->answer.embeddings[i];
    response->n_embeddings = count;
    response->usage = &pipeline->usage;
    response->answered_by = &embed->answered_by;
    response->cache_use = pipeline->leads && pipeline->keep_ms ? RENGA__V1__CACHE_USE__CACHE_USE_STORED
                                                               : RENGA__V1__CACHE_USE__CACHE_USE_UNSPECIFIED;
    response->attempts = pipeline->attempts;
    response->n_attempts = pipeline->attempt_count;
    return true;
}

static bool embed_pack(struct pipeline *pipeline, const uint8_t **bytes, size_t *size)
{
    Renga__V1__EmbedResponse response;
    if (!embed_fill_response((struct embed *)pipeline, &response))
        return false;
    *bytes = replay_pack_embed(rpc_call_arena(pipeline->call), &response, size);
    return *bytes != NULL;
}

static bool embed_unpack(struct pipeline *pipeline, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use)
{
    struct embed *embed = (struct embed *)pipeline;
    struct status ignored = {0};
    embed->again = replay_embed(rpc_call_arena(pipeline->call), bytes, size, use, &ignored);
    return embed->again != NULL;
}

static void answer(struct pipeline *pipeline)
{
    struct embed *embed = (struct embed *)pipeline;
    Renga__V1__EmbedResponse response;
    if (embed_fill_response(embed, &response))
        embed->reply(&response, pipeline->call);
    else
        rpc_fail_with(pipeline->call, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
}

static void embed_answer_again(struct pipeline *pipeline)
{
    struct embed *embed = (struct embed *)pipeline;
    embed->reply(embed->again, pipeline->call);
}

static void embed_failed(struct pipeline *pipeline)
{
    struct failure *failure = &pipeline->failure;
    if (pipeline_has_sent(pipeline))
        failure->usage = &pipeline->usage;
    if (failure->status.code == FAILED_PRECONDITION && pipeline->target)
        log_warn("llm_gateway.refused", "%s: %s", pipeline->target->deployment->name, failure->status.text);
    failure_send(pipeline->call, failure);
}

static const struct pipeline_kind embed_kind = {
    .operation = "embeddings",
    .endpoint = embed_way,
    .write = embed_write_question,
    .read_result = embed_read_result,
    .used = embed_used,
    .model = embed_model,
    .pack = embed_pack,
    .unpack = embed_unpack,
    .answer = answer,
    .answer_again = embed_answer_again,
    .fail = embed_failed,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* NULL with `st` filled: the request is not sent. */
static const struct route *embed_admit(const struct gateway *gateway, const Renga__V1__EmbedRequest *request,
                                       struct status *st)
{
    if (!check_embed_request(request, st))
        return NULL;
    const struct route *route = routes_find(gateway->use->generation->routes, request->model, st);
    if (!route || !route_is_set_up(route, st))
        return NULL;
    if (route->embeddings)
        return check_embed_size(request, route->name, route->dimensions, st) ? route : NULL;
    fail(st, NOT_FOUND, "the model '%s' has no embeddings from %s; name a model that has embeddings", route->name,
         route->targets[0].deployment->provider->name);
    return NULL;
}

static void embed_set_terms(struct embed *embed)
{
    const Renga__V1__EmbedRequest *request = embed->request;
    struct pipeline *pipeline = &embed->pipeline;
    pipeline->origin = request->origin;
    pipeline->priority = request->priority;
    pipeline->cache = request->cache;
    pipeline->response_max = embed_response_max(request, pipeline->gateway->response_max);
    if (pipeline_uses_cache(pipeline))
        response_cache_key_of_embed(rpc_call_principal(pipeline->call)->tenant, request, &pipeline->content);
    if (pipeline->use->generation->counts_tokens)
        pipeline->input_tokens = tokens_of_embed(request);
}

void embed_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__EmbedRequest *request,
                 Renga__V1__EmbedResponse_Closure reply)
{
    struct status st = {0};
    const struct route *route = embed_admit(gateway, request, &st);
    if (!route) {
        rpc_fail(call, &st);
        return;
    }
    struct embed *embed = arena_zalloc(rpc_call_arena(call), sizeof *embed);
    if (!embed || !embed_answer_init(&embed->answer, rpc_call_arena(call), request)) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return;
    }
    pipeline_init(&embed->pipeline, gateway, call, &embed_kind, route);
    embed->request = request;
    embed->reply = reply;
    embed_set_terms(embed);
    pipeline_start(&embed->pipeline);
}
