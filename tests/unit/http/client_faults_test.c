/* What peers do to a client, byte by byte: each fault ends in the right status, in time, with nothing left behind. With
 * an argument the transfers are such that curl carries them, which must make no difference. */
#include "peer.h"

#include "base/clock.h"
#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
};

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    struct status status;
    int finished, http_status;
    enum transfer_end end;
    size_t received;
    size_t pause_after;
    bool stale;
    int64_t took_ns;
    int64_t began_ns;
};

static unsigned redirects; /* that are followed: some make it curl's */

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){0});
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    free(fixture);
    return 0;
}

static void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->took_ns = clock_now_ns() - exchange->began_ns;
    exchange->status = transfer->status;
    exchange->end = transfer->end;
    exchange->http_status = transfer->http_status;
    exchange->received = transfer->received;
    exchange->stale = transfer->stale;
}

static void prepare_url(struct exchange *exchange, const char *text)
{
    struct status st = {0};
    memset(exchange, 0, sizeof *exchange);
    exchange->url = http_url_parse(text, &st);
    if (!exchange->url)
        fail_msg("%s", st.text);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
    exchange->transfer.timeout_ms = 3000;
    exchange->transfer.redirects_max = redirects;
    exchange->transfer.method = "POST";
    exchange->transfer.body = "{}";
    exchange->transfer.body_size = 2;
}

static void prepare(struct fixture *fixture, struct exchange *exchange)
{
    char text[64];
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", fixture->peer.port);
    prepare_url(exchange, text);
}

static void start(struct fixture *fixture, struct exchange *exchange)
{
    exchange->began_ns = clock_now_ns();
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    loop_leave(fixture->loop);
}

static void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished == 1, 10000));
    http_url_destroy(&exchange->url);
}

/* One transfer against one behaviour. */
static void exchange_with(struct fixture *fixture, struct exchange *exchange, void (*serve)(struct peer *peer, int fd))
{
    peer_start(&fixture->peer, serve);
    prepare(fixture, exchange);
    start(fixture, exchange);
    finish(fixture, exchange);
    peer_stop(&fixture->peer);
}

static void assert_ended(const struct exchange *exchange, enum transfer_end end, enum status_code code)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
    assert_int_equal(exchange->status.code, code);
    assert_true(exchange->status.text[0]);
}

/* ---- cut answers ------------------------------------------------------------------------------------------------ */

static void shorter_than_promised(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
}

static void a_body_shorter_than_its_length_is_not_ok(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, shorter_than_promised);
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.received, 9);
    assert_int_equal(exchange.http_status, 200);
    assert_true(exchange.transfer.answered);
}

static void cut_in_headers(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Ty");
}

static void headers_that_are_cut_are_not_ok(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, cut_in_headers);
    assert_ended(&exchange, TRANSFER_CUT, UNAVAILABLE);
    assert_int_equal(exchange.http_status, 0);
}

static void chunk_cut(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
}

static void chunks_without_an_end_are_not_ok(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, chunk_cut);
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

static void no_answer(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
}

static void a_connection_closed_without_an_answer_is_not_repeated(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    exchange_with(fixture, &exchange, no_answer);
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
    start(fixture, &first);
    finish(fixture, &first);
    assert_int_equal(first.status.code, OK);
    prepare(fixture, &second);
    start(fixture, &second);
    finish(fixture, &second);
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
    start(fixture, &first);
    finish(fixture, &first);
    prepare(fixture, &second);
    second.transfer.may_repeat = true;
    start(fixture, &second);
    finish(fixture, &second);
    assert_int_equal(second.status.code, OK);
    assert_int_equal(fixture->peer.requests, 3);
    peer_stop(&fixture->peer);
}

static void answer_and_close(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void a_kept_connection_that_was_closed_meanwhile_is_not_used(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, answer_and_close);
    for (int i = 0; i < 20; i++) {
        prepare(fixture, &exchange);
        start(fixture, &exchange);
        finish(fixture, &exchange);
        assert_int_equal(exchange.status.code, OK);
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
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_LATE, DEADLINE_EXCEEDED);
    assert_true(exchange.took_ns >= 150 * NS_PER_MS && exchange.took_ns < 2 * NS_PER_SEC);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
}

static void fall_silent(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        peer_send(fd, "1\r\nx\r\n");
        peer_pause(60);
    }
    peer_wait_left(peer, fd);
}

static void a_peer_that_falls_silent_is_told_from_a_slow_one(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, fall_silent);
    prepare(fixture, &exchange);
    exchange.transfer.idle_timeout_ms = 200;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_SILENT, DEADLINE_EXCEEDED);
    assert_int_equal(exchange.received, 5);
    assert_true(exchange.took_ns >= 400 * NS_PER_MS && exchange.took_ns < 2 * NS_PER_SEC);
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
    exchange.transfer.timeout_ms = 200;
    exchange.transfer.idle_timeout_ms = 100;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_LATE, DEADLINE_EXCEEDED);
    assert_true(exchange.received > 0);
    peer_stop(&fixture->peer);
}

