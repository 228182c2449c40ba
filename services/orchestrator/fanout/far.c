/* Loops of other orchestrators as peers. Letters over a network get lost when a connection breaks, and their writer may
 * have died or frozen. So each side numbers its sessions in increasing order, and begins a new session when it misses a
 * letter or has received no letter for too long. A letter has its writer's session number, and the reader's as the
 * writer knows it:
 *
 *      no session ---> hello (1, 0) ... (1, 1) ---> up ---- a letter is missing, silence, they began anew ---.
 *                           ^                                                                             |
 *                           '---- the shared state of both sides ends: attempts are taken over, <---------'
 *                                 guests cancelled, hands offered anew
 *
 * Letters of another session than the present are dropped, so both sides have the same view. An idle side sends an
 * empty letter four times a second. */
#include "far.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_LINKED   16 /* about this many others that an orchestrator shares with */
#define FAILURES_COUNTED 8  /* of opening a line: each doubles the rest, up to a minute */

const char *peer_name(const struct peer *peer, char name[64])
{
    if (peer->far)
        snprintf(name, 64, "orchestrator %s", peer->far->member);
    else
        snprintf(name, 64, "loop %u", peer->index);
    return name;
}

bool far_is_open(const struct peer *peer)
{
    return peer->far->up;
}

bool far_is_pair(unsigned loop, unsigned count, unsigned their_loop, unsigned their_count)
{
    unsigned fewer = count < their_count ? count : their_count;
    return loop % fewer == their_loop % fewer;
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

/* A peer without a session gives no attempts: the hands are for the others. */
static void share_out(struct station *station)
{
    unsigned up = 0;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        up += station->peers[i].far && station->peers[i].far->up;
    station->far_share = up ? FANOUT_HANDS / up + (FANOUT_HANDS < up) : 0;
    station->far_offered = 0;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        station->far_offered += worker_offered(&station->peers[i]);
}

static void sessions_changed(struct peer *peer)
{
    peer->far->read = 0;
    line_clear(peer->line);
}

/* Ends all shared state of both sides. */
static void settle(struct peer *peer, const char *why)
{
    struct station *station = peer->station;
    char name[64];
    if (!peer->far->up)
        return;
    log_warn("fanout.broken", "%s %s; %u attempts there are begun anew, %u of its own here are cancelled",
             peer_name(peer, name), why, peer->away, peer->guests);
    peer->far->up = false;
    peer->asked = 0;
    peer->offered = 0;
    share_out(station);
    station_note(station, FANOUT_LINKS, -1);
    station_note(station, FANOUT_BROKEN, 1);
    worker_abandon(peer);
    owner_take_over(peer, why);
}

static void begin_anew(struct peer *peer, const char *why)
{
    peer->far->mine = ++peer->station->sessions;
    sessions_changed(peer);
    settle(peer, why);
}

void far_broken(struct peer *peer)
{
    begin_anew(peer, "has written what cannot be read");
}

/* After so long a silence, the others may have given this loop up, and begun its attempts anew elsewhere.
 */
static bool stood_still(struct station *station)
{
    int64_t before_ns = station->seen_ns, silence_ns = (SILENT_BEATS_MAX - 2) * FANOUT_BEAT_MS * NS_PER_MS;
    int64_t patience_ns = members_patience_ns(station->members);
    station->seen_ns = clock_now_ns();
    return before_ns && station->seen_ns - before_ns > (patience_ns < silence_ns ? patience_ns : silence_ns);
}

static void mind_own_silence(struct station *station)
{
    if (!station->members || !stood_still(station))
        return;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        if (station->peers[i].far && station->peers[i].far->up)
            begin_anew(&station->peers[i], "may have given up this loop, which stood still");
}

static void now_up(struct peer *peer)
{
    char name[64];
    peer->far->up = true;
    share_out(peer->station);
    station_note(peer->station, FANOUT_LINKS, 1);
    log_info("fanout.link", "loop %u shares with loop %u of %s", peer->station->index, peer->far->loop,
             peer_name(peer, name));
    worker_offer_to(peer);
}

static void they_began_anew(struct peer *peer, uint32_t session)
{
    peer->far->theirs = session;
    sessions_changed(peer);
    settle(peer, "has begun anew");
}

static struct peer *find(struct station *station, const char *member, uint32_t loop)
{
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++) {
        struct peer *peer = &station->peers[i];
        if (peer->far && peer->far->loop == loop && strcmp(peer->far->member, member) == 0)
            return peer;
    }
    return NULL;
}

