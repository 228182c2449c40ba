#include "ask_priv.h"

#include "ask_judge.h"

#include "base/clock.h"
#include "base/machine.h"
#include "edition.h"
#include "limits/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORD_KEEP_MS (10 * 60000) /* how long an idempotency key is known, as the contract says */

static const char *const states[] = {"remembering", "queued", "choosing", "asking", "resting", "ended"};
static const uint32_t moves[] = {
    [ASK_REMEMBERING] = MACHINE_TO(ASK_QUEUED) | MACHINE_TO(ASK_ENDED),
    [ASK_QUEUED] = MACHINE_TO(ASK_CHOOSING) | MACHINE_TO(ASK_ENDED),
    [ASK_CHOOSING] = MACHINE_TO(ASK_ASKING) | MACHINE_TO(ASK_RESTING) | MACHINE_TO(ASK_ENDED),
    [ASK_ASKING] = MACHINE_TO(ASK_CHOOSING) | MACHINE_TO(ASK_RESTING) | MACHINE_TO(ASK_ASKING) | MACHINE_TO(ASK_ENDED),
    [ASK_RESTING] = MACHINE_TO(ASK_CHOOSING) | MACHINE_TO(ASK_ENDED),
    [ASK_ENDED] = 0,
};
static const struct machine life = MACHINE("ask", states, moves);

void ask_move(struct ask *ask, enum ask_state state)
{
    machine_move(&life, &ask->state, state);
}

