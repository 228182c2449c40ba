/* HTTP/1.1 over TLS: curl opens the connections, and reads and writes for us. */
#include "http1_fixture.h"
#include "tls_peer.h"

#include <signal.h>
#include <stdatomic.h>

static char ca_file[] = "/tmp/renga-http1-XXXXXX";
static SSL_CTX *tls_context;

static void answer_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    while (ssl && tls_peer_read_request(peer, ssl))
        tls_peer_send(ssl, answer, strlen(answer));
    SSL_free(ssl);
}

static void over_tls_connections_serve_again_too(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    peer_start(&fixture->peer, answer_over_tls);
    for (int i = 0; i < 3; i++) {
        assert_body(get(fixture, "https"), "ok");
        peer_pause(5); /* session tickets come while it is idle */
    }
    assert_int_equal(fixture->peer.accepted, 1);
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){0});
    loop_leave(fixture->loop);
    assert_ended(get(fixture, "https"), TRANSFER_UNCONNECTED); /* nobody vouches for it */
    peer_stop(&fixture->peer);
}

static void large_bodies_pass_over_tls_both_ways(void **state)
{
    struct fixture *fixture = *state;
    static char text[200000 + 128], body[200000];
    size_t head = (size_t)sprintf(text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", sizeof body);
    for (size_t i = 0; i < sizeof body; i++)
        text[head + i] = body[i] = (char)('a' + i % 26);
    answer = text;
    peer_start(&fixture->peer, answer_over_tls);
    for (int pausing = 0; pausing < 2; pausing++) {
        prepare_pieces(fixture, &shared, "https", pausing);
        shared.transfer.method = "POST";
        shared.transfer.body = body;
        shared.transfer.body_size = sizeof body;
        start(fixture, &shared);
        finish_with_pauses(fixture);
        assert_int_equal(shared.status.code, OK);
        assert_int_equal(shared.body_size, sizeof body);
        assert_memory_equal(shared.body, body, sizeof body);
    }
    assert_int_equal(fixture->peer.accepted, 1);
    peer_stop(&fixture->peer);
}

static void cut_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl))
        tls_peer_send(ssl, answer, strlen(answer));
    SSL_free(ssl); /* without a word of TLS's */
}

static void an_end_of_the_connection_that_tls_does_not_know_of_is_a_cut(void **state)
{
    struct fixture *fixture = *state;
    answer = "HTTP/1.1 200 OK\r\n\r\nall of it?";
    peer_start(&fixture->peer, cut_over_tls);
    assert_ended(get(fixture, "https"), TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

static void wait_over_tls(struct peer *peer, int fd)
{
    char byte;
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl) && SSL_read(ssl, &byte, 1) <= 0)
        atomic_store(&peer->left, true);
    SSL_free(ssl);
}

static void cancelling_closes_a_connection_over_tls(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, wait_over_tls);
    prepare(fixture, &shared, "https");
    start(fixture, &shared);
    peer_pause(50);
    loop_enter(fixture->loop);
    transfer_cancel(&shared.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &shared);
    assert_int_equal(shared.status.code, CANCELLED);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
}

/* While one connection is opened, curl looks for dead ones among those it knows: that of a stream is none, and what has
 * become of a paused one is told when it goes on. */
static void stream_over_tls(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl)) {
        tls_peer_send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", 42);
        while (!atomic_load(&peer->left) && !atomic_load(&peer->stopping))
            peer_pause(1);
        tls_peer_send(ssl, "half", 4);
    }
    SSL_free(ssl);
}

static void send_a_part_and_go(struct peer *peer, int fd)
{
    SSL *ssl = tls_peer_accept(tls_context, fd);
    if (ssl && tls_peer_read_request(peer, ssl)) {
        tls_peer_send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", 42);
        peer_pause(20);
    }
    SSL_free(ssl);
}

static void opening_a_connection_does_not_disturb_the_others(void **state)
{
    struct fixture *fixture = *state;
    static struct exchange stream, paused;
    struct peer other, gone;
    peer_start(&gone, send_a_part_and_go);
    fixture->peer.port = gone.port;
    prepare_pieces(fixture, &paused, "https", true);
    start(fixture, &paused);
    assert_true(WAIT_FOR(fixture->loop, paused.transfer.paused, 3000));
    peer_start(&fixture->peer, stream_over_tls);
    prepare(fixture, &stream, "https");
    start(fixture, &stream);
    assert_true(WAIT_FOR(fixture->loop, stream.transfer.answered, 3000));
    struct peer streaming = fixture->peer;
    answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    peer_start(&other, answer_over_tls);
    fixture->peer.port = other.port;
    for (int i = 0; i < 12; i++) { /* it looks once a second */
        assert_body(get(fixture, "https"), "ok");
        peer_pause(100);
    }
    fixture->peer.port = streaming.port;
    atomic_store(&fixture->peer.left, true);
    finish(fixture, &stream);
    assert_body(&stream, "halfhalf");
    loop_enter(fixture->loop);
    transfer_resume(&paused.transfer);
    loop_leave(fixture->loop);
    finish(fixture, &paused);
    assert_ended(&paused, TRANSFER_CUT);
    peer_stop(&gone);
    peer_stop(&other);
    peer_stop(&fixture->peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(over_tls_connections_serve_again_too),
        TEST(large_bodies_pass_over_tls_both_ways),
        TEST(an_end_of_the_connection_that_tls_does_not_know_of_is_a_cut),
        TEST(cancelling_closes_a_connection_over_tls),
        TEST(opening_a_connection_does_not_disturb_the_others),
    };
    signal(SIGPIPE, SIG_IGN);
    tls_context = tls_peer_context(ca_file);
    client_options.ca_file = ca_file;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    SSL_CTX_free(tls_context);
    unlink(ca_file);
    return failed;
}
