/* A stream of a run's events: the runner chooses and shows them, heartbeats too; here they are paced and sent.
 *
 *      came ---> sent ---> the window is full: the runner pauses, until the client has read
 *                              '--- nothing read for 60 s: RESOURCE_EXHAUSTED */
#include "api.h"

#include "rpc/rpc.h"
#include "run/runner.h"

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
    bool paused, ended;
    struct watch_call *next, **link;
};

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void bury(struct work *work)
{
    free((char *)work - offsetof(struct watch_call, burial));
}

/* Once. Not freed at once: the runner may be about to return from `came`. */
static void end(struct watch_call *self, const struct status *st)
{
    self->ended = true;
    loop_disarm(self->api->loop, &self->patience);
    *self->link = self->next;
    if (self->next)
        self->next->link = self->link;
    if (st->code == OK)
        self->reply(NULL, self->call);
    else
        rpc_fail(self->call, st);
    self->burial.run = bury;
    loop_defer(self->api->loop, &self->burial);
}

static void leave(struct watch_call *self, const struct status *st)
{
    runner_unwatch(&self->watcher);
    end(self, st);
}

static void client_left(struct rpc_call *call, void *data)
{
    struct status st = {0};
    fail(&st, CANCELLED, "the client has left");
    leave(data, &st);
}

static void reader_sleeps(struct timer *timer)
{
    struct watch_call *self = (struct watch_call *)((char *)timer - offsetof(struct watch_call, patience));
    struct status st = {0};
    fail(&st, RESOURCE_EXHAUSTED, "nothing was read for %d s; come back with the last event_id you saw",
         READER_PATIENCE_MS / 1000);
    leave(self, &st);
}

void watches_end(struct api *api)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the server is draining; come back with the last event_id you saw");
    while (api->watches)
        leave(api->watches, &st);
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static void came(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    struct watch_call *self = (struct watch_call *)watcher;
    if (self->ended)
        return;
    if (!event) {
        leave(self, &watcher->status);
        return;
    }
    self->reply(event, self->call);
    if (self->ended || self->paused || rpc_call_writable(self->call))
        return;
    self->paused = true;
    runner_watch_pause(&self->watcher);
    loop_arm_after(self->api->loop, &self->patience, READER_PATIENCE_MS);
}

static void writable(struct rpc_call *call, void *data)
{
    struct watch_call *self = data;
    if (!self->paused || self->ended)
        return;
    self->paused = false;
    loop_disarm(self->api->loop, &self->patience);
    runner_watch_resume(&self->watcher);
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static struct watch_call *watch_create(struct api *api, struct rpc_call *call,
                                       const Renga__V1__WatchRunRequest *request, Renga__V1__RunEvent_Closure reply)
{
    struct watch_call *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    *self = (struct watch_call){
        .watcher = {.loop = api->loop,
                    .tenant = rpc_call_principal(call)->tenant,
                    .rights = api_rights(api, call),
                    .request = request,
                    .came = came,
                    .owner = self},
        .api = api,
        .call = call,
        .reply = reply,
        .patience.expired = reader_sleeps,
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
    if (!api_enter(api, call, &request->base))
        return;
    if (api->draining) {
        rpc_fail_with(call, UNAVAILABLE, "the server is draining");
        return;
    }
    struct watch_call *self = watch_create(api, call, request, reply);
    if (!self) {
        rpc_fail_with(call, RESOURCE_EXHAUSTED, "no memory for the stream");
        return;
    }
    rpc_call_on_writable(call, writable, self);
    rpc_call_on_cancel(call, client_left, self);
    runner_watch(api->orchestrator->runner, &self->watcher);
}
