#include "chat_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BODY_MAX      ((size_t)32 << 20) /* a request of 4 MiB, most of it escaped */
#define MS_SINCE(ns)  ((clock_now_ns() - (ns)) / NS_PER_MS)
#define UNCONST(text) ((char *)(uintptr_t)(text))

static void upstream_finished(struct transfer *transfer);
static void upstream_answers(struct transfer *transfer, int http_status);

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static bool write_body(struct chat *chat)
{
    const struct deployment *deployment = chat->deployment;
    struct capability capability = capability_of(chat->model);
    bool new_limit = capability.new_token_limit && !deployment->token_limit_is_set;
    capability.left_out |= deployment->provider->unknown | deployment_left_out(deployment, chat->model);
    chat->left_out = capability.left_out;
    const struct chat_question question = {
        .request = chat->answer.request,
        .model = chat->model,
        .stream = chat->send != NULL,
        .old_token_limit = deployment->old_token_limit && !new_limit,
        .output_tokens = deployment->output_tokens,
        .context_tokens = deployment->context_tokens,
        .capability = capability,
    };
    struct json_writer writer;
    buffer_init(&chat->body, BODY_MAX);
    json_writer_init(&writer, &chat->body);
    chat->deployment->provider->write_chat(&question, &writer);
    return json_writer_done(&writer);
}

static void set_time(struct chat *chat)
{
    int64_t timeout_ms = chat->gateway->timeout_ms, deadline_ns = rpc_call_deadline_ns(chat->call);
    if (deadline_ns != TIME_NEVER && deadline_ns < chat->asked_ns + timeout_ms * NS_PER_MS) {
        chat->timeout_is_callers = true;
        timeout_ms = (deadline_ns - chat->asked_ns) / NS_PER_MS + 1;
    }
    chat->transfer.timeout_ms = timeout_ms > 0 ? timeout_ms : 1;
    if (chat->send)
        chat->transfer.idle_timeout_ms = chat->gateway->idle_timeout_ms;
}

static void client_left(struct rpc_call *call, void *data)
{
    struct chat *chat = data;
    transfer_cancel(&chat->transfer);
}

static void ask(struct chat *chat)
{
    struct transfer *transfer = &chat->transfer;
    if (!chat->began_ns)
        chat->began_ns = clock_now_ns();
    chat->asked_ns = clock_now_ns();
    chat->asked_wall_ms = clock_wall_ns() / NS_PER_MS;
    transfer_init(transfer, chat->deployment->chat_url, upstream_finished);
    transfer->method = "POST";
    transfer->headers = chat->deployment->headers;
    transfer->body = chat->body.data;
    transfer->body_size = chat->body.length;
    transfer->response_max = chat->gateway->response_max;
    transfer->decompress = true;
    transfer->headers_received = upstream_answers;
    transfer->owner = chat;
    set_time(chat);
    rpc_call_on_cancel(chat->call, client_left, chat);
    transfer_start(chat->gateway->http, transfer);
}

/* Where the request goes; NULL with `st` filled where it is not to be sent. */
static const struct target *admit(const struct gateway *gateway, const Renga__V1__ChatRequest *request,
                                  struct status *st)
{
    const struct route *route =
        check_chat_request(request, st) ? routes_find(gateway->routes, request->model, st) : NULL;
    if (!route)
        return NULL;
    const struct target *target = &route->targets[0];
    if (!route->chat)
        fail_field(st, "model", "'%s' makes embeddings and does not chat; ListModels has those that do", route->name);
    else if (request->n_tools && (!route->tools || capability_of(target->model).no_tools))
        fail_field(st, "tools", "the model '%s' has none; ask another, or leave them out", route->name);
    else if (target->deployment->unset)
        fail(
            st, FAILED_PRECONDITION,
            "no model is set up: give the gateway a key (llm_gateway.key or OPENAI_API_KEY), or the URL of an upstream "
            "that needs none (llm_gateway.upstream)");
    else
        return target;
    return NULL;
}

/* NULL where the call has been ended. */
static struct chat *chat_create(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request)
{
    struct status st = {0};
    const struct target *target = admit(gateway, request, &st);
    if (!target) {
        rpc_fail(call, &st);
        return NULL;
    }
    struct chat *chat = arena_zalloc(rpc_call_arena(call), sizeof *chat);
    if (!chat) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return NULL;
    }
    chat->gateway = gateway;
    chat->deployment = target->deployment;
    chat->call = call;
    chat->model = target->model;
    chat->patience.expired = chat_patience_over;
    answer_init(&chat->answer, rpc_call_arena(call), request);
    chat->answer.owner = chat;
    if (answer_expect(&chat->answer, &st))
        return chat;
    rpc_fail(call, &st);
    return NULL;
}

void chat_ask(struct chat *chat)
{
    if (write_body(chat)) {
        ask(chat);
        return;
    }
    buffer_fini(&chat->body);
    rpc_fail_with(chat->call, RESOURCE_EXHAUSTED, "the request has more than %zu bytes as JSON", BODY_MAX);
}

void chat_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                Renga__V1__ChatResponse_Closure reply)
{
    struct chat *chat = chat_create(gateway, call, request);
    if (!chat)
        return;
    chat->reply = reply;
    chat->answer.keeps_content = chat->answer.keeps_rest = true;
    chat_ask(chat);
}

