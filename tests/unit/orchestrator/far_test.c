/* Two orchestrators' fan-outs over tcp, each with a loop on a stopped clock, one store between them. `a` gives and has
 * the agent; `b` works and has to find it in the store. */
#include "unit.h"

#include "runner_fixture.h"

#include "base/trace.h"
#include "fanout/far.h"
#include "log/keys.h"
#include "run/members.h"

#define LEASE_MS 60000

struct side {
    struct house house;
    struct loop *loop;
    struct fanout *fanout;
    struct members *members;
    bool frozen;
};

static struct side a, b;
static struct store *store;
static char version[65];

/* ---- the two ----------------------------------------------------------------------------------------------------- */

static void nothing(void *data) {}

static void settle(int64_t ms)
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
            settle(tries_ % looks == looks - 1 ? FANOUT_BEAT_MS : 0);                                                  \
            met_ = condition;                                                                                          \
        }                                                                                                              \
        if (!met_)                                                                                                     \
            fail_msg("waited in vain for %s", #condition);                                                             \
    } while (0)
#define AWAIT(condition) AWAIT_BEATS(condition, 100)
#define AWAIT_LINK()     AWAIT_BEATS(are_linked(), 25)

static void open_side(struct side *side, const char *document)
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
    struct members_options members = {.loop = side->loop,
                                      .store = store,
                                      .name = side == &a ? "a" : "b",
                                      .address = "",
                                      .fan_out = fanout_port(side->fanout),
                                      .lease_ms = LEASE_MS,
                                      .died = nothing,
                                      .lapsed = nothing};
    side->members = members_create(&members);
    members_start(side->members);
    loop_enter(side->loop);
    assert_true(fanout_join(side->fanout, side->loop, &st));
    fanout_meet(side->fanout, side->loop, side->members);
    loop_leave(side->loop);
}

static struct peer *peer_of(struct side *side)
{
    struct station *station = &side->fanout->stations[0];
    for (unsigned i = 1; i < station->peer_count; i++)
        if (station->peers[i].far)
            return &station->peers[i];
    return NULL;
}

static bool are_linked(void)
{
    return peer_of(&a) && peer_of(&b) && peer_of(&a)->far->up && peer_of(&b)->far->up && peer_of(&a)->asked;
}

static void kept(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

static void keep_document(void)
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

static void open_both(void)
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
    fanout_at_home(a.fanout, a.loop, FANOUT_HOME_FIRST);
    loop_leave(a.loop);
}

static void close_side(struct side *side)
{
    fanout_part(side->fanout);
    loop_enter(side->loop);
    members_stop(side->members);
    loop_leave(side->loop);
    members_release(&side->members);
    fanout_destroy(&side->fanout);
    store_settle(store);
    loop_step(side->loop, 0);
    house_close(&side->house);
}

static void end_well(struct script_call *call)
{
    loop_enter(b.loop);
    script_write(call, "done", "");
    loop_leave(b.loop);
}

static bool all_ended(void)
{
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].task)
            end_well(&script_calls[i]);
    return fanout_away(a.fanout) == 0 && fanout_away(b.fanout) == 0;
}

static void close_both(void)
{
    b.frozen = false;
    AWAIT(all_ended());
    close_side(&a);
    close_side(&b);
    store_close(&store);
    loop_destroy(&a.loop);
    loop_destroy(&b.loop);
}

/* ---- one that gives attempts away -------------------------------------------------------------------------------- */

struct given {
    struct dispatch dispatch;
    int ended;
    bool finished, lost;
    struct status status;
};

static void came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event) {}

