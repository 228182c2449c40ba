#include "cassette_fixture.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    snprintf(fixture->path, sizeof fixture->path, "/tmp/cassette_test.XXXXXX");
    close(mkstemp(fixture->path));
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){0});
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    cassette_close(&fixture->cassette);
    unlink(fixture->path);
    free(fixture);
    return 0;
}

/* ---- a transfer that notes everything --------------------------------------------------------------------------- */

static void note_header(const struct transfer *transfer, const char *name, char *to, size_t room)
{
    const char *value = transfer_header(transfer, name);
    snprintf(to, room, "%s", value ? value : "");
}

static void headers_received(struct transfer *transfer, int http_status)
{
    struct exchange *exchange = transfer->owner;
    exchange->headers_status = http_status;
    note_header(transfer, "Content-Type", exchange->type, sizeof exchange->type);
}

static void body_received(struct transfer *transfer, const char *bytes, size_t size)
{
    struct exchange *exchange = transfer->owner;
    assert_true(exchange->piece_count < PIECES_MAX && exchange->body_size + size < sizeof exchange->body);
    exchange->pieces[exchange->piece_count++] = size;
    memcpy(exchange->body + exchange->body_size, bytes, size);
    exchange->body_size += size;
    if (exchange->piece_count == exchange->cancel_at)
        transfer_cancel(transfer);
    if (exchange->piece_count == exchange->pause_at)
        transfer_pause(transfer);
}

static void finished(struct transfer *transfer)
{
    struct exchange *exchange = transfer->owner;
    exchange->finished++;
    exchange->took_ns = clock_now_ns() - exchange->began_ns;
    exchange->status = transfer->status;
    exchange->end = transfer->end;
    exchange->http_status = transfer->http_status;
    exchange->answered = transfer->answered;
    exchange->stale = transfer->stale;
    note_header(transfer, "retry-after", exchange->retry_after, sizeof exchange->retry_after);
    note_header(transfer, "X-RateLimit-Remaining-Tokens", exchange->rate, sizeof exchange->rate);
    note_header(transfer, "x-request-id", exchange->name, sizeof exchange->name);
    note_header(transfer, "set-cookie", exchange->cookie, sizeof exchange->cookie);
    if (!transfer->body_received) {
        assert_true(transfer->content_size < sizeof exchange->body);
        memcpy(exchange->body, transfer->content, transfer->content_size + 1);
        exchange->body_size = transfer->content_size;
    }
}

void prepare(struct fixture *fixture, struct exchange *exchange, const char *body)
{
    static const struct http_header key = {"Authorization", "Bearer not-for-files"};
    struct status st = {0};
    char text[128];
    memset(exchange, 0, sizeof *exchange);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/v1/ask?key=not-for-files", fixture->port);
    exchange->url = http_url_parse(text, &st);
    assert_non_null(exchange->url);
    transfer_init(&exchange->transfer, exchange->url, finished);
    exchange->transfer.owner = exchange;
    exchange->transfer.timeout_ms = 5000;
    exchange->transfer.decompress = true;
    exchange->transfer.method = "POST";
    exchange->transfer.body = body;
    exchange->transfer.body_size = strlen(body);
    exchange->transfer.extra = &key;
    exchange->transfer.extra_count = 1;
    exchange->transfer.headers_received = headers_received;
}

void prepare_stream(struct fixture *fixture, struct exchange *exchange, const char *body)
{
    prepare(fixture, exchange, body);
    exchange->transfer.body_received = body_received;
}

void begin(struct fixture *fixture, struct exchange *exchange, bool replays)
{
    exchange->began_ns = clock_now_ns();
    loop_enter(fixture->loop);
    if (replays) {
        transfer_replay(fixture->client, &exchange->transfer, fixture->cassette);
    } else {
        transfer_record(&exchange->transfer, fixture->cassette);
        transfer_start(fixture->client, &exchange->transfer);
    }
    assert_int_equal(exchange->finished + exchange->headers_status, 0); /* nothing runs within */
    loop_leave(fixture->loop);
}

