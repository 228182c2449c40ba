#include "fanout_priv.h"

#include "base/log.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_MAX     64
#define LETTER_MESSAGES 4 /* of the largest, that a letter has room for */

/* ---- letters ----------------------------------------------------------------------------------------------------- */

static void address_of(const struct fanout *fanout, unsigned index, char address[ADDRESS_MAX])
{
    snprintf(address, ADDRESS_MAX, "inproc://renga.fanout.%u.%u", fanout->serial, index);
}

static struct line *line_to(struct peer *peer)
{
    char address[ADDRESS_MAX];
    struct status st = {0};
    struct station *station = peer->station;
    if (peer->line)
        return peer->line;
    address_of(station->fanout, peer->index, address);
    peer->line = line_open(station->loop, address, station->index, station->fanout->letter_max, &st);
    if (!peer->line)
        log_error("fanout.line", "loop %u cannot write to loop %u: %s", station->index, peer->index, st.text);
    return peer->line;
}

bool peer_write(struct peer *peer, FanoutMessage *message)
{
    struct station *station = peer->station;
    struct line *line = station->joined ? line_to(peer) : NULL;
    if (!line)
        return false;
    message->hands = worker_hands(peer);
    size_t size = renga__v1__fanout_message__get_packed_size(message);
    uint8_t *bytes = size <= station->fanout->options.message_max + ENVELOPE_MAX ? line_reserve(line, size) : NULL;
    if (!bytes) {
        worker_unoffer(peer, message->hands);
        return false;
    }
    renga__v1__fanout_message__pack(message, bytes);
    peer->spoken = true;
    return true;
}

static void *allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void release(void *arena, void *bytes)
{
    (void)arena;
    (void)bytes;
}

static bool message_came(struct peer *peer, const FanoutMessage *message)
{
    switch (message->what_case) {
    case RENGA__V1__FANOUT_MESSAGE__WHAT_BEGIN:
    case RENGA__V1__FANOUT_MESSAGE__WHAT_CANCEL:
        return worker_received(peer, message);
    case RENGA__V1__FANOUT_MESSAGE__WHAT_EVENT:
    case RENGA__V1__FANOUT_MESSAGE__WHAT_FAILED:
        owner_received(peer, message);
        return false;
    default:
        return false;
    }
}

static void received(void *data, uint32_t sender, const uint8_t *bytes, size_t size)
{
    struct station *station = data;
    if (sender >= station->fanout->options.loop_count || sender == station->index)
        return;
    struct peer *peer = &station->peers[sender];
    struct arena *arena = &station->spare->task.arena;
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = arena};
    FanoutMessage *message = renga__v1__fanout_message__unpack(&allocator, size, bytes);
    bool taken = false;
    peer->silent = 0;
    if (message) {
        unsigned asked = peer->asked + message->hands;
        peer->asked = asked < FANOUT_HANDS ? asked : FANOUT_HANDS;
        taken = message_came(peer, message);
    } else {
        log_error("fanout.message", "a message of %zu bytes from loop %u cannot be read; dropped", size, sender);
    }
    if (taken)
        station->spare = guest_create();
    else
        arena_reset(arena);
}

/* ---- the beat ---------------------------------------------------------------------------------------------------- */

void station_note(struct station *station, enum tally_fanout what, int64_t n)
{
    tally_fanout(station->fanout->options.tally, station->loop, what, n);
}

static void show_waiting(struct station *station)
{
    int64_t waiting = 0;
    for (unsigned i = 0; i < station->fanout->options.loop_count; i++)
        waiting += station->peers[i].line ? (int64_t)line_waiting(station->peers[i].line) : 0;
    station_note(station, FANOUT_WAITING, waiting - station->waiting_shown);
    station->waiting_shown = waiting;
}

static void look_at(struct peer *peer)
{
    if (peer->guests && !peer->spoken) {
        FanoutMessage alive = RENGA__V1__FANOUT_MESSAGE__INIT;
        peer_write(peer, &alive);
    }
    peer->spoken = false;
    if (peer->away && peer->silent < SILENT_BEATS_MAX && ++peer->silent == SILENT_BEATS_MAX)
        owner_take_over(peer);
}

