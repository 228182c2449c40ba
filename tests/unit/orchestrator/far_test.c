/* Attempts between two orchestrators: sessions, silence, and strangers. */
#include "unit.h"

#include "far_fixture.h"

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
    assert_true(peer_of(&a)->barred > BARRED_BEATS - 5);
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
    for (int64_t ms = 0; ms < FANOUT_SILENCE_MS && !attempt.ended; ms += FANOUT_BEAT_MS)
        settle(FANOUT_BEAT_MS);
    assert_true(attempt.ended && attempt.lost);
    assert_int_equal(attempt.status.code, UNAVAILABLE);
    assert_false(give_node(&attempt, "n", version));
    assert_false(script_calls[0].cancelled);
    b.frozen = false;
    AWAIT_LINK();
    assert_true(script_calls[0].cancelled);
    give(&attempt);
}

/* A letter lies in its socket when it thaws, of an attempt that its owner has begun elsewhere by then. */
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
    assert_int_equal(peer_of(&b)->guests, 0);
}

static void a_letter_that_is_lost_begins_everything_between_the_two_anew(void **state)
{
    give(&attempt);
    uint32_t session = peer_of(&a)->far->mine;
    peer_of(&a)->far->read--; /* as if one had not come before the next */
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    AWAIT_LINK();
    assert_true(peer_of(&a)->far->mine > session);
    assert_true(script_calls[0].cancelled);
    assert_int_equal(peer_of(&a)->away, 0);
    give(&attempt);
    end_well(&script_calls[1]);
    AWAIT(attempt.ended);
    assert_true(attempt.finished);
}

static void a_worker_that_ends_takes_no_more_and_nobody_is_to_blame(void **state)
{
    give(&attempt);
    fanout_rest(b.fanout);
    assert_true(give_node(&another, "n", version));
    AWAIT(another.ended);
    assert_true(another.lost);
    assert_int_equal(another.status.code, UNAVAILABLE);
    end_well(&script_calls[0]);
    AWAIT(attempt.ended);
    assert_true(attempt.finished);
}

/* ---- strangers --------------------------------------------------------------------------------------------------- */

static struct head forged;

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
    struct status st = {0};
    give(&attempt);
    const struct peer *peer = peer_of(&b);
    struct line_options options = {.address = fanout_port(a.fanout)->address,
                                   .letter_max = a.fanout->far_letter_max,
                                   .head_size = sizeof forged,
                                   .stamp = forge};
    struct line *line = line_open(b.loop, &options, &st);
    assert_non_null(line);

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
        assert_int_equal(attempt.ended, 0);
    }

    /* And one that is right but for its place: what is missing before it may have been anything. */
    forged = good;
    write_forged(line, bytes, size);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    loop_enter(b.loop);
    line_close(&line);
    loop_leave(b.loop);
}

/* It may have been the result. */
static void a_message_that_is_none_begins_everything_between_the_two_anew(void **state)
{
    give(&attempt);
    loop_enter(b.loop);
    memset(line_reserve(peer_of(&b)->line, 40), 0xff, 40);
    loop_leave(b.loop);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    AWAIT_LINK();
    assert_true(script_calls[0].cancelled);
    give(&attempt);
}

static void a_letter_that_is_cut_off_does_so_too(void **state)
{
    static const uint32_t beyond = 1;
    struct status st = {0};
    give(&attempt);
    const struct peer *peer = peer_of(&b);
    struct line_options options = {.address = fanout_port(a.fanout)->address,
                                   .letter_max = a.fanout->far_letter_max,
                                   .head_size = sizeof forged + sizeof beyond,
                                   .stamp = forge_cut};
    forged = (struct head){
        .mark = FAR_MARK, .mine = peer->far->mine, .theirs = peer->far->theirs, .number = peer_of(&a)->far->read};
    memcpy(forged.token, peer->far->token, TOKEN_SIZE);
    snprintf(forged.member, sizeof forged.member, "%s", members_self(b.members));
    struct line *line = line_open(b.loop, &options, &st);
    assert_non_null(line);
    write_forged(line, &beyond, sizeof beyond);
    AWAIT(attempt.ended);
    assert_true(attempt.lost);
    assert_non_null(strstr(attempt.status.text, "cannot be read"));
    loop_enter(b.loop);
    line_close(&line);
    loop_leave(b.loop);
}

