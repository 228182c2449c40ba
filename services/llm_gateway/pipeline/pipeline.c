#include "pipeline_priv.h"

#include "pipeline_result.h"

#include "admission/rate_limit_headers.h"
#include "base/clock.h"
#include "base/machine.h"
#include "generation_use.h"
#include "routing/config_generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IDEMPOTENCY_TTL_MS (10 * 60000) /* how long an idempotency key is known, as the contract says */

static const char *const states[] = {"remembering", "queued", "choosing", "asking", "resting", "ended"};
static const uint32_t moves[] = {
    [PIPELINE_CACHE_LOOKUP] = MACHINE_TO(PIPELINE_QUEUED) | MACHINE_TO(PIPELINE_ENDED),
    [PIPELINE_QUEUED] = MACHINE_TO(PIPELINE_ROUTING) | MACHINE_TO(PIPELINE_ENDED),
    [PIPELINE_ROUTING] =
        MACHINE_TO(PIPELINE_REQUESTING) | MACHINE_TO(PIPELINE_BACKING_OFF) | MACHINE_TO(PIPELINE_ENDED),
    [PIPELINE_REQUESTING] = MACHINE_TO(PIPELINE_ROUTING) | MACHINE_TO(PIPELINE_BACKING_OFF) |
                            MACHINE_TO(PIPELINE_REQUESTING) | MACHINE_TO(PIPELINE_ENDED),
    [PIPELINE_BACKING_OFF] = MACHINE_TO(PIPELINE_ROUTING) | MACHINE_TO(PIPELINE_ENDED),
    [PIPELINE_ENDED] = 0,
};
static const struct machine life = MACHINE("ask", states, moves);

void pipeline_move(struct pipeline *pipeline, enum pipeline_state state)
{
    machine_move(&life, &pipeline->state, state);
}

