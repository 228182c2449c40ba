#include "peer.h"

#include "base/clock.h"
#include "http/client.h"
#include "http/server.h"
#include "starved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A client in one loop, our own server in another. */
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

static void finished(struct transfer *transfer)
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

static void prepare(struct fixture *fixture, struct exchange *exchange, const char *path)
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

static void start(struct fixture *fixture, struct exchange *exchange)
{
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange->transfer);
    assert_int_equal(exchange->finished, 0);
    loop_leave(fixture->loop);
}

static void finish(struct exchange *exchange)
{
    assert_true(WAIT_FOR(exchange->fixture->loop, exchange->finished == 1, 5000));
    http_url_destroy(&exchange->url);
}

/* ---- the server's routes ---------------------------------------------------------------------------------------- */

static void echo(struct http_request *request, void *data)
{
    size_t size;
    const char *body = http_request_body(request, &size);
    const char *type = http_request_header(request, "Content-Type"), *extra = http_request_header(request, "X-Extra");
    char answer[128];
    snprintf(answer, sizeof answer, "%s %s %s", http_request_method(request), type ? type : "-", extra ? extra : "-");
    http_reply_header(request, "X-Answer", answer);
    http_reply(request, 200, "text/plain", body, size);
}

static void hold(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    fixture->held[fixture->held_count++] = request;
}

static void client_left(struct http_request *request, void *data)
{
    ((struct fixture *)data)->left_count++;
    http_reply_abort(request);
}

static void hold_and_watch(struct http_request *request, void *data)
{
    hold(request, data);
    http_request_on_left(request, client_left, data);
}

static void redirect(struct http_request *request, void *data)
{
    http_reply_header(request, "Location", "/echo");
    http_reply(request, 302, NULL, NULL, 0);
}

static void stream_pieces(struct http_request *request, void *data)
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

static int set_up(void **state)
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

static int tear_down(void **state)
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

static void answer_held(struct fixture *fixture, const char *text)
{
    loop_enter(fixture->server_loop);
    for (int i = 0; i < fixture->held_count; i++)
        http_reply(fixture->held[i], 200, "text/plain", text, strlen(text));
    fixture->held_count = 0;
    loop_leave(fixture->server_loop);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void a_body_comes_back_with_status_and_headers(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    struct status st;
    prepare(fixture, &exchange, "/echo");
    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "Content-Type", "application/json", &st));
    exchange.transfer.method = "POST";
    exchange.transfer.headers = headers;
    exchange.transfer.extra = &(struct http_header){"X-Extra", "one"};
    exchange.transfer.extra_count = 1;
    exchange.transfer.body = "{\"a\":1}";
    exchange.transfer.body_size = 7;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.status.code, OK);
    assert_int_equal(exchange.transfer.end, TRANSFER_COMPLETE);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_string_equal(exchange.body, "{\"a\":1}");
    assert_string_equal(exchange.header, "POST application/json one");
    http_headers_destroy(&headers);
}

static void every_method_goes_out_as_it_is_named(void **state)
{
    struct fixture *fixture = *state;
    static const char *const methods[] = {"GET", "PUT", "DELETE", "POST", "GET", "POST"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct exchange exchange;
        prepare(fixture, &exchange, "/echo");
        exchange.transfer.method = methods[i];
        if (strcmp(methods[i], "PUT") == 0) {
            exchange.transfer.body = "x";
            exchange.transfer.body_size = 1;
        }
        start(fixture, &exchange);
        finish(&exchange);
        assert_int_equal(exchange.transfer.http_status, 200);
        assert_memory_equal(exchange.header, methods[i], strlen(methods[i]));
    }
}

static void head_brings_headers_and_no_body(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(fixture, &exchange, "/echo");
    exchange.transfer.method = "HEAD";
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_int_equal(exchange.body_size, 0);
    assert_string_equal(exchange.header, "HEAD - -");
}

static void connections_are_kept_and_used_again(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 50; i++) {
        struct exchange exchange;
        prepare(fixture, &exchange, "/echo");
        start(fixture, &exchange);
        finish(&exchange);
        assert_int_equal(exchange.transfer.http_status, 200);
    }
    struct http_client_stats stats;
    loop_enter(fixture->loop);
    http_client_stats(fixture->client, &stats);
    loop_leave(fixture->loop);
    assert_int_equal(stats.connections_opened, 1);
    assert_int_equal(stats.running, 0);
}

static void a_transfer_may_be_started_from_finished(void **state)
{
    struct fixture *fixture = *state;
    struct exchange first, second;
    prepare(fixture, &first, "/echo");
    prepare(fixture, &second, "/echo");
    first.next = &second;
    start(fixture, &first);
    finish(&first);
    finish(&second);
    assert_int_equal(second.transfer.http_status, 200);
}

