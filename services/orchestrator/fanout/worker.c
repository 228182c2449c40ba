/* The worker side. The events of an attempt of another loop are written to that loop; the kind itself runs
 * here as for an attempt of our own. */
#include "fanout_priv.h"
#include "remote_peer.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "graph/agents.h"
#include "proto/usage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_LENGTH   64                                /* hexadecimal digits */
#define TIME_LEFT_MAX_US (INT64_C(1000000) * 86400 * 3650) /* ten years */

/* ---- asking for work --------------------------------------------------------------------------------------------- */

/* Offered slots count as full: the attempts for them may be on their way. */
unsigned worker_offered(const struct peer *owner)
{
    unsigned share = owner->endpoint->remote_share;
    return owner->remote && owner->offered > share ? share : owner->offered;
}

static unsigned slots_missing(const struct peer *owner)
{
    const struct fanout_endpoint *endpoint = owner->endpoint;
    unsigned share = owner->remote ? endpoint->remote_share : endpoint->share,
             has = owner->offered + owner->remote_attempts;
    unsigned full = endpoint->local_attempts + endpoint->remote_attempts +
                    (owner->remote ? endpoint->remote_offered : endpoint->offered);
    if (!owner->neighbour || full >= FANOUT_SLOTS || has >= share ||
        (owner->remote && (!remote_peer_is_open(owner) || atomic_load(&endpoint->fanout->draining))))
        return 0;
    unsigned missing = share - has, idle = FANOUT_SLOTS - full;
    return missing < idle ? missing : idle;
}

static unsigned *offered_by(struct fanout_endpoint *endpoint, const struct peer *owner)
{
    return owner->remote ? &endpoint->remote_offered : &endpoint->offered;
}

unsigned worker_slots(struct peer *owner)
{
    unsigned slots = slots_missing(owner);
    owner->offered += slots;
    *offered_by(owner->endpoint, owner) += slots;
    return slots;
}

/* An attempt for an offered slot has arrived, or the offer was not sent. */
void worker_unoffer(struct peer *owner, unsigned slots)
{
    unsigned *offered = offered_by(owner->endpoint, owner), before = worker_offered(owner);
    assert(owner->offered >= slots && *offered >= before);
    owner->offered -= slots;
    *offered -= before - worker_offered(owner);
}

void worker_offer_to(struct peer *owner)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    peer_write(owner, &message);
}

void worker_offer(struct fanout_endpoint *endpoint, bool always)
{
    for (unsigned i = 0; i < endpoint->peer_count; i++) {
        struct peer *owner = &endpoint->peers[i];
        unsigned missing = slots_missing(owner);
        if (missing && (always || 2 * missing >= (owner->remote ? endpoint->remote_share : endpoint->share)))
            worker_offer_to(owner);
    }
}

/* ---- remote attempts
 * ------------------------------------------------------------------------------------------------------ */

struct remote_attempt *remote_attempt_create(void)
{
    struct remote_attempt *remote_attempt = xcalloc(1, sizeof *remote_attempt);
    task_init(&remote_attempt->task, NULL, NULL);
    return remote_attempt;
}

void remote_attempt_destroy(struct remote_attempt **remote_attempt_pointer)
{
    struct remote_attempt *remote_attempt = *remote_attempt_pointer;
    if (!remote_attempt)
        return;
    *remote_attempt_pointer = NULL;
    task_fini(&remote_attempt->task);
    free(remote_attempt);
}

static void worker_enter(struct remote_attempt *remote_attempt)
{
    struct peer *owner = remote_attempt->owner;
    struct fanout_endpoint *endpoint = remote_attempt->endpoint;
    LIST_PUSH(owner->first_remote_attempt, remote_attempt);
    owner->remote_attempts++;
    endpoint->remote_attempts++;
    atomic_fetch_add_explicit(&endpoint->fanout->remote_attempts, 1, memory_order_relaxed);
    runner_metrics_started(endpoint->fanout->options.runner_metrics, endpoint->loop);
    fanout_endpoint_wake(endpoint);
}