void pipeline_init(struct pipeline *pipeline, struct gateway *gateway, struct rpc_call *call,
                   const struct pipeline_kind *kind, const struct route *route)
{
    pipeline->gateway = gateway;
    pipeline->use = gateway->use;
    pipeline->call = call;
    pipeline->kind = kind;
    pipeline->route = route;
    pipeline->state = PIPELINE_CACHE_LOOKUP;
    pipeline->idempotency_key = "";
    pipeline->response_max = gateway->response_max;
    pipeline->target_index = -1;
    pipeline->began_ns = clock_now_ns();
    renga__v1__usage__init(&pipeline->usage);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* A failure that concerns only this caller: each waiting call sends a request of its own. */
static bool pipeline_is_own(const struct pipeline *pipeline)
{
    bool callers_time = pipeline->failure.status.code == DEADLINE_EXCEEDED && !pipeline_timed_out(pipeline);
    return pipeline->caller_left || pipeline->failure.limit || callers_time ||
           pipeline->failure.status.code == CANCELLED;
}

static void land(struct pipeline *pipeline, bool good)
{
    const uint8_t *bytes;
    size_t size;
    if (!pipeline->leads)
        return;
    if (good && pipeline->kind->pack(pipeline, &bytes, &size))
        response_cache_complete(pipeline->query, bytes, size, pipeline->keep_ms);
    else if (good || pipeline_is_own(pipeline))
        response_cache_leave(pipeline->query);
    else
        response_cache_fail(pipeline->query, &pipeline->failure.status);
}

void pipeline_end(struct pipeline *pipeline, bool good)
{
    struct generation_use *use = pipeline->use;
    pipeline_move(pipeline, PIPELINE_ENDED);
    pipeline_record_usage(pipeline, good);
    land(pipeline, good);
    if (good)
        pipeline->kind->answer(pipeline);
    else
        pipeline->kind->fail(pipeline);
    generation_use_leave(use);
}

static void pipeline_caller_left(struct rpc_call *call, void *data)
{
    struct pipeline *pipeline = data;
    pipeline->caller_left = true;
    switch ((enum pipeline_state)pipeline->state) {
    case PIPELINE_REQUESTING:
        transfer_cancel(&pipeline->transfer);
        pipeline_read_cancel(pipeline);
        return;
    case PIPELINE_CACHE_LOOKUP:
        response_cache_leave(pipeline->query);
        break;
    case PIPELINE_QUEUED:
        admission_withdraw(pipeline->waiting_ticket);
        break;
    case PIPELINE_BACKING_OFF:
        loop_disarm(rpc_call_loop(call), &pipeline->rest);
        break;
    case PIPELINE_ROUTING:
    case PIPELINE_ENDED:
        return;
    }
    bool late = clock_now_ns() >= rpc_call_deadline_ns(call);
    fail(&pipeline->failure.status, late ? DEADLINE_EXCEEDED : CANCELLED,
         "the caller has gone before a model was asked");
    pipeline_end(pipeline, false);
}

/* ---- a place ----------------------------------------------------------------------------------------------------- */

/* Before the first answer bytes: the metadata goes with a stream's first chunk. */
static void send_rate_limits(struct pipeline *pipeline)
{
    struct admission_rate_limits rate_limits;
    struct rate_limit_header headers[RATE_LIMIT_HEADERS];
    if (!admission_rate_limits(&pipeline->ticket, &rate_limits))
        return;
    size_t count = rate_limit_headers(&rate_limits, headers);
    for (size_t i = 0; i < count; i++)
        rpc_call_add_initial(pipeline->call, headers[i].name, headers[i].value, strlen(headers[i].value));
}

/* RetryInfo as a header, for clients that read headers. */
static void tell_hint(struct pipeline *pipeline, int32_t retry_after_ms)
{
    char text[16];
    if (retry_after_ms <= 0)
        return;
    int length = snprintf(text, sizeof text, "%" PRId32, retry_after_ms);
    rpc_call_add_initial(pipeline->call, "retry-after-ms", text, (size_t)length);
    length = snprintf(text, sizeof text, "%" PRId64, ((int64_t)retry_after_ms + 999) / 1000);
    rpc_call_add_initial(pipeline->call, "retry-after", text, (size_t)length);
}

static void turned_away(struct pipeline *pipeline, const struct ticket *ticket)
{
    pipeline->failure.status = ticket->status;
    pipeline->failure.limit = ticket->exhausted;
    pipeline->failure.limited = admission_exhausted_by(ticket);
    tell_hint(pipeline, ticket->status.retry_after_ms);
    pipeline_end(pipeline, false);
}

static void enter_admission(struct pipeline *pipeline, struct admission *admission, struct ticket *ticket)
{
    pipeline->waiting_ticket = ticket;
    if (admission_enter(admission, ticket) != ADMISSION_QUEUED)
        ticket->admitted(ticket);
}

/* Waiters for a limited model are served in turn with the other clients. If they polled the deployments, the client
 * that polls most would be served most. */
static void enter_behind(struct pipeline *pipeline, struct admission *admission, struct pipeline_slot **own,
                         void (*admitted)(struct ticket *ticket))
{
    struct pipeline_slot *place = arena_zalloc(rpc_call_arena(pipeline->call), sizeof *place);
    if (!place) {
        fail(&pipeline->failure.status, RESOURCE_EXHAUSTED, "no memory for the call");
        pipeline_end(pipeline, false);
        return;
    }
    *own = place;
    place->pipeline = pipeline;
    place->ticket.loop = pipeline->ticket.loop;
    place->ticket.client = pipeline->ticket.client;
    place->ticket.tenant = pipeline->ticket.tenant;
    place->ticket.priority = pipeline->ticket.priority;
    place->ticket.admitted = admitted;
    enter_admission(pipeline, admission, &place->ticket);
}

static void turn_given(struct ticket *ticket)
{
    struct pipeline *pipeline = ((struct pipeline_slot *)(void *)ticket)->pipeline;
    if (ticket->status.code != OK) {
        turned_away(pipeline, ticket);
        return;
    }
    pipeline->holds_turn = true;
    retry_budget_earn(&pipeline->gateway->shared->budget);
    pipeline_route(pipeline);
}

static void take_turn(struct pipeline *pipeline)
{
    struct admission *turns = pipeline->use->generation->turns[pipeline->route->index];
    if (!turns) {
        retry_budget_earn(&pipeline->gateway->shared->budget);
        pipeline_route(pipeline);
    } else {
        enter_behind(pipeline, turns, &pipeline->turn, turn_given);
    }
}

static void place_given(struct ticket *ticket)
{
    struct pipeline *pipeline = ((struct pipeline_slot *)(void *)ticket)->pipeline;
    if (ticket->status.code != OK) {
        turned_away(pipeline, ticket);
        return;
    }
    pipeline->placed = true;
    take_turn(pipeline);
}

static void admitted(struct ticket *ticket)
{
    struct pipeline *pipeline = CONTAINER_OF(ticket, struct pipeline, ticket);
    struct admission *places = pipeline->use->generation->places[pipeline->route->index];
    send_rate_limits(pipeline);
    if (ticket->status.code != OK) {
        turned_away(pipeline, ticket);
        return;
    }
    pipeline->entered = true;
    if (!places)
        take_turn(pipeline);
    else
        enter_behind(pipeline, places, &pipeline->place, place_given);
}

static enum admission_priority priority_of(Renga__V1__Priority priority)
{
    switch (priority) {
    case RENGA__V1__PRIORITY__PRIORITY_BATCH:
        return ADMISSION_BATCH;
    case RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE:
        return ADMISSION_INTERACTIVE;
    default:
        return ADMISSION_NORMAL;
    }
}

static void pipeline_enter(struct pipeline *pipeline)
{
    const struct rpc_principal *principal = rpc_call_principal(pipeline->call);
    struct ticket *ticket = &pipeline->ticket;
    pipeline_move(pipeline, PIPELINE_QUEUED);
    ticket->loop = rpc_call_loop(pipeline->call);
    ticket->client = principal->name;
    ticket->tenant = principal->tenant;
    ticket->priority = priority_of(pipeline->priority);
    ticket->tokens = pipeline->input_tokens + pipeline->output_tokens;
    ticket->micros = pipeline_estimated_micros(pipeline);
    ticket->admitted = admitted;
    enter_admission(pipeline, pipeline->gateway->shared->admission, ticket);
}

/* ---- cached answers ---------------------------------------------------------------------------------------------- */

static bool reads_cache(const struct pipeline *pipeline)
{
    return pipeline->cache ? pipeline->cache->read : pipeline->route->cache.read;
}

static bool writes_cache(const struct pipeline *pipeline)
{
    return pipeline->cache ? pipeline->cache->write : pipeline->route->cache.write;
}

bool pipeline_uses_cache(const struct pipeline *pipeline)
{
    return pipeline->idempotency_key[0] || reads_cache(pipeline) || writes_cache(pipeline);
}

/* The answer costs no more: another call has paid for it. */
static void pipeline_answer_again(struct pipeline *pipeline, Renga__V1__CacheUse use)
{
    struct response_cache_query *query = pipeline->query;
    struct generation_use *used = pipeline->use;
    if (pipeline->idempotency_key[0])
        use = RENGA__V1__CACHE_USE__CACHE_USE_REPEATED;
    bool good = pipeline->kind->unpack(pipeline, query->bytes, query->size, use);
    response_cache_release(query);
    if (!good) {
        pipeline_enter(pipeline);
        return;
    }
    pipeline_move(pipeline, PIPELINE_ENDED);
    pipeline_record_cached(pipeline);
    pipeline->kind->answer_again(pipeline);
    generation_use_leave(used);
}

static void remembered(struct response_cache_query *query)
{
    struct pipeline *pipeline = query->owner;
    switch (query->result) {
    case RESPONSE_CACHE_MISS:
        pipeline->leads = true;
        pipeline_enter(pipeline);
        return;
    case RESPONSE_CACHE_HIT:
        pipeline_answer_again(pipeline, RENGA__V1__CACHE_USE__CACHE_USE_HIT);
        return;
    case RESPONSE_CACHE_COALESCED:
        pipeline_answer_again(pipeline, RENGA__V1__CACHE_USE__CACHE_USE_COALESCED);
        return;
    case RESPONSE_CACHE_KEY_CONFLICT:
        fail_field(&pipeline->failure.status, "idempotency_key", "has been used for another request; take a new one");
        break;
    case RESPONSE_CACHE_FAILED:
        pipeline->failure.status = query->status;
        break;
    }
    pipeline_end(pipeline, false);
}

static void remember(struct pipeline *pipeline)
{
    struct response_cache_query *query = pipeline->query = arena_zalloc(rpc_call_arena(pipeline->call), sizeof *query);
    int64_t asked_ms = pipeline->cache ? pipeline->cache->ttl_ms : 0,
            ttl_ms = asked_ms ? asked_ms : pipeline->route->cache.ttl_ms;
    if (!query) {
        pipeline_enter(pipeline); /* it goes without */
        return;
    }
    query->owner = pipeline;
    query->loop = rpc_call_loop(pipeline->call);
    query->content = query->key = pipeline->content;
    query->resolved = remembered;
    if (pipeline->idempotency_key[0]) {
        response_cache_key_of_idempotency(rpc_call_principal(pipeline->call)->tenant, pipeline->idempotency_key,
                                          &query->key);
        query->reads = query->shares = true;
        pipeline->keep_ms = IDEMPOTENCY_TTL_MS;
    } else {
        query->reads = query->shares = reads_cache(pipeline);
        query->max_age_ms = ttl_ms;
        pipeline->keep_ms = writes_cache(pipeline) ? ttl_ms : 0;
    }
    if (response_cache_lookup(pipeline->gateway->shared->cache, query))
        remembered(query);
}

void pipeline_start(struct pipeline *pipeline)
{
    generation_use_enter(pipeline->use);
    rpc_call_on_cancel(pipeline->call, pipeline_caller_left, pipeline);
    if (pipeline_uses_cache(pipeline))
        remember(pipeline);
    else
        pipeline_enter(pipeline);
}
