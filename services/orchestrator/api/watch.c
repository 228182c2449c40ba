/* A stream of a run's events: the runner shows them, here they are chosen, paced and sent.
 *
 *      GetRun: is it there, how does it stand, what was its last event ---> runner_watch
 *
 *      came ---> wanted? ---> sent ---> the window is full: the runner pauses, until the client has read
 *        |                                  '--- nothing read for 60 s: RESOURCE_EXHAUSTED
 *        '--- stopped, and nothing more to follow: the end
 *      nothing came for a while: a heartbeat */
#include "api.h"

#include "base/clock.h"
#include "rpc/rpc.h"
#include "run/runner.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_DEFAULT_MS 15000              /* as WatchRunRequest says */
#define READER_PATIENCE_MS   60000              /* as WatchRun says */
#define RUN_ID_MAX           64                 /* bytes, as WatchRunRequest says */
#define LOOK_MEMORY_MAX      ((size_t)16 << 20) /* bytes of the run that is looked at: its output, its questions */

#define STOPPED_CASE RENGA__V1__RUN_EVENT__EVENT_STOPPED

struct watch_call {
    struct watcher watcher; /* first */
    struct api *api;
    struct rpc_call *call;
    Renga__V1__RunEvent_Closure reply;
    struct errand look; /* before the watching */
    struct arena looked_at;
    Renga__V1__GetRunRequest get;
    char run_id[RUN_ID_MAX + 1], *tenant; /* the errand may outlive the call */
    Renga__V1__WatchRunRequest request;
    struct timer heartbeat, patience;
    struct work burial;
    int64_t heartbeat_ms, last_event_id;
    Renga__V1__RunState state;
    int32_t nodes_running;
    uint32_t kinds; /* a bit a kind; 0: all */
    bool looking, watching, paused, ended;
    struct watch_call *next, **link;
};

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void bury(struct work *work)
{
    struct watch_call *self = (struct watch_call *)((char *)work - offsetof(struct watch_call, burial));
    free(self->tenant);
    free(self);
}

/* Once. Not freed at once: the runner may be about to return from `came`, or still has the errand. */
static void end(struct watch_call *self, const struct status *st)
{
    self->ended = true;
    loop_disarm(self->api->loop, &self->heartbeat);
    loop_disarm(self->api->loop, &self->patience);
    *self->link = self->next;
    if (self->next)
        self->next->link = self->link;
    if (st->code == OK)
        self->reply(NULL, self->call);
    else
        rpc_fail(self->call, st);
    self->burial.run = bury;
    if (!self->looking)
        loop_defer(self->api->loop, &self->burial);
}

