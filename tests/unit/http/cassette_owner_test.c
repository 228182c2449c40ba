/* A cassette's owner, its file, and several loops at once. */
#include "cassette_fixture.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the owner's side ------------------------------------------------------------------------------------------- */

static void a_cancelled_replay_ends_at_once_and_once(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.cancel_at = 2;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
    assert_int_equal(played.piece_count, 2);
    prepare_stream(fixture, &played, "{}");
    loop_enter(fixture->loop);
    transfer_replay(fixture->client, &played.transfer, fixture->cassette);
    transfer_cancel(&played.transfer);
    assert_int_equal(played.finished, 0);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
    assert_int_equal(played.headers_status, 0);
}

static void a_paused_replay_waits_until_it_is_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.pause_at = 2;
    played.transfer.idle_timeout_ms = 20; /* not counted while paused */
    begin(fixture, &played, true);
    assert_true(WAIT_FOR(fixture->loop, played.transfer.held, 1000));
    usleep(60000);
    loop_enter(fixture->loop);
    assert_int_equal(played.piece_count, 2);
    transfer_resume(&played.transfer);
    assert_int_equal(played.piece_count, 2);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_COMPLETE);
    assert_int_equal(played.piece_count, 4);
    prepare_stream(fixture, &played, "{}");
    played.pause_at = 1;
    played.transfer.timeout_ms = 40; /* counted */
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_LATE);
}

static void a_replay_keeps_to_the_bound_of_the_answer(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.transfer.response_max = 10;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_TOO_LARGE);
    assert_int_equal(played.piece_count, 2);
}

static void a_client_that_is_closed_ends_its_replays(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played, waiting;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    prepare_stream(fixture, &waiting, "{}");
    played.pause_at = 1;
    begin(fixture, &played, true);
    assert_true(WAIT_FOR(fixture->loop, played.transfer.held, 1000));
    loop_enter(fixture->loop);
    transfer_replay(fixture->client, &waiting.transfer, fixture->cassette);
    http_client_destroy(&fixture->client);
    assert_int_equal(played.finished + waiting.finished, 2);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    finish(fixture, &waiting);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
}

static void what_the_owner_ended_is_not_recorded(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    record_from(fixture, streamed);
    prepare_stream(fixture, &exchange, "{}");
    exchange.cancel_at = 1;
    begin(fixture, &exchange, false);
    finish(fixture, &exchange);
    assert_int_equal(exchange.end, TRANSFER_CANCELLED);
    prepare_stream(fixture, &exchange, "{}");
    exchange.transfer.response_max = 10;
    begin(fixture, &exchange, false);
    finish(fixture, &exchange);
    assert_int_equal(exchange.end, TRANSFER_TOO_LARGE);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.recorded, 0);
    peer_stop(&fixture->peer);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

#define LINE "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200}\n"

static void assert_refused(struct fixture *fixture, const char *text, enum cassette_mode mode, const char *why)
{
    struct status st = {0};
    write_file(fixture, text);
    struct cassette *cassette = cassette_open(fixture->path, &(struct cassette_options){.mode = mode}, &st);
    assert_null(cassette);
    print_message("          %s\n", st.text);
    assert_non_null(strstr(st.text, fixture->path));
    if (!strstr(st.text, why))
        fail_msg("'%s' does not say '%s'", st.text, why);
}

static void a_broken_file_is_refused_by_its_line(void **state)
{
    struct fixture *fixture = *state;
    assert_refused(fixture, LINE "{\"method\":1}\n", CASSETTE_REPLAY, ":2: ");
    assert_refused(fixture, "[]\n", CASSETTE_REPLAY, ":1: ");
    assert_refused(fixture, "{\n", CASSETTE_REPLAY, ":1: ");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"never\"}\n", CASSETTE_REPLAY, "end");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"cut\",\"code\":\"OK\"}\n", CASSETTE_REPLAY,
                   "code");
    assert_refused(
        fixture,
        "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200,\"pieces\":[{\"base64\":\"a\"}]}\n",
        CASSETTE_REPLAY, "base64");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200,\"pieces\":[7]}\n",
                   CASSETTE_REPLAY, "pieces[0]");
    assert_refused(fixture, LINE "{\"meth", CASSETTE_RECORD, "whole line");
    struct status st = {0};
    assert_null(cassette_open("/nowhere/at/all", &(struct cassette_options){.mode = CASSETTE_REPLAY}, &st));
    assert_int_equal(st.code, NOT_FOUND);
    assert_null(cassette_open("/nowhere/at/all", &(struct cassette_options){.mode = CASSETTE_RECORD}, &st));
}