static struct side c;

static bool third_is_linked(void)
{
    loop_step(c.loop, 0);
    struct peer *peer = nth_peer_of(&a, 1);
    return peer && peer->far->up && nth_peer_of(&c, 0) && nth_peer_of(&c, 0)->far->up;
}

static void one_that_joins_has_its_share_of_the_hands_though_another_was_offered_them_all(void **state)
{
    open_both();
    assert_int_equal(peer_of(&a)->offered, FANOUT_HANDS);
    open_side(&c, NULL);
    AWAIT_BEATS(third_is_linked(), 25);
    const struct station *station = &a.fanout->stations[0];
    assert_int_equal(station->far_share, FANOUT_HANDS / 2);
    unsigned idle = FANOUT_HANDS - FANOUT_HOME_FIRST;
    assert_int_equal(nth_peer_of(&a, 1)->offered, idle - FANOUT_HANDS / 2);
    assert_int_equal(station->far_offered, idle);
    struct peer *first = peer_of(&a);
    loop_enter(a.loop);
    worker_unoffer(first, FANOUT_HANDS / 2); /* what it was offered too much is not offered again */
    assert_int_equal(station->far_offered, idle);
    assert_int_equal(worker_hands(first), 0);
    worker_unoffer(first, 1);
    assert_int_equal(worker_hands(first), 1);
    loop_leave(a.loop);
    close_side(&c);
    close_both();
    loop_destroy(&c.loop);
}

static void one_that_never_answers_takes_no_share_of_the_hands(void **state)
{
    Renga__V1__MemberFanOut row = *fanout_port(b.fanout);
    row.address = (char[]){"tcp://127.0.0.1:1"};
    struct members_options options = {.loop = b.loop,
                                      .store = store,
                                      .name = "nobody",
                                      .address = "",
                                      .fan_out = &row,
                                      .lease_ms = LEASE_MS,
                                      .died = nothing,
                                      .lapsed = nothing};
    struct members *nobody = members_create(&options);
    members_start(nobody);
    AWAIT_BEATS(nth_peer_of(&a, 1), 25);
    assert_false(nth_peer_of(&a, 1)->far->up);
    uint32_t session = peer_of(&a)->far->mine;
    peer_of(&a)->far->read--; /* a letter was lost: all is shared out anew */
    AWAIT_BEATS(peer_of(&a)->far->mine > session, 25);
    AWAIT_LINK();
    assert_int_equal(a.fanout->stations[0].far_share, FANOUT_HANDS);
    assert_int_equal(peer_of(&a)->offered, FANOUT_HANDS - FANOUT_HOME_FIRST);
    loop_enter(b.loop);
    members_stop(nobody);
    loop_leave(b.loop);
    settle(0);
    members_release(&nobody);
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
        FAR(an_attempt_goes_to_another_orchestrator_that_has_its_agent_from_the_store),
        FAR(one_that_is_cancelled_while_its_agent_is_fetched_ends_so),
        FAR(a_worker_that_has_not_got_the_agent_is_given_nothing_for_a_while),
        FAR(a_node_that_does_not_travel_and_a_version_that_is_none_are_refused),
        FAR(a_worker_that_falls_silent_has_what_it_had_taken_over_within_three_seconds),
        FAR(a_worker_that_stood_still_begins_nothing_that_was_written_to_it_meanwhile),
        FAR(one_that_was_taken_for_dead_is_shared_with_again),
        FAR(what_a_worker_says_of_an_attempt_that_was_taken_over_has_no_effect),
        FAR(a_letter_that_is_lost_begins_everything_between_the_two_anew),
        FAR(a_worker_that_ends_takes_no_more_and_nobody_is_to_blame),
        FAR(letters_that_are_not_of_this_session_have_no_effect),
        FAR(a_message_that_is_none_begins_everything_between_the_two_anew),
        FAR(a_letter_that_is_cut_off_does_so_too),
        cmocka_unit_test(one_that_joins_has_its_share_of_the_hands_though_another_was_offered_them_all),
        FAR(one_that_never_answers_takes_no_share_of_the_hands),
        cmocka_unit_test(each_loop_has_one_of_the_others_whatever_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