void ask_init(struct ask *ask, struct gateway *gateway, struct rpc_call *call, const struct ask_kind *kind,
              const struct route *route)
{
    ask->gateway = gateway;
    ask->use = gateway->use;
    ask->call = call;
    ask->kind = kind;
    ask->route = route;
    ask->state = ASK_REMEMBERING;
    ask->idempotency_key = "";
    ask->response_max = gateway->response_max;
    ask->target_index = -1;
    ask->began_ns = clock_now_ns();
    renga__v1__usage__init(&ask->usage);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* A failure that is only this caller's own: whoever waits asks for himself. */
static bool is_own(const struct ask *ask)
{
    bool callers_time = ask->failure.status.code == DEADLINE_EXCEEDED && !ask_is_late(ask);
    return ask->caller_left || ask->failure.limit || callers_time || ask->failure.status.code == CANCELLED;
}

static void land(struct ask *ask, bool good)
{
    const uint8_t *bytes;
    size_t size;
    if (!ask->leads)
        return;
    if (good && ask->kind->pack(ask, &bytes, &size))
        recall_answer(ask->query, bytes, size, ask->keep_ms);
    else if (good || is_own(ask))
        recall_leave(ask->query);
    else
        recall_fail(ask->query, &ask->failure.status);
}

void ask_end(struct ask *ask, bool good)
{
    struct edition_use *use = ask->use;
    ask_move(ask, ASK_ENDED);
    ask_settle(ask, good);
    land(ask, good);
    if (good)
        ask->kind->answer(ask);
    else
        ask->kind->fail(ask);
    edition_use_leave(use);
}

static void caller_left(struct rpc_call *call, void *data)
{
    struct ask *ask = data;
    ask->caller_left = true;
    switch ((enum ask_state)ask->state) {
    case ASK_ASKING:
        transfer_cancel(&ask->transfer);
        ask_read_cancel(ask);
        return;
    case ASK_REMEMBERING:
        recall_leave(ask->query);
        break;
    case ASK_QUEUED:
        gate_withdraw(ask->waits_with);
        break;
    case ASK_RESTING:
        loop_disarm(rpc_call_loop(call), &ask->rest);
        break;
    case ASK_CHOOSING:
    case ASK_ENDED:
        return;
    }
    bool late = clock_now_ns() >= rpc_call_deadline_ns(call);
    fail(&ask->failure.status, late ? DEADLINE_EXCEEDED : CANCELLED, "the caller has gone before a model was asked");
    ask_end(ask, false);
}

/* ---- a place ----------------------------------------------------------------------------------------------------- */

/* Before anything is answered: a stream's first piece takes the metadata with it. */
static void tell_room(struct ask *ask)
{
    struct gate_room room;
    struct room_header headers[ROOM_HEADERS];
    if (!gate_room(&ask->ticket, &room))
        return;
    size_t count = room_headers(&room, headers);
    for (size_t i = 0; i < count; i++)
        rpc_call_add_initial(ask->call, headers[i].name, headers[i].value, strlen(headers[i].value));
}

/* As RetryInfo says it, for those who read headers. */
static void tell_hint(struct ask *ask, int32_t retry_after_ms)
{
    char text[16];
    if (retry_after_ms <= 0)
        return;
    int length = snprintf(text, sizeof text, "%" PRId32, retry_after_ms);
    rpc_call_add_initial(ask->call, "retry-after-ms", text, (size_t)length);
    length = snprintf(text, sizeof text, "%" PRId64, ((int64_t)retry_after_ms + 999) / 1000);
    rpc_call_add_initial(ask->call, "retry-after", text, (size_t)length);
}

static void turned_away(struct ask *ask, const struct ticket *ticket)
{
    ask->failure.status = ticket->status;
    ask->failure.limit = ticket->exhausted;
    ask->failure.limited = gate_limited(ticket);
    tell_hint(ask, ticket->status.retry_after_ms);
    ask_end(ask, false);
}

static void enter_gate(struct ask *ask, struct gate *gate, struct ticket *ticket)
{
    ask->waits_with = ticket;
    if (gate_enter(gate, ticket) != GATE_WAITS)
        ticket->admitted(ticket);
}

/* Who waits for what a model's deployments bound waits in turn with the other clients; were the deployments asked again
 * and again instead, whoever asks most would be served most. */
static void enter_behind(struct ask *ask, struct gate *gate, struct ask_place **own,
                         void (*admitted)(struct ticket *ticket))
{
    struct ask_place *place = arena_zalloc(rpc_call_arena(ask->call), sizeof *place);
    if (!place) {
        fail(&ask->failure.status, RESOURCE_EXHAUSTED, "no memory for the call");
        ask_end(ask, false);
        return;
    }
    *own = place;
    place->ask = ask;
    place->ticket.loop = ask->ticket.loop;
    place->ticket.client = ask->ticket.client;
    place->ticket.tenant = ask->ticket.tenant;
    place->ticket.priority = ask->ticket.priority;
    place->ticket.admitted = admitted;
    enter_gate(ask, gate, &place->ticket);
}

static void turn_given(struct ticket *ticket)
{
    struct ask *ask = ((struct ask_place *)(void *)ticket)->ask;
    if (ticket->status.code != OK) {
        turned_away(ask, ticket);
        return;
    }
    ask->has_turn = true;
    retry_budget_earn(&ask->gateway->commons->budget);
    ask_choose(ask);
}

static void take_turn(struct ask *ask)
{
    struct gate *turns = ask->use->edition->turns[ask->route->index];
    if (!turns) {
        retry_budget_earn(&ask->gateway->commons->budget);
        ask_choose(ask);
    } else {
        enter_behind(ask, turns, &ask->turn, turn_given);
    }
}

static void place_given(struct ticket *ticket)
{
    struct ask *ask = ((struct ask_place *)(void *)ticket)->ask;
    if (ticket->status.code != OK) {
        turned_away(ask, ticket);
        return;
    }
    ask->placed = true;
    take_turn(ask);
}

static void admitted(struct ticket *ticket)
{
    struct ask *ask = OWNER_OF(ticket, struct ask, ticket);
    struct gate *places = ask->use->edition->places[ask->route->index];
    tell_room(ask);
    if (ticket->status.code != OK) {
        turned_away(ask, ticket);
        return;
    }
    ask->entered = true;
    if (!places)
        take_turn(ask);
    else
        enter_behind(ask, places, &ask->place, place_given);
}

static enum gate_priority priority_of(Renga__V1__Priority priority)
{
    switch (priority) {
    case RENGA__V1__PRIORITY__PRIORITY_BATCH:
        return GATE_BATCH;
    case RENGA__V1__PRIORITY__PRIORITY_INTERACTIVE:
        return GATE_INTERACTIVE;
    default:
        return GATE_NORMAL;
    }
}

static void enter(struct ask *ask)
{
    const struct rpc_principal *principal = rpc_call_principal(ask->call);
    struct ticket *ticket = &ask->ticket;
    ask_move(ask, ASK_QUEUED);
    ticket->loop = rpc_call_loop(ask->call);
    ticket->client = principal->name;
    ticket->tenant = principal->tenant;
    ticket->priority = priority_of(ask->priority);
    ticket->tokens = ask->input_tokens + ask->output_tokens;
    ticket->micros = ask_estimated_micros(ask);
    ticket->admitted = admitted;
    enter_gate(ask, ask->gateway->commons->gate, ticket);
}

/* ---- what was answered before ------------------------------------------------------------------------------------ */

static bool reads_cache(const struct ask *ask)
{
    return ask->cache ? ask->cache->read : ask->route->cache.read;
}

static bool writes_cache(const struct ask *ask)
{
    return ask->cache ? ask->cache->write : ask->route->cache.write;
}

bool ask_wants_recall(const struct ask *ask)
{
    return ask->idempotency_key[0] || reads_cache(ask) || writes_cache(ask);
}

/* Somebody else has paid for it. */
static void answer_again(struct ask *ask, Renga__V1__CacheUse use)
{
    struct recall_query *query = ask->query;
    struct edition_use *used = ask->use;
    if (ask->idempotency_key[0])
        use = RENGA__V1__CACHE_USE__CACHE_USE_REPEATED;
    bool good = ask->kind->unpack(ask, query->bytes, query->size, use);
    recall_done(query);
    if (!good) {
        enter(ask);
        return;
    }
    ask_move(ask, ASK_ENDED);
    ask_settle_recalled(ask);
    ask->kind->answer_again(ask);
    edition_use_leave(used);
}

static void remembered(struct recall_query *query)
{
    struct ask *ask = query->owner;
    switch (query->result) {
    case RECALL_NOTHING:
        ask->leads = true;
        enter(ask);
        return;
    case RECALL_KEPT:
        answer_again(ask, RENGA__V1__CACHE_USE__CACHE_USE_HIT);
        return;
    case RECALL_SHARED:
        answer_again(ask, RENGA__V1__CACHE_USE__CACHE_USE_COALESCED);
        return;
    case RECALL_OTHER:
        fail_field(&ask->failure.status, "idempotency_key", "has been used for another request; take a new one");
        break;
    case RECALL_FAILED:
        ask->failure.status = query->status;
        break;
    }
    ask_end(ask, false);
}

static void remember(struct ask *ask)
{
    struct recall_query *query = ask->query = arena_zalloc(rpc_call_arena(ask->call), sizeof *query);
    int64_t asked_ms = ask->cache ? ask->cache->ttl_ms : 0, ttl_ms = asked_ms ? asked_ms : ask->route->cache.ttl_ms;
    if (!query) {
        enter(ask); /* it goes without */
        return;
    }
    query->owner = ask;
    query->loop = rpc_call_loop(ask->call);
    query->content = query->key = ask->content;
    query->resolved = remembered;
    if (ask->idempotency_key[0]) {
        recall_key_of_word(rpc_call_principal(ask->call)->tenant, ask->idempotency_key, &query->key);
        query->reads = query->shares = true;
        ask->keep_ms = WORD_KEEP_MS;
    } else {
        query->reads = query->shares = reads_cache(ask);
        query->max_age_ms = ttl_ms;
        ask->keep_ms = writes_cache(ask) ? ttl_ms : 0;
    }
    if (recall_ask(ask->gateway->commons->recall, query))
        remembered(query);
}

void ask_start(struct ask *ask)
{
    edition_use_enter(ask->use);
    rpc_call_on_cancel(ask->call, caller_left, ask);
    if (ask_wants_recall(ask))
        remember(ask);
    else
        enter(ask);
}