static void an_exchange_that_was_cut_off_at_the_end_is_passed_over(void **state)
{
    struct fixture *fixture = *state;
    struct cassette_stats stats;
    write_file(fixture, LINE "\n" LINE "{\"method\":\"GE");
    record_opened(fixture, &(struct cassette_options){.mode = CASSETTE_REPLAY});
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.exchanges, 2);
}

static void recording_goes_on_behind_what_is_there(void **state)
{
    struct fixture *fixture = *state;
    write_file(fixture, LINE);
    record_from(fixture, counting);
    asks(fixture, "one", false, "1");
    replay(fixture);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.exchanges, 2);
    asks(fixture, "one", true, "1");
}

/* ---- several loops ---------------------------------------------------------------------------------------------- */

#define LOOPS 3
#define EACH  20

/* A question after the other, each of its own. */
struct asker {
    struct fixture fixture;
    struct exchange exchange;
    char body[32];
    int index, asked;
    bool replays, done;
    struct work go;
};

static void ask_next(struct asker *asker);

static void asker_answered(struct transfer *transfer)
{
    struct asker *asker = transfer->owner;
    assert_int_equal(transfer->end, TRANSFER_COMPLETE);
    http_url_destroy(&asker->exchange.url);
    ask_next(asker);
}

static void ask_next(struct asker *asker)
{
    if (asker->asked == EACH) {
        asker->done = true;
        return;
    }
    snprintf(asker->body, sizeof asker->body, "%d of %d", asker->asked++, asker->index);
    prepare(&asker->fixture, &asker->exchange, asker->body);
    asker->exchange.transfer.owner = asker;
    asker->exchange.transfer.headers_received = NULL;
    asker->exchange.transfer.finished = asker_answered;
    if (asker->replays) {
        transfer_replay(asker->fixture.client, &asker->exchange.transfer, asker->fixture.cassette);
    } else {
        transfer_record(&asker->exchange.transfer, asker->fixture.cassette);
        transfer_start(asker->fixture.client, &asker->exchange.transfer);
    }
}

static void go(struct work *work)
{
    ask_next(CONTAINER_OF(work, struct asker, go));
}

static void ask_from_loops(struct fixture *fixture, bool replays)
{
    static struct asker askers[LOOPS];
    for (int i = 0; i < LOOPS; i++) {
        struct asker *asker = &askers[i];
        memset(asker, 0, sizeof *asker);
        asker->fixture.cassette = fixture->cassette;
        asker->fixture.port = fixture->port;
        asker->index = i;
        asker->replays = replays;
        asker->go.run = go;
        asker->fixture.loop = loop_started((unsigned)i + 1);
        loop_enter(asker->fixture.loop);
        asker->fixture.client = http_client_create(asker->fixture.loop, &(struct http_client_options){0});
        loop_leave(asker->fixture.loop);
        loop_post(asker->fixture.loop, &asker->go);
    }
    for (int i = 0; i < LOOPS; i++) {
        struct asker *asker = &askers[i];
        assert_true(WAIT_FOR(asker->fixture.loop, asker->done, 20000));
        loop_enter(asker->fixture.loop);
        http_client_destroy(&asker->fixture.client);
        loop_leave(asker->fixture.loop);
        loop_ended(&asker->fixture.loop);
    }
}

static void several_loops_share_a_cassette(void **state)
{
    struct fixture *fixture = *state;
    struct cassette_stats stats;
    record_from(fixture, whole);
    ask_from_loops(fixture, false);
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.recorded, LOOPS * EACH);
    replay(fixture);
    ask_from_loops(fixture, true);
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.played, LOOPS * EACH);
    assert_int_equal(stats.unused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cancelled_replay_ends_at_once_and_once),
        TEST(a_paused_replay_waits_until_it_is_resumed),
        TEST(a_replay_keeps_to_the_bound_of_the_answer),
        TEST(a_client_that_is_closed_ends_its_replays),
        TEST(what_the_owner_ended_is_not_recorded),
        TEST(a_broken_file_is_refused_by_its_line),
        TEST(an_exchange_that_was_cut_off_at_the_end_is_passed_over),
        TEST(recording_goes_on_behind_what_is_there),
        TEST(several_loops_share_a_cassette),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