static void ended(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
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

static bool give_node(struct given *given, const char *node, const char *of_version)
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

static void give(struct given *given)
{
    size_t before = script_count;
    assert_true(give_node(given, "n", version));
    AWAIT(script_count == before + 1);
    assert_ptr_equal(script_calls[before].loop, b.loop);
}

/* ---- what holds -------------------------------------------------------------------------------------------------- */

static void an_attempt_goes_to_another_orchestrator_that_has_its_agent_from_the_store(void **state)
{
    struct given given, second;
    open_both();
    give(&given);
    give(&second);
    end_well(&script_calls[0]);
    end_well(&script_calls[1]);
    AWAIT(given.ended && second.ended);
    assert_true(given.finished && second.finished);
    close_both();
}

static void one_that_is_cancelled_while_its_agent_is_fetched_ends_so(void **state)
{
    struct given given;
    open_both();
    assert_true(give_node(&given, "n", version));
    loop_enter(a.loop);
    fanout_recall(&given.dispatch);
    loop_leave(a.loop);
    AWAIT(given.ended);
    assert_int_equal(given.status.code, CANCELLED);
    close_both();
}

static void a_worker_that_has_not_got_the_agent_is_given_nothing_for_a_while(void **state)
{
    static const char nobodys[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct given given;
    open_both();
    assert_true(give_node(&given, "n", nobodys));
    AWAIT(given.ended);
    assert_true(given.lost);
    assert_int_equal(given.status.code, NOT_FOUND);
    assert_false(give_node(&given, "n", version));
    assert_true(peer_of(&a)->barred > BARRED_BEATS - 5);
    peer_of(&a)->barred = 1; /* the rest of it would only take time */
    AWAIT(peer_of(&a)->barred == 0);
    give(&given);
    close_both();
}

static void a_node_that_does_not_travel_and_a_version_that_is_none_are_refused(void **state)
{
    struct given given;
    open_both();
    give(&given); /* so that the worker has the agent in memory */
    struct given wrong;
    assert_true(give_node(&wrong, "s", version));
    AWAIT(wrong.ended);
    assert_int_equal(wrong.status.code, INVALID_ARGUMENT);
    assert_non_null(strstr(wrong.status.text, "noop"));
    assert_true(give_node(&wrong, "n", "../../etc"));
    AWAIT(wrong.ended);
    assert_int_equal(wrong.status.code, NOT_FOUND);
    close_both();
}

static void a_worker_that_falls_silent_has_what_it_had_taken_over_within_three_seconds(void **state)
{
    struct given given;
    open_both();
    give(&given);
    b.frozen = true;
    for (int64_t ms = 0; ms < FANOUT_SILENCE_MS && !given.ended; ms += FANOUT_BEAT_MS)
        settle(FANOUT_BEAT_MS);
    assert_true(given.ended && given.lost);
    assert_int_equal(given.status.code, UNAVAILABLE);
    assert_false(give_node(&given, "n", version));
    assert_false(script_calls[0].cancelled);
    b.frozen = false;
    AWAIT_LINK();
    assert_true(script_calls[0].cancelled);
    give(&given);
    close_both();
}

static void one_that_was_taken_for_dead_is_shared_with_again(void **state)
{
    struct given given;
    open_both();
    give(&given);
    b.frozen = true;
    for (int i = 0; i < 2 * LEASE_MS / 1000 && peer_of(&a); i++)
        settle(1000);
    assert_null(peer_of(&a));
    assert_true(given.lost);
    b.frozen = false;
    AWAIT_LINK();
    give(&given);
    close_both();
}

static void what_a_worker_says_of_an_attempt_that_was_taken_over_has_no_effect(void **state)
{
    struct given given;
    open_both();
    give(&given);
    b.frozen = true;
    for (int i = 0; i < SILENT_BEATS_MAX; i++)
        settle(FANOUT_BEAT_MS);
    assert_true(given.lost);
    end_well(&script_calls[0]); /* before it hears that it is not wanted any more */
    b.frozen = false;
    AWAIT_LINK();
    assert_int_equal(given.ended, 1);
    assert_int_equal(peer_of(&b)->guests, 0);
    close_both();
}

static void a_letter_that_is_lost_begins_everything_between_the_two_anew(void **state)
{
    struct given given;
    open_both();
    give(&given);
    uint32_t session = peer_of(&a)->far->mine;
    peer_of(&a)->far->read--; /* as if one had not come before the next */
    AWAIT(given.ended);
    assert_true(given.lost);
    AWAIT_LINK();
    assert_true(peer_of(&a)->far->mine > session);
    assert_true(script_calls[0].cancelled);
    assert_int_equal(peer_of(&a)->away, 0);
    give(&given);
    end_well(&script_calls[1]);
    AWAIT(given.ended);
    assert_true(given.finished);
    close_both();
}

static void a_worker_that_ends_takes_no_more_and_nobody_is_to_blame(void **state)
{
    struct given given, second;
    open_both();
    give(&given);
    fanout_rest(b.fanout);
    assert_true(give_node(&second, "n", version));
    AWAIT(second.ended);
    assert_true(second.lost);
    assert_int_equal(second.status.code, UNAVAILABLE);
    end_well(&script_calls[0]);
    AWAIT(given.ended);
    assert_true(given.finished);
    close_both();
}

/* ---- strangers --------------------------------------------------------------------------------------------------- */

static struct head forged;

static void forge(void *data, uint32_t number, uint8_t *head)
{
    memcpy(head, &forged, sizeof forged);
}

static void write_forged(struct line *line, const void *bytes, size_t size)
{
    loop_enter(b.loop);
    memcpy(line_reserve(line, size), bytes, size);
    loop_leave(b.loop);
    AWAIT(line_waiting(line) == 0);
    for (int i = 0; i < 50; i++) {
        usleep(200);
        settle(0);
    }
}

static void letters_that_are_not_of_this_session_have_no_effect(void **state)
{
    struct given given;
    struct status st = {0};
    open_both();
    give(&given);
    const struct peer *peer = peer_of(&b);
    struct line_options options = {.address = fanout_port(a.fanout)->address,
                                   .letter_max = a.fanout->letter_max,
                                   .head_size = sizeof forged,
                                   .stamp = forge};
    struct line *line = line_open(b.loop, &options, &st);
    assert_non_null(line);

    /* The result of the attempt that is away, which b has not ended. */
    uint8_t bytes[256];
    Renga__V1__FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    message.attempt = given.dispatch.number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_EVENT;
    message.event = &event;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT;
    event.result = &response;
    size_t size = renga__v1__fanout_message__pack(&message, bytes);

    struct head good = {.mark = FAR_MARK, .mine = peer->far->mine, .theirs = peer->far->theirs, .number = 1000000};
    memcpy(good.token, peer->far->token, TOKEN_SIZE);
    snprintf(good.member, sizeof good.member, "%s", members_self(b.members));
    struct head wrong[] = {good, good, good, good, good, good};
    wrong[0].mark++;
    wrong[1].token[TOKEN_SIZE - 1] ^= 1;
    memset(wrong[2].member, 'x', ID_MAX);
    snprintf(wrong[3].member, ID_MAX, "o_nobody");
    wrong[4].theirs--;
    wrong[5].to = 77;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        forged = wrong[i];
        write_forged(line, bytes, size);
        assert_int_equal(given.ended, 0);
    }

    /* And one that is right but for its place: what is missing before it may have been anything. */
    forged = good;
    write_forged(line, bytes, size);
    AWAIT(given.ended);
    assert_true(given.lost);
    loop_enter(b.loop);
    line_close(&line);
    loop_leave(b.loop);
    close_both();
}

static void a_message_that_is_none_is_passed_over(void **state)
{
    struct given given;
    open_both();
    give(&given);
    loop_enter(b.loop);
    memset(line_reserve(peer_of(&b)->line, 40), 0xff, 40);
    loop_leave(b.loop);
    end_well(&script_calls[0]);
    AWAIT(given.ended);
    assert_true(given.finished);
    close_both();
}

static void each_loop_has_one_of_the_others_whatever_their_number(void **state)
{
    for (unsigned ours = 1; ours <= 9; ours++)
        for (unsigned theirs = 1; theirs <= 9; theirs++)
            for (unsigned i = 0; i < ours; i++) {
                unsigned pairs = 0;
                for (unsigned j = 0; j < theirs; j++) {
                    pairs += far_is_pair(i, ours, j, theirs);
                    assert_int_equal(far_is_pair(i, ours, j, theirs), far_is_pair(j, theirs, i, ours));
                }
                assert_true(pairs >= 1 && pairs <= (theirs + ours - 1) / ours);
            }
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_goes_to_another_orchestrator_that_has_its_agent_from_the_store),
        cmocka_unit_test(one_that_is_cancelled_while_its_agent_is_fetched_ends_so),
        cmocka_unit_test(a_worker_that_has_not_got_the_agent_is_given_nothing_for_a_while),
        cmocka_unit_test(a_node_that_does_not_travel_and_a_version_that_is_none_are_refused),
        cmocka_unit_test(a_worker_that_falls_silent_has_what_it_had_taken_over_within_three_seconds),
        cmocka_unit_test(one_that_was_taken_for_dead_is_shared_with_again),
        cmocka_unit_test(what_a_worker_says_of_an_attempt_that_was_taken_over_has_no_effect),
        cmocka_unit_test(a_letter_that_is_lost_begins_everything_between_the_two_anew),
        cmocka_unit_test(a_worker_that_ends_takes_no_more_and_nobody_is_to_blame),
        cmocka_unit_test(letters_that_are_not_of_this_session_have_no_effect),
        cmocka_unit_test(a_message_that_is_none_is_passed_over),
        cmocka_unit_test(each_loop_has_one_of_the_others_whatever_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
