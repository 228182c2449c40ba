/* What a client takes of a peer: so many bytes, nothing but HTTP, no faster than it is read, and from no address that
 * is not allowed. With an argument the transfers are such that curl carries them, which must make no difference. */
#include "faults_fixture.h"

#include <zlib.h>

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
    perform(fixture, &exchange);
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
    perform(fixture, &exchange);
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
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.received, 1 << 16);
    peer_stop(&fixture->peer);
}

/* ---- nonsense --------------------------------------------------------------------------------------------------- */

static void something_else_than_http_is_unavailable(void **state)
{
    struct exchange exchange;
    exchange_for(*state, &exchange, "\x16\x03\x01 this is not HTTP at all\r\n\r\n");
    assert_ended(&exchange, TRANSFER_MALFORMED, UNAVAILABLE);
}

static void informational_answers_are_passed_over(void **state)
{
    struct exchange exchange;
    exchange_for(*state, &exchange,
                 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                 "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.http_status, 201);
    assert_int_equal(exchange.received, 2);
}

static void a_redirect_to_another_scheme_is_not_followed(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    answer = "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n";
    peer_start(&fixture->peer, answer_and_close);
    prepare(fixture, &exchange);
    exchange.transfer.redirects_max = 3;
    perform(fixture, &exchange);
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

static size_t pause_from; /* bytes */

static void pause_after(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_false(transfer->paused);
    exchange->received += size;
    if (exchange->received >= pause_from)
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
    exchange.transfer.idle_timeout_ms = 1000;
    exchange.transfer.timeout_ms = 20000;
    pause_from = 1 << 16;
    start(fixture, &exchange);
    assert_true(WAIT_FOR(fixture->loop, exchange.transfer.paused, 2000));
    peer_pause(1200); /* longer than idle_timeout_ms: our own pause is no silence of the peer */
    loop_enter(fixture->loop);
    size_t received = exchange.received;
    assert_int_equal(exchange.finished, 0);
    loop_leave(fixture->loop);
    assert_true(received < 1 << 18);
    assert_true(atomic_load(&sent_bytes) < 16 << 20);
    loop_enter(fixture->loop);
    pause_from = SIZE_MAX;
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
    pause_from = 1;
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
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_FORBIDDEN, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.accepted, 0);
    peer_stop(&fixture->peer);
}

static void a_redirect_is_filtered_too(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, redirect_to_loopback);
    prepare(fixture, &exchange);
    exchange.transfer.method = "GET";
    exchange.transfer.body = NULL;
    exchange.transfer.redirects_max = 3;
    exchange.transfer.address_allowed = only_127_0_0_1;
    perform(fixture, &exchange);
    assert_ended(&exchange, TRANSFER_FORBIDDEN, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.requests, 1);
    peer_stop(&fixture->peer);
}

static void a_connection_opened_without_a_filter_is_not_shared_with_one(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    peer_start(&fixture->peer, keep_answering);
    prepare(fixture, &exchange);
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, OK);
    prepare(fixture, &exchange);
    exchange.transfer.address_allowed = http_address_is_public;
    perform(fixture, &exchange);
    assert_int_equal(exchange.status.code, PERMISSION_DENIED);
    assert_int_equal(fixture->peer.requests, 1);
    peer_stop(&fixture->peer);
}

int main(int argc, char **argv)
{
    (void)argv;
    redirects = argc > 1;
    const struct CMUnitTest tests[] = {
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
        TEST(a_redirect_is_filtered_too),
        TEST(a_connection_opened_without_a_filter_is_not_shared_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
