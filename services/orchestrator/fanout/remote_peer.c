/* Loops of other orchestrators as peers. Datagrams over a network get lost when a connection breaks, and their writer
 * may have died or frozen. So each side numbers its sessions in increasing order, and begins a new session when it
 * misses a datagram or has received no datagram for too long. A datagram has its writer's session number, and the
 * reader's as the writer knows it:
 *
 *      no session ---> hello (1, 0) ... (1, 1) ---> up ---- a missing datagram, a timeout, a new session ---.
 *                           ^                                                                             |
 *                           '---- the shared state of both sides ends: attempts are taken over, <---------'
 *                                 remote attempts cancelled, slots offered anew
 *
 * Datagrams of another session than the present are dropped, so both sides have the same view. An idle side sends an
 * empty datagram four times a second. */
#include "remote_peer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cluster/membership.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_LINKED   16 /* about this many others that an orchestrator shares with */
#define FAILURES_COUNTED 8  /* of opening a connection: each doubles the pause, up to a minute */

const char *peer_name(const struct peer *peer, char name[64])
{
    if (peer->remote)
        snprintf(name, 64, "orchestrator %s", peer->remote->member);
    else
        snprintf(name, 64, "loop %u", peer->index);
    return name;
}

bool remote_peer_is_open(const struct peer *peer)
{
    return peer->remote->up;
}

bool remote_peer_is_pair(unsigned loop, unsigned count, unsigned their_loop, unsigned their_count)
{
    unsigned fewer = count < their_count ? count : their_count;
    return loop % fewer == their_loop % fewer;
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

/* A peer without a session gives no attempts: the slots are for the others. */
static void share_out(struct fanout_endpoint *endpoint)
{
    unsigned up = 0;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        up += endpoint->peers[i].remote && endpoint->peers[i].remote->up;
    endpoint->remote_share = up ? FANOUT_SLOTS / up + (FANOUT_SLOTS < up) : 0;
    endpoint->remote_offered = 0;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        endpoint->remote_offered += worker_offered(&endpoint->peers[i]);
}

static void sessions_changed(struct peer *peer)
{
    peer->remote->read = 0;
    mail_connection_clear(peer->connection);
}

/* Ends all shared state of both sides. */
static void remote_peer_settle(struct peer *peer, const char *why)
{
    struct fanout_endpoint *endpoint = peer->endpoint;
    char name[64];
    if (!peer->remote->up)
        return;
    log_warn("fanout.broken", "%s %s; %u attempts there are begun anew, %u of its own here are cancelled",
             peer_name(peer, name), why, peer->dispatched, peer->remote_attempts);
    peer->remote->up = false;
    peer->asked = 0;
    peer->offered = 0;
    share_out(endpoint);
    fanout_endpoint_note(endpoint, FANOUT_LINKS, -1);
    fanout_endpoint_note(endpoint, FANOUT_BROKEN, 1);
    worker_abandon(peer);
    owner_take_over(peer, why);
}

static void remote_peer_begin_anew(struct peer *peer, const char *why)
{
    peer->remote->mine = ++peer->endpoint->sessions;
    sessions_changed(peer);
    remote_peer_settle(peer, why);
}

void remote_peer_broken(struct peer *peer)
{
    remote_peer_begin_anew(peer, "has written what cannot be read");
}

/* After so long a pause, the others may have declared this loop dead, and begun its attempts anew elsewhere.
 */
static bool stood_still(struct fanout_endpoint *endpoint)
{
    int64_t before_ns = endpoint->seen_ns, missed_ns = (MISSED_HEARTBEATS_MAX - 2) * FANOUT_HEARTBEAT_MS * NS_PER_MS;
    int64_t patience_ns = membership_patience_ns(endpoint->membership);
    endpoint->seen_ns = clock_now_ns();
    return before_ns && endpoint->seen_ns - before_ns > (patience_ns < missed_ns ? patience_ns : missed_ns);
}

static void check_own_standstill(struct fanout_endpoint *endpoint)
{
    if (!endpoint->membership || !stood_still(endpoint))
        return;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        if (endpoint->peers[i].remote && endpoint->peers[i].remote->up)
            remote_peer_begin_anew(&endpoint->peers[i], "may have given up this loop, which stood still");
}

static void now_up(struct peer *peer)
{
    char name[64];
    peer->remote->up = true;
    share_out(peer->endpoint);
    fanout_endpoint_note(peer->endpoint, FANOUT_LINKS, 1);
    log_info("fanout.link", "loop %u shares with loop %u of %s", peer->endpoint->index, peer->remote->loop,
             peer_name(peer, name));
    worker_offer_to(peer);
}

static void they_began_anew(struct peer *peer, uint32_t session)
{
    peer->remote->theirs = session;
    sessions_changed(peer);
    remote_peer_settle(peer, "has begun anew");
}

static struct peer *remote_peer_find(struct fanout_endpoint *endpoint, const char *member, uint32_t loop)
{
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++) {
        struct peer *peer = &endpoint->peers[i];
        if (peer->remote && peer->remote->loop == loop && strcmp(peer->remote->member, member) == 0)
            return peer;
    }
    return NULL;
}

