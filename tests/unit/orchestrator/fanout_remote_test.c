/* Attempts between two orchestrators: sessions, silence, and strangers. */
#include "unit.h"

#include "fanout_remote_fixture.h"

static void an_attempt_goes_to_another_orchestrator_that_has_its_agent_from_the_store(void **state)
{
    give(&attempt);
    give(&another);
    end_well(&script_calls[0]);
    end_well(&script_calls[1]);
    AWAIT(attempt.ended && another.ended);
    assert_true(attempt.finished && another.finished);
}

static void one_that_is_cancelled_while_its_agent_is_fetched_ends_so(void **state)
{
    assert_true(give_node(&attempt, "n", version));
    loop_enter(a.loop);
    fanout_recall(&attempt.dispatch);
    loop_leave(a.loop);
    AWAIT(attempt.ended);
    assert_int_equal(attempt.status.code, CANCELLED);
}

static void a_worker_that_has_not_got_the_agent_is_given_nothing_for_a_while(void **state)
{
    static const char nobodys[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    assert_true(give_node(&attempt, "n", nobodys));
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    assert_int_equal(attempt.status.code, NOT_FOUND);
    assert_false(give_node(&attempt, "n", version));
    assert_true(peer_of(&a)->barred > BARRED_HEARTBEATS - 5);
    peer_of(&a)->barred = 1; /* the rest of it would only take time */
    AWAIT(peer_of(&a)->barred == 0);
    give(&attempt);
}

static void a_node_that_does_not_travel_and_a_version_that_is_none_are_refused(void **state)
{
    give(&attempt); /* so that the worker has the agent in memory */
    assert_true(give_node(&another, "s", version));
    AWAIT(another.ended);
    assert_int_equal(another.status.code, INVALID_ARGUMENT);
    assert_non_null(strstr(another.status.text, "noop"));
    assert_true(give_node(&another, "n", "../../etc"));
    AWAIT(another.ended);
    assert_int_equal(another.status.code, NOT_FOUND);
}

static void a_worker_that_falls_silent_has_what_it_had_taken_over_within_three_seconds(void **state)
{
    give(&attempt);
    b.frozen = true;
    for (int64_t ms = 0; ms < FANOUT_PEER_TIMEOUT_MS && !attempt.ended; ms += FANOUT_HEARTBEAT_MS)
        settle(FANOUT_HEARTBEAT_MS);
    assert_true(attempt.ended && attempt.lost);
    assert_int_equal(attempt.status.code, UNAVAILABLE);
    assert_false(give_node(&attempt, "n", version));
    assert_false(script_calls[0].cancelled);
    b.frozen = false;
    AWAIT_LINK();
    assert_true(script_calls[0].cancelled);
    give(&attempt);
}

/* A datagram lies in its socket when it thaws, of an attempt that its owner has begun elsewhere by then. */
static void a_worker_that_stood_still_begins_nothing_that_was_written_to_it_meanwhile(void **state)
{
    give(&another); /* so that the worker has the agent in memory */
    size_t before = script_count;
    b.frozen = true;
    assert_true(give_node(&attempt, "n", version));
    AWAIT_BEATS(attempt.ended, 1);
    assert_true(attempt.lost);
    b.frozen = false;
    AWAIT_LINK();
    assert_int_equal(script_count, before);
}

static void one_that_was_taken_for_dead_is_shared_with_again(void **state)
{
    give(&attempt);
    b.frozen = true;
    for (int i = 0; i < 2 * LEASE_MS / 1000 && peer_of(&a); i++)
        settle(1000);
    assert_null(peer_of(&a));
    assert_true(attempt.lost);
    b.frozen = false;
    AWAIT_LINK();
    give(&attempt);
}

static void what_a_worker_says_of_an_attempt_that_was_taken_over_has_no_effect(void **state)
{
    give(&attempt);
    b.frozen = true;
    AWAIT_BEATS(attempt.lost, 1);
    end_well(&script_calls[0]); /* before it hears that it is not wanted any more */
    b.frozen = false;
    AWAIT_LINK();
    assert_int_equal(attempt.ended, 1);
    assert_int_equal(peer_of(&b)->remote_attempts, 0);
}

static void a_datagram_that_is_lost_begins_everything_between_the_two_anew(void **state)
{
    give(&attempt);
    uint32_t session = peer_of(&a)->remote->mine;
    peer_of(&a)->remote->read--; /* as if one had not come before the next */
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    AWAIT_LINK();
    assert_true(peer_of(&a)->remote->mine > session);
    assert_true(script_calls[0].cancelled);
    assert_int_equal(peer_of(&a)->dispatched, 0);
    give(&attempt);
    end_well(&script_calls[1]);
    AWAIT(attempt.ended);
    assert_true(attempt.finished);
}

static void a_worker_that_ends_takes_no_more_and_nobody_is_to_blame(void **state)
{
    give(&attempt);
    fanout_drain(b.fanout);
    assert_true(give_node(&another, "n", version));
    AWAIT(another.ended);
    assert_true(another.lost);
    assert_int_equal(another.status.code, UNAVAILABLE);
    end_well(&script_calls[0]);
    AWAIT(attempt.ended);
    assert_true(attempt.finished);
}

/* ---- strangers --------------------------------------------------------------------------------------------------- */

static struct datagram_header forged;

static void forge(void *data, uint32_t number, uint8_t *head)
{
    memcpy(head, &forged, sizeof forged);
}

/* Behind the head the size of a message that is not there. */
static void forge_cut(void *data, uint32_t number, uint8_t *head)
{
    static const uint32_t size = 1000;
    memcpy(head, &forged, sizeof forged);
    memcpy(head + sizeof forged, &size, sizeof size);
}

static void write_forged(struct mail_connection *connection, const void *bytes, size_t size)
{
    loop_enter(b.loop);
    memcpy(mail_connection_reserve(connection, size), bytes, size);
    loop_leave(b.loop);
    AWAIT(mail_connection_waiting(connection) == 0);
    for (int i = 0; i < 50; i++) {
        usleep(200);
        settle(0);
    }
}

static void datagrams_that_are_not_of_this_session_have_no_effect(void **state)
{
    struct status st = {0};
    give(&attempt);
    const struct peer *peer = peer_of(&b);
    struct mail_connection_options options = {.address = fanout_member_row(a.fanout)->address,
                                              .datagram_max = a.fanout->remote_datagram_max,
                                              .header_size = sizeof forged,
                                              .stamp = forge};
    struct mail_connection *connection = mail_connection_open(b.loop, &options, &st);
    assert_non_null(connection);

    /* The result of the attempt that is away, which b has not ended. */
    uint8_t bytes[256];
    Renga__V1__FanoutMessage message = RENGA__V1__FANOUT_MESSAGE__INIT;
    Renga__V1__RunNodeEvent event = RENGA__V1__RUN_NODE_EVENT__INIT;
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    message.attempt = attempt.dispatch.number;
    message.what_case = RENGA__V1__FANOUT_MESSAGE__WHAT_EVENT;
    message.event = &event;
    event.event_case = RENGA__V1__RUN_NODE_EVENT__EVENT_RESULT;
    event.result = &response;
    size_t size = renga__v1__fanout_message__pack(&message, bytes);

    struct datagram_header good = {
        .mark = FANOUT_WIRE_MARK, .mine = peer->remote->mine, .theirs = peer->remote->theirs, .number = 1000000};
    memcpy(good.token, peer->remote->token, TOKEN_SIZE);
    snprintf(good.member, sizeof good.member, "%s", membership_self(b.membership));
    struct datagram_header wrong[] = {good, good, good, good, good, good};
    wrong[0].mark++;
    wrong[1].token[TOKEN_SIZE - 1] ^= 1;
    memset(wrong[2].member, 'x', ID_MAX);
    snprintf(wrong[3].member, ID_MAX, "o_nobody");
    wrong[4].theirs--;
    wrong[5].to = 77;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        forged = wrong[i];
        write_forged(connection, bytes, size);
        assert_int_equal(attempt.ended, 0);
    }

    /* And one that is right but for its place: what is missing before it may have been anything. */
    forged = good;
    write_forged(connection, bytes, size);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    loop_enter(b.loop);
    mail_connection_close(&connection);
    loop_leave(b.loop);
}

