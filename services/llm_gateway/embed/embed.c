#include "embed.h"

#include "ask/ask.h"
#include "base/log.h"
#include "check_embed.h"
#include "edition.h"
#include "embed_priv.h"
#include "gateway_priv.h"
#include "limits/tokens.h"
#include "provider/provider.h"
#include "recall/replay.h"
#include "route/deployment.h"
#include "route/route.h"

#include <string.h>

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const struct http_url *way(const struct deployment *deployment)
{
    return deployment->embed_url;
}

static void write_question(struct ask *ask, struct json_writer *writer)
{
    struct embed *embed = (struct embed *)ask;
    const struct deployment *deployment = ask->target->deployment;
    const struct embed_question question = {
        .request = embed->request,
        .model = ask->target->model,
        .base64 = deployment->embeds_base64,
        .context_tokens = deployment->context_tokens,
    };
    if (ask->attempt_count)
        embed_answer_init(&embed->answer, embed->answer.arena, embed->request);
    deployment->provider->write_embed(&question, writer);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const Renga__V1__Usage *used(struct ask *ask)
{
    struct embed_answer *answer = &((struct embed *)ask)->answer;
    return answer->spent || answer->came ? embed_answer_usage(answer) : NULL;
}

static const char *model(const struct ask *ask)
{
    return ((const struct embed *)ask)->answer.model;
}

static bool fill_response(struct embed *embed, Renga__V1__EmbedResponse *response)
{
    struct ask *ask = &embed->ask;
    size_t count = embed->request->n_inputs;
    renga__v1__embed_response__init(response);
    ask_answered_by(ask, &embed->answered_by);
    response->embeddings = arena_alloc(rpc_call_arena(ask->call), count * sizeof(*response->embeddings));
    if (!response->embeddings)
        return false;
    for (size_t i = 0; i < count; i++)
        response->embeddings[i] = &embed->answer.embeddings[i];
    response->n_embeddings = count;
    response->usage = &ask->usage;
    response->answered_by = &embed->answered_by;
    response->cache_use = ask->leads && ask->keep_ms ? RENGA__V1__CACHE_USE__CACHE_USE_STORED
                                                     : RENGA__V1__CACHE_USE__CACHE_USE_UNSPECIFIED;
    response->attempts = ask->attempts;
    response->n_attempts = ask->attempt_count;
    return true;
}

static bool pack(struct ask *ask, const uint8_t **bytes, size_t *size)
{
    Renga__V1__EmbedResponse response;
    if (!fill_response((struct embed *)ask, &response))
        return false;
    *bytes = replay_pack_embed(rpc_call_arena(ask->call), &response, size);
    return *bytes != NULL;
}

static bool unpack(struct ask *ask, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use)
{
    struct embed *embed = (struct embed *)ask;
    struct status ignored = {0};
    embed->again = replay_embed(rpc_call_arena(ask->call), bytes, size, use, &ignored);
    return embed->again != NULL;
}

static void answer(struct ask *ask)
{
    struct embed *embed = (struct embed *)ask;
    Renga__V1__EmbedResponse response;
    if (fill_response(embed, &response))
        embed->reply(&response, ask->call);
    else
        rpc_fail_with(ask->call, RESOURCE_EXHAUSTED, "the vectors take more memory than a call may have");
}

static void answer_again(struct ask *ask)
{
    struct embed *embed = (struct embed *)ask;
    embed->reply(embed->again, ask->call);
}

static void failed(struct ask *ask)
{
    struct failure *failure = &ask->failure;
    if (ask_has_sent(ask))
        failure->usage = &ask->usage;
    if (failure->status.code == FAILED_PRECONDITION && ask->target)
        log_warn("llm_gateway.refused", "%s: %s", ask->target->deployment->name, failure->status.text);
    failure_send(ask->call, failure);
}

static const struct ask_kind embed_kind = {
    .operation = "embeddings",
    .way = way,
    .write = write_question,
    .judge = embed_judge,
    .used = used,
    .model = model,
    .pack = pack,
    .unpack = unpack,
    .answer = answer,
    .answer_again = answer_again,
    .fail = failed,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* NULL with `st` filled where the request is not to be sent. */
static const struct route *admit(const struct gateway *gateway, const Renga__V1__EmbedRequest *request,
                                 struct status *st)
{
    if (!check_embed_request(request, st))
        return NULL;
    const struct route *route = routes_find(gateway->use->edition->routes, request->model, st);
    if (!route || !route_is_set_up(route, st))
        return NULL;
    if (route->embeddings)
        return check_embed_size(request, route->name, route->dimensions, st) ? route : NULL;
    fail(st, NOT_FOUND, "the model '%s' has no embeddings from %s; name a model that has embeddings", route->name,
         route->targets[0].deployment->provider->name);
    return NULL;
}

static void set_terms(struct embed *embed)
{
    const Renga__V1__EmbedRequest *request = embed->request;
    struct ask *ask = &embed->ask;
    ask->origin = request->origin;
    ask->priority = request->priority;
    ask->cache = request->cache;
    ask->response_max = embed_response_max(request, ask->gateway->response_max);
    if (ask_wants_recall(ask))
        recall_key_of_embed(rpc_call_principal(ask->call)->tenant, request, &ask->content);
    if (ask->use->edition->counts_tokens)
        ask->input_tokens = tokens_of_embed(request);
}

void embed_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__EmbedRequest *request,
                 Renga__V1__EmbedResponse_Closure reply)
{
    struct status st = {0};
    const struct route *route = admit(gateway, request, &st);
    if (!route) {
        rpc_fail(call, &st);
        return;
    }
    struct embed *embed = arena_zalloc(rpc_call_arena(call), sizeof *embed);
    if (!embed || !embed_answer_init(&embed->answer, rpc_call_arena(call), request)) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return;
    }
    ask_init(&embed->ask, gateway, call, &embed_kind, route);
    embed->request = request;
    embed->reply = reply;
    set_terms(embed);
    ask_start(&embed->ask);
}