static void a_refused_connection_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_url(&exchange, "http://127.0.0.1:1/");
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_UNCONNECTED, UNAVAILABLE);
}

static void a_name_that_does_not_exist_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare_url(&exchange, "http://no-such-host.invalid/");
    exchange.transfer.connect_timeout_ms = 2000;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_UNCONNECTED, UNAVAILABLE);
}

/* A listener whose backlog is full takes no connection. */
static void a_connection_that_never_comes_is_unavailable(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    int fds[8];
    int port = peer_full_listener(fds, 8);
    char text[64];
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", port);
    prepare_url(&exchange, text);
    exchange.transfer.connect_timeout_ms = 200;
    start(fixture, &exchange);
    finish(fixture, &exchange);
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
    char text[64];
    peer_start(&fixture->peer, answer_once);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "http://127.0.0.1:%d/", port);
        prepare_url(&given_up, text);
        start(fixture, &given_up);
        assert_true(WAIT_FOR(fixture->loop, opened(fixture) > 2 * i, 3000));
        usleep(10000); /* it waits for the connection */
        loop_enter(fixture->loop);
        transfer_cancel(&given_up.transfer);
        loop_leave(fixture->loop);
        finish(fixture, &given_up);
        assert_ended(&given_up, TRANSFER_CANCELLED, CANCELLED);
        prepare(fixture, &next);
        start(fixture, &next);
        finish(fixture, &next);
        assert_int_equal(next.status.code, OK);
        assert_true(next.took_ns < 2 * NS_PER_SEC);
    }
    peer_stop(&fixture->peer);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
}

/* ---- size ------------------------------------------------------------------------------------------------------- */

static void endless_chunks(struct peer *peer, int fd)
{
    char chunk[4096 + 8];
    int head = snprintf(chunk, sizeof chunk, "1000\r\n");
    memset(chunk + head, 'x', 4096);
    memcpy(chunk + head + 4096, "\r\n", 2);
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (!atomic_load(&peer->stopping) && send(fd, chunk, (size_t)head + 4098, MSG_NOSIGNAL) > 0)
        ;
    atomic_store(&peer->left, true);
}

static void an_endless_body_is_cut_at_the_bound(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, endless_chunks);
    prepare(fixture, &exchange);
    exchange.transfer.response_max = 1 << 20;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED);
    assert_true(exchange.received <= 1 << 20);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
}

static void promise_much(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n");
    peer_wait_left(peer, fd);
}

static void a_length_beyond_the_bound_is_refused_before_the_body(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, promise_much);
    assert_ended(&exchange, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED);
    assert_int_equal(exchange.received, 0);
}

static void endless_headers(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n");
    while (!atomic_load(&peer->stopping) && send(fd, "X-A: 0123456789012345678901234567890\r\n", 38, MSG_NOSIGNAL) > 0)
        ;
}

static void endless_headers_are_cut_at_the_bound(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, endless_headers);
    assert_ended(&exchange, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED);
}

static unsigned char packed[1 << 20];
static size_t packed_size;

static void pack_zeros(size_t size)
{
    static unsigned char zeros[1 << 16];
    z_stream stream = {0};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    for (size_t done = 0; done < size; done += sizeof zeros) {
        stream.next_in = zeros;
        stream.avail_in = sizeof zeros;
        deflate(&stream, done + sizeof zeros >= size ? Z_FINISH : Z_NO_FLUSH);
    }
    packed_size = stream.total_out;
    deflateEnd(&stream);
}

static void bomb(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    char head[128];
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
             packed_size);
    peer_send(fd, head);
    peer_send_bytes(fd, packed, packed_size);
    peer_wait_left(peer, fd);
}

static void a_gzip_bomb_is_cut_at_the_same_bound(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    pack_zeros(256 << 20);
    peer_start(&fixture->peer, bomb);
    prepare(fixture, &exchange);
    exchange.transfer.decompress = true;
    exchange.transfer.response_max = 1 << 20;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_TOO_LARGE, RESOURCE_EXHAUSTED);
    assert_true(exchange.received <= 1 << 20);
    peer_stop(&fixture->peer);
}

static void gzip_is_unpacked_where_it_was_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    pack_zeros(1 << 16);
    peer_start(&fixture->peer, bomb);
    prepare(fixture, &exchange);
    exchange.transfer.decompress = true;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.received, 1 << 16);
    peer_stop(&fixture->peer);
}

/* ---- nonsense --------------------------------------------------------------------------------------------------- */

static void garbage(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "\x16\x03\x01 this is not HTTP at all\r\n\r\n");
}

static void something_else_than_http_is_unavailable(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, garbage);
    assert_ended(&exchange, TRANSFER_GARBLED, UNAVAILABLE);
}

static void informational_first(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                  "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
}

static void informational_answers_are_passed_over(void **state)
{
    struct exchange exchange;
    exchange_with(*state, &exchange, informational_first);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.http_status, 201);
    assert_int_equal(exchange.received, 2);
}

static void redirect_to_file(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n");
}

