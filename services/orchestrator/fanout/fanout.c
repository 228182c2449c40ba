#include "fanout_priv.h"

#include "base/log.h"
#include "run/members.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_MAX     64
#define LETTER_MESSAGES 4 /* of the largest, that a letter within the process has room for */

/* ---- letters ----------------------------------------------------------------------------------------------------- */

static void address_of(const struct fanout *fanout, unsigned index, char address[ADDRESS_MAX])
{
    snprintf(address, ADDRESS_MAX, "inproc://renga.fanout.%u.%u", fanout->serial, index);
}

static void stamp(void *data, uint32_t number, uint8_t *head)
{
    const struct station *station = data;
    uint32_t sender = station->index;
    memcpy(head, &sender, sizeof sender);
}

static struct line *line_to(struct peer *peer)
{
    char address[ADDRESS_MAX];
    struct status st = {0};
    struct station *station = peer->station;
    if (peer->far && !far_is_open(peer))
        return NULL;
    if (peer->line)
        return peer->line;
    address_of(station->fanout, peer->index, address);
    struct line_options options = {.address = address,
                                   .letter_max = station->fanout->letter_max,
                                   .head_size = sizeof(uint32_t),
                                   .stamp = stamp,
                                   .data = station};
    peer->line = line_open(station->loop, &options, &st);
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

static bool read_message(struct peer *peer, const uint8_t *bytes, size_t size)
{
    struct station *station = peer->station;
    struct arena *arena = &station->spare->task.arena;
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = arena};
    FanoutMessage *message = renga__v1__fanout_message__unpack(&allocator, size, bytes);
    bool taken = false;
    if (message) {
        unsigned hands = message->hands < FANOUT_HANDS ? message->hands : FANOUT_HANDS;
        peer->asked = peer->asked + hands < FANOUT_HANDS ? peer->asked + hands : FANOUT_HANDS;
        taken = message_came(peer, message);
    }
    if (taken)
        station->spare = guest_create();
    else
        arena_reset(arena);
    return message != NULL;
}

/* It may have been the end of an attempt, so from far nothing holds any more. */
static void unreadable(struct peer *peer, size_t size)
{
    char name[64];
    log_error("fanout.message", "a message of %zu bytes from %s cannot be read; dropped", size, peer_name(peer, name));
    if (peer->far)
        far_broken(peer);
}

void peer_read(struct peer *peer, struct mail *mail)
{
    size_t size = 0;
    const uint8_t *bytes;
    peer->silent = 0;
    while (peer->station->joined && (bytes = mail_next(mail, &size)))
        if (!read_message(peer, bytes, size)) {
            unreadable(peer, size);
            return;
        }
    if (peer->station->joined && size)
        unreadable(peer, size);
}

static void received(void *data, struct mail *mail)
{
    uint32_t sender;
    struct station *station = data;
    const uint8_t *head = mail_take(mail, sizeof sender);
    if (head) {
        memcpy(&sender, head, sizeof sender);
        if (sender < station->fanout->options.loop_count && sender != station->index)
            peer_read(&station->peers[sender], mail);
    }
    mail_free(mail);
}

/* ---- the beat ---------------------------------------------------------------------------------------------------- */

void station_note(struct station *station, enum tally_fanout what, int64_t n)
{
    tally_fanout(station->fanout->options.tally, station->loop, what, n);
}

static void show_waiting(struct station *station)
{
    int64_t waiting = 0;
    for (unsigned i = 0; i < station->peer_count; i++)
        waiting += station->peers[i].line ? (int64_t)line_waiting(station->peers[i].line) : 0;
    station_note(station, FANOUT_WAITING, waiting - station->waiting_shown);
    station->waiting_shown = waiting;
}

static void look_at(struct peer *peer)
{
    char why[64];
    peer->barred -= peer->barred > 0;
    if (peer->guests && !peer->spoken) {
        FanoutMessage alive = RENGA__V1__FANOUT_MESSAGE__INIT;
        peer_write(peer, &alive);
    }
    peer->spoken = false;
    if (peer->away && peer->silent < SILENT_BEATS_MAX && ++peer->silent == SILENT_BEATS_MAX) {
        snprintf(why, sizeof why, "has shown no life for %d ms", FANOUT_SILENCE_MS);
        owner_take_over(peer, why);
    }
}

static void beat(struct timer *timer)
{
    struct station *station = OWNER_OF(timer, struct station, beat);
    for (unsigned i = 0; i < station->fanout->options.loop_count; i++)
        look_at(&station->peers[i]);
    if (station->members)
        far_look(station);
    show_waiting(station);
    if (station->members || station->away || station->guests || station->waiting_shown)
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
    station->peer_count = count + (fanout->port ? FAR_PEERS_MAX : 0);
    station->peers = calloc(station->peer_count, sizeof *station->peers);
    if (!station->peers)
        fatal("orchestrator.memory", "no memory for %u loops", count);
    if (fanout->port)
        far_open(station);
    for (unsigned i = 0; i < station->peer_count; i++)
        station->peers[i] = (struct peer){.station = station, .index = i};
    for (unsigned i = 1; i <= neighbours; i++)
        station->peers[(index + i) % count].neighbour = true;
    address_of(fanout, index, address);
    station->mailbox = mailbox_open(address, NULL, fanout->letter_max, st);
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
    fanout->far_letter_max = options->message_max + 2 * ENVELOPE_MAX; /* the second for the letter's own head */
    if (options->listen && !port_open(fanout, st)) {
        free(stations);
        free(fanout);
        return NULL;
    }
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
    if (station->index == 0 && !port_attend(station))
        return fail(st, RESOURCE_EXHAUSTED, "the mail of other orchestrators cannot be watched");
    station->joined = true;
    worker_offer(station, true);
    return true;
}

void fanout_meet(struct fanout *fanout, struct loop *loop, struct members *members)
{
    struct station *station = &fanout->stations[loop_index(loop)];
    if (!fanout->port || !members)
        return;
    station->members = members;
    snprintf(station->self, sizeof station->self, "%s", members_self(members));
    station_wake(station);
}

void fanout_rest(struct fanout *fanout)
{
    if (fanout)
        atomic_store(&fanout->resting, true);
}

void fanout_abandon(struct fanout *fanout, struct loop *loop)
{
    if (fanout && fanout->port)
        far_abandon(&fanout->stations[loop_index(loop)]);
}

void fanout_part(struct fanout *fanout)
{
    for (unsigned i = 0; fanout && fanout->port && i < fanout->options.loop_count; i++) {
        loop_enter(fanout->stations[i].loop);
        fanout->stations[i].members = NULL;
        loop_leave(fanout->stations[i].loop);
    }
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
    for (unsigned i = 0; i < station->peer_count; i++)
        worker_abandon(&station->peers[i]);
    documents_drop(station);
    for (unsigned i = 0; i < station->fanout->options.loop_count; i++)
        line_close(&station->peers[i].line);
    if (station->inbox)
        far_close(station);
    guest_destroy(&station->spare);
    loop_leave(loop);
}

static void station_free(struct station *station)
{
    far_free(station);
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
    port_close(fanout);
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        station_close(&fanout->stations[i]);
    unsigned guests = atomic_load(&fanout->guests);
    if (guests) {
        log_warn("fanout.guests", "%u attempts have not ended after they were cancelled", guests);
        return; /* their ends still come here */
    }
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        station_free(&fanout->stations[i]);
    free(fanout->port);
    free(fanout->stations);
    free(fanout);
}
