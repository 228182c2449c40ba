/* Exchanges between a client and its peer, and what came of them. Include it instead of cmocka.h, after all of ours. */
#ifndef RENGA_TESTS_HTTP_HTTP1_FIXTURE_H
#define RENGA_TESTS_HTTP_HTTP1_FIXTURE_H

#include "peer_fixture.h"

#include <stdio.h>
#include <string.h>

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    int finished;
    struct status status;
    enum transfer_end end;
    int http_status;
    char body[1 << 18];
    size_t body_size;
    unsigned pieces;
    bool pauses; /* after each piece */
};

static inline void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->status = transfer->status;
    exchange->end = transfer->end;
    exchange->http_status = transfer->http_status;
    if (!transfer->body_received) {
        assert_true(transfer->content_size < sizeof exchange->body);
        memcpy(exchange->body, transfer->content, transfer->content_size + 1);
        exchange->body_size = transfer->content_size;
    }
}

static inline void prepare(struct fixture *fixture, struct exchange *exchange, const char *scheme)
{
    char text[64];
    struct status st = {0};
    memset(exchange, 0, sizeof *exchange);
    snprintf(text, sizeof text, "%s://127.0.0.1:%d/path?key=1", scheme, fixture->peer.port);
    exchange->url = http_url_parse(text, &st);
    assert_non_null(exchange->url);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
    exchange->transfer.timeout_ms = 5000;
}

static inline void start(struct fixture *fixture, struct exchange *exchange)
{
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    loop_leave(fixture->loop);
}

static inline void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished == 1, 10000));
    http_url_destroy(&exchange->url);
}

static struct exchange shared; /* large, and one at a time */

/* One GET, to the end. */
static inline struct exchange *get(struct fixture *fixture, const char *scheme)
{
    prepare(fixture, &shared, scheme);
    start(fixture, &shared);
    finish(fixture, &shared);
    return &shared;
}

static inline void assert_body(const struct exchange *exchange, const char *body)
{
    if (exchange->status.code != OK)
        fail_msg("%s", exchange->status.text);
    assert_int_equal(exchange->body_size, strlen(body));
    assert_memory_equal(exchange->body, body, exchange->body_size);
}

static inline void assert_ended(const struct exchange *exchange, enum transfer_end end)
{
    print_message("          %s: %s\n", status_code_name(exchange->status.code), exchange->status.text);
    assert_int_equal(exchange->end, end);
}

static const char *answer; /* of `keep_answering` */

static inline void keep_answering(struct peer *peer, int fd)
{
    while (peer_read_request(peer, fd))
        peer_send(fd, answer);
}

static inline void gather(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_false(transfer->paused);
    assert_true(exchange->body_size + size < sizeof exchange->body);
    memcpy(exchange->body + exchange->body_size, bytes, size);
    exchange->body_size += size;
    exchange->pieces++;
    if (exchange->pauses)
        transfer_pause(transfer);
}

static inline void finish_with_pauses(struct fixture *fixture)
{
    bool over = false, one = true;
    for (unsigned resumed = 0; !over; assert_true(one)) {
        assert_true(WAIT_FOR(fixture->loop, shared.finished || shared.transfer.paused, 5000));
        loop_enter(fixture->loop);
        one = !shared.pauses || shared.pieces <= resumed + 1;
        resumed = shared.pieces;
        transfer_resume(&shared.transfer);
        over = shared.finished;
        loop_leave(fixture->loop);
    }
    finish(fixture, &shared);
}

#endif