static void a_redirect_to_another_scheme_is_not_followed(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, redirect_to_file);
    prepare(fixture, &exchange);
    exchange.transfer.redirects_max = 3;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_int_not_equal(exchange.status.code, OK);
    assert_int_equal(exchange.received, 0);
    peer_stop(&fixture->peer);
}

/* ---- back-pressure ---------------------------------------------------------------------------------------------- */

static atomic_size_t sent_bytes;

static void send_much(struct peer *peer, int fd)
{
    static char block[65536];
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
    for (int i = 0; i < 512; i++) {
        peer_send_bytes(fd, block, sizeof block);
        atomic_fetch_add(&sent_bytes, sizeof block);
    }
    peer_wait_left(peer, fd);
}

static void pause_after(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_false(transfer->paused);
    exchange->received += size;
    if (exchange->received >= exchange->pause_after)
        transfer_pause(transfer);
}

static void a_paused_transfer_holds_the_sender_back(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    atomic_store(&sent_bytes, 0);
    peer_start(&fixture->peer, send_much);
    prepare(fixture, &exchange);
    exchange.transfer.response_max = 64 << 20;
    exchange.transfer.body_received = pause_after;
    exchange.transfer.idle_timeout_ms = 100;
    exchange.transfer.timeout_ms = 20000;
    exchange.pause_after = 1 << 16;
    start(fixture, &exchange);
    assert_true(WAIT_FOR(fixture->loop, exchange.transfer.paused, 2000));
    peer_pause(300); /* longer than idle_timeout_ms: our own pause is no silence of the peer */
    loop_enter(fixture->loop);
    size_t received = exchange.received;
    assert_int_equal(exchange.finished, 0);
    loop_leave(fixture->loop);
    assert_true(received < 1 << 18);
    assert_true(atomic_load(&sent_bytes) < 16 << 20);
    loop_enter(fixture->loop);
    exchange.pause_after = SIZE_MAX;
    transfer_resume(&exchange.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.received, 33554432);
    peer_stop(&fixture->peer);
}

static void a_paused_transfer_can_be_cancelled(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, send_much);
    prepare(fixture, &exchange);
    exchange.transfer.response_max = 64 << 20;
    exchange.transfer.body_received = pause_after;
    exchange.pause_after = 1;
    start(fixture, &exchange);
    assert_true(WAIT_FOR(fixture->loop, exchange.transfer.paused, 2000));
    loop_enter(fixture->loop);
    transfer_cancel(&exchange.transfer);
    transfer_resume(&exchange.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, CANCELLED);
    peer_stop(&fixture->peer);
}

/* ---- addresses -------------------------------------------------------------------------------------------------- */

static void redirect_to_loopback(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    char head[160];
    snprintf(head, sizeof head, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:%d/\r\nContent-Length: 0\r\n\r\n",
             peer->port);
    peer_send(fd, head);
    peer_wait_left(peer, fd);
}

static bool only_127_0_0_1(const struct sockaddr *address)
{
    static const unsigned char allowed[4] = {127, 0, 0, 1};
    return address->sa_family == AF_INET && memcmp((const char *)address + 4, allowed, 4) == 0;
}

static void an_address_that_is_not_allowed_is_never_connected_to(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, answer_and_close);
    prepare(fixture, &exchange);
    exchange.transfer.address_allowed = http_address_is_public;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_FORBIDDEN, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.accepted, 0);
    peer_stop(&fixture->peer);
}

static void a_redirect_is_judged_too(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, redirect_to_loopback);
    prepare(fixture, &exchange);
    exchange.transfer.method = "GET";
    exchange.transfer.body = NULL;
    exchange.transfer.redirects_max = 3;
    exchange.transfer.address_allowed = only_127_0_0_1;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_FORBIDDEN, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.requests, 1);
    peer_stop(&fixture->peer);
}

static void keep_answering(struct peer *peer, int fd)
{
    while (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void a_connection_opened_without_a_judge_is_not_shared_with_one(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, keep_answering);
    prepare(fixture, &exchange);
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    prepare(fixture, &exchange);
    exchange.transfer.address_allowed = http_address_is_public;
    start(fixture, &exchange);
    finish(fixture, &exchange);
    assert_int_equal(exchange.status.code, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.requests, 1);
    peer_stop(&fixture->peer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
        TEST(an_endless_body_is_cut_at_the_bound),
        TEST(a_length_beyond_the_bound_is_refused_before_the_body),
        TEST(endless_headers_are_cut_at_the_bound),
        TEST(a_gzip_bomb_is_cut_at_the_same_bound),
        TEST(gzip_is_unpacked_where_it_was_asked_for),
        TEST(something_else_than_http_is_unavailable),
        TEST(informational_answers_are_passed_over),
        TEST(a_redirect_to_another_scheme_is_not_followed),
        TEST(a_paused_transfer_holds_the_sender_back),
        TEST(a_paused_transfer_can_be_cancelled),
        TEST(an_address_that_is_not_allowed_is_never_connected_to),
        TEST(a_redirect_is_judged_too),
        TEST(a_connection_opened_without_a_judge_is_not_shared_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
