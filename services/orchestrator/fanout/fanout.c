#include "fanout_priv.h"

#include "base/log.h"
#include "base/memory.h"
#include "cluster/membership.h"
#include "rpc/call.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_MAX       64
#define DATAGRAM_MESSAGES 4 /* of the largest, that a datagram within the process has room for */

/* ---- datagrams -----------------------------------------------------------------------------------------------------
 */

static void address_of(const struct fanout *fanout, unsigned index, char address[ADDRESS_MAX])
{
    snprintf(address, ADDRESS_MAX, "inproc://renga.fanout.%u.%u", fanout->serial, index);
}

static void fanout_stamp(void *data, uint32_t number, uint8_t *header)
{
    const struct fanout_endpoint *endpoint = data;
    uint32_t sender = endpoint->index;
    memcpy(header, &sender, sizeof sender);
}

static struct mail_connection *connection_to(struct peer *peer)
{
    char address[ADDRESS_MAX];
    struct status st = {0};
    struct fanout_endpoint *endpoint = peer->endpoint;
    if (peer->remote && !remote_peer_is_open(peer))
        return NULL;
    if (peer->connection)
        return peer->connection;
    address_of(endpoint->fanout, peer->index, address);
    struct mail_connection_options options = {.address = address,
                                              .datagram_max = endpoint->fanout->datagram_max,
                                              .header_size = sizeof(uint32_t),
                                              .stamp = fanout_stamp,
                                              .data = endpoint};
    peer->connection = mail_connection_open(endpoint->loop, &options, &st);
    if (!peer->connection)
        log_error("fanout.connection", "loop %u cannot write to loop %u: %s", endpoint->index, peer->index, st.text);
    return peer->connection;
}

