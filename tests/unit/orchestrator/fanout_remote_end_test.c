/* Attempts between two orchestrators of which one ends before its time, and ways to others that do not open. */
#include "unit.h"

#include "fanout_remote_fixture.h"

#include "cluster/membership_priv.h"

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void rest_and_abandon(struct side *side)
{
    fanout_drain(side->fanout);
    loop_enter(side->loop);
    fanout_abandon(side->fanout, side->loop);
    loop_leave(side->loop);
}

static void a_worker_that_may_wait_no_longer_cancels_what_it_has_and_its_owner_hears_at_once(void **state)
{
    give(&attempt);
    rest_and_abandon(&b);
    assert_true(script_calls[0].cancelled);
    assert_int_equal(fanout_dispatched(b.fanout), 0);
    for (int i = 0; i < 5000 && !attempt.ended; i++) { /* no beat passes */
        usleep(200);
        settle(0);
    }
    assert_true(attempt.lost);
    assert_int_equal(attempt.status.code, UNAVAILABLE);
    AWAIT(peer_of(&a)->remote->up);
    assert_false(give_node(&attempt, "n", version)); /* it asks for none */
}

static void an_owner_that_may_wait_no_longer_has_what_it_gave_cancelled(void **state)
{
    give(&attempt);
    rest_and_abandon(&a);
    assert_true(attempt.lost);
    AWAIT(script_calls[0].cancelled);
}

static void one_that_is_closed_with_attempts_of_others_at_work_cancels_them(void **state)
{
    give(&attempt);
    give(&another);
    close_side(&b);
    assert_true(script_calls[0].cancelled && script_calls[1].cancelled);
    AWAIT(attempt.ended && another.ended);
    assert_true(attempt.lost && another.lost);
}

/* As if it came when nothing can be read any more: the store's answer has not been looked at. */
static void one_that_is_closed_while_it_fetches_an_agent_lets_the_answer_come_to_nobody(void **state)
{
    FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    Renga__V1__FanoutAttempt begun = RENGA__V1__FANOUT_ATTEMPT__INIT;
    struct fanout_endpoint *endpoint = &b.fanout->endpoints[0];
    position.agent = position.graph = (char *)(uintptr_t) "a";
    position.node = (char *)(uintptr_t) "n";
    position.graph_version = version;
    request.position = &position;
    begun.request = &request;
    message.attempt = 1;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_BEGIN;
    message.begin = &begun;
    loop_enter(b.loop);
    for (int i = 0; i < 2; i++) { /* two that wait for the same */
        assert_true(worker_received(peer_of(&b), &message));
        endpoint->spare = remote_attempt_create();
    }
    loop_leave(b.loop);
    assert_non_null(endpoint->documents);
    assert_int_equal(fanout_dispatched(b.fanout), 2);
    close_side(&b);
    assert_int_equal(script_count, 0);
}

static struct fanout *left; /* what still has a remote attempt keeps its memory */

static void what_one_that_does_not_end_still_says_is_heard_by_nobody(void **state)
{
    give(&attempt);
    const struct peer *peer = peer_of(&b);
    left = b.fanout;
    script_lingers = true;
    fanout_stop_sharing(b.fanout);
    fanout_destroy(&b.fanout);
    assert_int_equal(fanout_dispatched(left), 1);
    assert_null(peer->connection);
    assert_true(script_calls[0].cancelled);
    loop_enter(b.loop);
    task_token(script_calls[0].task, "late", "");
    loop_leave(b.loop);
    end_well(&script_calls[0]);
    assert_int_equal(fanout_dispatched(left), 0);
    loop_enter(b.loop);
    membership_stop(b.membership);
    loop_leave(b.loop);
    membership_release(&b.membership);
    settle(0);
    house_close(&b.house);
}

/* ---- ways that do not open --------------------------------------------------------------------------------------- */

static void what_cannot_be_opened_whole_is_closed_again(void **state)
{
    char address[64];
    struct status st = {0};
    struct loop *beside = loop_create(1), *loops[] = {a.loop, beside};
    snprintf(address, sizeof address, "inproc://renga.fanout.%u.0", b.fanout->serial + 1);
    struct mailbox *taken = mailbox_open(address, NULL, 65536, &st);
    assert_non_null(taken);
    struct fanout_options options = {.loops = loops,
                                     .loop_count = COUNT(loops),
                                     .agents = a.house.agents,
                                     .message_max = 65536,
                                     .listen = "tcp://127.0.0.1:0",
                                     .store = store};
    assert_null(fanout_create(&options, &st)); /* its second endpoint is not begun */
    assert_non_null(strstr(st.text, address));
    mailbox_leave(&taken);
    loop_destroy(&beside);
}

