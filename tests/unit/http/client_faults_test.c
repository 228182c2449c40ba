/* What peers do to a client, byte by byte: answers that are cut, connections that hang or never come. Each fault ends
 * in the right status, in time, with nothing left behind. With an argument the transfers are such that curl carries
 * them, which must make no difference. */
#include "faults_fixture.h"

/* ---- cut answers ------------------------------------------------------------------------------------------------ */

static void a_body_shorter_than_its_length_is_not_ok(void **state)
{
    struct exchange exchange;
    exchange_for(*state, &exchange, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.received, 9);
    assert_int_equal(exchange.http_status, 200);
    assert_true(exchange.transfer.answered);
}

static void headers_that_are_cut_are_not_ok(void **state)
{
    struct exchange exchange;
    exchange_for(*state, &exchange, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Ty");
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.http_status, 0);
}

static void chunks_without_an_end_are_not_ok(void **state)
{
    struct exchange exchange;
    exchange_for(*state, &exchange, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.received, 5);
}

static void reset_in_body(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    peer_pause(30);
    peer_reset_on_close(fd);
}

static void a_reset_within_the_body_is_not_ok(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, reset_in_body);
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.received, 5);
}

static void a_connection_closed_without_an_answer_is_not_repeated(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    exchange_for(fixture, &exchange, "");
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_false(exchange.transfer.answered);
    assert_false(exchange.stale);
    assert_int_equal(fixture->peer.requests, 1);
}

/* Answers once, then closes as soon as a second request is on the connection. */
static void answer_one_drop_one(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer_read_request(peer, fd);
}

static void a_request_lost_on_a_kept_connection_is_told_not_repeated(void **state)
{
    struct fixture *fixture = *state;
    struct exchange first, second;
    peer_start(&fixture->peer, answer_one_drop_one);
    prepare(fixture, &first);
    perform(fixture, &first);
    assert_int_equal(first.status.code, OK);
    prepare(fixture, &second);
    perform(fixture, &second);
    assert_ended(&second, TRANSFER_CUT, UNAVAILABLE);
    assert_true(second.stale);
    assert_int_equal(fixture->peer.requests, 2);
    peer_stop(&fixture->peer);
}

static void may_repeat_sends_it_once_more(void **state)
{
    struct fixture *fixture = *state;
    struct exchange first, second;
    peer_start(&fixture->peer, answer_one_drop_one);
    prepare(fixture, &first);
    perform(fixture, &first);
    prepare(fixture, &second);
    second.transfer.may_repeat = true;
    perform(fixture, &second);
    assert_int_equal(second.status.code, OK);
    assert_int_equal(fixture->peer.requests, 3);
    peer_stop(&fixture->peer);
}

static void a_kept_connection_that_was_closed_meanwhile_is_not_used(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, answer_and_close);
    for (int i = 0; i < 20; i++) {
        prepare(fixture, &exchange);
        perform(fixture, &exchange);
        assert_int_equal(exchange.status.code, OK);
        assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.closed) == i + 1, 10000));
        peer_pause(2);
    }
    peer_stop(&fixture->peer);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static void hang(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_wait_left(peer, fd);
}

static void a_peer_that_hangs_meets_the_deadline_and_is_left(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, hang);
    prepare(fixture, &exchange);
    exchange.transfer.timeout_ms = 150;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_LATE, DEADLINE_EXCEEDED);
    assert_true(exchange.took_ns >= 150 * NS_PER_MS && exchange.took_ns < 10 * NS_PER_SEC);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
}

static void fall_silent(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        peer_send(fd, "1\r\nx\r\n");
        peer_pause(300);
    }
    peer_wait_left(peer, fd);
}

static void a_peer_that_falls_silent_is_told_from_a_slow_one(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, fall_silent);
    prepare(fixture, &exchange);
    exchange.transfer.idle_timeout_ms = 1000;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_SILENT, DEADLINE_EXCEEDED);
    assert_int_equal(exchange.received, 5);
    assert_true(exchange.took_ns >= 2 * NS_PER_SEC && exchange.took_ns < 20 * NS_PER_SEC);
    peer_stop(&fixture->peer);
}