static void worker_leave(struct remote_attempt *remote_attempt)
{
    struct peer *owner = remote_attempt->owner;
    struct fanout_endpoint *endpoint = remote_attempt->endpoint;
    UNLIST(owner->first_remote_attempt, remote_attempt);
    owner->remote_attempts--;
    endpoint->remote_attempts--;
    if (remote_attempt->agent)
        agent_release(endpoint->fanout->options.agents, remote_attempt->agent);
    atomic_fetch_sub_explicit(&endpoint->fanout->remote_attempts, 1, memory_order_release);
}

static void worker_free_if_done(struct remote_attempt *remote_attempt)
{
    if (remote_attempt->ended && !remote_attempt->in_start)
        remote_attempt_destroy(&remote_attempt);
}

/* ---- events of attempts ------------------------------------------------------------------------------------------ */

static struct remote_attempt *remote_attempt_of(struct task *task)
{
    return CONTAINER_OF(task, struct remote_attempt, task);
}

static const Renga__V1__RunNodeRequest *remote_attempt_request(struct task *task)
{
    return task->request; /* it came with the attempt */
}

static void worker_write_end(struct peer *owner, uint64_t number, Renga__V1__FanoutFailure *failure)
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
    worker_write_end(owner, number, &failure);
}

static void write_refusal(struct peer *owner, uint64_t number, const struct status *st)
{
    Renga__V1__FanoutFailure failure = RENGA__V1__FANOUT_FAILURE__INIT;
    failure.code = (int32_t)st->code;
    failure.message = (char *)(uintptr_t)st->text;
    failure.refused = true;
    worker_write_end(owner, number, &failure);
}

static bool write_event(struct remote_attempt *remote_attempt, Renga__V1__RunNodeEvent *event)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    message.attempt = remote_attempt->number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_EVENT;
    message.event = event;
    return peer_write(remote_attempt->owner, &message);
}

/* Its slot is free again before the owner hears of its end: the message asks for the next attempt. */
static void remote_attempt_finished(struct task *task, const Renga__V1__RunNodeResponse *response)
{
    struct remote_attempt *remote_attempt = remote_attempt_of(task);
    struct status st = {0};
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT;
    event.result = (Renga__V1__RunNodeResponse *)(uintptr_t)response;
    worker_leave(remote_attempt);
    if (!remote_attempt->orphan && !write_event(remote_attempt, &event)) {
        fail(&st, RESOURCE_EXHAUSTED, "the result has %zu bytes; at most %zu travel between loops",
             renga__v1__run_node_response__get_packed_size(response),
             remote_attempt->endpoint->fanout->options.message_max);
        write_failure(remote_attempt->owner, remote_attempt->number, &st, response->usage);
    }
    remote_attempt->ended = true;
    worker_free_if_done(remote_attempt);
}

static void remote_attempt_failed(struct task *task, const struct status *status)
{
    struct remote_attempt *remote_attempt = remote_attempt_of(task);
    worker_leave(remote_attempt);
    if (!remote_attempt->orphan)
        write_failure(remote_attempt->owner, remote_attempt->number, status,
                      usage_is_nothing(&task->spent) ? NULL : &task->spent);
    remote_attempt->ended = true;
    worker_free_if_done(remote_attempt);
}

/* Progress events are dropped if the owner does not keep up: the result does not depend on them. */
static void worker_show(struct remote_attempt *remote_attempt, Renga__V1__RunNodeEvent *event)
{
    if (remote_attempt->cancelled)
        return;
    if (!remote_attempt->owner->connection || mail_connection_waiting(remote_attempt->owner->connection) <= WAITING_MAX)
        write_event(remote_attempt, event);
    else
        fanout_endpoint_note(remote_attempt->endpoint, FANOUT_UNSHOWN, 1);
}