static void beat(struct timer *timer)
{
    struct station *station = (struct station *)((char *)timer - offsetof(struct station, beat));
    for (unsigned i = 0; i < station->fanout->options.loop_count; i++)
        look_at(&station->peers[i]);
    show_waiting(station);
    if (station->away || station->guests || station->waiting_shown)
        loop_arm_after(station->loop, timer, FANOUT_BEAT_MS);
}

void station_wake(struct station *station)
{
    station->beat.expired = beat;
    if (!station->beat.place)
        loop_arm_after(station->loop, &station->beat, FANOUT_BEAT_MS);
}

void fanout_at_home(struct fanout *fanout, struct loop *loop, int change)
{
    if (!fanout)
        return;
    struct station *station = &fanout->stations[loop_index(loop)];
    station->at_home += (unsigned)change;
    if (change < 0 && station->joined)
        worker_offer(station, false);
}

unsigned fanout_away(const struct fanout *fanout)
{
    return fanout ? atomic_load_explicit(&fanout->away, memory_order_acquire) +
                        atomic_load_explicit(&fanout->guests, memory_order_acquire)
                  : 0;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool station_open(struct fanout *fanout, unsigned index, struct status *st)
{
    char address[ADDRESS_MAX];
    struct station *station = &fanout->stations[index];
    unsigned count = fanout->options.loop_count;
    unsigned neighbours = count - 1 < NEIGHBOURS_MAX ? count - 1 : NEIGHBOURS_MAX;
    assert(loop_index(fanout->options.loops[index]) == index);
    station->fanout = fanout;
    station->loop = fanout->options.loops[index];
    station->index = index;
    station->share = neighbours ? FANOUT_HANDS / neighbours : 0;
    station->spare = guest_create();
    station->peers = calloc(count, sizeof *station->peers);
    if (!station->peers)
        fatal("orchestrator.memory", "no memory for %u loops", count);
    for (unsigned i = 0; i < count; i++)
        station->peers[i] = (struct peer){.station = station, .index = i};
    for (unsigned i = 1; i <= neighbours; i++)
        station->peers[(index + i) % count].neighbour = true;
    address_of(fanout, index, address);
    station->mailbox = mailbox_open(address, fanout->letter_max, st);
    return station->mailbox != NULL;
}

struct fanout *fanout_create(const struct fanout_options *options, struct status *st)
{
    static atomic_uint serial;
    struct fanout *fanout = calloc(1, sizeof *fanout);
    struct station *stations = calloc(options->loop_count, sizeof *stations);
    if (!fanout || !stations)
        fatal("orchestrator.memory", "no memory for a fan-out");
    fanout->options = *options;
    fanout->stations = stations;
    fanout->serial = atomic_fetch_add(&serial, 1);
    fanout->letter_max = LETTER_MESSAGES * (options->message_max + ENVELOPE_MAX);
    for (unsigned i = 0; i < options->loop_count; i++) {
        if (!station_open(fanout, i, st)) {
            fanout_destroy(&fanout);
            return NULL;
        }
    }
    return fanout;
}

bool fanout_join(struct fanout *fanout, struct loop *loop, struct status *st)
{
    struct station *station = &fanout->stations[loop_index(loop)];
    if (!mailbox_attend(station->mailbox, loop, received, station))
        return fail(st, RESOURCE_EXHAUSTED, "the mail of loop %u cannot be watched", station->index);
    station->joined = true;
    worker_offer(station, true);
    return true;
}

static void station_close(struct station *station)
{
    struct loop *loop = station->loop;
    if (!station->peers)
        return;
    loop_enter(loop);
    station->joined = false;
    loop_disarm(loop, &station->beat);
    mailbox_leave(&station->mailbox);
    for (unsigned i = 0; i < station->fanout->options.loop_count; i++)
        line_close(&station->peers[i].line);
    guest_destroy(&station->spare);
    loop_leave(loop);
}

static void station_free(struct station *station)
{
    free(station->peers);
    free(station->places);
    free(station->uses);
    free(station->free_places);
}

void fanout_destroy(struct fanout **fanout_pointer)
{
    struct fanout *fanout = *fanout_pointer;
    if (!fanout)
        return;
    *fanout_pointer = NULL;
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        station_close(&fanout->stations[i]);
    unsigned guests = atomic_load(&fanout->guests);
    if (guests) {
        log_warn("fanout.guests", "%u attempts have not ended after they were cancelled", guests);
        return; /* their ends still come here */
    }
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        station_free(&fanout->stations[i]);
    free(fanout->stations);
    free(fanout);
}
