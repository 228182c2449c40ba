/* The side that has hands. The events of an attempt of another loop are written to that loop; the kind itself runs
 * here as for an attempt of our own. */
#include "fanout_priv.h"
#include "far.h"

#include "base/clock.h"
#include "base/log.h"
#include "graph/agents.h"
#include "thinking/usage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_LENGTH   64                                /* hexadecimal digits */
#define TIME_LEFT_MAX_US (INT64_C(1000000) * 86400 * 3650) /* ten years */

/* ---- asking for work --------------------------------------------------------------------------------------------- */

/* Hands that are offered count as full: the attempts for them may be on their way. */
unsigned worker_offered(const struct peer *owner)
{
    unsigned share = owner->station->far_share;
    return owner->far && owner->offered > share ? share : owner->offered;
}

static unsigned hands_missing(const struct peer *owner)
{
    const struct station *station = owner->station;
    unsigned share = owner->far ? station->far_share : station->share, has = owner->offered + owner->guests;
    unsigned full = station->at_home + station->guests + (owner->far ? station->far_offered : station->offered);
    if (!owner->neighbour || full >= FANOUT_HANDS || has >= share ||
        (owner->far && (!far_is_open(owner) || atomic_load(&station->fanout->resting))))
        return 0;
    unsigned missing = share - has, idle = FANOUT_HANDS - full;
    return missing < idle ? missing : idle;
}

static unsigned *offered_by(struct station *station, const struct peer *owner)
{
    return owner->far ? &station->far_offered : &station->offered;
}

unsigned worker_hands(struct peer *owner)
{
    unsigned hands = hands_missing(owner);
    owner->offered += hands;
    *offered_by(owner->station, owner) += hands;
    return hands;
}

/* An attempt for an offered hand has arrived, or the offer was not sent. */
void worker_unoffer(struct peer *owner, unsigned hands)
{
    unsigned *offered = offered_by(owner->station, owner), before = worker_offered(owner);
    assert(owner->offered >= hands && *offered >= before);
    owner->offered -= hands;
    *offered -= before - worker_offered(owner);
}

void worker_offer_to(struct peer *owner)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    peer_write(owner, &message);
}

void worker_offer(struct station *station, bool always)
{
    for (unsigned i = 0; i < station->peer_count; i++) {
        struct peer *owner = &station->peers[i];
        unsigned missing = hands_missing(owner);
        if (missing && (always || 2 * missing >= (owner->far ? station->far_share : station->share)))
            worker_offer_to(owner);
    }
}

/* ---- guests ------------------------------------------------------------------------------------------------------ */

struct guest *guest_create(void)
{
    struct guest *guest = calloc(1, sizeof *guest);
    if (!guest)
        fatal("orchestrator.memory", "no memory for an attempt");
    task_init(&guest->task, NULL, NULL);
    return guest;
}

void guest_destroy(struct guest **guest_pointer)
{
    struct guest *guest = *guest_pointer;
    if (!guest)
        return;
    *guest_pointer = NULL;
    task_fini(&guest->task);
    free(guest);
}

static void enter(struct guest *guest)
{
    struct peer *owner = guest->owner;
    struct station *station = guest->station;
    guest->previous = NULL;
    guest->next = owner->first_guest;
    if (guest->next)
        guest->next->previous = guest;
    owner->first_guest = guest;
    owner->guests++;
    station->guests++;
    atomic_fetch_add_explicit(&station->fanout->guests, 1, memory_order_relaxed);
    tally_started(station->fanout->options.tally, station->loop);
    station_wake(station);
}

static void leave(struct guest *guest)
{
    struct peer *owner = guest->owner;
    struct station *station = guest->station;
    if (guest->previous)
        guest->previous->next = guest->next;
    else
        owner->first_guest = guest->next;
    if (guest->next)
        guest->next->previous = guest->previous;
    owner->guests--;
    station->guests--;
    if (guest->agent)
        agent_release(station->fanout->options.agents, guest->agent);
    atomic_fetch_sub_explicit(&station->fanout->guests, 1, memory_order_release);
}

static void free_if_done(struct guest *guest)
{
    if (guest->ended && !guest->in_start)
        guest_destroy(&guest);
}

/* ---- events of attempts ------------------------------------------------------------------------------------------ */

static struct guest *guest_of(struct task *task)
{
    return OWNER_OF(task, struct guest, task);
}

static const Renga__V1__RunNodeRequest *guest_request(struct task *task)
{
    return task->request; /* it came with the attempt */
}

static void write_end(struct peer *owner, uint64_t number, Renga__V1__FanoutFailure *failure)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    message.attempt = number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_FAILED;
    message.failed = failure;
    peer_write(owner, &message);
}