void remote_peer_received(struct fanout_endpoint *endpoint, const struct datagram_header *header, struct mail *mail)
{
    check_own_standstill(endpoint); /* before a datagram is read that may be as old as that */
    struct peer *peer = endpoint->joined ? remote_peer_find(endpoint, header->member, header->from) : NULL;
    struct remote_peer *remote = peer ? peer->remote : NULL;
    if (!remote || header->mine < remote->theirs) /* an unknown peer will send it again */
        return;
    if (header->mine > remote->theirs)
        they_began_anew(peer, header->mine);
    peer->missed_heartbeats = 0;
    if (header->theirs != remote->mine)
        return;
    if (header->number != remote->read) {
        remote_peer_begin_anew(peer, "has written what did not arrive");
        return;
    }
    remote->read++;
    if (!remote->up)
        now_up(peer);
    peer_read(peer, mail);
}

/* ---- datagrams that go ---------------------------------------------------------------------------------------------
 */

static void remote_peer_stamp(void *data, uint32_t number, uint8_t *bytes)
{
    const struct route *route = data;
    const struct fanout_endpoint *endpoint = route->peer->endpoint;
    const struct remote_peer *remote = route->peer->remote;
    struct datagram_header header = {.mark = FANOUT_WIRE_MARK,
                                     .from = endpoint->index,
                                     .to = remote->loop,
                                     .mine = remote->mine,
                                     .theirs = remote->theirs,
                                     .number = number};
    memcpy(header.token, remote->token, TOKEN_SIZE);
    memcpy(header.member, endpoint->self, sizeof header.member);
    memcpy(bytes, &header, sizeof header);
}

/* A file of certificates may be mended meanwhile; a single log line is enough. */
static void open_route(struct fanout_endpoint *endpoint, struct route *route)
{
    const struct fanout *fanout = endpoint->fanout;
    struct status st = {0};
    struct mail_connection_options options = {.address = route->address,
                                              .tls = fanout->options.client,
                                              .datagram_max = fanout->remote_datagram_max,
                                              .header_size = sizeof(struct datagram_header),
                                              .stamp = remote_peer_stamp,
                                              .data = route};
    if (route->rest) {
        route->rest--;
        return;
    }
    route->connection = mail_connection_open(endpoint->loop, &options, &st);
    if (route->connection)
        return;
    if (!route->failures)
        log_error("fanout.connection", "loop %u cannot write to %s: %s; tried again now and then", endpoint->index,
                  route->address, st.text);
    route->rest = (1U << route->failures) - 1;
    route->failures += route->failures < FAILURES_COUNTED;
}

static struct route *find_route(struct fanout_endpoint *endpoint, const char *address)
{
    for (unsigned i = 0; i < endpoint->route_count; i++)
        if (!endpoint->routes[i].peer && strcmp(endpoint->routes[i].address, address) == 0)
            return &endpoint->routes[i];
    if (endpoint->route_count == ROUTES_MAX)
        return NULL;
    struct route *route = &endpoint->routes[endpoint->route_count];
    snprintf(route->address, sizeof route->address, "%s", address);
    if (++endpoint->route_count == ROUTES_MAX)
        log_warn("fanout.routes", "loop %u has written to %d addresses; it shares with no new ones until a restart",
                 endpoint->index, ROUTES_MAX);
    return route;
}