static void redirects_are_answers_unless_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(fixture, &exchange, "/redirect");
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.transfer.http_status, 302);
    prepare(fixture, &exchange, "/redirect");
    exchange.transfer.redirects_max = 1;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.transfer.http_status, 200);
    assert_string_equal(exchange.header, "GET - -");
}

static void cancelling_ends_with_cancelled_and_the_server_notices(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(fixture, &exchange, "/watch");
    start(fixture, &exchange);
    assert_true(WAIT_FOR(fixture->server_loop, fixture->held_count == 1, 2000));
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    loop_enter(fixture->loop);
    transfer_cancel(&exchange.transfer);
    transfer_cancel(&exchange.transfer);
    assert_int_equal(exchange.finished, 0);
    loop_leave(fixture->loop);
    assert_int_equal(exchange.finished, 1);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_true(WAIT_FOR(fixture->server_loop, fixture->left_count == 1, 1000));
    int64_t took_ns = clock_now_ns() - began_ns;
    print_message("          noticed after %.2f ms\n", (double)took_ns / 1e6);
    assert_true(took_ns - (starved_ns() - starved) < 20 * NS_PER_MS);
    fixture->held_count = 0;
    finish(&exchange);
}

static void a_cancelled_transfer_that_waits_never_goes_out(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(fixture, &exchange, "/echo");
    loop_enter(fixture->loop);
    transfer_start(fixture->client, &exchange.transfer);
    transfer_cancel(&exchange.transfer);
    loop_leave(fixture->loop);
    finish(&exchange);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_int_equal(exchange.transfer.http_status, 0);
}

static void lanes_fill_then_the_queue_then_transfers_are_refused_at_once(void **state)
{
    struct fixture *fixture = *state;
    enum { RUNNING = 256, QUEUED = 16, REFUSED = 8, ALL = RUNNING + QUEUED + REFUSED };
    struct exchange *exchanges = calloc(ALL, sizeof *exchanges);
    for (int i = 0; i < ALL; i++)
        prepare(fixture, &exchanges[i], "/hold");
    loop_enter(fixture->loop);
    for (int i = 0; i < ALL; i++)
        transfer_start(fixture->client, &exchanges[i].transfer);
    loop_leave(fixture->loop);
    for (int i = RUNNING + QUEUED; i < ALL; i++) {
        finish(&exchanges[i]);
        assert_int_equal(exchanges[i].status.code, RESOURCE_EXHAUSTED);
        assert_int_equal(exchanges[i].transfer.end, TRANSFER_REFUSED);
    }
    assert_true(WAIT_FOR(fixture->server_loop, fixture->held_count == RUNNING, 5000));
    struct http_client_stats stats;
    loop_enter(fixture->loop);
    http_client_stats(fixture->client, &stats);
    loop_leave(fixture->loop);
    assert_int_equal(stats.running, RUNNING);
    assert_int_equal(stats.queued, QUEUED);
    assert_int_equal(stats.lanes, 2);
    answer_held(fixture, "late");
    assert_true(WAIT_FOR(fixture->server_loop, fixture->held_count == QUEUED, 5000));
    answer_held(fixture, "later");
    for (int i = 0; i < RUNNING + QUEUED; i++) {
        finish(&exchanges[i]);
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
        prepare(fixture, &exchanges[i], "/hold");
    exchanges[RUNNING].transfer.timeout_ms = 100;
    loop_enter(fixture->loop);
    for (int i = 0; i <= RUNNING; i++)
        transfer_start(fixture->client, &exchanges[i].transfer);
    loop_leave(fixture->loop);
    finish(&exchanges[RUNNING]);
    assert_int_equal(exchanges[RUNNING].status.code, DEADLINE_EXCEEDED);
    assert_int_equal(exchanges[RUNNING].transfer.end, TRANSFER_LATE);
    assert_true(WAIT_FOR(fixture->server_loop, fixture->held_count == RUNNING, 5000));
    answer_held(fixture, "late");
    for (int i = 0; i < RUNNING; i++)
        finish(&exchanges[i]);
    free(exchanges);
}

static void note_headers(struct transfer *transfer, int http_status)
{
    struct exchange *exchange = transfer->owner;
    exchange->headers = http_status;
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
    prepare(fixture, &exchange, "/stream");
    exchange.transfer.headers_received = note_headers;
    exchange.transfer.body_received = note_body;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.headers, 200);
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
    prepare(fixture, &exchange, "/stream");
    exchange.transfer.body_received = cancel_in_body;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.status.code, CANCELLED);
    assert_true(exchange.transfer.received <= 16384);
}

