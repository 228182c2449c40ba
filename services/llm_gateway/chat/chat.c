#include "chat_priv.h"

#include "ask/ask_judge.h"
#include "base/clock.h"
#include "base/json_schema.h"
#include "base/log.h"
#include "base/random.h"
#include "check.h"
#include "edition.h"
#include "limits/tokens.h"
#include "recall/replay.h"
#include "telemetry/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))
#define FACTOR_INLINE 16 /* schemas that a byte is held against within the time of JOB_INLINE_MAX */

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const struct http_url *way(const struct deployment *deployment)
{
    return deployment->chat_url;
}

/* The answer starts anew, but for its name, which a stream may have told already. */
static void start_over(struct chat *chat)
{
    struct answer old = chat->answer, *answer = &chat->answer;
    answer_init(answer, old.arena, chat->request);
    if (chat->ask.told) {
        memcpy(answer->id, old.id, sizeof answer->id);
        memcpy(answer->model, old.model, sizeof answer->model);
    }
    answer->keeps_content = old.keeps_content;
    answer->keeps_rest = old.keeps_rest;
    answer->piece_came = old.piece_came;
    answer->owner = old.owner;
    answer->schema = old.schema;
    chat->reads_events = false;
}

static struct chat_question question_of(struct chat *chat)
{
    struct ask *ask = &chat->ask;
    const struct target *target = ask->target;
    const struct deployment *deployment = target->deployment;
    struct capability capability = capability_of(target->model);
    bool new_limit = capability.new_token_limit && !deployment->token_limit_is_set;
    capability.left_out |= deployment->provider->unknown | standing_left_out(target->standing);
    chat->left_out = capability.left_out;
    if (ask->attempt_count)
        start_over(chat);
    if (ask->leads) /* others may want it whole */
        chat->answer.keeps_content = chat->answer.keeps_rest = true;
    return (struct chat_question){
        .request = chat->request,
        .model = target->model,
        .stream = ask->streams,
        .old_token_limit = deployment->old_token_limit && !new_limit,
        .output_tokens = deployment->output_tokens,
        .context_tokens = deployment->context_tokens,
        .capability = capability,
    };
}

static void write_question(struct ask *ask, struct json_writer *writer)
{
    const struct chat_question question = question_of((struct chat *)ask);
    ask->target->deployment->provider->write_chat(&question, writer);
}

static void here_begun(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    chat->request = chat->callers; /* what a model was told of its mistakes is no part of the question */
    chat->here = question_of(chat);
}

static void ask_here(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    if (ask->target->deployment->provider->answer_chat(&chat->here, &chat->answer, &ask->failure))
        chat->broken = NULL;
}

/* Of a provider in this process the question; else the content of events, and its form by a schema. */
static size_t weight(const struct ask *ask)
{
    const struct chat *chat = (const struct chat *)ask;
    if (ask->target->deployment->provider->answer_chat)
        return protobuf_c_message_get_packed_size(&chat->request->base);
    const struct json_schema *schema = chat->answer.schema;
    size_t bytes = chat->answer.parts[ANSWER_TEXT].size + ask->transfer.content_size;
    return chat->answer.parts[ANSWER_TEXT].size + (schema ? bytes * json_schema_factor(schema) / FACTOR_INLINE : 0);
}