/* NULL: there have been too many, or it cannot be opened now. */
static struct route *remote_peer_route_to(struct fanout_endpoint *endpoint, const char *address)
{
    struct route *route = find_route(endpoint, address);
    if (route && !route->connection)
        open_route(endpoint, route);
    return route && route->connection ? route : NULL;
}

/* ---- the members ------------------------------------------------------------------------------------------------- */

/* Adds a peer if there is room, and a connection to it. */
static void remote_peer_add(struct fanout_endpoint *endpoint, const struct fanout_member *fanout_member, uint32_t loop)
{
    struct peer *peer = NULL;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count && !peer; i++)
        if (!endpoint->peers[i].remote && !endpoint->peers[i].remote_attempts)
            peer = &endpoint->peers[i];
    struct route *route = peer ? remote_peer_route_to(endpoint, fanout_member->address) : NULL;
    struct remote_peer *remote = route ? calloc(1, sizeof *remote) : NULL;
    if (!remote)
        return;
    snprintf(remote->member, sizeof remote->member, "%s", fanout_member->id);
    memcpy(remote->token, fanout_member->token, TOKEN_SIZE);
    remote->loop = loop;
    remote->mine = ++endpoint->sessions; /* more than when it was taken for dead by mistake */
    remote->living = remote->chosen = true;
    remote->route = route;
    route->peer = peer;
    *peer = (struct peer){.endpoint = endpoint,
                          .index = peer->index,
                          .remote = remote,
                          .connection = route->connection,
                          .neighbour = true};
    mail_connection_clear(peer->connection);
}

static void drop_peer(struct peer *peer, const char *why)
{
    remote_peer_settle(peer, why);
    mail_connection_clear(peer->connection);
    peer->remote->route->peer = NULL;
    free(peer->remote);
    peer->remote = NULL;
    peer->connection = NULL;
    peer->neighbour = false;
}

struct census {
    struct fanout_endpoint *endpoint;
    unsigned count, unequal;
    struct fanout_member chosen[2 * MEMBERS_LINKED];
    unsigned chosen_count;
};

static void remote_peer_count(const struct fanout_member *fanout_member, void *data)
{
    ((struct census *)data)->count++;
}

/* Of many, each two agree on whether they share; as the number grows, few change their mind. */
static bool is_chosen(const struct census *census, const struct fanout_member *fanout_member)
{
    uint64_t pair = id_hash_text(ID_HASH, census->endpoint->self) ^ id_hash_text(ID_HASH, fanout_member->id);
    return (id_hash_number(ID_HASH, pair) >> 32) * census->count >> 32 < MEMBERS_LINKED;
}

static void remote_peer_note(const struct fanout_member *fanout_member, void *data)
{
    struct census *census = data;
    struct fanout_endpoint *endpoint = census->endpoint;
    bool equal = fanout_member->version == FANOUT_WIRE_VERSION &&
                 fanout_member->datagram_max == endpoint->fanout->remote_datagram_max;
    bool chosen = equal && is_chosen(census, fanout_member);
    census->unequal += !equal;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++) {
        struct remote_peer *remote = endpoint->peers[i].remote;
        if (remote && strcmp(remote->member, fanout_member->id) == 0) {
            remote->living = true;
            remote->chosen = chosen;
        }
    }
    if (chosen && census->chosen_count < 2 * MEMBERS_LINKED)
        census->chosen[census->chosen_count++] = *fanout_member;
}

static void remote_peer_add_missing(struct fanout_endpoint *endpoint, const struct fanout_member *fanout_member)
{
    unsigned own = endpoint->fanout->options.loop_count;
    for (uint32_t loop = 0; loop < fanout_member->loops; loop++)
        if (remote_peer_is_pair(endpoint->index, own, loop, fanout_member->loops) &&
            !remote_peer_find(endpoint, fanout_member->id, loop))
            remote_peer_add(endpoint, fanout_member, loop);
}