void far_received(struct station *station, const struct head *head, struct mail *mail)
{
    mind_own_silence(station); /* before a letter is read that may be as old as that */
    struct peer *peer = station->joined ? find(station, head->member, head->from) : NULL;
    struct far *far = peer ? peer->far : NULL;
    if (!far || head->mine < far->theirs) /* whom we do not know yet will say it again */
        return;
    if (head->mine > far->theirs)
        they_began_anew(peer, head->mine);
    peer->silent = 0;
    if (head->theirs != far->mine)
        return;
    if (head->number != far->read) {
        begin_anew(peer, "has written what did not arrive");
        return;
    }
    far->read++;
    if (!far->up)
        now_up(peer);
    peer_read(peer, mail);
}

/* ---- letters that go --------------------------------------------------------------------------------------------- */

static void stamp(void *data, uint32_t number, uint8_t *bytes)
{
    const struct route *route = data;
    const struct station *station = route->peer->station;
    const struct far *far = route->peer->far;
    struct head head = {.mark = FAR_MARK,
                        .from = station->index,
                        .to = far->loop,
                        .mine = far->mine,
                        .theirs = far->theirs,
                        .number = number};
    memcpy(head.token, far->token, TOKEN_SIZE);
    memcpy(head.member, station->self, sizeof head.member);
    memcpy(bytes, &head, sizeof head);
}

/* A file of certificates may be mended meanwhile; a single log line is enough. */
static void open_route(struct station *station, struct route *route)
{
    const struct fanout *fanout = station->fanout;
    struct status st = {0};
    struct line_options options = {.address = route->address,
                                   .tls = fanout->options.client,
                                   .letter_max = fanout->far_letter_max,
                                   .head_size = sizeof(struct head),
                                   .stamp = stamp,
                                   .data = route};
    if (route->rest) {
        route->rest--;
        return;
    }
    route->line = line_open(station->loop, &options, &st);
    if (route->line)
        return;
    if (!route->failures)
        log_error("fanout.line", "loop %u cannot write to %s: %s; tried again now and then", station->index,
                  route->address, st.text);
    route->rest = (1U << route->failures) - 1;
    route->failures += route->failures < FAILURES_COUNTED;
}

static struct route *find_route(struct station *station, const char *address)
{
    for (unsigned i = 0; i < station->route_count; i++)
        if (!station->routes[i].peer && strcmp(station->routes[i].address, address) == 0)
            return &station->routes[i];
    if (station->route_count == ROUTES_MAX)
        return NULL;
    struct route *route = &station->routes[station->route_count];
    snprintf(route->address, sizeof route->address, "%s", address);
    if (++station->route_count == ROUTES_MAX)
        log_warn("fanout.routes", "loop %u has written to %d addresses; it shares with no new ones until a restart",
                 station->index, ROUTES_MAX);
    return route;
}

/* NULL: there have been too many, or it cannot be opened now. */
static struct route *route_to(struct station *station, const char *address)
{
    struct route *route = find_route(station, address);
    if (route && !route->line)
        open_route(station, route);
    return route && route->line ? route : NULL;
}

/* ---- the members ------------------------------------------------------------------------------------------------- */

/* Adds a peer if there is room, and a line to it. */
static void add(struct station *station, const struct fellow *fellow, uint32_t loop)
{
    struct peer *peer = NULL;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count && !peer; i++)
        if (!station->peers[i].far && !station->peers[i].guests)
            peer = &station->peers[i];
    struct route *route = peer ? route_to(station, fellow->address) : NULL;
    struct far *far = route ? calloc(1, sizeof *far) : NULL;
    if (!far)
        return;
    snprintf(far->member, sizeof far->member, "%s", fellow->id);
    memcpy(far->token, fellow->token, TOKEN_SIZE);
    far->loop = loop;
    far->mine = ++station->sessions; /* more than when it was taken for dead by mistake */
    far->living = far->chosen = true;
    far->route = route;
    route->peer = peer;
    *peer = (struct peer){.station = station, .index = peer->index, .far = far, .line = route->line, .neighbour = true};
    line_clear(peer->line);
}

static void take_away(struct peer *peer, const char *why)
{
    settle(peer, why);
    line_clear(peer->line);
    peer->far->route->peer = NULL;
    free(peer->far);
    peer->far = NULL;
    peer->line = NULL;
    peer->neighbour = false;
}

struct census {
    struct station *station;
    unsigned count, unequal;
    struct fellow chosen[2 * MEMBERS_LINKED];
    unsigned chosen_count;
};

static void count(const struct fellow *fellow, void *data)
{
    ((struct census *)data)->count++;
}

/* Of many, each two agree on whether they share; as the number grows, few change their mind. */
static bool is_chosen(const struct census *census, const struct fellow *fellow)
{
    uint64_t pair = id_hash_text(ID_HASH, census->station->self) ^ id_hash_text(ID_HASH, fellow->id);
    return (id_hash_number(ID_HASH, pair) >> 32) * census->count >> 32 < MEMBERS_LINKED;
}

