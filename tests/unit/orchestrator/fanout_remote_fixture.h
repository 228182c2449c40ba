/* Two orchestrators' fan-outs over tcp, each with a loop on a stopped clock, one store between them. `a` gives and has
 * the agent; `b` works and has to find it in the store. */
#ifndef RENGA_FANOUT_REMOTE_FIXTURE_H
#define RENGA_FANOUT_REMOTE_FIXTURE_H

#include "script_fixture.h"

#include "base/clock.h"
#include "base/trace.h"
#include "cluster/membership.h"
#include "fanout/fanout_priv.h"
#include "fanout/remote_peer.h"
#include "log/keys.h"

#define LEASE_MS 60000

struct side {
    struct house house;
    struct loop *loop;
    struct fanout *fanout;
    struct membership *membership;
    bool frozen;
};

static struct side a, b;
static struct store *store;
static char version[65];

/* An attempt that a gives away. */
struct given {
    struct dispatch dispatch;
    int ended;
    bool finished, lost;
    struct status status;
};

static struct given attempt, another; /* of each test; they are ended after it */

/* ---- the two ----------------------------------------------------------------------------------------------------- */

static inline void nothing(void *data) {}

static inline void settle(int64_t ms)
{
    loop_step(a.loop, ms);
    for (int i = 0; i < 5; i++) {
        store_settle(store);
        loop_step(a.loop, 0);
        if (!b.frozen)
            loop_step(b.loop, 0);
    }
}

/* Mail goes by threads that no step can push. Time passes, a beat in so many looks. */
#define AWAIT_BEATS(condition, looks)                                                                                  \
    do {                                                                                                               \
        bool met_ = condition;                                                                                         \
        for (int tries_ = 0; tries_ < 20000 && !met_; tries_++) {                                                      \
            usleep(200);                                                                                               \
            settle(tries_ % looks == looks - 1 ? FANOUT_HEARTBEAT_MS : 0);                                             \
            met_ = condition;                                                                                          \
        }                                                                                                              \
        if (!met_)                                                                                                     \
            fail_msg("waited in vain for %s", #condition);                                                             \
    } while (0)
#define AWAIT(condition) AWAIT_BEATS(condition, 100)
#define AWAIT_LINK()     AWAIT_BEATS(are_linked(), 25)

static inline void open_side(struct side *side, const char *document)
{
    struct status st = {0};
    *side = (struct side){.house = house_open(), .loop = loop_create(0)};
    if (document)
        house_write(&side->house, "a/graph.json", document);
    house_load(&side->house);
    struct fanout_options options = {.loops = &side->loop,
                                     .loop_count = 1,
                                     .agents = side->house.agents,
                                     .message_max = (size_t)1 << 20,
                                     .listen = "tcp://127.0.0.1:0",
                                     .store = store};
    side->fanout = fanout_create(&options, &st);
    if (!side->fanout)
        fail_msg("%s", st.text);
    struct membership_options membership = {.loop = side->loop,
                                            .store = store,
                                            .name = side == &a   ? "a"
                                                    : side == &b ? "b"
                                                                 : "c",
                                            .address = "",
                                            .fan_out = fanout_member_row(side->fanout),
                                            .lease_ms = LEASE_MS,
                                            .died = nothing,
                                            .lapsed = nothing};
    side->membership = membership_create(&membership);
    membership_start(side->membership);
    loop_enter(side->loop);
    assert_true(fanout_join(side->fanout, side->loop, &st));
    fanout_start_sharing(side->fanout, side->loop, side->membership);
    loop_leave(side->loop);
}

/* The one, or of several the n-th. */
static inline struct peer *nth_peer_of(struct side *side, unsigned n)
{
    struct fanout_endpoint *endpoint = &side->fanout->endpoints[0];
    for (unsigned i = 1; i < endpoint->peer_count; i++)
        if (endpoint->peers[i].remote && n-- == 0)
            return &endpoint->peers[i];
    return NULL;
}

static inline struct peer *peer_of(struct side *side)
{
    return nth_peer_of(side, 0);
}

static inline bool are_linked(void)
{
    return peer_of(&a) && peer_of(&b) && peer_of(&a)->remote->up && peer_of(&b)->remote->up && peer_of(&a)->asked;
}

static inline void kept(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

static inline void keep_document(void)
{
    static struct store_batch batch;
    struct key key;
    struct status st = {0};
    struct agent *agent = agents_find(a.house.agents, "a", NULL, &st);
    assert_non_null(agent);
    snprintf(version, sizeof version, "%s", agent->version);
    key_named(&key, KEY_BUNDLE, "", version);
    loop_enter(a.loop);
    store_batch_init(&batch, a.loop, kept);
    store_put(&batch, key_bytes(&key), (struct store_bytes){agent->bundle_json, agent->bundle_size});
    store_commit(store, &batch);
    loop_leave(a.loop);
    agent_release(a.house.agents, agent);
}

static inline void open_both(void)
{
    struct status st = {0};
    script_count = script_live = 0;
    script_lingers = false;
    store = store_open("memory:", &st);
    assert_non_null(store);
    open_side(&a, "{\"agent\": \"a\", \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"script\", \"on\": {\"done\": "
                  "\"s\"}}, \"s\": {\"kind\": \"noop\"}}}");
    open_side(&b, NULL);
    keep_document();
    AWAIT_LINK();
    loop_enter(a.loop);
    fanout_local_attempts(a.fanout, a.loop, FANOUT_LOCAL_FIRST);
    loop_leave(a.loop);
}

static inline void close_side(struct side *side)
{
    if (!side->fanout) /* it was closed before */
        return;
    fanout_stop_sharing(side->fanout);
    loop_enter(side->loop);
    membership_stop(side->membership);
    loop_leave(side->loop);
    membership_release(&side->membership);
    fanout_destroy(&side->fanout);
    store_settle(store);
    loop_step(side->loop, 0);
    house_close(&side->house);
}

static inline void end_well(struct script_call *call)
{
    loop_enter(b.loop);
    script_write(call, "done", "");
    loop_leave(b.loop);
}

static inline bool all_ended(void)
{
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].task)
            end_well(&script_calls[i]);
    return fanout_dispatched(a.fanout) == 0 && fanout_dispatched(b.fanout) == 0;
}