static void a_client_is_closed_with_transfers_under_way(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchanges[3];
    for (int i = 0; i < 3; i++) {
        prepare(fixture, &exchanges[i], "/watch");
        start(fixture, &exchanges[i]);
    }
    assert_true(WAIT_FOR(fixture->server_loop, fixture->held_count == 3, 2000));
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    for (int i = 0; i < 3; i++) {
        finish(&exchanges[i]);
        assert_int_equal(exchanges[i].status.code, CANCELLED);
    }
    assert_true(WAIT_FOR(fixture->server_loop, fixture->left_count == 3, 1000));
    fixture->held_count = 0;
}

static void urls_and_headers_that_cannot_be_sent_are_refused(void **state)
{
    struct status st = {0};
    assert_null(http_url_parse("ftp://host/", &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_null(http_url_parse("file:///etc/passwd", &st));
    assert_null(http_url_parse("not a url", &st));
    struct http_url *url = http_url_parse("https://user:secret@host:8443/path?key=secret#part", &st);
    assert_non_null(url);
    assert_null(strstr(http_url_origin(url), "secret"));
    assert_string_equal(http_url_origin(url), "https://host:8443");
    assert_string_equal(http_url_host(url), "host");
    http_url_destroy(&url);
    url = http_url_parse("http://[::1]/", &st);
    assert_string_equal(http_url_host(url), "::1");
    http_url_destroy(&url);

    struct http_headers *headers = http_headers_create();
    assert_false(http_headers_add(headers, "X-A", "one\r\nX-B: two", &st));
    assert_false(http_headers_add(headers, "X A", "one", &st));
    assert_false(http_headers_add(headers, "", "one", &st));
    assert_true(http_headers_add(headers, "X-Empty", "", &st));
    http_headers_destroy(&headers);

    struct fixture *fixture = *state;
    struct exchange exchange;
    prepare(fixture, &exchange, "/echo");
    exchange.transfer.extra = &(struct http_header){"X-A", "one\ntwo"};
    exchange.transfer.extra_count = 1;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.status.code, INVALID_ARGUMENT);
}

static char heard[4096];

static void hear(struct peer *peer, int fd)
{
    ssize_t got = recv(fd, heard, sizeof heard - 1, 0);
    heard[got > 0 ? got : 0] = '\0';
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    peer_wait_left(peer, fd);
}

static int lines_of(const char *name)
{
    int lines = 0;
    for (const char *at = heard; (at = strcasestr(at, name)); at++)
        lines += at[-1] == '\n' && at[strlen(name)] == ':';
    return lines;
}

static void ask(struct fixture *fixture, const struct peer *peer, struct http_headers *headers,
                const struct http_header *extra, bool decompress)
{
    struct exchange exchange;
    int port = fixture->port;
    fixture->port = peer->port;
    prepare(fixture, &exchange, "/");
    fixture->port = port;
    exchange.transfer.headers = headers;
    exchange.transfer.extra = extra;
    exchange.transfer.extra_count = extra != NULL;
    exchange.transfer.decompress = decompress;
    start(fixture, &exchange);
    finish(&exchange);
    assert_int_equal(exchange.status.code, OK);
}

static void our_name_and_encodings_stand_once_unless_the_owner_has_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct peer peer = {0};
    struct status st;
    peer_start(&peer, hear);
    ask(fixture, &peer, NULL, NULL, true);
    assert_int_equal(lines_of("User-Agent"), 1);
    assert_non_null(strstr(heard, "User-Agent: renga/"));
    assert_int_equal(lines_of("Accept-Encoding"), 1);

    ask(fixture, &peer, NULL, &(struct http_header){"accept-encoding", "br"}, true);
    assert_int_equal(lines_of("Accept-Encoding"), 1);
    assert_non_null(strstr(heard, "accept-encoding: br\r\n"));

    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "user-agent", "other/1", &st));
    ask(fixture, &peer, headers, NULL, false);
    assert_int_equal(lines_of("User-Agent"), 1);
    assert_non_null(strstr(heard, "user-agent: other/1\r\n"));
    assert_int_equal(lines_of("Accept-Encoding"), 0);
    http_headers_destroy(&headers);
    peer_stop(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_body_comes_back_with_status_and_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_method_goes_out_as_it_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(head_brings_headers_and_no_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(connections_are_kept_and_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_transfer_may_be_started_from_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redirects_are_answers_unless_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelling_ends_with_cancelled_and_the_server_notices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_transfer_that_waits_never_goes_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lanes_fill_then_the_queue_then_transfers_are_refused_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_deadline_also_runs_while_waiting_in_the_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stream_arrives_whole_and_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelling_from_within_a_callback_stops_the_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_is_closed_with_transfers_under_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(urls_and_headers_that_cannot_be_sent_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(our_name_and_encodings_stand_once_unless_the_owner_has_its_own, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