/* It may have been the result. */
static void a_message_that_is_none_begins_everything_between_the_two_anew(void **state)
{
    give(&attempt);
    loop_enter(b.loop);
    memset(mail_connection_reserve(peer_of(&b)->connection, 40), 0xff, 40);
    loop_leave(b.loop);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    AWAIT_LINK();
    assert_true(script_calls[0].cancelled);
    give(&attempt);
}

static void a_datagram_that_is_cut_off_does_so_too(void **state)
{
    static const uint32_t beyond = 1;
    struct status st = {0};
    give(&attempt);
    const struct peer *peer = peer_of(&b);
    struct mail_connection_options options = {.address = fanout_member_row(a.fanout)->address,
                                              .datagram_max = a.fanout->remote_datagram_max,
                                              .header_size = sizeof forged + sizeof beyond,
                                              .stamp = forge_cut};
    forged = (struct datagram_header){.mark = FANOUT_WIRE_MARK,
                                      .mine = peer->remote->mine,
                                      .theirs = peer->remote->theirs,
                                      .number = peer_of(&a)->remote->read};
    memcpy(forged.token, peer->remote->token, TOKEN_SIZE);
    snprintf(forged.member, sizeof forged.member, "%s", membership_self(b.membership));
    struct mail_connection *connection = mail_connection_open(b.loop, &options, &st);
    assert_non_null(connection);
    write_forged(connection, &beyond, sizeof beyond);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    assert_non_null(strstr(attempt.status.text, "cannot be read"));
    loop_enter(b.loop);
    mail_connection_close(&connection);
    loop_leave(b.loop);
}

static struct side c;

