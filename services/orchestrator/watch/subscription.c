/* A watcher and its subscription: packets of events go from the shard of the thread to the watcher's loop, one at a
 * time, and an acknowledgement comes back when the last event of it was taken. */
#include "graph/agents.h"
#include "subscribers.h"
#include "thread/memory.h"
#include "thread/request.h"
#include "thread/shard.h"
#include "thread/thread.h"
#include "watch.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "store/store.h"

#include <stdlib.h>

#define EVENT_MEMORY_MAX ((size_t)64 << 20)

/* ---- the memory of large events ---------------------------------------------------------------------------------- */

/* Small ones are few, as a packet is, and texts are no longer than they. */
static size_t live_event_cost(const struct live_event *event)
{
    bool is_text = event->kind == RENGA__V1__RUN_EVENT_KIND__RUN_EVENT_KIND_TOKEN;
    return event->size > BUDGET_SMALL_MAX && !is_text ? event->size : 0;
}

bool packet_hold(struct packet *packet, const struct live_event *event, struct budget *answers, uint64_t owner)
{
    size_t cost = live_event_cost(event);
    packet->hold.owner = owner;
    return budget_take(answers, &packet->hold, cost, cost);
}

static void free_events(struct packet *packet, struct budget *answers)
{
    budget_give(answers, &packet->hold);
    while (packet->first) {
        struct live_event *event = packet->first;
        packet->first = event->next;
        free(event);
    }
    packet->last = NULL;
    packet->count = packet->bytes = 0;
}

/* ---- the watcher's side ------------------------------------------------------------------------------------------ */

static void tell_end(struct subscription *subscription)
{
    struct watcher *watcher = subscription->watcher;
    watcher->status = subscription->request.status;
    watcher->handoff_address = subscription->request.handoff_address;
    watcher->came(watcher, NULL);
}

static void subscription_deliver_event(struct watcher *watcher, const struct live_event *live)
{
    struct arena arena;
    struct status ignored;
    if (watcher->came_packed) {
        watcher->came_packed(watcher, live->bytes, live->size);
        return;
    }
    arena_init(&arena, NULL, 0, EVENT_MEMORY_MAX);
    const Renga__V1__RunEvent *event = message_read(&arena, &renga__v1__run_event__descriptor,
                                                    (struct store_bytes){live->bytes, live->size}, &ignored);
    if (event)
        watcher->came(watcher, event);
    arena_fini(&arena);
}

static void subscription_deliver(struct subscription *subscription)
{
    while (subscription->watcher && !subscription->paused && subscription->delivered.first) {
        struct live_event *live = subscription->delivered.first;
        subscription->delivered.first = live->next;
        /* The call takes it. */
        budget_give_part(subscription->answers, &subscription->delivered.hold, live_event_cost(live));
        subscription_deliver_event(subscription->watcher, live);
        free(live);
    }
    if (!subscription->watcher) { /* the shard has been told, and does not wait for the packet */
        free_events(&subscription->delivered, subscription->answers);
        return;
    }
    if (subscription->delivered.first || !subscription->has_packet)
        return;
    subscription->has_packet = false;
    bool end = subscription->delivered.end;
    if (end) {
        watcher_move(subscription, WATCHER_ENDED);
        tell_end(subscription);
    } else {
        loop_post(subscription->request.shard->loop, &subscription->acknowledged);
    }
}

static void packet_take(struct work *work)
{
    struct subscription *subscription = CONTAINER_OF(work, struct subscription, taking);
    bool is_new = !subscription->has_packet;
    if (is_new && subscription->watcher && packet_is_large(&subscription->delivered)) /* before it can leave */
        loop_post(subscription->request.shard->loop, &subscription->received);
    subscription->has_packet = true;
    subscription_deliver(subscription);
}

/* Packets of many watchers come at once: each is deferred, so that the loop is left between them. */
static void packet_came(struct work *work)
{
    struct subscription *subscription = CONTAINER_OF(work, struct subscription, coming);
    loop_defer(subscription->request.loop, &subscription->taking);
}

static void free_subscription(struct work *work)
{
    struct subscription *subscription = CONTAINER_OF(work, struct subscription, gone);
    loop_undefer(subscription->request.loop, &subscription->taking);
    free_events(&subscription->delivered, subscription->answers);
    free_events(&subscription->packet, subscription->answers);
    arena_fini(&subscription->arena);
    free(subscription);
}

/* ---- the shard's side -------------------------------------------------------------------------------------------- */

void subscription_send(struct subscription *subscription)
{
    if (subscription->full || subscription_has_left(subscription) ||
        (!subscription->packet.count && !subscription->packet.end))
        return;
    subscription->full = true;
    subscription->sent_ns = clock_now_ns();
    subscription->sent_large = subscription->unreceived = packet_is_large(&subscription->packet);
    subscription->delivered = subscription->packet;
    subscription->packet = (struct packet){0};
    loop_post(subscription->request.loop, &subscription->coming);
}