bool peer_write(struct peer *peer, FanoutMessage *message)
{
    struct fanout_endpoint *endpoint = peer->endpoint;
    struct mail_connection *connection = endpoint->joined ? connection_to(peer) : NULL;
    if (!connection)
        return false;
    message->hands = worker_slots(peer);
    size_t size = renga__v1__fanout_message__get_packed_size(message);
    uint8_t *bytes =
        size <= endpoint->fanout->options.message_max + ENVELOPE_MAX ? mail_connection_reserve(connection, size) : NULL;
    if (!bytes) {
        worker_unoffer(peer, message->hands);
        return false;
    }
    renga__v1__fanout_message__pack(message, bytes);
    peer->wrote_since_heartbeat = true;
    return true;
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

static bool fanout_read_message(struct peer *peer, const uint8_t *bytes, size_t size)
{
    struct fanout_endpoint *endpoint = peer->endpoint;
    struct arena *arena = &endpoint->spare->task.arena;
    ProtobufCAllocator allocator = rpc_arena_allocator(arena);
    FanoutMessage *message = renga__v1__fanout_message__unpack(&allocator, size, bytes);
    bool taken = false;
    if (message) {
        unsigned slots = message->hands < FANOUT_SLOTS ? message->hands : FANOUT_SLOTS;
        peer->asked = peer->asked + slots < FANOUT_SLOTS ? peer->asked + slots : FANOUT_SLOTS;
        taken = message_came(peer, message);
    }
    if (taken)
        endpoint->spare = remote_attempt_create();
    else
        arena_reset(arena);
    return message != NULL;
}

/* The message may have been the end of an attempt, so the session with a remote peer begins anew. */
static void fanout_unreadable(struct peer *peer, size_t size)
{
    char name[64];
    log_error("fanout.message", "a message of %zu bytes from %s cannot be read; dropped", size, peer_name(peer, name));
    if (peer->remote)
        remote_peer_broken(peer);
}

void peer_read(struct peer *peer, struct mail *mail)
{
    size_t size = 0;
    const uint8_t *bytes;
    peer->missed_heartbeats = 0;
    while (peer->endpoint->joined && (bytes = mail_next(mail, &size)))
        if (!fanout_read_message(peer, bytes, size)) {
            fanout_unreadable(peer, size);
            return;
        }
    if (peer->endpoint->joined && size)
        fanout_unreadable(peer, size);
}

static void fanout_received(void *data, struct mail *mail)
{
    uint32_t sender;
    struct fanout_endpoint *endpoint = data;
    const uint8_t *header = mail_take(mail, sizeof sender);
    if (header) {
        memcpy(&sender, header, sizeof sender);
        if (sender < endpoint->fanout->options.loop_count && sender != endpoint->index)
            peer_read(&endpoint->peers[sender], mail);
    }
    mail_free(mail);
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------- */

void fanout_endpoint_note(struct fanout_endpoint *endpoint, enum fanout_metric what, int64_t n)
{
    runner_metrics_fanout(endpoint->fanout->options.runner_metrics, endpoint->loop, what, n);
}

static void show_waiting(struct fanout_endpoint *endpoint)
{
    int64_t waiting = 0;
    for (unsigned i = 0; i < endpoint->peer_count; i++)
        waiting += endpoint->peers[i].connection ? (int64_t)mail_connection_waiting(endpoint->peers[i].connection) : 0;
    fanout_endpoint_note(endpoint, FANOUT_WAITING, waiting - endpoint->waiting_reported);
    endpoint->waiting_reported = waiting;
}

static void fanout_look_at(struct peer *peer)
{
    char why[64];
    peer->barred -= peer->barred > 0;
    if (peer->remote_attempts && !peer->wrote_since_heartbeat) {
        FanoutMessage alive = RENGA__V1__FANOUT_MESSAGE__INIT;
        peer_write(peer, &alive);
    }
    peer->wrote_since_heartbeat = false;
    if (peer->dispatched && peer->missed_heartbeats < MISSED_HEARTBEATS_MAX &&
        ++peer->missed_heartbeats == MISSED_HEARTBEATS_MAX) {
        snprintf(why, sizeof why, "has shown no life for %d ms", FANOUT_PEER_TIMEOUT_MS);
        owner_take_over(peer, why);
    }
}

static void fanout_heartbeat(struct timer *timer)
{
    struct fanout_endpoint *endpoint = CONTAINER_OF(timer, struct fanout_endpoint, heartbeat);
    for (unsigned i = 0; i < endpoint->fanout->options.loop_count; i++)
        fanout_look_at(&endpoint->peers[i]);
    if (endpoint->membership)
        remote_peer_look(endpoint);
    show_waiting(endpoint);
    if (endpoint->membership || endpoint->dispatched || endpoint->remote_attempts || endpoint->waiting_reported)
        loop_arm_after(endpoint->loop, timer, FANOUT_HEARTBEAT_MS);
}

void fanout_endpoint_wake(struct fanout_endpoint *endpoint)
{
    endpoint->heartbeat.expired = fanout_heartbeat;
    if (!endpoint->heartbeat.place)
        loop_arm_after(endpoint->loop, &endpoint->heartbeat, FANOUT_HEARTBEAT_MS);
}

void fanout_local_attempts(struct fanout *fanout, struct loop *loop, int change)
{
    if (!fanout)
        return;
    struct fanout_endpoint *endpoint = &fanout->endpoints[loop_index(loop)];
    endpoint->local_attempts += (unsigned)change;
    if (change < 0 && endpoint->joined)
        worker_offer(endpoint, false);
}

unsigned fanout_dispatched(const struct fanout *fanout)
{
    return fanout ? atomic_load_explicit(&fanout->dispatched, memory_order_acquire) +
                        atomic_load_explicit(&fanout->remote_attempts, memory_order_acquire)
                  : 0;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool fanout_endpoint_open(struct fanout *fanout, unsigned index, struct status *st)
{
    char address[ADDRESS_MAX];
    struct fanout_endpoint *endpoint = &fanout->endpoints[index];
    unsigned count = fanout->options.loop_count;
    unsigned neighbours = count - 1 < NEIGHBOURS_MAX ? count - 1 : NEIGHBOURS_MAX;
    assert(loop_index(fanout->options.loops[index]) == index);
    endpoint->fanout = fanout;
    endpoint->loop = fanout->options.loops[index];
    endpoint->index = index;
    endpoint->share = neighbours ? FANOUT_SLOTS / neighbours : 0;
    endpoint->spare = remote_attempt_create();
    endpoint->peer_count = count + (fanout->listener ? REMOTE_PEERS_MAX : 0);
    endpoint->peers = xcalloc(endpoint->peer_count, sizeof *endpoint->peers);
    if (fanout->listener)
        remote_peer_open(endpoint);
    for (unsigned i = 0; i < endpoint->peer_count; i++)
        endpoint->peers[i] = (struct peer){.endpoint = endpoint, .index = i};
    for (unsigned i = 1; i <= neighbours; i++)
        endpoint->peers[(index + i) % count].neighbour = true;
    address_of(fanout, index, address);
    endpoint->mailbox = mailbox_open(address, NULL, fanout->datagram_max, st);
    return endpoint->mailbox != NULL;
}

struct fanout *fanout_create(const struct fanout_options *options, struct status *st)
{
    static atomic_uint serial;
    struct fanout *fanout = xcalloc(1, sizeof *fanout);
    struct fanout_endpoint *endpoints = xcalloc(options->loop_count, sizeof *endpoints);
    fanout->options = *options;
    fanout->endpoints = endpoints;
    fanout->serial = atomic_fetch_add(&serial, 1);
    fanout->datagram_max = DATAGRAM_MESSAGES * (options->message_max + ENVELOPE_MAX);
    fanout->remote_datagram_max =
        options->message_max + 2 * ENVELOPE_MAX; /* the second for the datagram's own header */
    if (options->listen && !fanout_listener_open(fanout, st)) {
        free(endpoints);
        free(fanout);
        return NULL;
    }
    for (unsigned i = 0; i < options->loop_count; i++) {
        if (!fanout_endpoint_open(fanout, i, st)) {
            fanout_destroy(&fanout);
            return NULL;
        }
    }
    return fanout;
}

bool fanout_join(struct fanout *fanout, struct loop *loop, struct status *st)
{
    struct fanout_endpoint *endpoint = &fanout->endpoints[loop_index(loop)];
    if (!mailbox_attach(endpoint->mailbox, loop, fanout_received, endpoint))
        return fail(st, RESOURCE_EXHAUSTED, "the mailbox of loop %u cannot be watched", endpoint->index);
    if (endpoint->index == 0 && !fanout_listener_attend(endpoint))
        return fail(st, RESOURCE_EXHAUSTED, "the mailbox of other orchestrators cannot be watched");
    endpoint->joined = true;
    worker_offer(endpoint, true);
    return true;
}

void fanout_start_sharing(struct fanout *fanout, struct loop *loop, struct membership *membership)
{
    struct fanout_endpoint *endpoint = &fanout->endpoints[loop_index(loop)];
    if (!fanout->listener || !membership)
        return;
    endpoint->membership = membership;
    snprintf(endpoint->self, sizeof endpoint->self, "%s", membership_self(membership));
    fanout_endpoint_wake(endpoint);
}

void fanout_drain(struct fanout *fanout)
{
    if (fanout)
        atomic_store(&fanout->draining, true);
}

void fanout_abandon(struct fanout *fanout, struct loop *loop)
{
    if (fanout && fanout->listener)
        remote_peer_abandon(&fanout->endpoints[loop_index(loop)]);
}

void fanout_stop_sharing(struct fanout *fanout)
{
    for (unsigned i = 0; fanout && fanout->listener && i < fanout->options.loop_count; i++) {
        loop_enter(fanout->endpoints[i].loop);
        fanout->endpoints[i].membership = NULL;
        loop_leave(fanout->endpoints[i].loop);
    }
}

static void fanout_endpoint_close(struct fanout_endpoint *endpoint)
{
    struct loop *loop = endpoint->loop;
    if (!endpoint->peers)
        return;
    loop_enter(loop);
    endpoint->joined = false;
    loop_disarm(loop, &endpoint->heartbeat);
    mailbox_leave(&endpoint->mailbox);
    for (unsigned i = 0; i < endpoint->peer_count; i++)
        worker_abandon(&endpoint->peers[i]);
    documents_drop(endpoint);
    for (unsigned i = 0; i < endpoint->fanout->options.loop_count; i++)
        mail_connection_close(&endpoint->peers[i].connection);
    if (endpoint->inbox)
        remote_peer_close(endpoint);
    remote_attempt_destroy(&endpoint->spare);
    loop_leave(loop);
}

static void fanout_endpoint_free(struct fanout_endpoint *endpoint)
{
    remote_peer_free(endpoint);
    free(endpoint->peers);
    free(endpoint->places);
    free(endpoint->uses);
    free(endpoint->free_places);
}

void fanout_destroy(struct fanout **fanout_pointer)
{
    struct fanout *fanout = *fanout_pointer;
    if (!fanout)
        return;
    *fanout_pointer = NULL;
    fanout_listener_close(fanout);
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        fanout_endpoint_close(&fanout->endpoints[i]);
    unsigned remote_attempts = atomic_load(&fanout->remote_attempts);
    if (remote_attempts) {
        log_warn("fanout.remote_attempts", "%u attempts have not ended after they were cancelled", remote_attempts);
        return; /* their ends still come here */
    }
    for (unsigned i = 0; i < fanout->options.loop_count; i++)
        fanout_endpoint_free(&fanout->endpoints[i]);
    free(fanout->listener);
    free(fanout->endpoints);
    free(fanout);
}