void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished > 0, 10000));
    assert_int_equal(exchange->finished, 1);
    http_url_destroy(&exchange->url);
}

void record_opened(struct fixture *fixture, const struct cassette_options *options)
{
    struct status st = {0};
    fixture->cassette = cassette_open(fixture->path, options, &st);
    if (!fixture->cassette)
        fail_msg("%s", st.text);
}

void record_from(struct fixture *fixture, void (*serve)(struct peer *peer, int fd))
{
    record_opened(fixture, &(struct cassette_options){.mode = CASSETTE_RECORD});
    peer_start(&fixture->peer, serve);
    fixture->port = fixture->peer.port;
}

void replay_with(struct fixture *fixture, const struct cassette_options *options)
{
    peer_stop(&fixture->peer);
    cassette_close(&fixture->cassette);
    record_opened(fixture, options);
    fixture->port = 9; /* nobody is there */
}

void replay(struct fixture *fixture)
{
    replay_with(fixture, &(struct cassette_options){.mode = CASSETTE_REPLAY});
}

/* One exchange, recorded and played; both must look the same. */
void both_ways(struct fixture *fixture, void (*serve)(struct peer *peer, int fd), bool streams, struct exchange *played)
{
    struct exchange real;
    void (*ready)(struct fixture *, struct exchange *, const char *) = streams ? prepare_stream : prepare;
    record_from(fixture, serve);
    ready(fixture, &real, "{}");
    begin(fixture, &real, false);
    finish(fixture, &real);
    replay(fixture);
    ready(fixture, played, "{}");
    begin(fixture, played, true);
    finish(fixture, played);
    assert_int_equal(played->end, real.end);
    assert_int_equal(played->status.code, real.status.code);
    assert_string_equal(played->status.text, real.status.text);
    assert_int_equal(played->http_status, real.http_status);
    assert_int_equal(played->headers_status, real.headers_status);
    assert_int_equal(played->answered, real.answered);
    assert_int_equal(played->stale, real.stale);
    assert_int_equal(played->body_size, real.body_size);
    assert_memory_equal(played->body, real.body, real.body_size);
    assert_int_equal(played->piece_count, real.piece_count);
    assert_memory_equal(played->pieces, real.pieces, sizeof real.pieces);
    assert_string_equal(played->type, real.type);
    assert_string_equal(played->retry_after, real.retry_after);
    assert_string_equal(played->rate, real.rate);
    assert_string_equal(played->name, real.name);
}

char *file_text(struct fixture *fixture)
{
    struct buffer text;
    struct status st = {0};
    buffer_init(&text, 1 << 20);
    assert_true(file_read(fixture->path, &text, &st));
    buffer_put(&text, '\0');
    return buffer_take(&text, NULL);
}

void write_file(struct fixture *fixture, const char *text)
{
    FILE *file = fopen(fixture->path, "w");
    fputs(text, file);
    fclose(file);
}

void whole(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req_7\r\nSet-Cookie: secret\r\n"
                  "Content-Length: 14\r\nConnection: close\r\n\r\n{\"pond\":\"池\"}");
}

void streamed(struct peer *peer, int fd)
{
    static const char *const chunks[] = {"8\r\ndata: a\n\r\n", "1\r\n\n\r\n", "7\r\ndata: \xE6\r\n",
                                         "4\r\n\xB1\xA0\n\n\r\n"};
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
                  "Connection: close\r\n\r\n");
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        peer_pause(40);
        peer_send(fd, chunks[i]);
    }
    peer_send(fd, "0\r\n\r\n");
}

void counting(struct peer *peer, int fd)
{
    char answer[128];
    peer_read_request(peer, fd);
    snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n%d",
             atomic_load(&peer->requests));
    peer_send(fd, answer);
}

void asks(struct fixture *fixture, const char *body, bool replays, const char *answer)
{
    struct exchange exchange;
    prepare(fixture, &exchange, body);
    begin(fixture, &exchange, replays);
    finish(fixture, &exchange);
    assert_string_equal(exchange.body, answer);
}