static bool amend(struct ask *ask, bool good)
{
    struct chat *chat = (struct chat *)ask;
    if (ask->target->deployment->provider->answer_chat) /* it would say the same again */
        return false;
    return !good && (chat_adapt(chat) || chat_repair(chat));
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
static void headers_came(struct ask *ask, int http_status)
{
    if (ask->streams && http_status < 300 &&
        is_stream(ask->target->deployment->provider, transfer_header(&ask->transfer, "content-type")))
        chat_stream_open((struct chat *)ask);
}

static const Renga__V1__Usage *used(struct ask *ask)
{
    struct answer *answer = &((struct chat *)ask)->answer;
    bool answered = ask->failure.status.code == OK;
    return answered || answer->had_choice || answer->spent || answer->read ? answer_usage(answer) : NULL;
}

static const char *model(const struct ask *ask)
{
    return ((const struct chat *)ask)->answer.model;
}

/* That somebody stood in, and what the provider says of itself. */
static size_t shortfalls(struct ask *ask, Renga__V1__Degradation *said[2])
{
    const struct provider *provider = ask->target->deployment->provider;
    size_t count = 0;
    said[count] = ask_degradation(ask);
    count += said[count] != NULL;
    said[count] = provider->degradation ? provider->degradation(rpc_call_arena(ask->call), ask->route->name,
                                                                ((struct chat *)ask)->request)
                                        : NULL;
    return count + (said[count] != NULL);
}

/* What is the same for every answer, beside the outcome. */
static void close_answer(struct chat *chat)
{
    struct ask *ask = &chat->ask;
    Renga__V1__ChatFinish *finish = &chat->finish;
    uint32_t missed = capability_missed(chat->request, chat->left_out);
    Renga__V1__Degradation *said[2];
    ask_answered_by(ask, &chat->answered_by);
    finish->answered_by = &chat->answered_by;
    finish->attempts = ask->attempts;
    finish->n_attempts = ask->attempt_count;
    finish->usage = &ask->usage;
    finish->repaired = chat->broken != NULL;
    finish->cache_use = ask->leads && ask->keep_ms ? RENGA__V1__CACHE_USE__CACHE_USE_STORED : finish->cache_use;
    finish->n_degradations =
        capability_degradations(rpc_call_arena(ask->call), missed, said, shortfalls(ask, said), &finish->degradations);
    finish->duration_ms = (clock_now_ns() - ask->began_ns) / NS_PER_MS;
    finish->first_token_ms = ask->first_ns ? (ask->first_ns - ask->began_ns) / NS_PER_MS : finish->duration_ms;
    if (!chat->answer.id[0])
        snprintf(chat->answer.id, sizeof chat->answer.id, "chat-%016" PRIx64, random_u64());
}

static bool fill_response(struct chat *chat, Renga__V1__ChatResponse *response)
{
    renga__v1__chat_response__init(response);
    response->id = chat->answer.id;
    response->finish = &chat->finish;
    response->message = answer_message(&chat->answer);
    return response->message != NULL;
}

static bool pack(struct ask *ask, const uint8_t **bytes, size_t *size)
{
    struct chat *chat = (struct chat *)ask;
    Renga__V1__ChatResponse response;
    close_answer(chat);
    if (!fill_response(chat, &response) || !(ask->idempotency_key[0] || replay_is_worth_keeping(&response)))
        return false;
    *bytes = replay_pack_chat(rpc_call_arena(ask->call), &response, size);
    return *bytes != NULL;
}

static bool unpack(struct ask *ask, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use)
{
    struct chat *chat = (struct chat *)ask;
    struct status ignored = {0};
    int64_t took_ms = (clock_now_ns() - ask->began_ns) / NS_PER_MS;
    const struct replay_terms terms = {.use = use, .first_token_ms = took_ms, .duration_ms = took_ms};
    chat->again = replay_chat(rpc_call_arena(ask->call), bytes, size, &terms, &ignored);
    return chat->again != NULL;
}

static void answer(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    Renga__V1__ChatResponse response;
    Renga__V1__ChatResponse_Closure reply = chat->reply;
    close_answer(chat);
    if (chat->send)
        chat_stream_finish(chat);
    else if (fill_response(chat, &response))
        reply(&response, ask->call);
    else
        rpc_fail_with(ask->call, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
}

static void answer_again(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    if (chat->send)
        replay_stream(chat->again, chat->send, ask->call);
    else
        chat->reply(chat->again, ask->call);
}

static void failed(struct ask *ask)
{
    struct chat *chat = (struct chat *)ask;
    struct failure *failure = &ask->failure;
    if (chat->broken)
        chat_repair_failed(chat);
    if (ask_has_sent(ask))
        failure->usage = &ask->usage;
    if (chat->send && (ask->usage.input_tokens || ask->usage.output_tokens))
        chat_stream_usage(chat, failure->usage);
    if (failure->status.code == FAILED_PRECONDITION && ask->target)
        log_warn("llm_gateway.refused", "%s: %s", ask->target->deployment->name, failure->status.text);
    failure_send(ask->call, failure);
}

static void describe(struct ask *ask, struct span *span)
{
    const struct chat *chat = (const struct chat *)ask;
    const Renga__V1__ChatRequest *request = chat->request;
    const char *word = chat->answer.word;
    if (request->max_output_tokens)
        span_int(span, "gen_ai.request.max_tokens", request->max_output_tokens);
    if (request->sampling && request->sampling->maybe_temperature_case)
        span_double(span, "gen_ai.request.temperature", request->sampling->temperature);
    span_bool(span, "gen_ai.request.stream", ask->streams);
    span_string(span, "gen_ai.output.type", answer_wants_json(&chat->answer) ? "json" : "text");
    if (chat->answer.id[0])
        span_string(span, "gen_ai.response.id", chat->answer.id);
    if (word[0])
        span_strings(span, "gen_ai.response.finish_reasons", &word, 1);
}

static const struct ask_kind chat_kind = {
    .operation = "chat",
    .way = way,
    .write = write_question,
    .ask_here = ask_here,
    .headers_came = headers_came,
    .here_begun = here_begun,
    .closed = chat_closed,
    .weight = weight,
    .judge = chat_judge,
    .hand_on = chat_hand_on,
    .amend = amend,
    .used = used,
    .model = model,
    .describe = describe,
    .tell = chat_tell,
    .pack = pack,
    .unpack = unpack,
    .answer = answer,
    .answer_again = answer_again,
    .fail = failed,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* NULL with `st` filled where the request is not to be sent. */
static const struct route *admit(const struct gateway *gateway, const Renga__V1__ChatRequest *request,
                                 struct status *st)
{
    if (!check_chat_request(request, st))
        return NULL;
    const struct route *route = routes_find(gateway->use->edition->routes, request->model, st);
    if (!route || !route_is_set_up(route, st))
        return NULL;
    if (!route->chat) {
        fail_field(st, "model", "'%s' makes embeddings and does not chat; name a model that chats", route->name);
        return NULL;
    }
    if (request->n_tools && (!route->tools || capability_of(route->targets[0].model).no_tools)) {
        fail_field(st, "tools", "the model '%s' has none; ask another, or leave them out", route->name);
        return NULL;
    }
    return route;
}

static void set_terms(struct chat *chat)
{
    const Renga__V1__ChatRequest *request = chat->request;
    struct ask *ask = &chat->ask;
    const struct deployment *first = ask->route->targets[0].deployment;
    ask->origin = request->origin;
    ask->priority = request->priority;
    ask->cache = request->cache;
    ask->idempotency_key = request->idempotency_key;
    ask->requests_max = (size_t)request->max_model_calls;
    if (ask_wants_recall(ask))
        recall_key_of_chat(rpc_call_principal(ask->call)->tenant, request, &ask->content);
    if (ask->use->edition->counts_tokens) {
        ask->input_tokens = tokens_of_chat(request);
        ask->output_tokens = request->max_output_tokens ? request->max_output_tokens : first->output_tokens;
    }
}

/* NULL where the call has been ended. */
static struct chat *chat_create(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request)
{
    struct status st = {0};
    const struct route *route = admit(gateway, request, &st);
    if (!route) {
        rpc_fail(call, &st);
        return NULL;
    }
    struct chat *chat = arena_zalloc(rpc_call_arena(call), sizeof *chat);
    if (!chat) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return NULL;
    }
    ask_init(&chat->ask, gateway, call, &chat_kind, route);
    chat->callers = chat->request = request;
    chat->patience.expired = chat_patience_over;
    renga__v1__chat_finish__init(&chat->finish);
    answer_init(&chat->answer, rpc_call_arena(call), request);
    chat->answer.owner = chat;
    set_terms(chat);
    if (answer_expect(&chat->answer, &st))
        return chat;
    rpc_fail(call, &st);
    return NULL;
}

void chat_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                Renga__V1__ChatResponse_Closure reply)
{
    struct chat *chat = chat_create(gateway, call, request);
    if (!chat)
        return;
    chat->reply = reply;
    chat->answer.keeps_content = chat->answer.keeps_rest = true;
    ask_start(&chat->ask);
}

void chat_stream_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                       Renga__V1__ChatStreamEvent_Closure reply)
{
    struct chat *chat = chat_create(gateway, call, request);
    if (!chat)
        return;
    chat->send = reply;
    chat->ask.streams = true;
    chat->answer.piece_came = chat_stream_piece;
    chat->answer.keeps_rest = gateway->logs_content;
    chat->answer.keeps_content = gateway->logs_content || request->response_format; /* its JSON is checked at the end */
    rpc_call_on_writable(call, chat_stream_writable, chat);
    ask_start(&chat->ask);
}
