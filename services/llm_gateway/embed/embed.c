/* One call: checked, sent to the deployment, judged, answered. It goes upstream once. */
#include "embed.h"

#include "base/clock.h"
#include "base/log.h"
#include "check_embed.h"
#include "embed_priv.h"
#include "gateway_priv.h"
#include "provider/provider.h"
#include "route/deployment.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <string.h>

#define MS_SINCE(ns)  ((clock_now_ns() - (ns)) / NS_PER_MS)
#define SENT_ID_MAX   128 /* Attempt.provider_request_id */
#define UNCONST(text) ((char *)(uintptr_t)(text))

struct embed {
    struct transfer transfer;
    struct gateway *gateway;
    const struct deployment *deployment;
    struct rpc_call *call;
    Renga__V1__EmbedResponse_Closure reply;
    const char *model;
    struct buffer body;
    struct embed_answer answer;
    struct failure failure;
    int64_t began_ns, began_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
};

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void tell_attempt(const struct embed *embed, Renga__V1__AnsweredBy *by, Renga__V1__Attempt *attempt)
{
    static const char *const names[] = {"x-request-id", "request-id", "apim-request-id"};
    renga__v1__answered_by__init(by);
    by->deployment = UNCONST(embed->deployment->name);
    by->provider = UNCONST(embed->deployment->provider->name);
    by->model = UNCONST(embed->answer.model[0] ? embed->answer.model : embed->model);
    renga__v1__attempt__init(attempt);
    attempt->asked = by;
    attempt->http_status = embed->transfer.http_status;
    attempt->started_ms = embed->began_wall_ms;
    attempt->duration_ms = MS_SINCE(embed->began_ns);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *id = transfer_header(&embed->transfer, names[i]);
        if (!id || strlen(id) > SENT_ID_MAX)
            continue;
        attempt->provider_request_id = UNCONST(id);
        return;
    }
}

static void answered(struct embed *embed)
{
    Renga__V1__AnsweredBy by;
    Renga__V1__Attempt attempt, *attempts[] = {&attempt};
    tell_attempt(embed, &by, &attempt);
    embed_reply(&embed->answer, embed->call, &by, attempts, 1, embed->reply);
}

static void failed(struct embed *embed)
{
    struct failure *failure = &embed->failure;
    deployment_redact(embed->deployment, failure->status.text);
    if (embed->answer.spent || embed->answer.came)
        failure->usage = embed_answer_usage(&embed->answer);
    if (failure->status.code == FAILED_PRECONDITION)
        log_warn("llm_gateway.refused", "%s: %s", embed->deployment->name, failure->status.text);
    failure_send(embed->call, failure);
}

static bool caller_is_gone(struct embed *embed)
{
    if (!rpc_call_cancelled(embed->call))
        return false;
    bool late = clock_now_ns() >= rpc_call_deadline_ns(embed->call);
    fail(&embed->failure.status, late ? DEADLINE_EXCEEDED : CANCELLED,
         "the caller has gone; the upstream was told to stop");
    return true;
}

static void upstream_finished(struct transfer *transfer)
{
    struct embed *embed = transfer->owner;
    buffer_fini(&embed->body);
    if (!caller_is_gone(embed) &&
        embed_judge(&embed->answer, embed->deployment, transfer, embed->timeout_is_callers, &embed->failure))
        answered(embed);
    else
        failed(embed);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void set_time(struct embed *embed)
{
    int64_t timeout_ms = embed->gateway->timeout_ms, deadline_ns = rpc_call_deadline_ns(embed->call);
    if (deadline_ns != TIME_NEVER && deadline_ns < embed->began_ns + timeout_ms * NS_PER_MS) {
        embed->timeout_is_callers = true;
        timeout_ms = (deadline_ns - embed->began_ns) / NS_PER_MS + 1;
    }
    embed->transfer.timeout_ms = timeout_ms > 0 ? timeout_ms : 1;
}

static void client_left(struct rpc_call *call, void *data)
{
    struct embed *embed = data;
    transfer_cancel(&embed->transfer);
}

static void ask(struct embed *embed)
{
    struct transfer *transfer = &embed->transfer;
    embed->began_ns = clock_now_ns();
    embed->began_wall_ms = clock_wall_ns() / NS_PER_MS;
    transfer_init(transfer, embed->deployment->embed_url, upstream_finished);
    transfer->method = "POST";
    transfer->headers = embed->deployment->headers;
    transfer->body = embed->body.data;
    transfer->body_size = embed->body.length;
    transfer->response_max = embed_response_max(embed->answer.request, embed->gateway->response_max);
    transfer->decompress = true;
    transfer->owner = embed;
    set_time(embed);
    rpc_call_on_cancel(embed->call, client_left, embed);
    transfer_start(embed->gateway->http, transfer);
}

/* What the upstream calls the model that is asked for; NULL with `st` filled where the request is not to be sent. */
static const char *admit(const struct gateway *gateway, const Renga__V1__EmbedRequest *request, struct status *st)
{
    if (!check_embed_request(request, st))
        return NULL;
    if (gateway->deployment->unset) {
        fail(
            st, FAILED_PRECONDITION,
            "no model is set up: give the gateway a key (llm_gateway.key or OPENAI_API_KEY), or the URL of an upstream "
            "that needs none (llm_gateway.upstream)");
        return NULL;
    }
    const char *model = models_find(&gateway->models, request->model, st);
    if (model && !gateway->deployment->embed_url) {
        fail(st, NOT_FOUND, "the model '%s' has no embeddings: %s offers none; ListModels says which have", model,
             gateway->deployment->provider->name);
        return NULL;
    }
    return model && check_embed_size(request, model, 0, st) ? model : NULL;
}

void embed_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__EmbedRequest *request,
                 Renga__V1__EmbedResponse_Closure reply)
{
    struct status st = {0};
    const char *model = admit(gateway, request, &st);
    if (!model) {
        rpc_fail(call, &st);
        return;
    }
    struct embed *embed = arena_zalloc(rpc_call_arena(call), sizeof *embed);
    if (!embed || !embed_answer_init(&embed->answer, rpc_call_arena(call), request)) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return;
    }
    embed->gateway = gateway;
    embed->deployment = gateway->deployment;
    embed->call = call;
    embed->reply = reply;
    embed->model = model;
    if (embed_write(request, embed->deployment, model, &embed->body)) {
        ask(embed);
        return;
    }
    buffer_fini(&embed->body);
    rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request has more than %zu bytes as JSON", EMBED_BODY_MAX);
}