static void note(const struct fellow *fellow, void *data)
{
    struct census *census = data;
    struct station *station = census->station;
    bool equal = fellow->version == FAR_VERSION && fellow->letter_max == station->fanout->far_letter_max;
    bool chosen = equal && is_chosen(census, fellow);
    census->unequal += !equal;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++) {
        struct far *far = station->peers[i].far;
        if (far && strcmp(far->member, fellow->id) == 0) {
            far->living = true;
            far->chosen = chosen;
        }
    }
    if (chosen && census->chosen_count < 2 * MEMBERS_LINKED)
        census->chosen[census->chosen_count++] = *fellow;
}

static void add_missing(struct station *station, const struct fellow *fellow)
{
    unsigned own = station->fanout->options.loop_count;
    for (uint32_t loop = 0; loop < fellow->loops; loop++)
        if (far_is_pair(station->index, own, loop, fellow->loops) && !find(station, fellow->id, loop))
            add(station, fellow, loop);
}

/* Removes dead peers at once, and peers that are not chosen any more when no attempt between the two is left. */
static void take_away_gone(struct station *station)
{
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++) {
        struct peer *peer = &station->peers[i];
        if (peer->far && !peer->far->living)
            take_away(peer, "is gone");
        else if (peer->far && !peer->far->chosen && !peer->away && !peer->guests)
            take_away(peer, "is not shared with any more");
    }
}

static void warn_of_unequal(struct station *station, unsigned unequal)
{
    if (unequal > station->unequal && station->index == 0)
        log_warn(
            "fanout.unequal",
            "orchestrators that are not shared with, since their rpc.message_max or version of letters is another: %u",
            unequal);
    station->unequal = unequal;
}

static void who_is_there(struct station *station)
{
    struct census census = {.station = station};
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        if (station->peers[i].far)
            station->peers[i].far->living = station->peers[i].far->chosen = false;
    members_each_fellow(station->members, count, &census);
    members_each_fellow(station->members, note, &census);
    for (unsigned i = 0; i < census.chosen_count; i++)
        add_missing(station, &census.chosen[i]);
    take_away_gone(station);
    warn_of_unequal(station, census.unequal);
}

/* ---- the beat ---------------------------------------------------------------------------------------------------- */

static void say_hello(struct peer *peer)
{
    Renga__V1__FanoutMessage hello = RENGA__V1__FANOUT_MESSAGE__INIT;
    size_t size = renga__v1__fanout_message__get_packed_size(&hello);
    uint8_t *bytes = line_waiting(peer->line) ? NULL : line_reserve(peer->line, size);
    if (bytes)
        renga__v1__fanout_message__pack(&hello, bytes);
}

void far_look(struct station *station)
{
    char why[64];
    snprintf(why, sizeof why, "has shown no life for %d ms", FANOUT_SILENCE_MS);
    mind_own_silence(station);
    renewal_look(station);
    who_is_there(station);
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++) {
        struct peer *peer = &station->peers[i];
        if (!peer->far)
            continue;
        peer->barred -= peer->barred > 0;
        if (peer->far->up && ++peer->silent >= SILENT_BEATS_MAX)
            begin_anew(peer, why);
        if (!peer->spoken)
            say_hello(peer);
        peer->spoken = false;
    }
}

/* They hear of it at once, and need not wait for our silence. */
void far_abandon(struct station *station)
{
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++) {
        struct peer *peer = &station->peers[i];
        if (!peer->far || !(peer->guests || peer->away))
            continue;
        begin_anew(peer, "is not waited for any longer");
        say_hello(peer);
    }
}

bool far_is_sure(const struct peer *owner, struct status *st)
{
    const struct members *members = owner->station->members;
    return !owner->far || !members || members_is_sure(members) ||
           fail(st, UNAVAILABLE, "the orchestrator's lease is over, and another may have the attempt by now");
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void far_open(struct station *station)
{
    station->routes = calloc(ROUTES_MAX, sizeof *station->routes);
    if (!station->routes)
        fatal("orchestrator.memory", "no memory for %d addresses", ROUTES_MAX);
    renewal_open(station);
    inbox_open(station);
}

void far_close(struct station *station)
{
    inbox_close(station);
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        station->peers[i].line = NULL; /* it is its route's */
    for (unsigned i = 0; i < station->route_count; i++)
        line_close(&station->routes[i].line);
}

void far_free(struct station *station)
{
    if (!station->peers) /* it was never opened */
        return;
    for (unsigned i = station->fanout->options.loop_count; i < station->peer_count; i++)
        free(station->peers[i].far);
    renewal_close(station);
    free(station->routes);
}
