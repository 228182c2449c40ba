/* How long a connection is kept: on a stopped clock, against a real peer. */
#include "peer.h"

#include "base/clock.h"
#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PATIENCE 2000 /* turns of the loop, and ms, that the peer may take */

static int ended;

static void finished(struct transfer *transfer)
{
    assert_int_equal(transfer->status.code, OK);
    ended++;
}

static void keep_answering(struct peer *peer, int fd)
{
    while (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    atomic_store(&peer->left, true);
}

static void get(struct loop *loop, struct http_client *client, const struct http_url *url)
{
    struct transfer transfer;
    transfer_init(&transfer, url, finished);
    ended = 0;
    loop_enter(loop);
    transfer_start(client, &transfer);
    loop_leave(loop);
    for (int turn = 0; !ended && turn < PATIENCE; turn++) {
        loop_step(loop, 0);
        peer_pause(1);
    }
    assert_int_equal(ended, 1);
}

static bool leaves(struct loop *loop, struct peer *peer, int ms)
{
    for (; !atomic_load(&peer->left) && ms; ms--) {
        loop_step(loop, 0);
        peer_pause(1);
    }
    return atomic_load(&peer->left);
}

static void a_connection_that_nobody_used_for_a_minute_is_closed(void **state)
{
    struct peer peer;
    char text[64];
    struct status st = {0};
    struct loop *loop = loop_create(0);
    clock_stop();
    loop_enter(loop);
    struct http_client *client = http_client_create(loop, &(struct http_client_options){0});
    loop_leave(loop);
    peer_start(&peer, keep_answering);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", peer.port);
    struct http_url *url = http_url_parse(text, &st);

    get(loop, client, url);
    loop_step(loop, 40000);
    get(loop, client, url); /* which makes it young again */
    assert_int_equal(peer.accepted, 1);
    loop_step(loop, 59000);
    assert_false(leaves(loop, &peer, 20));
    loop_step(loop, 1001);
    assert_true(leaves(loop, &peer, PATIENCE));
    get(loop, client, url);
    assert_int_equal(peer.accepted, 2);

    loop_enter(loop);
    http_client_destroy(&client);
    loop_leave(loop);
    peer_stop(&peer);
    http_url_destroy(&url);
    loop_destroy(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_nobody_used_for_a_minute_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
