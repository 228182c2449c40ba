/* The side that has work to give. A number is never used for two attempts: messages with the number of an ended attempt
 * are late, and dropped. */
#include "fanout_priv.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 64

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void grow(struct station *station)
{
    uint32_t room = station->place_count ? 2 * station->place_count : PLACES_FIRST;
    station->places = realloc(station->places, room * sizeof(*station->places));
    station->uses = realloc(station->uses, room * sizeof *station->uses);
    station->free_places = realloc(station->free_places, room * sizeof *station->free_places);
    if (!station->places || !station->uses || !station->free_places)
        fatal("orchestrator.memory", "no memory for %u attempts", room);
    for (uint32_t place = room; place-- > station->place_count;) {
        station->places[place] = NULL;
        station->uses[place] = 0;
        station->free_places[station->free_count++] = place;
    }
    station->place_count = room;
}

static void enter(struct station *station, struct dispatch *dispatch)
{
    if (!station->free_count)
        grow(station);
    uint32_t place = station->free_places[--station->free_count];
    station->places[place] = dispatch;
    dispatch->number = (uint64_t)++station->uses[place] << 32 | place;
    station->away++;
    dispatch->worker->away++;
    atomic_fetch_add_explicit(&station->fanout->away, 1, memory_order_relaxed);
    station_note(station, FANOUT_AWAY, 1);
}

static void leave(struct dispatch *dispatch)
{
    struct station *station = dispatch->station;
    uint32_t place = (uint32_t)dispatch->number;
    station->places[place] = NULL;
    station->free_places[station->free_count++] = place;
    dispatch->number = 0;
    station->away--;
    dispatch->worker->away--;
    atomic_fetch_sub_explicit(&station->fanout->away, 1, memory_order_release);
    station_note(station, FANOUT_AWAY, -1);
}

static struct dispatch *find(const struct station *station, uint64_t number)
{
    uint32_t place = (uint32_t)number;
    if (place >= station->place_count || !station->places[place] || station->places[place]->number != number)
        return NULL;
    return station->places[place];
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

static bool may_be_given(const struct peer *peer)
{
    return peer->asked && !peer->barred && peer->silent < SILENT_BEATS_MAX &&
           !(peer->line && line_waiting(peer->line) > WAITING_MAX);
}

static struct peer *least_laden_of(struct station *station, unsigned from, unsigned to)
{
    struct peer *best = NULL;
    for (unsigned i = from; i < to; i++) {
        struct peer *peer = &station->peers[i];
        if (may_be_given(peer) && (!best || peer->away < best->away))
            best = peer;
    }
    return best && best->away < station->at_home + station->guests ? best : NULL;
}

/* A far peer costs more than a near peer. */
static struct peer *least_laden(struct station *station)
{
    unsigned near = station->fanout->options.loop_count;
    if (station->at_home + station->guests < FANOUT_HOME_FIRST)
        return NULL;
    struct peer *best = least_laden_of(station, 0, near);
    return best ? best : least_laden_of(station, near, station->peer_count);
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
    struct station *station = fanout ? &fanout->stations[loop_index(loop)] : NULL;
    struct peer *worker = station ? least_laden(station) : NULL;
    if (!worker)
        return false;
    dispatch->station = station;
    dispatch->worker = worker;
    dispatch->lost = dispatch->recalled = false;
    dispatch->spent = NULL;
    enter(station, dispatch);
    if (!write_attempt(dispatch, request, deadline_ns, trace)) {
        leave(dispatch);
        return false;
    }
    worker->asked--;
    station_note(station, FANOUT_SENT, 1);
    station_note(station, FANOUT_FAR_SENT, worker->far != NULL);
    station_wake(station);
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
    struct station *station = worker->station;
    struct status st = {0};
    char name[64];
    fail(&st, UNAVAILABLE, "%s, which had the node at work, %s", peer_name(worker, name), why);
    if (worker->away)
        log_warn("fanout.taken_over", "%s %s; its %u attempts are taken over", name, why, worker->away);
    for (uint32_t place = 0; place < station->place_count && worker->away; place++) {
        struct dispatch *dispatch = station->places[place];
        if (!dispatch || dispatch->worker != worker)
            continue;
        write_cancel(worker, dispatch->number);
        leave(dispatch);
        dispatch->lost = true;
        station_note(station, FANOUT_TAKEN_OVER, 1);
        dispatch->owner->ended(dispatch, NULL, &st);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void end(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
{
    leave(dispatch);
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
        dispatch->worker->barred = BARRED_BEATS;
    }
    end(dispatch, NULL, &st);
}

void owner_received(struct peer *worker, const FanoutMessage *message)
{
    struct station *station = worker->station;
    struct dispatch *dispatch = find(station, message->attempt);
    if (!dispatch || dispatch->worker != worker) {
        station_note(station, FANOUT_LATE, 1);
        return;
    }
    if (message->what_case == RENGA__V1__FANOUT_MESSAGE__WHAT_FAILED)
        end_failed(dispatch, message->failed);
    else if (message->event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT)
        end(dispatch, message->event->result, NULL);
    else if (!dispatch->recalled)
        dispatch->owner->came(dispatch, message->event);
}
