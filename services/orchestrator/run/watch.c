/* A watcher and its seat: packets of events go from the home of the thread to the watcher's loop, one at a time, and an
 * acknowledgement comes back when the last event of it was taken. */
#include "run_priv.h"

#include "base/clock.h"

#include <stdlib.h>

#define EVENT_MEMORY_MAX ((size_t)64 << 20)

static void free_events(struct packet *packet)
{
    while (packet->first) {
        struct live_event *event = packet->first;
        packet->first = event->next;
        free(event);
    }
    packet->last = NULL;
    packet->count = packet->bytes = 0;
}

/* ---- the watcher's side ------------------------------------------------------------------------------------------ */

static void tell_end(struct seat *seat)
{
    struct watcher *watcher = seat->watcher;
    if (seat->over || !watcher)
        return;
    seat->over = true;
    watcher->status = seat->delivered.status;
    watcher->elsewhere = seat->errand.elsewhere;
    watcher->came(watcher, NULL);
}

static void deliver(struct seat *seat)
{
    struct arena arena;
    struct status ignored;
    while (seat->watcher && !seat->paused && seat->delivered.first) {
        struct live_event *live = seat->delivered.first;
        seat->delivered.first = live->next;
        arena_init(&arena, NULL, 0, EVENT_MEMORY_MAX);
        const Renga__V1__RunEvent *event = message_read(&arena, &renga__v1__run_event__descriptor,
                                                        (struct store_bytes){live->bytes, live->size}, &ignored);
        if (event)
            seat->watcher->came(seat->watcher, event);
        arena_fini(&arena);
        free(live);
    }
    if (!seat->watcher) { /* the home has been told, and does not wait for the packet */
        free_events(&seat->delivered);
        return;
    }
    if (seat->delivered.first || !seat->has_packet)
        return;
    seat->has_packet = false;
    bool end = seat->delivered.end;
    if (end)
        tell_end(seat);
    else
        loop_post(seat->errand.home->loop, &seat->acknowledged);
}

static void packet_came(struct work *work)
{
    struct seat *seat = OWNER_OF(work, struct seat, coming);
    seat->has_packet = true;
    deliver(seat);
}

static void free_seat(struct work *work)
{
    struct seat *seat = OWNER_OF(work, struct seat, gone);
    free_events(&seat->delivered);
    free_events(&seat->packet);
    arena_fini(&seat->arena);
    free(seat);
}

/* ---- the home's side --------------------------------------------------------------------------------------------- */

void seat_send(struct seat *seat)
{
    if (seat->full || seat->left || (!seat->packet.count && !seat->packet.end))
        return;
    seat->full = true;
    seat->sent_ns = clock_now_ns();
    seat->delivered = seat->packet;
    seat->packet = (struct packet){0};
    loop_post(seat->errand.loop, &seat->coming);
}

static void packet_taken(struct work *work)
{
    struct seat *seat = OWNER_OF(work, struct seat, acknowledged);
    seat->full = false;
    seat->sent_ns = clock_now_ns();
    if (seat->left)
        return;
    seat_send(seat);
    if (!seat->live)
        seat_fill(seat);
}

static void send_gone(struct seat *seat)
{
    struct thread *thread = seat->thread;
    if (thread) {
        struct seat **link = &thread->seats;
        while (*link && *link != seat)
            link = &(*link)->next;
        if (*link)
            *link = seat->next;
        loop_disarm(thread->home->loop, &seat->heartbeat);
        if (seat->agent)
            agent_release(thread->home->runner->options.agents, seat->agent);
    }
    seat->thread = NULL;
    loop_post(seat->errand.loop, &seat->gone);
    if (thread)
        thread_settle(thread);
}

/* The seat is freed when nothing of it is under way any more. */
void seat_leave(struct seat *seat)
{
    seat->left = true;
    if (seat->thread && !seat->reading)
        send_gone(seat);
}

static void left(struct work *work)
{
    seat_leave(OWNER_OF(work, struct seat, leaving));
}

static void reap(struct work *work)
{
    send_gone(OWNER_OF(work, struct seat, leaving));
}

/* ---- in and out -------------------------------------------------------------------------------------------------- */

/* It was refused: it has no seat at the home. */
static void refused(struct errand *errand)
{
    struct seat *seat = errand->owner;
    seat->refused = true;
    seat->delivered.status = errand->status;
    if (seat->watcher) {
        tell_end(seat);
    } else if (errand->home) {
        seat->leaving.run = reap;
        loop_post(errand->home->loop, &seat->leaving);
    } else {
        free_seat(&seat->gone);
    }
}

void runner_watch(struct runner *runner, struct watcher *watcher)
{
    struct seat *seat = need(calloc(1, sizeof *seat));
    arena_init(&seat->arena, NULL, 0, EVENT_MEMORY_MAX);
    seat->watcher = watcher;
    seat->coming.run = packet_came;
    seat->acknowledged.run = packet_taken;
    seat->leaving.run = left;
    seat->gone.run = free_seat;
    char *tenant = need(arena_strdup(&seat->arena, watcher->tenant));
    const ProtobufCMessage *request = need(message_copy(&seat->arena, &watcher->request->base));
    seat->errand = (struct errand){.loop = watcher->loop,
                                   .tenant = tenant,
                                   .rights = watcher->rights,
                                   .request = request,
                                   .in_call = watcher->in_call,
                                   .arena = &seat->arena,
                                   .answered = refused,
                                   .owner = seat};
    watcher->seat = seat;
    runner_run(runner, &seat->errand);
}

void runner_watch_pause(struct watcher *watcher)
{
    if (watcher->seat)
        watcher->seat->paused = true;
}

void runner_watch_resume(struct watcher *watcher)
{
    struct seat *seat = watcher->seat;
    if (!seat || !seat->paused)
        return;
    seat->paused = false;
    if (seat->has_packet)
        loop_post(seat->errand.loop, &seat->coming);
}

void runner_unwatch(struct watcher *watcher)
{
    struct seat *seat = watcher->seat;
    if (!seat)
        return;
    watcher->seat = NULL;
    seat->watcher = NULL;
    if (seat->refused || !seat->errand.home) {
        if (seat->refused)
            loop_post(seat->errand.loop, &seat->gone);
        return;
    }
    loop_post(seat->errand.home->loop, &seat->leaving);
}
