/* The owner side. A number is never used for two attempts: messages with the number of an ended attempt
 * are late, and dropped. */
#include "fanout_priv.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <assert.h>
#include <string.h>

#define PLACES_FIRST 64

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void owner_grow(struct fanout_endpoint *endpoint)
{
    uint32_t room = endpoint->place_count ? 2 * endpoint->place_count : PLACES_FIRST;
    endpoint->places = xrealloc(endpoint->places, room * sizeof(*endpoint->places));
    endpoint->uses = xrealloc(endpoint->uses, room * sizeof *endpoint->uses);
    endpoint->free_places = xrealloc(endpoint->free_places, room * sizeof *endpoint->free_places);
    for (uint32_t place = room; place-- > endpoint->place_count;) {
        endpoint->places[place] = NULL;
        endpoint->uses[place] = 0;
        endpoint->free_places[endpoint->free_count++] = place;
    }
    endpoint->place_count = room;
}

static void owner_enter(struct fanout_endpoint *endpoint, struct dispatch *dispatch)
{
    if (!endpoint->free_count)
        owner_grow(endpoint);
    uint32_t place = endpoint->free_places[--endpoint->free_count];
    endpoint->places[place] = dispatch;
    dispatch->number = (uint64_t)++endpoint->uses[place] << 32 | place;
    endpoint->dispatched++;
    dispatch->worker->dispatched++;
    atomic_fetch_add_explicit(&endpoint->fanout->dispatched, 1, memory_order_relaxed);
    fanout_endpoint_note(endpoint, FANOUT_DISPATCHED, 1);
}

static void owner_leave(struct dispatch *dispatch)
{
    struct fanout_endpoint *endpoint = dispatch->endpoint;
    uint32_t place = (uint32_t)dispatch->number;
    endpoint->places[place] = NULL;
    endpoint->free_places[endpoint->free_count++] = place;
    dispatch->number = 0;
    endpoint->dispatched--;
    dispatch->worker->dispatched--;
    atomic_fetch_sub_explicit(&endpoint->fanout->dispatched, 1, memory_order_release);
    fanout_endpoint_note(endpoint, FANOUT_DISPATCHED, -1);
}

static struct dispatch *owner_find(const struct fanout_endpoint *endpoint, uint64_t number)
{
    uint32_t place = (uint32_t)number;
    if (place >= endpoint->place_count || !endpoint->places[place] || endpoint->places[place]->number != number)
        return NULL;
    return endpoint->places[place];
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

static bool may_be_given(const struct peer *peer)
{
    return peer->asked && !peer->barred && peer->missed_heartbeats < MISSED_HEARTBEATS_MAX &&
           !(peer->connection && mail_connection_waiting(peer->connection) > WAITING_MAX);
}

static struct peer *least_laden_of(struct fanout_endpoint *endpoint, unsigned from, unsigned to)
{
    struct peer *best = NULL;
    for (unsigned i = from; i < to; i++) {
        struct peer *peer = &endpoint->peers[i];
        if (may_be_given(peer) && (!best || peer->dispatched < best->dispatched))
            best = peer;
    }
    return best && best->dispatched < endpoint->local_attempts + endpoint->remote_attempts ? best : NULL;
}

/* A remote peer costs more than a peer of this process. */
static struct peer *least_laden(struct fanout_endpoint *endpoint)
{
    unsigned near = endpoint->fanout->options.loop_count;
    if (endpoint->local_attempts + endpoint->remote_attempts < FANOUT_LOCAL_FIRST)
        return NULL;
    struct peer *best = least_laden_of(endpoint, 0, near);
    return best ? best : least_laden_of(endpoint, near, endpoint->peer_count);
}

static bool write_attempt(struct dispatch *dispatch, const Renga__V1__RunNodeRequest *request, int64_t deadline_ns,
                          const struct trace_context *trace)
{
    static const struct trace_context none;
    char traceparent[TRACEPARENT_LENGTH + 1] = "";
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    Renga__V1__FanoutAttempt attempt = RENGA__V1__FANOUT_ATTEMPT__INIT;
    if (memcmp(trace->trace_id, none.trace_id, sizeof none.trace_id) != 0)
        trace_format(trace, traceparent);
    attempt.request = (Renga__V1__RunNodeRequest *)(uintptr_t)request;
    attempt.traceparent = traceparent;
    attempt.tenant = (char *)(uintptr_t)(dispatch->tenant ? dispatch->tenant : "");
    attempt.client = (char *)(uintptr_t)(dispatch->client ? dispatch->client : "");
    if (deadline_ns != TIME_NEVER) {
        int64_t left_us = (deadline_ns - clock_now_ns()) / 1000;
        attempt.time_left_us = left_us > 0 ? left_us : 1;
    }
    message.attempt = dispatch->number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_BEGIN;
    message.begin = &attempt;
    return peer_write(dispatch->worker, &message);
}

bool fanout_send(struct fanout *fanout, struct loop *loop, struct dispatch *dispatch,
                 const Renga__V1__RunNodeRequest *request, int64_t deadline_ns, const struct trace_context *trace)
{
    struct fanout_endpoint *endpoint = fanout ? &fanout->endpoints[loop_index(loop)] : NULL;
    struct peer *worker = endpoint ? least_laden(endpoint) : NULL;
    if (!worker)
        return false;
    dispatch->endpoint = endpoint;
    dispatch->worker = worker;
    dispatch->lost = dispatch->recalled = false;
    dispatch->spent = NULL;
    owner_enter(endpoint, dispatch);
    if (!write_attempt(dispatch, request, deadline_ns, trace)) {
        owner_leave(dispatch);
        return false;
    }
    worker->asked--;
    fanout_endpoint_note(endpoint, FANOUT_SENT, 1);
    fanout_endpoint_note(endpoint, FANOUT_REMOTE_SENT, worker->remote != NULL);
    fanout_endpoint_wake(endpoint);
    return true;
}

/* ---- taking back ------------------------------------------------------------------------------------------------- */

static void write_cancel(struct peer *worker, uint64_t number)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    message.attempt = number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_CANCEL;
    message.cancel = 1;
    peer_write(worker, &message);
}