/* Removes dead peers at once, and peers that are not chosen any more when no attempt between the two is left. */
static void drop_gone_peers(struct fanout_endpoint *endpoint)
{
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++) {
        struct peer *peer = &endpoint->peers[i];
        if (peer->remote && !peer->remote->living)
            drop_peer(peer, "is gone");
        else if (peer->remote && !peer->remote->chosen && !peer->dispatched && !peer->remote_attempts)
            drop_peer(peer, "is not shared with any more");
    }
}

static void warn_of_unequal(struct fanout_endpoint *endpoint, unsigned unequal)
{
    if (unequal > endpoint->unequal && endpoint->index == 0)
        log_warn("fanout.unequal",
                 "orchestrators that are not shared with, since their rpc.message_max or version of datagrams is "
                 "another: %u",
                 unequal);
    endpoint->unequal = unequal;
}

static void who_is_there(struct fanout_endpoint *endpoint)
{
    struct census census = {.endpoint = endpoint};
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        if (endpoint->peers[i].remote)
            endpoint->peers[i].remote->living = endpoint->peers[i].remote->chosen = false;
    membership_each_fanout_member(endpoint->membership, remote_peer_count, &census);
    membership_each_fanout_member(endpoint->membership, remote_peer_note, &census);
    for (unsigned i = 0; i < census.chosen_count; i++)
        remote_peer_add_missing(endpoint, &census.chosen[i]);
    drop_gone_peers(endpoint);
    warn_of_unequal(endpoint, census.unequal);
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------- */

static void say_hello(struct peer *peer)
{
    Renga__V1__FanoutMessage hello = RENGA__V1__FANOUT_MESSAGE__INIT;
    size_t size = renga__v1__fanout_message__get_packed_size(&hello);
    uint8_t *bytes = mail_connection_waiting(peer->connection) ? NULL : mail_connection_reserve(peer->connection, size);
    if (bytes)
        renga__v1__fanout_message__pack(&hello, bytes);
}

void remote_peer_look(struct fanout_endpoint *endpoint)
{
    char why[64];
    snprintf(why, sizeof why, "has shown no life for %d ms", FANOUT_PEER_TIMEOUT_MS);
    check_own_standstill(endpoint);
    renewal_look(endpoint);
    who_is_there(endpoint);
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++) {
        struct peer *peer = &endpoint->peers[i];
        if (!peer->remote)
            continue;
        peer->barred -= peer->barred > 0;
        if (peer->remote->up && ++peer->missed_heartbeats >= MISSED_HEARTBEATS_MAX)
            remote_peer_begin_anew(peer, why);
        if (!peer->wrote_since_heartbeat)
            say_hello(peer);
        peer->wrote_since_heartbeat = false;
    }
}

/* They hear of it at once, and need not wait for the timeout. */
void remote_peer_abandon(struct fanout_endpoint *endpoint)
{
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++) {
        struct peer *peer = &endpoint->peers[i];
        if (!peer->remote || !(peer->remote_attempts || peer->dispatched))
            continue;
        remote_peer_begin_anew(peer, "is not waited for any longer");
        say_hello(peer);
    }
}

bool remote_peer_is_sure(const struct peer *owner, struct status *st)
{
    const struct membership *membership = owner->endpoint->membership;
    return !owner->remote || !membership || membership_is_sure(membership) ||
           fail(st, UNAVAILABLE, "the orchestrator's lease is over, and another may have the attempt by now");
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void remote_peer_open(struct fanout_endpoint *endpoint)
{
    endpoint->routes = xcalloc(ROUTES_MAX, sizeof *endpoint->routes);
    renewal_open(endpoint);
    inbox_open(endpoint);
}

void remote_peer_close(struct fanout_endpoint *endpoint)
{
    inbox_close(endpoint);
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        endpoint->peers[i].connection = NULL; /* it is its route's */
    for (unsigned i = 0; i < endpoint->route_count; i++)
        mail_connection_close(&endpoint->routes[i].connection);
}

void remote_peer_free(struct fanout_endpoint *endpoint)
{
    if (!endpoint->peers) /* it was never opened */
        return;
    for (unsigned i = endpoint->fanout->options.loop_count; i < endpoint->peer_count; i++)
        free(endpoint->peers[i].remote);
    renewal_close(endpoint);
    free(endpoint->routes);
}
