/* A client in a loop of its own, a peer that a test starts, and exchanges between them. Include it instead of cmocka.h,
 * and after all else of ours. */
#ifndef RENGA_TESTS_HTTP_PEER_FIXTURE_H
#define RENGA_TESTS_HTTP_PEER_FIXTURE_H

#include "peer.h"

#include "base/clock.h"
#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
};

#define ANSWER_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct http_client_options client_options; /* of each test's client */
static const char *answer;                        /* of a peer that gives always the same; ANSWER_OK at first */

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    answer = ANSWER_OK;
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &client_options);
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    peer_stop(&fixture->peer); /* of a test that failed */
    free(fixture);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- a transfer that notes how it ended -------------------------------------------------------------------------- */

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    struct status status;
    int finished, http_status;
    enum transfer_end end;
    bool stale;
    int64_t began_ns, took_ns;
    size_t received, body_size;
    char body[1 << 18]; /* of what ended well */
};

static inline void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->took_ns = clock_now_ns() - exchange->began_ns;
    exchange->status = transfer->status;
    exchange->end = transfer->end;
    exchange->http_status = transfer->http_status;
    exchange->received = transfer->received;
    exchange->stale = transfer->stale;
    if (transfer->status.code == OK && !transfer->body_received) {
        assert_true(transfer->content_size < sizeof exchange->body);
        memcpy(exchange->body, transfer->content, transfer->content_size + 1);
        exchange->body_size = transfer->content_size;
    }
}

static inline void prepare_url(struct exchange *exchange, const char *text)
{
    struct status st = {0};
    memset(exchange, 0, offsetof(struct exchange, body));
    exchange->body[0] = '\0';
    exchange->url = http_url_parse(text, &st);
    if (!exchange->url)
        fail_msg("%s", st.text);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
}

static inline void prepare_at(struct exchange *exchange, const char *scheme, int port, const char *path)
{
    char text[256];
    snprintf(text, sizeof text, "%s://127.0.0.1:%d%s", scheme, port, path);
    prepare_url(exchange, text);
}

static inline void start(struct fixture *fixture, struct exchange *exchange)
{
    exchange->began_ns = clock_now_ns();
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    assert_int_equal(exchange->finished, 0); /* nothing runs within */
    loop_leave(fixture->loop);
}

static inline void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished == 1, 10000));
    http_url_destroy(&exchange->url);
}

static inline void perform(struct fixture *fixture, struct exchange *exchange)
{
    start(fixture, exchange);
    finish(fixture, exchange);
}

/* ---- what a peer does -------------------------------------------------------------------------------------------- */

static inline void keep_answering(struct peer *peer, int fd)
{
    while (peer_read_request(peer, fd))
        peer_send(fd, answer);
}

static inline void answer_and_close(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, answer);
}

static char heard[4096]; /* the last request of `hear` */

static inline void hear(struct peer *peer, int fd)
{
    ssize_t got = recv(fd, heard, sizeof heard - 1, 0);
    heard[got > 0 ? got : 0] = '\0';
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    peer_wait_left(peer, fd);
}

#endif
