/* Many transfers at once, long ones, and ends that nobody waited for: cancelled, refused, late, or with the client. */
#include "client_fixture.h"
#include "starved.h"

static void cancelling_ends_with_cancelled_and_the_server_notices(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(&exchange, "/watch");
    start(fixture, &exchange);
    assert_true(WAIT_FOR(served.loop, served.held_count == 1, 2000));
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    loop_enter(fixture->loop);
    transfer_cancel(&exchange.transfer);
    transfer_cancel(&exchange.transfer);
    assert_int_equal(exchange.finished, 0);
    loop_leave(fixture->loop);
    assert_int_equal(exchange.finished, 1);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_true(WAIT_FOR(served.loop, served.left_count == 1, 1000));
    int64_t took_ns = clock_now_ns() - began_ns;
    print_message("          noticed after %.2f ms\n", (double)took_ns / 1e6);
    assert_true(took_ns - (starved_ns() - starved) < 20 * NS_PER_MS);
    served.held_count = 0;
    finish(fixture, &exchange);
}

static void a_cancelled_transfer_that_waits_never_goes_out(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(&exchange, "/echo");
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange.transfer);
    transfer_cancel(&exchange.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_int_equal(exchange.transfer.http_status, 0);
}

static void pools_fill_then_the_queue_then_transfers_are_refused_at_once(void **state)
{
    struct fixture *fixture = *state;
    enum { RUNNING = 256, QUEUED = 16, REFUSED = 8, ALL = RUNNING + QUEUED + REFUSED };
    struct exchange *exchanges = calloc(ALL, sizeof *exchanges);
    for (int i = 0; i < ALL; i++)
        prepare(&exchanges[i], "/hold");
    loop_enter(fixture->loop);
    for (int i = 0; i < ALL; i++)
        transfer_start(fixture->client, &exchanges[i].transfer);
    loop_leave(fixture->loop);
    for (int i = RUNNING + QUEUED; i < ALL; i++) {
        finish(fixture, &exchanges[i]);
        assert_int_equal(exchanges[i].status.code, RESOURCE_EXHAUSTED);
        assert_int_equal(exchanges[i].transfer.end, TRANSFER_REFUSED);
    }
    assert_true(WAIT_FOR(served.loop, served.held_count == RUNNING, 5000));
    struct http_client_stats stats;
    loop_enter(fixture->loop);
    http_client_stats(fixture->client, &stats);
    loop_leave(fixture->loop);
    assert_int_equal(stats.running, RUNNING);
    assert_int_equal(stats.queued, QUEUED);
    assert_int_equal(stats.pools, 2);
    answer_held("late");
    assert_true(WAIT_FOR(served.loop, served.held_count == QUEUED, 5000));
    answer_held("later");
    for (int i = 0; i < RUNNING + QUEUED; i++) {
        finish(fixture, &exchanges[i]);
        assert_int_equal(exchanges[i].transfer.http_status, 200);
    }
    free(exchanges);
}

static void a_deadline_also_runs_while_waiting_in_the_queue(void **state)
{
    struct fixture *fixture = *state;
    enum { RUNNING = 256 };
    struct exchange *exchanges = calloc(RUNNING + 1, sizeof *exchanges);
    for (int i = 0; i <= RUNNING; i++)
        prepare(&exchanges[i], "/hold");
    exchanges[RUNNING].transfer.timeout_ms = 100;
    loop_enter(fixture->loop);
    for (int i = 0; i <= RUNNING; i++)
        transfer_start(fixture->client, &exchanges[i].transfer);
    loop_leave(fixture->loop);
    finish(fixture, &exchanges[RUNNING]);
    assert_int_equal(exchanges[RUNNING].status.code, DEADLINE_EXCEEDED);
    assert_int_equal(exchanges[RUNNING].transfer.end, TRANSFER_LATE);
    assert_true(WAIT_FOR(served.loop, served.held_count == RUNNING, 5000));
    answer_held("late");
    for (int i = 0; i < RUNNING; i++)
        finish(fixture, &exchanges[i]);
    free(exchanges);
}

static int headers_status;

static void note_headers(struct transfer *transfer, int http_status)
{
    struct exchange *exchange = transfer->owner;
    headers_status = http_status;
    assert_int_equal(exchange->body_size, 0);
}

static void note_body(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_true(exchange->body_size + size < sizeof exchange->body);
    memcpy(exchange->body + exchange->body_size, bytes, size);
    exchange->body_size += size;
}

static void a_stream_arrives_whole_and_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(&exchange, "/stream");
    exchange.transfer.headers_received = note_headers;
    exchange.transfer.body_received = note_body;
    perform(fixture, &exchange);
    assert_int_equal(headers_status, 200);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.body_size, 1000 * 12);
    for (int i = 0; i < 1000; i++) {
        char piece[64];
        snprintf(piece, sizeof piece, "data: %04d\n\n", i);
        assert_memory_equal(exchange.body + i * 12, piece, 12);
    }
}

static void cancel_in_body(struct transfer *transfer, const char *bytes, size_t size)
{
    ((struct exchange *)transfer->owner)->body_size += size;
    transfer_cancel(transfer);
}

static void cancelling_from_within_a_callback_stops_the_stream(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(&exchange, "/stream");
    exchange.transfer.body_received = cancel_in_body;
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_true(exchange.transfer.received <= 16384);
}

static void a_client_is_closed_with_transfers_under_way(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchanges[3];
    for (int i = 0; i < 3; i++) {
        prepare(&exchanges[i], "/watch");
        start(fixture, &exchanges[i]);
    }
    assert_true(WAIT_FOR(served.loop, served.held_count == 3, 2000));
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    for (int i = 0; i < 3; i++) {
        finish(fixture, &exchanges[i]);
        assert_int_equal(exchanges[i].status.code, CANCELLED);
    }
    assert_true(WAIT_FOR(served.loop, served.left_count == 3, 1000));
    served.held_count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(cancelling_ends_with_cancelled_and_the_server_notices),
        SERVED(a_cancelled_transfer_that_waits_never_goes_out),
        SERVED(pools_fill_then_the_queue_then_transfers_are_refused_at_once),
        SERVED(a_deadline_also_runs_while_waiting_in_the_queue),
        SERVED(a_stream_arrives_whole_and_in_order),
        SERVED(cancelling_from_within_a_callback_stops_the_stream),
        SERVED(a_client_is_closed_with_transfers_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