/* Of a member that is nobody: its row alone. */
static void add_row(const char *id, const char *address, uint64_t datagram_max)
{
    static struct store_batch batch;
    static uint64_t beat;
    struct key key;
    uint8_t bytes[1024];
    Renga__V1__MemberRow row = RENGA__V1__MEMBER_ROW__INIT;
    Renga__V1__MemberFanOut fan_out = *fanout_member_row(b.fanout);
    fan_out.address = (char *)(uintptr_t)address;
    fan_out.letter_max = datagram_max;
    row.beat = ++beat;
    row.address = row.name = (char *)(uintptr_t)id;
    row.fan_out = &fan_out;
    key_named(&key, KEY_MEMBER, "", id);
    loop_enter(a.loop);
    store_batch_init(&batch, a.loop, kept);
    store_put(&batch, key_bytes(&key), (struct store_bytes){bytes, renga__v1__member_row__pack(&row, bytes)});
    store_commit(store, &batch);
    loop_leave(a.loop);
    for (int64_t ms = 0; ms < LEASE_MS / MEMBER_BEATS; ms += FANOUT_HEARTBEAT_MS)
        settle(FANOUT_HEARTBEAT_MS);
}

static int beats_to(const struct route *route, unsigned failures)
{
    int beats = 0;
    for (; beats < 100 && route->failures < failures; beats++)
        settle(FANOUT_HEARTBEAT_MS);
    return beats;
}

static void an_address_that_cannot_be_dialled_is_tried_ever_more_rarely(void **state)
{
    struct fanout_endpoint *endpoint = &a.fanout->endpoints[0];
    add_row("o_unheard", "tls+tcp://127.0.0.1:1", a.fanout->remote_datagram_max); /* and nobody's name or certificate */
    AWAIT(endpoint->route_count == 2);
    struct route *route = &endpoint->routes[1];
    assert_null(route->connection);
    route->failures = 2; /* it has been tried more often by now */
    route->rest = 0;
    beats_to(route, 3);
    assert_in_range(beats_to(route, 4), 3, 6);
    assert_in_range(beats_to(route, 5), 7, 10);
    assert_int_equal(endpoint->route_count, 2);
    assert_non_null(peer_of(&a));
}

static void one_that_takes_datagrams_of_another_size_is_not_shared_with(void **state)
{
    struct fanout_endpoint *endpoint = &a.fanout->endpoints[0];
    add_row("o_larger", "tcp://127.0.0.1:1", a.fanout->remote_datagram_max + 1);
    AWAIT(endpoint->unequal == 1);
    AWAIT_LINK(); /* with the one that is like us */
    assert_int_equal(endpoint->route_count, 1);
}

/* As if its beats had not been answered for a lease: the owner may have taken over its attempts. */
static void a_worker_that_is_not_sure_of_its_lease_begins_nothing(void **state)
{
    b.membership->lease_ns = clock_boot_ns();
    assert_true(give_node(&attempt, "n", version));
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    assert_int_equal(attempt.status.code, UNAVAILABLE);
    assert_int_equal(script_count, 0);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        REMOTE(a_worker_that_is_not_sure_of_its_lease_begins_nothing),
        REMOTE(a_worker_that_may_wait_no_longer_cancels_what_it_has_and_its_owner_hears_at_once),
        REMOTE(an_owner_that_may_wait_no_longer_has_what_it_gave_cancelled),
        REMOTE(one_that_is_closed_with_attempts_of_others_at_work_cancels_them),
        REMOTE(one_that_is_closed_while_it_fetches_an_agent_lets_the_answer_come_to_nobody),
        REMOTE(what_one_that_does_not_end_still_says_is_heard_by_nobody),
        REMOTE(what_cannot_be_opened_whole_is_closed_again),
        REMOTE(an_address_that_cannot_be_dialled_is_tried_ever_more_rarely),
        REMOTE(one_that_takes_datagrams_of_another_size_is_not_shared_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