static void remote_attempt_progress(struct task *task, const char *json)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON;
    event.progress_json = (char *)(uintptr_t)json;
    worker_show(remote_attempt_of(task), &event);
}

static void remote_attempt_token(struct task *task, const char *text, const char *channel)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    Renga__V1__NodeToken token = RENGA__V1__NODE_TOKEN__INIT;
    token.text = (char *)(uintptr_t)text;
    token.channel = (char *)(uintptr_t)channel;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN;
    event.token = &token;
    worker_show(remote_attempt_of(task), &event);
}

static void remote_attempt_alive(struct task *task)
{
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    worker_show(remote_attempt_of(task),
                &event); /* only the owner knows whether the time counts: the run may count it, too */
}

/* ---- queries of attempts ----------------------------------------------------------------------------------------- */

static const struct task_owner remote_attempt_ends = {
    .request = remote_attempt_request,
    .finished = remote_attempt_finished,
    .failed = remote_attempt_failed,
    .progress = remote_attempt_progress,
    .token = remote_attempt_token,
    .alive = remote_attempt_alive,
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
static bool worker_prepare(struct remote_attempt *remote_attempt, const Renga__V1__RunNodeRequest *request,
                           struct status *st)
{
    struct task *task = &remote_attempt->task;
    task->node = node_of(remote_attempt->agent, request->position, st);
    if (!task->node)
        return false;
    if (!task->node->kind->travels)
        return fail(st, INVALID_ARGUMENT, "attempts at a node of kind '%s' stay in their loop", task->node->kind->name);
    task->data = arena_alloc(&task->arena, task->node->kind->size);
    return task->data ||
           fail(st, RESOURCE_EXHAUSTED, "an attempt may have %zu bytes, and its request has them all", TASK_MEMORY_MAX);
}

static void worker_start(struct remote_attempt *remote_attempt)
{
    remote_attempt->in_start = true;
    task_start(&remote_attempt->task);
    remote_attempt->in_start = false;
    worker_free_if_done(remote_attempt);
}

/* It never had a task. */
static void worker_give_up(struct remote_attempt *remote_attempt)
{
    worker_leave(remote_attempt);
    remote_attempt_destroy(&remote_attempt);
}

void worker_agent_came(struct remote_attempt *remote_attempt, struct agent *agent, const struct status *status)
{
    struct status st = *status;
    remote_attempt->agent = agent;
    if (agent)
        agent_hold(agent);
    bool prepared = agent && worker_prepare(remote_attempt, remote_attempt->task.request, &st);
    bool sure = !prepared || remote_attempt->cancelled || remote_attempt->orphan ||
                remote_peer_is_sure(remote_attempt->owner, &st);
    if (prepared && sure && !remote_attempt->cancelled) {
        worker_start(remote_attempt);
        return;
    }
    if (prepared && sure)
        fail(&st, CANCELLED, "it was cancelled before it began");
    if ((!agent || !sure) && !remote_attempt->orphan)
        write_refusal(remote_attempt->owner, remote_attempt->number, &st);
    else if (!remote_attempt->orphan)
        write_failure(remote_attempt->owner, remote_attempt->number, &st, NULL);
    worker_give_up(remote_attempt);
}

static void worker_describe(struct remote_attempt *remote_attempt, const Renga__V1__FanoutAttempt *attempt)
{
    struct fanout *fanout = remote_attempt->endpoint->fanout;
    struct task *task = &remote_attempt->task;
    int64_t left_us = attempt->time_left_us;
    task->owner = &remote_attempt_ends;
    task->request = attempt->request;
    task->loop = remote_attempt->endpoint->loop;
    task->services = fanout->options.services;
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
static bool worker_admit(struct remote_attempt *remote_attempt, const Renga__V1__FanoutAttempt *attempt,
                         struct status *st)
{
    struct fanout *fanout = remote_attempt->endpoint->fanout;
    const Renga__V1__RunNodeRequest *request = attempt->request;
    if (!request || !request->position)
        return fail(st, INVALID_ARGUMENT, "an attempt that does not say where in which run it stands");
    remote_attempt->agent = agents_find(fanout->options.agents, NULL, request->position->graph_version, st);
    if (!remote_attempt->agent) /* the agent of a remote owner may be in the store */
        return remote_attempt->owner->remote && is_version(request->position->graph_version);
    if (worker_prepare(remote_attempt, request, st))
        return true;
    agent_release(fanout->options.agents, remote_attempt->agent);
    remote_attempt->agent = NULL;
    return false;
}

static bool worker_begin(struct peer *owner, uint64_t number, const Renga__V1__FanoutAttempt *attempt)
{
    struct fanout_endpoint *endpoint = owner->endpoint;
    struct remote_attempt *remote_attempt = endpoint->spare;
    struct status st = {0};
    worker_unoffer(owner, owner->offered > 0);
    remote_attempt->endpoint = endpoint;
    remote_attempt->owner = owner;
    remote_attempt->number = number;
    if (owner->remote && atomic_load(&endpoint->fanout->draining)) {
        fail(&st, UNAVAILABLE, "the orchestrator ends");
        write_refusal(owner, number, &st);
        return false;
    }
    if (!remote_peer_is_sure(owner, &st)) {
        write_refusal(owner, number, &st);
        return false;
    }
    if (!worker_admit(remote_attempt, attempt, &st)) {
        write_failure(owner, number, &st, NULL);
        return false;
    }
    worker_describe(remote_attempt, attempt);
    worker_enter(remote_attempt);
    fanout_endpoint_note(endpoint, FANOUT_REMOTE_BEGUN, owner->remote != NULL);
    if (remote_attempt->agent)
        worker_start(remote_attempt);
    else
        document_ask(remote_attempt, attempt->request->position->graph_version);
    return true;
}

static void cancel_remote_attempt(struct remote_attempt *remote_attempt)
{
    if (remote_attempt->cancelled)
        return;
    remote_attempt->cancelled = true;
    if (!remote_attempt->agent) /* it ends when its document has come */
        return;
    remote_attempt->in_start = true; /* it lives until we are done with it */
    task_cancel(&remote_attempt->task);
    remote_attempt->in_start = false;
    worker_free_if_done(remote_attempt);
}

static void worker_cancel(struct peer *owner, uint64_t number)
{
    struct remote_attempt *remote_attempt = owner->first_remote_attempt;
    while (remote_attempt && remote_attempt->number != number)
        remote_attempt = remote_attempt->next;
    if (remote_attempt)
        cancel_remote_attempt(remote_attempt);
}

static struct remote_attempt *next_to_cancel(const struct peer *owner)
{
    struct remote_attempt *remote_attempt = owner->first_remote_attempt;
    while (remote_attempt && remote_attempt->cancelled)
        remote_attempt = remote_attempt->next;
    return remote_attempt;
}

/* An attempt that ends removes itself from the list, so the search starts anew. */
void worker_abandon(struct peer *owner)
{
    for (struct remote_attempt *remote_attempt = owner->first_remote_attempt; remote_attempt;
         remote_attempt = remote_attempt->next)
        remote_attempt->orphan = true;
    for (unsigned i = owner->remote_attempts; i > 0; i--) {
        struct remote_attempt *remote_attempt = next_to_cancel(owner);
        if (remote_attempt)
            cancel_remote_attempt(remote_attempt);
    }
}

bool worker_received(struct peer *owner, const FanoutMessage *message)
{
    if (message->what_case == RENGA__V1__FANOUT_MESSAGE__WHAT_BEGIN)
        return worker_begin(owner, message->attempt, message->begin);
    worker_cancel(owner, message->attempt);
    return false;
}