static void leave(struct watch_call *self, const struct status *st)
{
    if (self->watching)
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

static void rest(struct watch_call *self)
{
    loop_arm_after(self->api->loop, &self->heartbeat, self->heartbeat_ms);
}

static void send_event(struct watch_call *self, const Renga__V1__RunEvent *event)
{
    rest(self);
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
    if (!self->paused)
        return;
    self->paused = false;
    loop_disarm(self->api->loop, &self->patience);
    runner_watch_resume(&self->watcher);
}

static void beat(struct timer *timer)
{
    struct watch_call *self = (struct watch_call *)((char *)timer - offsetof(struct watch_call, heartbeat));
    Renga__V1__RunEvent event = RENGA__V1__RUN_EVENT__INIT;
    Renga__V1__Heartbeat heartbeat = RENGA__V1__HEARTBEAT__INIT;
    if (self->paused) {
        rest(self);
        return;
    }
    event.event_id = self->last_event_id;
    event.run_id = self->request.run_id;
    event.time_ms = clock_wall_ns() / NS_PER_MS;
    heartbeat.state = self->state;
    heartbeat.nodes_running = self->nodes_running;
    event.event_case = RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT;
    event.heartbeat = &heartbeat;
    send_event(self, &event);
}

/* What heartbeats tell. Nodes that were at work before the first event came are not counted. */
static void note(struct watch_call *self, const Renga__V1__RunEvent *event)
{
    self->last_event_id = event->event_id;
    switch (event->event_case) {
    case RENGA__V1__RUN_EVENT__EVENT_STATE_CHANGED:
        self->state = event->state_changed->current;
        break;
    case RENGA__V1__RUN_EVENT__EVENT_STOPPED:
        self->state = event->stopped->state;
        self->nodes_running = 0;
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_STARTED:
        self->nodes_running++;
        break;
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED:
    case RENGA__V1__RUN_EVENT__EVENT_NODE_FAILED:
    case RENGA__V1__RUN_EVENT__EVENT_NODE_RETRIED:
        self->nodes_running -= self->nodes_running > 0;
        break;
    default:
        break;
    }
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* The kinds are numbered as the cases are, from the first on. */
_Static_assert((int)STOPPED_CASE - (int)RENGA__V1__RUN_EVENT__EVENT_STARTED ==
                   (int)RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_STOPPED -
                       (int)RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_STARTED,
               "kinds of events are numbered as the cases");
static bool wanted(const struct watch_call *self, const Renga__V1__RunEvent *event)
{
    if (event->event_case == STOPPED_CASE)
        return true;
    if (self->request.skip_subgraphs && event->path[0])
        return false;
    unsigned kind = event->event_case - RENGA__V1__RUN_EVENT__EVENT_STARTED + 1;
    return !self->kinds || self->kinds & 1u << kind;
}

static bool is_last(const struct watch_call *self, const Renga__V1__RunEvent *event)
{
    return event->event_case == STOPPED_CASE &&
           (event->stopped->state != RENGA__V1__RUN_STATE__RUN_STATE_WAITING || !self->request.follow);
}

static void came(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    struct watch_call *self = (struct watch_call *)watcher;
    if (self->ended)
        return;
    if (!event) {
        end(self, &watcher->status);
        return;
    }
    note(self, event);
    if (wanted(self, event))
        send_event(self, event);
    if (!self->ended && is_last(self, event))
        leave(self, &(struct status){.code = OK});
}

static uint32_t kinds_of(const Renga__V1__WatchRunRequest *request)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < request->n_kinds; i++)
        kinds |= 1u << request->kinds[i];
    return kinds;
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* -1 becomes the id that it stands for, so that heartbeats have one too. */
static void looked(struct errand *errand)
{
    struct watch_call *self = errand->owner;
    struct status st = errand->status;
    if (st.code == OK) {
        const Renga__V1__Run *run = ((const Renga__V1__GetRunResponse *)errand->response)->run;
        self->state = run->state;
        if (self->request.after_event_id < 0)
            self->request.after_event_id = run->last_event_id;
        self->last_event_id = self->request.after_event_id;
    }
    arena_fini(&self->looked_at);
    self->looking = false;
    if (self->ended) {
        loop_defer(self->api->loop, &self->burial);
    } else if (st.code != OK) {
        end(self, &st);
    } else {
        self->watching = true;
        rest(self);
        runner_watch(self->api->orchestrator->runner, &self->watcher);
    }
}

static void look(struct watch_call *self)
{
    renga__v1__get_run_request__init(&self->get);
    snprintf(self->run_id, sizeof self->run_id, "%s", self->request.run_id);
    self->get.run_id = self->run_id;
    arena_init(&self->looked_at, NULL, 0, LOOK_MEMORY_MAX);
    self->looking = true;
    self->look = (struct errand){
        .loop = self->api->loop,
        .tenant = self->tenant,
        .request = &self->get.base,
        .arena = &self->looked_at,
        .answered = looked,
        .owner = self,
    };
    runner_run(self->api->orchestrator->runner, &self->look);
}

static struct watch_call *watch_create(struct api *api, struct rpc_call *call,
                                       const Renga__V1__WatchRunRequest *request, Renga__V1__RunEvent_Closure reply)
{
    struct watch_call *self = calloc(1, sizeof *self);
    char *tenant = strdup(rpc_call_principal(call)->tenant);
    if (!self || !tenant) {
        free(self);
        free(tenant);
        return NULL;
    }
    *self = (struct watch_call){
        .tenant = tenant,
        .api = api,
        .call = call,
        .reply = reply,
        .request = *request, /* what it points at lives as long as the call */
        .heartbeat.expired = beat,
        .patience.expired = reader_sleeps,
        .heartbeat_ms = request->heartbeat_ms ? request->heartbeat_ms : HEARTBEAT_DEFAULT_MS,
        .kinds = kinds_of(request),
        .next = api->watches,
        .link = &api->watches,
    };
    self->watcher = (struct watcher){
        .loop = api->loop,
        .tenant = tenant,
        .request = &self->request,
        .came = came,
        .owner = self,
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
    look(self);
}