void fanout_recall(struct dispatch *dispatch)
{
    assert(dispatch->number);
    dispatch->recalled = true;
    write_cancel(dispatch->worker, dispatch->number);
}

void owner_take_over(struct peer *worker, const char *why)
{
    struct fanout_endpoint *endpoint = worker->endpoint;
    struct status st = {0};
    char name[64];
    fail(&st, UNAVAILABLE, "%s, which had the node at work, %s", peer_name(worker, name), why);
    if (worker->dispatched)
        log_warn("fanout.taken_over", "%s %s; its %u attempts are taken over", name, why, worker->dispatched);
    for (uint32_t place = 0; place < endpoint->place_count && worker->dispatched; place++) {
        struct dispatch *dispatch = endpoint->places[place];
        if (!dispatch || dispatch->worker != worker)
            continue;
        write_cancel(worker, dispatch->number);
        owner_leave(dispatch);
        dispatch->lost = true;
        fanout_endpoint_note(endpoint, FANOUT_TAKEN_OVER, 1);
        dispatch->owner->ended(dispatch, NULL, &st);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void owner_end(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
{
    owner_leave(dispatch);
    dispatch->owner->ended(dispatch, response, st);
}

static void end_failed(struct dispatch *dispatch, const Renga__V1__FanoutFailure *failure)
{
    struct status st = {0};
    bool known = failure->code > OK && failure->code < STATUS_CODES_COUNT;
    fail(&st, known ? (enum status_code)failure->code : UNKNOWN, "%s", failure->message);
    st.retry_after_ms = failure->retry_after_ms > 0 ? failure->retry_after_ms : 0;
    dispatch->spent = failure->usage;
    if (failure->refused && !dispatch->recalled) {
        dispatch->lost = true;
        dispatch->worker->barred = BARRED_HEARTBEATS;
    }
    owner_end(dispatch, NULL, &st);
}

void owner_received(struct peer *worker, const FanoutMessage *message)
{
    struct fanout_endpoint *endpoint = worker->endpoint;
    struct dispatch *dispatch = owner_find(endpoint, message->attempt);
    if (!dispatch || dispatch->worker != worker) {
        fanout_endpoint_note(endpoint, FANOUT_LATE, 1);
        return;
    }
    if (message->what_case == RENGA__V1__FANOUT_MESSAGE__WHAT_FAILED)
        end_failed(dispatch, message->failed);
    else if (message->event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT)
        owner_end(dispatch, message->event->result, NULL);
    else if (!dispatch->recalled)
        dispatch->owner->came(dispatch, message->event);
}
