#include "chat_priv.h"

#include "admission/tokens.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "cache/replay.h"
#include "contract/check_chat.h"
#include "pipeline/generation_use.h"
#include "pipeline/pipeline_result.h"
#include "routing/config_generation.h"
#include "telemetry/spans.h"
#include "json/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define UNCONST(text) ((char *)(uintptr_t)(text))
#define FACTOR_INLINE 16 /* schemas that a byte is held against within the time of JOB_INLINE_MAX */

/* Bytes of JOB_INLINE_MAX that a byte of the request takes in a provider in this process. Of hostile texts, a request
 * for sentences takes at most 2 µs a byte, one for a judgement 24 µs beyond the 250 bytes of its frame. */
#define FACTOR_LOCAL        2
#define FACTOR_LOCAL_SCHEMA 10

/* ---- the question ------------------------------------------------------------------------------------------------ */

static const struct http_url *chat_way(const struct deployment *deployment)
{
    return deployment->chat_url;
}

/* The answer starts anew, but for its name, which a stream may have told already. */
static void start_over(struct chat *chat)
{
    struct answer old = chat->answer, *answer = &chat->answer;
    answer_init(answer, old.arena, chat->request);
    if (chat->pipeline.told) {
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

static struct chat_question chat_question_of(struct chat *chat)
{
    struct pipeline *pipeline = &chat->pipeline;
    const struct target *target = pipeline->target;
    const struct deployment *deployment = target->deployment;
    struct capability capability = capability_of(target->model);
    bool new_limit = capability.new_token_limit && !deployment->token_limit_is_set;
    capability.refused_parameters |= deployment->provider->unknown | endpoint_health_refused_parameters(target->health);
    chat->refused_parameters = capability.refused_parameters;
    if (pipeline->attempt_count)
        start_over(chat);
    if (pipeline->leads) /* others may want it whole */
        chat->answer.keeps_content = chat->answer.keeps_rest = true;
    return (struct chat_question){
        .request = chat->request,
        .model = target->model,
        .stream = pipeline->streams,
        .old_token_limit = deployment->old_token_limit && !new_limit,
        .output_tokens = deployment->output_tokens,
        .context_tokens = deployment->context_tokens,
        .least_confidence = deployment->terms.least_confidence,
        .capability = capability,
    };
}

static void chat_write_question(struct pipeline *pipeline, struct json_writer *writer)
{
    const struct chat_question question = chat_question_of((struct chat *)pipeline);
    pipeline->target->deployment->provider->write_chat(&question, writer);
}

static void local_begun(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    chat->request = chat->callers; /* the cache key excludes the messages of the repair round */
    chat->here = chat_question_of(chat);
}

static void chat_answer_locally(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    if (pipeline->target->deployment->provider->answer_chat(&chat->here, &chat->answer, &pipeline->failure))
        chat->broken = NULL;
}

/* Of a provider in this process the question; else the content of events, and its form by a schema. */
static size_t chat_weight(const struct pipeline *pipeline)
{
    const struct chat *chat = (const struct chat *)pipeline;
    if (pipeline->target->deployment->provider->answer_chat)
        return protobuf_c_message_get_packed_size(&chat->request->base) *
               (chat->request->response_format ? FACTOR_LOCAL_SCHEMA : FACTOR_LOCAL);
    const struct json_schema *schema = chat->answer.schema;
    size_t bytes = chat->answer.parts[ANSWER_TEXT].size + pipeline->transfer.content_size;
    return chat->answer.parts[ANSWER_TEXT].size + (schema ? bytes * json_schema_factor(schema) / FACTOR_INLINE : 0);
}

static bool amend(struct pipeline *pipeline, bool good)
{
    struct chat *chat = (struct chat *)pipeline;
    if (pipeline->target->deployment->provider->answer_chat) /* it would say the same again */
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
static void chat_headers_came(struct pipeline *pipeline, int http_status)
{
    if (pipeline->streams && http_status < 300 &&
        is_stream(pipeline->target->deployment->provider, transfer_header(&pipeline->transfer, "content-type")))
        chat_stream_open((struct chat *)pipeline);
}

static const Renga__V1__Usage *chat_used(struct pipeline *pipeline)
{
    struct answer *answer = &((struct chat *)pipeline)->answer;
    bool answered = pipeline->failure.status.code == OK;
    return answered || answer->had_choice || answer->spent || answer->read ? answer_usage(answer) : NULL;
}

static const char *chat_model(const struct pipeline *pipeline)
{
    return ((const struct chat *)pipeline)->answer.model;
}

/* Reports that a fallback answered, and the provider's own degradation. */
static size_t shortfalls(struct pipeline *pipeline, Renga__V1__Degradation *said[2])
{
    const struct provider *provider = pipeline->target->deployment->provider;
    size_t count = 0;
    said[count] = pipeline_degradation(pipeline);
    count += said[count] != NULL;
    said[count] = provider->degradation ? provider->degradation(rpc_call_arena(pipeline->call), pipeline->route->name,
                                                                &((struct chat *)pipeline)->answer)
                                        : NULL;
    return count + (said[count] != NULL);
}

/* Fields that every answer has, beside the outcome. */
static void close_answer(struct chat *chat)
{
    struct pipeline *pipeline = &chat->pipeline;
    Renga__V1__ChatFinish *finish = &chat->finish;
    uint32_t missed = capability_missed(chat->request, chat->refused_parameters);
    Renga__V1__Degradation *said[2];
    pipeline_answered_by(pipeline, &chat->answered_by);
    finish->answered_by = &chat->answered_by;
    finish->attempts = pipeline->attempts;
    finish->n_attempts = pipeline->attempt_count;
    finish->usage = &pipeline->usage;
    finish->repaired = chat->broken != NULL;
    finish->cache_use =
        pipeline->leads && pipeline->keep_ms ? RENGA__V1__CACHE_USE__CACHE_USE_STORED : finish->cache_use;
    finish->n_degradations = capability_degradations(rpc_call_arena(pipeline->call), missed, said,
                                                     shortfalls(pipeline, said), &finish->degradations);
    finish->duration_ms = (clock_now_ns() - pipeline->began_ns) / NS_PER_MS;
    finish->first_token_ms =
        pipeline->first_ns ? (pipeline->first_ns - pipeline->began_ns) / NS_PER_MS : finish->duration_ms;
    if (!chat->answer.id[0])
        snprintf(chat->answer.id, sizeof chat->answer.id, "chat-%016" PRIx64, random_u64());
}

static bool chat_fill_response(struct chat *chat, Renga__V1__ChatResponse *response)
{
    renga__v1__chat_response__init(response);
    response->id = chat->answer.id;
    response->finish = &chat->finish;
    response->message = answer_message(&chat->answer);
    return response->message != NULL;
}

static bool chat_pack(struct pipeline *pipeline, const uint8_t **bytes, size_t *size)
{
    struct chat *chat = (struct chat *)pipeline;
    Renga__V1__ChatResponse response;
    close_answer(chat);
    if (!chat_fill_response(chat, &response) || !(pipeline->idempotency_key[0] || replay_is_worth_keeping(&response)))
        return false;
    *bytes = replay_pack_chat(rpc_call_arena(pipeline->call), &response, size);
    return *bytes != NULL;
}

static bool chat_unpack(struct pipeline *pipeline, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use)
{
    struct chat *chat = (struct chat *)pipeline;
    struct status ignored = {0};
    int64_t took_ms = (clock_now_ns() - pipeline->began_ns) / NS_PER_MS;
    const struct replay_terms terms = {.use = use, .first_token_ms = took_ms, .duration_ms = took_ms};
    chat->again = replay_chat(rpc_call_arena(pipeline->call), bytes, size, &terms, &ignored);
    return chat->again != NULL;
}

static void chat_answer(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    Renga__V1__ChatResponse response;
    Renga__V1__ChatResponse_Closure reply = chat->reply;
    close_answer(chat);
    if (chat->send)
        chat_stream_finish(chat);
    else if (chat_fill_response(chat, &response))
        reply(&response, pipeline->call);
    else
        rpc_fail_with(pipeline->call, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
}

static void chat_answer_again(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    if (chat->send)
        replay_stream(chat->again, chat->send, pipeline->call);
    else
        chat->reply(chat->again, pipeline->call);
}

static void chat_failed(struct pipeline *pipeline)
{
    struct chat *chat = (struct chat *)pipeline;
    struct failure *failure = &pipeline->failure;
    if (chat->broken)
        chat_repair_failed(chat);
    if (pipeline_has_sent(pipeline))
        failure->usage = &pipeline->usage;
    if (chat->send && (pipeline->usage.input_tokens || pipeline->usage.output_tokens))
        chat_stream_usage(chat, failure->usage);
    if (failure->status.code == FAILED_PRECONDITION && pipeline->target)
        log_warn("llm_gateway.refused", "%s: %s", pipeline->target->deployment->name, failure->status.text);
    failure_send(pipeline->call, failure);
}

static void chat_describe(struct pipeline *pipeline, struct span *span)
{
    const struct chat *chat = (const struct chat *)pipeline;
    const Renga__V1__ChatRequest *request = chat->request;
    const char *word = chat->answer.word;
    if (request->max_output_tokens)
        span_int(span, "gen_ai.request.max_tokens", request->max_output_tokens);
    if (request->sampling && request->sampling->maybe_temperature_case)
        span_double(span, "gen_ai.request.temperature", request->sampling->temperature);
    span_bool(span, "gen_ai.request.stream", pipeline->streams);
    span_string(span, "gen_ai.output.type", answer_wants_json(&chat->answer) ? "json" : "text");
    if (chat->answer.id[0])
        span_string(span, "gen_ai.response.id", chat->answer.id);
    if (word[0])
        span_strings(span, "gen_ai.response.finish_reasons", &word, 1);
}

static const struct pipeline_kind chat_kind = {
    .operation = "chat",
    .endpoint = chat_way,
    .write = chat_write_question,
    .answer_locally = chat_answer_locally,
    .headers_came = chat_headers_came,
    .local_begun = local_begun,
    .closed = chat_closed,
    .weight = chat_weight,
    .read_result = chat_read_result,
    .forward = chat_forward,
    .amend = amend,
    .used = chat_used,
    .model = chat_model,
    .describe = chat_describe,
    .write_content = chat_write_content,
    .pack = chat_pack,
    .unpack = chat_unpack,
    .answer = chat_answer,
    .answer_again = chat_answer_again,
    .fail = chat_failed,
};

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* NULL with `st` filled: the request is not sent. */
static const struct route *chat_admit(const struct gateway *gateway, const Renga__V1__ChatRequest *request,
                                      struct status *st)
{
    if (!check_chat_request(request, st))
        return NULL;
    const struct route *route = routes_find(gateway->use->generation->routes, request->model, st);
    if (!route || !route_is_set_up(route, st))
        return NULL;
    if (!route->chat) {
        fail_field(st, "model", "'%s' makes embeddings and does not chat; name a model that chats", route->name);
        return NULL;
    }
    if (request->n_tools && (!route->tools || capability_of(route->targets[0].model).no_tools)) {
        fail_field(st, "tools", "the model '%s' has none; choose another, or leave them out", route->name);
        return NULL;
    }
    return route;
}

static void chat_set_terms(struct chat *chat)
{
    const Renga__V1__ChatRequest *request = chat->request;
    struct pipeline *pipeline = &chat->pipeline;
    const struct deployment *first = pipeline->route->targets[0].deployment;
    pipeline->origin = request->origin;
    pipeline->priority = request->priority;
    pipeline->cache = request->cache;
    pipeline->idempotency_key = request->idempotency_key;
    pipeline->requests_max = (size_t)request->max_model_calls;
    if (pipeline_uses_cache(pipeline))
        response_cache_key_of_chat(rpc_call_principal(pipeline->call)->tenant, request, &pipeline->content);
    if (pipeline->use->generation->counts_tokens) {
        pipeline->input_tokens = tokens_of_chat(request);
        pipeline->output_tokens = request->max_output_tokens ? request->max_output_tokens : first->output_tokens;
    }
}

/* NULL: the call has been ended. */
static struct chat *chat_create(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request)
{
    struct status st = {0};
    const struct route *route = chat_admit(gateway, request, &st);
    if (!route) {
        rpc_fail(call, &st);
        return NULL;
    }
    struct chat *chat = arena_zalloc(rpc_call_arena(call), sizeof *chat);
    if (!chat) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "the request takes all the memory that a call may have");
        return NULL;
    }
    pipeline_init(&chat->pipeline, gateway, call, &chat_kind, route);
    chat->callers = chat->request = request;
    chat->patience.expired = chat_client_timed_out;
    renga__v1__chat_finish__init(&chat->finish);
    answer_init(&chat->answer, rpc_call_arena(call), request);
    chat->answer.owner = chat;
    chat_set_terms(chat);
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
    pipeline_start(&chat->pipeline);
}

void chat_stream_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                       Renga__V1__ChatStreamEvent_Closure reply)
{
    struct chat *chat = chat_create(gateway, call, request);
    if (!chat)
        return;
    chat->send = reply;
    chat->pipeline.streams = true;
    chat->answer.piece_came = chat_stream_piece;
    chat->answer.keeps_rest = gateway->logs_content;
    chat->answer.keeps_content = gateway->logs_content || request->response_format; /* its JSON is checked at the end */
    rpc_call_on_writable(call, chat_stream_writable, chat);
    pipeline_start(&chat->pipeline);
}