void chat_stream_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                       Renga__V1__ChatStreamEvent_Closure reply)
{
    struct chat *chat = chat_create(gateway, call, request);
    if (!chat)
        return;
    chat->send = reply;
    chat->answer.piece_came = chat_stream_piece;
    chat->answer.keeps_content = request->response_format != NULL; /* its JSON is checked at the end */
    rpc_call_on_writable(call, chat_stream_writable, chat);
    chat_ask(chat);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool is_stream(const struct provider *provider, const char *content_type)
{
    size_t length = strlen(provider->stream_type);
    return content_type && strncasecmp(content_type, provider->stream_type, length) == 0 &&
           strchr("; \t", content_type[length]) != NULL;
}

/* Errors, and answers of an upstream that does not stream, are gathered by the transfer; only events are read as they
 * come. */
static void upstream_answers(struct transfer *transfer, int http_status)
{
    struct chat *chat = transfer->owner;
    if (chat->send && http_status < 300 &&
        is_stream(chat->deployment->provider, transfer_header(transfer, "content-type")))
        chat_stream_open(chat);
}

void chat_answered_by(const struct chat *chat, Renga__V1__AnsweredBy *by)
{
    renga__v1__answered_by__init(by);
    by->deployment = UNCONST(chat->deployment->name);
    by->provider = UNCONST(chat->deployment->provider->name);
    by->model = UNCONST(chat->answer.model[0] ? chat->answer.model : chat->model);
}

static void give_answer(struct chat *chat, Renga__V1__ChatFinish *finish)
{
    if (chat->send) {
        chat_stream_finish(chat, finish);
        return;
    }
    Renga__V1__ChatResponse response = RENGA__V1__CHAT_RESPONSE__INIT;
    response.id = chat->answer.id;
    response.finish = finish;
    response.message = answer_message(&chat->answer);
    Renga__V1__ChatResponse_Closure reply = chat->reply;
    if (response.message)
        reply(&response, chat->call);
    else
        rpc_fail_with(chat->call, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
}

void chat_attempt(struct chat *chat, struct attempt *attempt)
{
    static const char *const names[] = {"x-request-id", "request-id", "apim-request-id"};
    const char *sent_id = NULL;
    for (size_t i = 0; !sent_id && i < sizeof names / sizeof names[0]; i++)
        sent_id = transfer_header(&chat->transfer, names[i]);
    snprintf(attempt->request_id, sizeof attempt->request_id, "%s",
             sent_id && strlen(sent_id) <= SENT_ID_MAX ? sent_id : "");
    chat_answered_by(chat, &attempt->asked);
    renga__v1__attempt__init(&attempt->told);
    attempt->told.asked = &attempt->asked;
    attempt->told.http_status = chat->transfer.http_status;
    attempt->told.provider_request_id = attempt->request_id;
    attempt->told.started_ms = chat->asked_wall_ms;
    attempt->told.duration_ms = MS_SINCE(chat->asked_ns);
}

/* The last words of an answer, and what they point at. */
struct closing {
    Renga__V1__ChatFinish finish;
    struct attempt last;
    Renga__V1__Attempt *attempts[3];
};

/* What is the same for every answer, beside the outcome. */
static void answered(struct chat *chat, struct closing *closing)
{
    Renga__V1__ChatFinish *finish = &closing->finish;
    struct arena *arena = rpc_call_arena(chat->call);
    uint32_t missed = capability_missed(chat->answer.request, chat->left_out);
    chat_attempt(chat, &closing->last);
    finish->answered_by = &closing->last.asked;
    finish->attempts = closing->attempts;
    if (chat->adapted)
        closing->attempts[finish->n_attempts++] = &chat->refused.told;
    if (chat->repairs)
        closing->attempts[finish->n_attempts++] = &chat->broken.told;
    closing->attempts[finish->n_attempts++] = &closing->last.told;
    finish->repaired = chat->repairs;
    if (missed)
        finish->n_degradations = capability_degradations(arena, missed, &finish->degradations);
    finish->duration_ms = MS_SINCE(chat->began_ns);
    finish->first_token_ms = chat->first_ns ? (chat->first_ns - chat->began_ns) / NS_PER_MS : finish->duration_ms;
    if (!chat->answer.id[0])
        snprintf(chat->answer.id, sizeof chat->answer.id, "chat-%016" PRIx64, random_u64());
    give_answer(chat, finish);
}

static void failed(struct chat *chat)
{
    struct failure *failure = &chat->failure;
    deployment_redact(chat->deployment, failure->status.text);
    if (chat->started || chat->answer.had_choice || chat->answer.spent) {
        failure->usage = answer_usage(&chat->answer);
        if (chat->send)
            chat_stream_usage(chat, failure->usage);
    }
    if (failure->status.code == FAILED_PRECONDITION)
        log_warn("llm_gateway.refused", "%s: %s", chat->deployment->name, failure->status.text);
    failure_send(chat->call, failure);
}

static void upstream_finished(struct transfer *transfer)
{
    struct chat *chat = transfer->owner;
    struct closing closing;
    renga__v1__chat_finish__init(&closing.finish);
    loop_disarm(rpc_call_loop(chat->call), &chat->patience);
    buffer_fini(&chat->body);
    if (chat->reads_events)
        chat_stream_close(chat);
    if (chat_adapt(chat))
        return;
    bool good = chat_judge(chat, &closing.finish);
    if (!good && chat_repair(chat))
        return;
    if (chat->repairs)
        chat_repair_end(chat, good);
    if (good)
        answered(chat, &closing);
    else
        failed(chat);
}