static void write_failure(struct peer *owner, uint64_t number, const struct status *st, Renga__V1__Usage *spent)
{
    Renga__V1__FanoutFailure failure = RENGA__V1__FANOUT_FAILURE__INIT;
    failure.code = (int32_t)(st->code == OK ? UNKNOWN : st->code);
    failure.message = (char *)(uintptr_t)st->text;
    failure.retry_after_ms = st->retry_after_ms;
    failure.usage = spent;
    write_end(owner, number, &failure);
}

static void write_refusal(struct peer *owner, uint64_t number, const struct status *st)
{
    Renga__V1__FanoutFailure failure = RENGA__V1__FANOUT_FAILURE__INIT;
    failure.code = (int32_t)st->code;
    failure.message = (char *)(uintptr_t)st->text;
    failure.refused = true;
    write_end(owner, number, &failure);
}

static bool write_event(struct guest *guest, Renga__V1__RunNodeEvent *event)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    message.attempt = guest->number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_EVENT;
    message.event = event;
    return peer_write(guest->owner, &message);
}

/* Its hand is free again before the owner hears of its end: the message asks for the next attempt. */
static void guest_finished(struct task *task, const Renga__V1__RunNodeResponse *response)
{
    struct guest *guest = guest_of(task);
    struct status st = {0};
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT;
    event.result = (Renga__V1__RunNodeResponse *)(uintptr_t)response;
    leave(guest);
    if (!guest->orphan && !write_event(guest, &event)) {
        fail(&st, RESOURCE_EXHAUSTED, "the result has %zu bytes; at most %zu travel between loops",
             renga__v1__run_node_response__get_packed_size(response), guest->station->fanout->options.message_max);
        write_failure(guest->owner, guest->number, &st, response->usage);
    }
    guest->ended = true;
    free_if_done(guest);
}

static void guest_failed(struct task *task, const struct status *status)
{
    struct guest *guest = guest_of(task);
    leave(guest);
    if (!guest->orphan)
        write_failure(guest->owner, guest->number, status, usage_is_nothing(&task->spent) ? NULL : &task->spent);
    guest->ended = true;
    free_if_done(guest);
}

/* Progress events are dropped if the owner does not keep up: the result does not depend on them. */
static void show(struct guest *guest, Renga__V1__RunNodeEvent *event)
{
    if (guest->cancelled)
        return;
    if (!guest->owner->line || line_waiting(guest->owner->line) <= WAITING_MAX)
        write_event(guest, event);
    else
        station_note(guest->station, FANOUT_UNSHOWN, 1);
}

static void guest_progress(struct task *task, const char *json)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON;
    event.progress_json = (char *)(uintptr_t)json;
    show(guest_of(task), &event);
}

static void guest_token(struct task *task, const char *text, const char *channel)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    token.text = (char *)(uintptr_t)text;
    token.channel = (char *)(uintptr_t)channel;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN;
    event.token = &token;
    show(guest_of(task), &event);
}

static void guest_alive(struct task *task)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    show(guest_of(task), &event); /* only the owner knows whether the time counts: the run may count it, too */
}

/* ---- queries of attempts ----------------------------------------------------------------------------------------- */

static const struct task_owner guest_ends = {
    .request = guest_request,
    .finished = guest_finished,
    .failed = guest_failed,
    .progress = guest_progress,
    .token = guest_token,
    .alive = guest_alive,
};

static const struct node *node_of(const struct agent *agent, const Renga__V1__NodePosition *position, struct status *st)
{
    const struct node *node = NULL;
    for (size_t i = 0; i < agent->graph_count; i++)
        if (strcmp(agent->graphs[i]->name, position->graph) == 0)
            node = graph_node(agent->graphs[i], position->node);
    if (!node)
        fail(st, NOT_FOUND, "version %.12s of '%.64s' has no node '%.64s' in '%.64s'", agent->version, agent->name,
             position->node, position->graph);
    return node;
}

/* With its agent in hand. */
static bool prepare(struct guest *guest, const Renga__V1__RunNodeRequest *request, struct status *st)
{
    struct task *task = &guest->task;
    task->node = node_of(guest->agent, request->position, st);
    if (!task->node)
        return false;
    if (!task->node->kind->travels)
        return fail(st, INVALID_ARGUMENT, "attempts at a node of kind '%s' stay in their loop", task->node->kind->name);
    task->data = arena_alloc(&task->arena, task->node->kind->size);
    return task->data ||
           fail(st, RESOURCE_EXHAUSTED, "an attempt may have %zu bytes, and its request has them all", TASK_MEMORY_MAX);
}

static void start(struct guest *guest)
{
    guest->in_start = true;
    task_start(&guest->task);
    guest->in_start = false;
    free_if_done(guest);
}

/* It never had a task. */
static void give_up(struct guest *guest)
{
    leave(guest);
    guest_destroy(&guest);
}