static void drip(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (!atomic_load(&peer->stopping) && !atomic_load(&peer->left)) {
        peer_send(fd, "x");
        peer_pause(5);
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
            atomic_store(&peer->left, true);
    }
}

static void a_slow_drip_cannot_outlast_the_deadline(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, drip);
    prepare(fixture, &exchange);
    exchange.transfer.timeout_ms = 2000;
    exchange.transfer.idle_timeout_ms = 1000;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_LATE, DEADLINE_EXCEEDED);
    assert_true(exchange.received > 0);
    peer_stop(&fixture->peer);
}

static void a_refused_connection_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_post(&exchange, "http://127.0.0.1:1/");
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_UNCONNECTED, UNAVAILABLE);
}

static void a_name_that_does_not_exist_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_post(&exchange, "http://no-such-host.invalid/");
    exchange.transfer.connect_timeout_ms = 2000;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_UNCONNECTED, UNAVAILABLE);
}

/* A listener whose backlog is full takes no connection. */
static void a_connection_that_never_comes_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    int fds[8];
    int port = peer_full_listener(fds, 8);
    prepare_port(&exchange, port);
    exchange.transfer.connect_timeout_ms = 200;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_UNCONNECTED, UNAVAILABLE);
    assert_true(exchange.took_ns < 2 * NS_PER_SEC);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
}

static unsigned opened(struct fixture *fixture)
{
    struct http_client_stats stats;
    http_client_stats(fixture->client, &stats);
    return (unsigned)stats.connections_opened;
}

static void answer_once(struct peer *peer, int fd)
{
    if (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}

/* The next socket has the descriptor of the one that was given up. */
static void a_connection_given_up_while_it_connects_does_no_harm_to_the_next(void **state)
{
    struct fixture *fixture = *state;
    struct exchange given_up, next;
    int fds[8], port = peer_full_listener(fds, 8);
    peer_start(&fixture->peer, answer_once);
    for (unsigned i = 0; i < 3; i++) {
        prepare_port(&given_up, port);
        start(fixture, &given_up);
        assert_true(WAIT_FOR(fixture->loop, opened(fixture) > 2 * i, 3000));
        usleep(10000); /* it waits for the connection */
        loop_enter(fixture->loop);
        transfer_cancel(&given_up.transfer);
        loop_leave(fixture->loop);
        finish(fixture, &given_up);
        assert_ended(&given_up, TRANSFER_CANCELLED, CANCELLED);
        prepare(fixture, &next);
        perform(fixture, &next);
        assert_int_equal(next.status.code, OK);
        assert_true(next.took_ns < 2 * NS_PER_SEC);
    }
    peer_stop(&fixture->peer);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
}

int main(int argc, char **argv)
{
    (void)argv;
    redirects = argc > 1;
    const struct CMUnitTest tests[] = {
        TEST(a_body_shorter_than_its_length_is_not_ok),
        TEST(headers_that_are_cut_are_not_ok),
        TEST(chunks_without_an_end_are_not_ok),
        TEST(a_reset_within_the_body_is_not_ok),
        TEST(a_connection_closed_without_an_answer_is_not_repeated),
        TEST(a_request_lost_on_a_kept_connection_is_told_not_repeated),
        TEST(may_repeat_sends_it_once_more),
        TEST(a_kept_connection_that_was_closed_meanwhile_is_not_used),
        TEST(a_peer_that_hangs_meets_the_deadline_and_is_left),
        TEST(a_peer_that_falls_silent_is_told_from_a_slow_one),
        TEST(a_slow_drip_cannot_outlast_the_deadline),
        TEST(a_refused_connection_is_unavailable),
        TEST(a_name_that_does_not_exist_is_unavailable),
        TEST(a_connection_that_never_comes_is_unavailable),
        TEST(a_connection_given_up_while_it_connects_does_no_harm_to_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