static void packet_received(struct work *work)
{
    subscription_received(CONTAINER_OF(work, struct subscription, received));
}

static void packet_taken(struct work *work)
{
    struct subscription *subscription = CONTAINER_OF(work, struct subscription, acknowledged);
    subscription->full = false;
    subscription->sent_ns = clock_now_ns();
    if (subscription_has_left(subscription))
        return;
    subscription_send(subscription);
    subscription_fill(subscription);
}

static void send_gone(struct subscription *subscription)
{
    struct thread *thread = subscription->thread;
    subscription_move(subscription, SUBSCRIPTION_LEFT);
    if (thread) {
        struct subscription **link = &thread->subscriptions;
        while (*link && *link != subscription)
            link = &(*link)->next;
        if (*link)
            *link = subscription->next;
        if (thread->live_pass.next == subscription)
            thread->live_pass.next = subscription->next;
        loop_disarm(thread->shard->loop, &subscription->heartbeat);
        loop_disarm(thread->shard->loop, &subscription->room_retry);
        budget_give(subscription->answers, &subscription->room);
        subscription_end_turn(subscription);
        if (subscription->agent)
            agent_release(thread->shard->runner->options.agents, subscription->agent);
    }
    subscription->thread = NULL;
    loop_post(subscription->request.loop, &subscription->gone);
    if (thread)
        thread_settle(thread);
}

/* The subscription is freed when its thread or page, if it awaits one, has come. */
void subscription_leave(struct subscription *subscription)
{
    if (subscription_may_move(subscription, SUBSCRIPTION_LEAVING))
        subscription_move(subscription, SUBSCRIPTION_LEAVING);
    else
        send_gone(subscription);
}

static void subscription_left(struct work *work)
{
    subscription_leave(CONTAINER_OF(work, struct subscription, leaving));
}

static void subscription_reap(struct work *work)
{
    send_gone(CONTAINER_OF(work, struct subscription, leaving));
}

/* ---- in and out -------------------------------------------------------------------------------------------------- */

/* It was refused: it has no subscription at the shard. */
static void subscription_refused(struct request *request)
{
    struct subscription *subscription = request->owner;
    watcher_move(subscription, WATCHER_REFUSED);
    if (subscription->watcher) {
        tell_end(subscription);
    } else if (request->shard) {
        subscription->leaving.run = subscription_reap;
        loop_post(request->shard->loop, &subscription->leaving);
    } else {
        free_subscription(&subscription->gone);
    }
}

struct request *subscription_open(struct watcher *watcher)
{
    struct subscription *subscription = xnonnull(calloc(1, sizeof *subscription));
    arena_init(&subscription->arena, subscription->storage, sizeof subscription->storage, EVENT_MEMORY_MAX);
    subscription->watcher = watcher;
    subscription->coming.run = packet_came;
    subscription->taking.run = packet_take;
    subscription->received.run = packet_received;
    subscription->acknowledged.run = packet_taken;
    subscription->leaving.run = subscription_left;
    subscription->gone.run = free_subscription;
    char *tenant = xnonnull(arena_strdup(&subscription->arena, watcher->tenant));
    const char *name = watcher->access.principal.name; /* of a call that may end before the shard serves this */
    const struct rpc_principal principal = {.name = name ? xnonnull(arena_strdup(&subscription->arena, name)) : NULL,
                                            .tenant = tenant};
    const ProtobufCMessage *message = xnonnull(message_copy(&subscription->arena, &watcher->request->base));
    subscription->request = (struct request){.loop = watcher->loop,
                                             .tenant = tenant,
                                             .access = {.auth = watcher->access.auth, .principal = principal},
                                             .message = message,
                                             .in_call = watcher->in_call,
                                             .arena = &subscription->arena,
                                             .answered = subscription_refused,
                                             .owner = subscription};
    watcher->subscription = subscription;
    return &subscription->request;
}

void runner_watch_pause(struct watcher *watcher)
{
    if (watcher->subscription)
        watcher->subscription->paused = true;
}

void runner_watch_resume(struct watcher *watcher)
{
    struct subscription *subscription = watcher->subscription;
    if (!subscription || !subscription->paused)
        return;
    subscription->paused = false;
    if (subscription->has_packet)
        loop_defer(subscription->request.loop, &subscription->taking);
}

void runner_unwatch(struct watcher *watcher)
{
    struct subscription *subscription = watcher->subscription;
    if (!subscription)
        return;
    watcher->subscription = NULL;
    subscription->watcher = NULL;
    bool refused = subscription->watcher_state == WATCHER_REFUSED;
    if (refused || !subscription->request.shard) {
        if (refused)
            loop_post(subscription->request.loop, &subscription->gone);
        return;
    }
    loop_post(subscription->request.shard->loop, &subscription->leaving);
}