void worker_agent_came(struct guest *guest, struct agent *agent, const struct status *status)
{
    struct status st = *status;
    guest->agent = agent;
    if (agent)
        agent_hold(agent);
    bool prepared = agent && prepare(guest, guest->task.request, &st);
    bool sure = !prepared || guest->cancelled || guest->orphan || far_is_sure(guest->owner, &st);
    if (prepared && sure && !guest->cancelled) {
        start(guest);
        return;
    }
    if (prepared && sure)
        fail(&st, CANCELLED, "it was cancelled before it began");
    if ((!agent || !sure) && !guest->orphan)
        write_refusal(guest->owner, guest->number, &st);
    else if (!guest->orphan)
        write_failure(guest->owner, guest->number, &st, NULL);
    give_up(guest);
}

static void describe(struct guest *guest, const Renga__V1__FanoutAttempt *attempt)
{
    struct fanout *fanout = guest->station->fanout;
    struct task *task = &guest->task;
    int64_t left_us = attempt->time_left_us;
    task->owner = &guest_ends;
    task->request = attempt->request;
    task->loop = guest->station->loop;
    task->orchestrator = fanout->options.orchestrator;
    task->tenant = attempt->tenant;
    task->client = attempt->client;
    task->deadline_ns = TIME_NEVER;
    if (left_us)
        task->deadline_ns = clock_now_ns() + (left_us < 0                  ? 0
                                              : left_us < TIME_LEFT_MAX_US ? left_us
                                                                           : TIME_LEFT_MAX_US) *
                                                 1000;
    task->trace = (struct trace_context){0};
    if (trace_continue(&task->trace, attempt->traceparent, strlen(attempt->traceparent)))
        memcpy(task->trace.span_id, task->trace.parent_id, sizeof task->trace.span_id); /* the owner sends the span */
}

static bool is_version(const char *text)
{
    return strlen(text) == VERSION_LENGTH && strspn(text, "0123456789abcdef") == VERSION_LENGTH;
}

/* False, with the reason, if it cannot be begun; then it is unchanged. */
static bool admit(struct guest *guest, const Renga__V1__FanoutAttempt *attempt, struct status *st)
{
    struct fanout *fanout = guest->station->fanout;
    const Renga__V1__RunNodeRequest *request = attempt->request;
    if (!request || !request->position)
        return fail(st, INVALID_ARGUMENT, "an attempt that does not say where in which run it stands");
    guest->agent = agents_find(fanout->options.agents, NULL, request->position->graph_version, st);
    if (!guest->agent) /* a far one's may be in the store */
        return guest->owner->far && is_version(request->position->graph_version);
    if (prepare(guest, request, st))
        return true;
    agent_release(fanout->options.agents, guest->agent);
    guest->agent = NULL;
    return false;
}

static bool begin(struct peer *owner, uint64_t number, const Renga__V1__FanoutAttempt *attempt)
{
    struct station *station = owner->station;
    struct guest *guest = station->spare;
    struct status st = {0};
    worker_unoffer(owner, owner->offered > 0);
    guest->station = station;
    guest->owner = owner;
    guest->number = number;
    if (owner->far && atomic_load(&station->fanout->resting)) {
        fail(&st, UNAVAILABLE, "the orchestrator ends");
        write_refusal(owner, number, &st);
        return false;
    }
    if (!far_is_sure(owner, &st)) {
        write_refusal(owner, number, &st);
        return false;
    }
    if (!admit(guest, attempt, &st)) {
        write_failure(owner, number, &st, NULL);
        return false;
    }
    describe(guest, attempt);
    enter(guest);
    station_note(station, FANOUT_FAR_BEGUN, owner->far != NULL);
    if (guest->agent)
        start(guest);
    else
        document_ask(guest, attempt->request->position->graph_version);
    return true;
}

static void cancel_guest(struct guest *guest)
{
    if (guest->cancelled)
        return;
    guest->cancelled = true;
    if (!guest->agent) /* it ends when its document has come */
        return;
    guest->in_start = true; /* it lives until we are done with it */
    task_cancel(&guest->task);
    guest->in_start = false;
    free_if_done(guest);
}

static void cancel(struct peer *owner, uint64_t number)
{
    struct guest *guest = owner->first_guest;
    while (guest && guest->number != number)
        guest = guest->next;
    if (guest)
        cancel_guest(guest);
}

static struct guest *next_to_cancel(const struct peer *owner)
{
    struct guest *guest = owner->first_guest;
    while (guest && guest->cancelled)
        guest = guest->next;
    return guest;
}

/* An attempt that ends removes itself from the list, so the search starts anew. */
void worker_abandon(struct peer *owner)
{
    for (struct guest *guest = owner->first_guest; guest; guest = guest->next)
        guest->orphan = true;
    for (unsigned i = owner->guests; i > 0; i--) {
        struct guest *guest = next_to_cancel(owner);
        if (guest)
            cancel_guest(guest);
    }
}

bool worker_received(struct peer *owner, const FanoutMessage *message)
{
    if (message->what_case == RENGA__V1__FANOUT_MESSAGE__WHAT_BEGIN)
        return begin(owner, message->attempt, message->begin);
    cancel(owner, message->attempt);
    return false;
}
