/* A client in one loop, our own server in another. Include it instead of cmocka.h, and after all else of ours. */
#ifndef RENGA_TESTS_HTTP_CLIENT_FIXTURE_H
#define RENGA_TESTS_HTTP_CLIENT_FIXTURE_H

#include "base/clock.h"
#include "http/client.h"
#include "http/server.h"
#include "peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop, *server_loop;
    struct http_client *client;
    struct http_server *server;
    int port;
    struct http_request *held[512];
    int held_count, left_count;
};

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    int finished, headers;
    char body[1 << 16];
    size_t body_size;
    char header[128];
    struct status status;
    struct fixture *fixture;
    struct exchange *next; /* started when this one has finished */
};

static inline void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->status = transfer->status;
    if (transfer->content_size) {
        assert_true(transfer->content_size < sizeof exchange->body);
        memcpy(exchange->body, transfer->content, transfer->content_size + 1);
        exchange->body_size = transfer->content_size;
    }
    const char *header = transfer_header(transfer, "x-answer");
    snprintf(exchange->header, sizeof exchange->header, "%s", header ? header : "");
    if (exchange->next)
        transfer_start(exchange->fixture->client, &exchange->next->transfer);
}

static inline void prepare(struct fixture *fixture, struct exchange *exchange, const char *path)
{
    char text[256];
    struct status st;
    memset(exchange, 0, sizeof *exchange);
    snprintf(text, sizeof text, "http://127.0.0.1:%d%s", fixture->port, path);
    exchange->url = http_url_parse(text, &st);
    assert_non_null(exchange->url);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
    exchange->fixture = fixture;
}

static inline void start(struct fixture *fixture, struct exchange *exchange)
{
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    assert_int_equal(exchange->finished, 0);
    loop_leave(fixture->loop);
}

static inline void finish(struct exchange *exchange)
{
    assert_true(WAIT_FOR(exchange->fixture->loop, exchange->finished == 1, 5000));
    http_url_destroy(&exchange->url);
}

/* ---- the server's routes ---------------------------------------------------------------------------------------- */

static inline void echo(struct http_request *request, void *data)
{
    size_t size;
    const char *body = http_request_body(request, &size);
    const char *type = http_request_header(request, "Content-Type"), *extra = http_request_header(request, "X-Extra");
    char answer[128];
    snprintf(answer, sizeof answer, "%s %s %s", http_request_method(request), type ? type : "-", extra ? extra : "-");
    http_reply_header(request, "X-Answer", answer);
    http_reply(request, 200, "text/plain", body, size);
}

static inline void hold(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    fixture->held[fixture->held_count++] = request;
}

static inline void client_left(struct http_request *request, void *data)
{
    ((struct fixture *)data)->left_count++;
    http_reply_abort(request);
}

static inline void hold_and_watch(struct http_request *request, void *data)
{
    hold(request, data);
    http_request_on_left(request, client_left, data);
}

static inline void redirect(struct http_request *request, void *data)
{
    http_reply_header(request, "Location", "/echo");
    http_reply(request, 302, NULL, NULL, 0);
}

static inline void stream_pieces(struct http_request *request, void *data)
{
    http_reply_begin(request, 200, "text/event-stream");
    for (int i = 0; i < 1000; i++) {
        char piece[64];
        int size = snprintf(piece, sizeof piece, "data: %04d\n\n", i);
        http_reply_write(request, piece, (size_t)size);
    }
    http_reply_end(request);
}

static const struct http_route routes[] = {
    {"GET", "/echo", false, echo},         {"POST", "/echo", false, echo},
    {"PUT", "/echo", false, echo},         {"DELETE", "/echo", false, echo},
    {"GET", "/hold", false, hold},         {"GET", "/watch", false, hold_and_watch},
    {"GET", "/redirect", false, redirect}, {"GET", "/stream", false, stream_pieces},
};

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct status st = {0};
    fixture->loop = loop_started(0);
    fixture->server_loop = loop_started(1);
    loop_enter(fixture->server_loop);
    fixture->server =
        http_server_create(fixture->server_loop, &(struct http_server_options){.listen = "127.0.0.1:0"}, &st);
    if (!fixture->server)
        fail_msg("%s", st.text);
    http_server_route(fixture->server, routes, sizeof routes / sizeof *routes, fixture);
    fixture->port = http_server_port(fixture->server);
    loop_leave(fixture->server_loop);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){.lanes_max = 2, .queue_max = 16});
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
    loop_enter(fixture->server_loop);
    http_server_destroy(&fixture->server);
    loop_leave(fixture->server_loop);
    loop_ended(&fixture->loop);
    loop_ended(&fixture->server_loop);
    free(fixture);
    return 0;
}

static inline void answer_held(struct fixture *fixture, const char *text)
{
    loop_enter(fixture->server_loop);
    for (int i = 0; i < fixture->held_count; i++)
        http_reply(fixture->held[i], 200, "text/plain", text, strlen(text));
    fixture->held_count = 0;
    loop_leave(fixture->server_loop);
}

#endif