static bool third_is_linked(void)
{
    loop_step(c.loop, 0);
    struct peer *peer = nth_peer_of(&a, 1);
    return peer && peer->remote->up && nth_peer_of(&c, 0) && nth_peer_of(&c, 0)->remote->up;
}

static void one_that_joins_has_its_share_of_the_hands_though_another_was_offered_them_all(void **state)
{
    open_both();
    assert_int_equal(peer_of(&a)->offered, FANOUT_SLOTS);
    open_side(&c, NULL);
    AWAIT_BEATS(third_is_linked(), 25);
    const struct fanout_endpoint *endpoint = &a.fanout->endpoints[0];
    assert_int_equal(endpoint->remote_share, FANOUT_SLOTS / 2);
    unsigned idle = FANOUT_SLOTS - FANOUT_LOCAL_FIRST;
    assert_int_equal(nth_peer_of(&a, 1)->offered, idle - FANOUT_SLOTS / 2);
    assert_int_equal(endpoint->remote_offered, idle);
    struct peer *first = peer_of(&a);
    loop_enter(a.loop);
    worker_unoffer(first, FANOUT_SLOTS / 2); /* what it was offered too much is not offered again */
    assert_int_equal(endpoint->remote_offered, idle);
    assert_int_equal(worker_slots(first), 0);
    worker_unoffer(first, 1);
    assert_int_equal(worker_slots(first), 1);
    loop_leave(a.loop);
    close_side(&c);
    close_both();
    loop_destroy(&c.loop);
}

static void one_that_never_answers_takes_no_share_of_the_slots(void **state)
{
    Renga__V1__MemberFanOut row = *fanout_member_row(b.fanout);
    row.address = (char[]){"tcp://127.0.0.1:1"};
    struct membership_options options = {.loop = b.loop,
                                         .store = store,
                                         .name = "nobody",
                                         .address = "",
                                         .fan_out = &row,
                                         .lease_ms = LEASE_MS,
                                         .died = nothing,
                                         .lapsed = nothing};
    struct membership *nobody = membership_create(&options);
    membership_start(nobody);
    AWAIT_BEATS(nth_peer_of(&a, 1), 25);
    assert_false(nth_peer_of(&a, 1)->remote->up);
    uint32_t session = peer_of(&a)->remote->mine;
    peer_of(&a)->remote->read--; /* a datagram was lost: all is shared out anew */
    AWAIT_BEATS(peer_of(&a)->remote->mine > session, 25);
    AWAIT_LINK();
    assert_int_equal(a.fanout->endpoints[0].remote_share, FANOUT_SLOTS);
    assert_int_equal(peer_of(&a)->offered, FANOUT_SLOTS - FANOUT_LOCAL_FIRST);
    loop_enter(b.loop);
    membership_stop(nobody);
    loop_leave(b.loop);
    settle(0);
    membership_release(&nobody);
}

static void each_loop_has_one_of_the_others_whatever_their_number(void **state)
{
    for (unsigned ours = 1; ours <= 9; ours++)
        for (unsigned theirs = 1; theirs <= 9; theirs++)
            for (unsigned i = 0; i < ours; i++) {
                unsigned pairs = 0;
                for (unsigned j = 0; j < theirs; j++) {
                    pairs += remote_peer_is_pair(i, ours, j, theirs);
                    assert_int_equal(remote_peer_is_pair(i, ours, j, theirs), remote_peer_is_pair(j, theirs, i, ours));
                }
                assert_true(pairs >= 1 && pairs <= (theirs + ours - 1) / ours);
            }
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        REMOTE(an_attempt_goes_to_another_orchestrator_that_has_its_agent_from_the_store),
        REMOTE(one_that_is_cancelled_while_its_agent_is_fetched_ends_so),
        REMOTE(a_worker_that_has_not_got_the_agent_is_given_nothing_for_a_while),
        REMOTE(a_node_that_does_not_travel_and_a_version_that_is_none_are_refused),
        REMOTE(a_worker_that_falls_silent_has_what_it_had_taken_over_within_three_seconds),
        REMOTE(a_worker_that_stood_still_begins_nothing_that_was_written_to_it_meanwhile),
        REMOTE(one_that_was_taken_for_dead_is_shared_with_again),
        REMOTE(what_a_worker_says_of_an_attempt_that_was_taken_over_has_no_effect),
        REMOTE(a_datagram_that_is_lost_begins_everything_between_the_two_anew),
        REMOTE(a_worker_that_ends_takes_no_more_and_nobody_is_to_blame),
        REMOTE(datagrams_that_are_not_of_this_session_have_no_effect),
        REMOTE(a_message_that_is_none_begins_everything_between_the_two_anew),
        REMOTE(a_datagram_that_is_cut_off_does_so_too),
        cmocka_unit_test(one_that_joins_has_its_share_of_the_hands_though_another_was_offered_them_all),
        REMOTE(one_that_never_answers_takes_no_share_of_the_slots),
        cmocka_unit_test(each_loop_has_one_of_the_others_whatever_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