static inline void close_both(void)
{
    b.frozen = false;
    AWAIT(all_ended());
    close_side(&a);
    close_side(&b);
    store_close(&store);
    loop_destroy(&a.loop);
    loop_destroy(&b.loop);
}

static inline int set_up(void **state)
{
    attempt = another = (struct given){0};
    open_both();
    return 0;
}

static inline int tear_down(void **state)
{
    close_both();
    return 0;
}

#define REMOTE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- one that gives attempts away -------------------------------------------------------------------------------- */

static inline void came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event) {}

static inline void ended(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
{
    struct given *given = (struct given *)dispatch;
    assert_int_equal(given->ended++, 0);
    given->finished = response != NULL;
    given->lost = dispatch->lost;
    if (!response)
        given->status = *st;
}

static const struct dispatch_owner owner = {.came = came, .ended = ended};

static Renga__V1__NodePosition position = RENGA__V1__NODE_POSITION__INIT;
static Renga__V1__RunNodeRequest request = RENGA__V1__RUN_NODE_REQUEST__INIT;

static inline bool give_node(struct given *given, const char *node, const char *of_version)
{
    static const struct trace_context none;
    position.agent = position.graph = (char *)(uintptr_t) "a";
    position.graph_version = (char *)(uintptr_t)of_version;
    position.node = (char *)(uintptr_t)node;
    request.position = &position;
    request.state_json = (char *)(uintptr_t) "{}";
    *given = (struct given){.dispatch.owner = &owner};
    loop_enter(a.loop);
    bool sent = fanout_send(a.fanout, a.loop, &given->dispatch, &request, TIME_NEVER, &none);
    loop_leave(a.loop);
    return sent;
}

static inline void give(struct given *given)
{
    size_t before = script_count;
    assert_true(give_node(given, "n", version));
    AWAIT(script_count == before + 1);
    assert_ptr_equal(script_calls[before].loop, b.loop);
}

#endif
