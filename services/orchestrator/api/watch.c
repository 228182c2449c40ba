/* A stream of a run's events: the runner chooses and encodes events and heartbeats; this file applies flow control and
 * sends them.
 *
 *      came ---> sent ---> the window is full: the runner pauses, until the client has read
 *                              '--- no bytes read for 60 s: RESOURCE_EXHAUSTED */
#include "watch/watch.h"
#include "api.h"
#include "forward.h"
#include "refuse.h"

#include "rpc/rpc.h"
#include "runtime/runner.h"

#include <stddef.h>
#include <stdlib.h>

#define READER_PATIENCE_MS 60000 /* as WatchRun says */

struct watch_call {
    struct watcher watcher; /* first */
    struct api *api;
    struct rpc_call *call;
    Renga__V1__RunEvent_Closure reply;
    struct timer patience;
    struct work burial;
    struct caller caller;
    struct forward forward; /* of a run that another orchestrator has */
    bool is_forwarded;
    struct status parting; /* how a stream that was handed on is ended by us */
    bool paused, ended;
    struct watch_call *next, **link;
};

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void bury(struct work *work)
{
    free(CONTAINER_OF(work, struct watch_call, burial));
}

/* Once. Not freed at once: the runner may be about to return from `came`. */
static void watch_end(struct watch_call *self, const struct status *st, const struct rpc_client_call *theirs)
{
    self->ended = true;
    loop_disarm(self->api->loop, &self->patience);
    *self->link = self->next;
    if (self->next)
        self->next->link = self->link;
    if (st->code == OK)
        self->reply(NULL, self->call);
    else if (theirs)
        forward_refuse(self->call, theirs);
    else
        rpc_fail(self->call, st);
    self->burial.run = bury;
    loop_defer(self->api->loop, &self->burial);
}

static void watch_leave(struct watch_call *self, const struct status *st)
{
    if (self->is_forwarded) { /* it ends when theirs has */
        self->parting = *st;
        rpc_client_call_cancel(&self->forward.call);
        return;
    }
    runner_unwatch(&self->watcher);
    watch_end(self, st, NULL);
}

static void watch_client_left(struct rpc_call *call, void *data)
{
    struct status st = {0};
    fail(&st, CANCELLED, "the client has left");
    watch_leave(data, &st);
}

static void watch_reader_sleeps(struct timer *timer)
{
    struct watch_call *self = CONTAINER_OF(timer, struct watch_call, patience);
    struct status st = {0};
    fail(&st, RESOURCE_EXHAUSTED, "nothing was read for %d s; come back with the last event_id you saw",
         READER_PATIENCE_MS / 1000);
    watch_leave(self, &st);
}

void watches_end(struct api *api)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the server is draining; come back with the last event_id you saw");
    for (struct watch_call *watch = api->watches, *next; watch; watch = next) {
        next = watch->next;
        if (!watch->watcher.in_call)
            watch_leave(watch, &st);
    }
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

/* After each event: the source of the events waits while the client does not read. */
static void watch_sent(struct watch_call *self)
{
    if (self->ended || self->paused || rpc_call_writable(self->call))
        return;
    self->paused = true;
    if (self->is_forwarded)
        rpc_client_call_pause(&self->forward.call);
    else
        runner_watch_pause(&self->watcher);
    loop_arm_after(self->api->loop, &self->patience, READER_PATIENCE_MS);
}

static void watch_forwarded(struct forward *forward, const ProtobufCMessage *event)
{
    struct watch_call *self = CONTAINER_OF(forward, struct watch_call, forward);
    if (!event)
        watch_end(self, self->parting.code ? &self->parting : &forward->call.status,
                  self->parting.code ? NULL : &forward->call);
    else if (!self->parting.code) {
        self->reply((const Renga__V1__RunEvent *)event, self->call);
        watch_sent(self);
    }
}

static bool watch_hand_on(struct watch_call *self, struct status *st)
{
    const char *address = self->watcher.handoff_address;
    if (!address || !*address || self->caller.forwarded)
        return false;
    self->forward.came = watch_forwarded;
    self->is_forwarded =
        forward_begin(&self->forward, self->api, self->call, &self->watcher.request->base, address, 0, st);
    if (self->is_forwarded)
        runner_unwatch(&self->watcher);
    return self->is_forwarded;
}

static void watch_event_came(struct watcher *watcher, const uint8_t *bytes, size_t size)
{
    struct watch_call *self = (struct watch_call *)watcher;
    if (self->ended)
        return;
    rpc_reply_packed(self->call, bytes, size);
    watch_sent(self);
}

static void watch_source_ended(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    struct watch_call *self = (struct watch_call *)watcher;
    if (self->ended || event)
        return;
    if (!watch_hand_on(self, &watcher->status))
        watch_leave(self, &watcher->status);
}

static void watch_writable(struct rpc_call *call, void *data)
{
    struct watch_call *self = data;
    if (!self->paused || self->ended)
        return;
    self->paused = false;
    loop_disarm(self->api->loop, &self->patience);
    if (self->is_forwarded)
        rpc_client_call_resume(&self->forward.call);
    else
        runner_watch_resume(&self->watcher);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static struct watch_call *watch_create(struct api *api, struct rpc_call *call, const struct caller *caller,
                                       const Renga__V1__WatchRunRequest *request, Renga__V1__RunEvent_Closure reply)
{
    struct watch_call *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    *self = (struct watch_call){
        .watcher = {.loop = api->loop,
                    .tenant = caller->access.principal.tenant,
                    .access = caller->access,
                    .request = request,
                    .in_call = rpc_call_is_local(call),
                    .came = watch_source_ended,
                    .came_packed = watch_event_came,
                    .owner = self},
        .api = api,
        .call = call,
        .caller = *caller,
        .reply = reply,
        .patience.expired = watch_reader_sleeps,
        .next = api->watches,
        .link = &api->watches,
    };
    if (self->next)
        self->next->link = &self->next;
    return api->watches = self;
}

void watch_begin(struct api *api, struct rpc_call *call, const Renga__V1__WatchRunRequest *request,
                 Renga__V1__RunEvent_Closure reply)
{
    struct caller caller;
    if (!api_enter(api, call, &request->base) || !caller_find(api, call, &caller))
        return;
    if (api->draining && !rpc_call_is_local(call)) {
        rpc_fail_with(call, UNAVAILABLE, "the server is draining");
        return;
    }
    struct watch_call *self = watch_create(api, call, &caller, request, reply);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for the stream");
        return;
    }
    rpc_call_on_writable(call, watch_writable, self);
    rpc_call_on_cancel(call, watch_client_left, self);
    runner_watch(api->orchestrator->runner, &self->watcher);
}
