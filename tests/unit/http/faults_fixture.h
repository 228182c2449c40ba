/* One transfer after the other against peers that do wrong. Include it instead of cmocka.h, after all of ours. */
#ifndef RENGA_TESTS_HTTP_FAULTS_FIXTURE_H
#define RENGA_TESTS_HTTP_FAULTS_FIXTURE_H

#include "peer_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

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
}

static inline void prepare_url(struct exchange *exchange, const char *text)
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

static inline void prepare(struct fixture *fixture, struct exchange *exchange)
{
    char text[64];
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", fixture->peer.port);
    prepare_url(exchange, text);
}

static inline void start(struct fixture *fixture, struct exchange *exchange)
{
    exchange->began_ns = clock_now_ns();
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    loop_leave(fixture->loop);
}

static inline void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished == 1, 10000));
    http_url_destroy(&exchange->url);
}

/* One transfer against one behaviour. */
static inline void exchange_with(struct fixture *fixture, struct exchange *exchange,
                                 void (*serve)(struct peer *peer, int fd))
{
    peer_start(&fixture->peer, serve);
    prepare(fixture, exchange);
    start(fixture, exchange);
    finish(fixture, exchange);
    peer_stop(&fixture->peer);
}

static inline void answer_and_close(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static inline void assert_ended(const struct exchange *exchange, enum transfer_end end, enum status_code code)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
    assert_int_equal(exchange->status.code, code);
    assert_true(exchange->status.text[0]);
}

#endif
