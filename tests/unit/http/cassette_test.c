/* Exchanges are recorded against a server that then stops, and played without one. */
#include "peer.h"

#include "base/clock.h"
#include "base/file.h"
#include "http/cassette.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define PIECES_MAX 16

struct fixture {
    struct loop *loop;
    struct http_client *client;
    struct peer peer;
    struct cassette *cassette;
    char path[64];
    int port; /* of the peer, or of nobody */
};

struct exchange {
    struct transfer transfer;
    struct http_url *url;
    struct status status;
    int finished, headers_status, http_status;
    enum transfer_end end;
    bool answered, stale;
    char type[64], retry_after[32], rate[32], name[64], cookie[64];
    size_t pieces[PIECES_MAX], piece_count;
    char body[4096];
    size_t body_size, cancel_at, pause_at;
    int64_t began_ns, took_ns;
};

static int set_up(void **state)
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

static int tear_down(void **state)
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

static void prepare(struct fixture *fixture, struct exchange *exchange, const char *body)
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

static void prepare_stream(struct fixture *fixture, struct exchange *exchange, const char *body)
{
    prepare(fixture, exchange, body);
    exchange->transfer.body_received = body_received;
}

static void begin(struct fixture *fixture, struct exchange *exchange, bool replays)
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

static void finish(struct fixture *fixture, struct exchange *exchange)
{
    assert_true(WAIT_FOR(fixture->loop, exchange->finished > 0, 10000));
    assert_int_equal(exchange->finished, 1);
    http_url_destroy(&exchange->url);
}

static void record_opened(struct fixture *fixture, const struct cassette_options *options)
{
    struct status st = {0};
    fixture->cassette = cassette_open(fixture->path, options, &st);
    if (!fixture->cassette)
        fail_msg("%s", st.text);
}

static void record_from(struct fixture *fixture, void (*serve)(struct peer *peer, int fd))
{
    record_opened(fixture, &(struct cassette_options){.mode = CASSETTE_RECORD});
    peer_start(&fixture->peer, serve);
    fixture->port = fixture->peer.port;
}

static void replay_with(struct fixture *fixture, const struct cassette_options *options)
{
    peer_stop(&fixture->peer);
    cassette_close(&fixture->cassette);
    record_opened(fixture, options);
    fixture->port = 9; /* nobody is there */
}

static void replay(struct fixture *fixture)
{
    replay_with(fixture, &(struct cassette_options){.mode = CASSETTE_REPLAY});
}

/* One exchange, recorded and played; both must look the same. */
static void both_ways(struct fixture *fixture, void (*serve)(struct peer *peer, int fd), bool streams,
                      struct exchange *played)
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

static char *file_text(struct fixture *fixture)
{
    struct buffer text;
    struct status st = {0};
    buffer_init(&text, 1 << 20);
    assert_true(file_read(fixture->path, &text, &st));
    buffer_put(&text, '\0');
    return buffer_take(&text, NULL);
}

static void write_file(struct fixture *fixture, const char *text)
{
    FILE *file = fopen(fixture->path, "w");
    fputs(text, file);
    fclose(file);
}

/* ---- what comes back -------------------------------------------------------------------------------------------- */

static void whole(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req_7\r\nSet-Cookie: secret\r\n"
                  "Content-Length: 14\r\nConnection: close\r\n\r\n{\"pond\":\"池\"}");
}

static void a_whole_answer_is_played_without_its_server(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, whole, false, &played);
    assert_int_equal(played.end, TRANSFER_COMPLETE);
    assert_int_equal(played.http_status, 200);
    assert_string_equal(played.body, "{\"pond\":\"池\"}");
    assert_string_equal(played.type, "application/json");
    assert_string_equal(played.name, "req_7");
    assert_string_equal(played.cookie, "");
    char *text = file_text(fixture);
    assert_null(strstr(text, "not-for-files")); /* neither the key's header nor the query */
    assert_null(strstr(text, "secret"));
    assert_non_null(strstr(text, "\"path\":\"/v1/ask\""));
    free(text);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.exchanges, 1);
    assert_int_equal(stats.played, 1);
    assert_int_equal(stats.unused, 0);
}

static void streamed(struct peer *peer, int fd)
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

static void a_stream_comes_in_the_pieces_it_came_in(void **state)
{
    struct exchange played;
    both_ways(*state, streamed, true, &played);
    assert_int_equal(played.piece_count, 4);
    assert_string_equal(played.body, "data: a\n\ndata: 池\n\n"); /* cut within a character, and whole again */
    assert_true(played.took_ns < 100 * NS_PER_MS);
}

static void a_stream_may_come_as_slowly_as_it_did(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    cassette_close(&fixture->cassette);
    record_opened(fixture, &(struct cassette_options){.mode = CASSETTE_REPLAY, .keeps_delays = true});
    prepare_stream(fixture, &played, "{}");
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.piece_count, 4);
    assert_in_range(played.took_ns / NS_PER_MS, 80, 4000); /* 160 it was */
    prepare_stream(fixture, &played, "{}");                /* the bounds of time hold as ever */
    played.transfer.idle_timeout_ms = 20;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_SILENT);
    prepare_stream(fixture, &played, "{}");
    played.transfer.timeout_ms = 60;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_LATE);
    assert_true(played.piece_count < 4);
}

static void refused(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nx-ratelimit-remaining-tokens: 0\r\n"
                  "x-ratelimit-remaining-tokens: 3\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
}

static void a_refusal_keeps_its_hints(void **state)
{
    struct exchange played;
    both_ways(*state, refused, false, &played);
    assert_int_equal(played.http_status, 429);
    assert_string_equal(played.retry_after, "7");
    assert_string_equal(played.rate, "3"); /* the last of several */
}

static void packed(struct peer *peer, int fd)
{
    unsigned char bytes[256];
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t) "ponds and frogs",
                       .avail_in = 15,
                       .next_out = bytes,
                       .avail_out = sizeof bytes};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    deflate(&stream, Z_FINISH);
    char head[128];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %lu\r\nConnection: close\r\n\r\n",
             stream.total_out);
    peer_read_request(peer, fd);
    peer_send(fd, head);
    peer_send_bytes(fd, bytes, stream.total_out);
    deflateEnd(&stream);
}

static void gzip_is_kept_unpacked(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, packed, false, &played);
    assert_string_equal(played.body, "ponds and frogs");
    char *text = file_text(fixture);
    assert_non_null(strstr(text, "ponds and frogs"));
    free(text);
}

static void binary(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
    peer_send_bytes(fd, "\xFF\0\x80\n", 4);
}

static void bytes_that_are_no_text_come_back_as_they_were(void **state)
{
    struct exchange played;
    both_ways(*state, binary, false, &played);
    assert_int_equal(played.body_size, 4);
    assert_memory_equal(played.body, "\xFF\0\x80\n", 4);
}

static void empty(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

static void an_answer_without_a_body_has_none(void **state)
{
    struct exchange played;
    both_ways(*state, empty, true, &played);
    assert_int_equal(played.http_status, 204);
    assert_int_equal(played.piece_count, 0);
}

static void cut(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
}

static void a_stream_that_was_cut_is_cut_again(void **state)
{
    struct exchange played;
    both_ways(*state, cut, true, &played);
    assert_int_equal(played.end, TRANSFER_CUT);
    assert_int_equal(played.status.code, UNAVAILABLE);
    assert_string_equal(played.body, "hello");
}

static void cut_in_headers(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Ty");
}

static void no_answer(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
}

static void no_answer_stays_none(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, no_answer, true, &played);
    assert_int_equal(played.end, TRANSFER_CUT);
    assert_int_equal(played.http_status, 0);
    assert_false(played.answered);
    cassette_close(&fixture->cassette);
    unlink(fixture->path);
    both_ways(fixture, cut_in_headers, true, &played);
    assert_int_equal(played.http_status, 0);
    assert_true(played.answered);
}

/* ---- which exchange answers ------------------------------------------------------------------------------------- */

static void counting(struct peer *peer, int fd)
{
    char answer[128];
    peer_read_request(peer, fd);
    snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n%d",
             atomic_load(&peer->requests));
    peer_send(fd, answer);
}

static void asks(struct fixture *fixture, const char *body, bool replays, const char *answer)
{
    struct exchange exchange;
    prepare(fixture, &exchange, body);
    begin(fixture, &exchange, replays);
    finish(fixture, &exchange);
    assert_string_equal(exchange.body, answer);
}

static void the_same_request_is_answered_in_order_and_then_by_the_last(void **state)
{
    struct fixture *fixture = *state;
    record_from(fixture, counting);
    asks(fixture, "one", false, "1");
    asks(fixture, "two", false, "2");
    asks(fixture, "one", false, "3");
    replay(fixture);
    asks(fixture, "one", true, "1");
    asks(fixture, "one", true, "3");
    asks(fixture, "one", true, "3");
    asks(fixture, "two", true, "2");
}

static void once_kept(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
    peer_read_request(peer, fd);
}

static void a_kept_connection_that_was_dead_is_dead_again(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    record_from(fixture, once_kept);
    asks(fixture, "one", false, "1");
    for (int replays = 0; replays < 2; replays++) {
        prepare(fixture, &exchange, "two");
        begin(fixture, &exchange, replays);
        finish(fixture, &exchange);
        assert_int_equal(exchange.end, TRANSFER_CUT);
        assert_true(exchange.stale);
        if (!replays)
            replay(fixture);
    }
}

static void what_was_never_recorded_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    record_from(fixture, counting);
    asks(fixture, "one", false, "1");
    replay(fixture);
    prepare(fixture, &exchange, "other");
    begin(fixture, &exchange, true);
    finish(fixture, &exchange);
    print_message("          %s\n", exchange.status.text);
    assert_int_equal(exchange.end, TRANSFER_UNRECORDED);
    assert_int_equal(exchange.status.code, NOT_FOUND);
    assert_non_null(strstr(exchange.status.text, fixture->path));
    assert_null(strstr(exchange.status.text, "not-for-files"));
    prepare(fixture, &exchange, "one");
    exchange.transfer.method = "PUT";
    begin(fixture, &exchange, true);
    finish(fixture, &exchange);
    assert_int_equal(exchange.end, TRANSFER_UNRECORDED);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.unrecorded, 2);
    assert_int_equal(stats.unused, 1);
}

static void replace_secret(const char *body, size_t size, struct buffer *out, const void *data)
{
    const char *at = memmem(body, size, "tok-", 4);
    if (!at) {
        buffer_append(out, body, size);
        return;
    }
    buffer_append(out, body, (size_t)(at - body));
    buffer_print(out, "***");
    buffer_append(out, at + 8, size - (size_t)(at + 8 - body));
}

static void telling(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nsay \r\n");
    peer_pause(30);
    peer_send(fd, "a\r\ntok-1234 !\r\n");
    peer_pause(30);
    peer_send(fd, "1\r\n.\r\n0\r\n\r\n");
}

static void what_is_redacted_is_in_no_file_and_still_found(void **state)
{
    struct fixture *fixture = *state;
    struct cassette_options options = {.mode = CASSETTE_RECORD, .redact = replace_secret};
    struct exchange exchange;
    record_opened(fixture, &options);
    peer_start(&fixture->peer, telling);
    fixture->port = fixture->peer.port;
    prepare_stream(fixture, &exchange, "my tok-1234");
    begin(fixture, &exchange, false);
    finish(fixture, &exchange);
    assert_string_equal(exchange.body, "say tok-1234 !.");
    char *text = file_text(fixture);
    assert_null(strstr(text, "tok-"));
    free(text);
    options.mode = CASSETTE_REPLAY;
    replay_with(fixture, &options);
    prepare_stream(fixture, &exchange, "my tok-5678");
    begin(fixture, &exchange, true);
    finish(fixture, &exchange);
    assert_string_equal(exchange.body, "say *** !.");
    assert_int_equal(exchange.pieces[0], 4);
}

/* ---- the owner's side ------------------------------------------------------------------------------------------- */

static void a_cancelled_replay_ends_at_once_and_once(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.cancel_at = 2;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
    assert_int_equal(played.piece_count, 2);
    prepare_stream(fixture, &played, "{}");
    loop_enter(fixture->loop);
    transfer_replay(fixture->client, &played.transfer, fixture->cassette);
    transfer_cancel(&played.transfer);
    assert_int_equal(played.finished, 0);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
    assert_int_equal(played.headers_status, 0);
}

static void a_paused_replay_waits_until_it_is_resumed(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.pause_at = 2;
    played.transfer.idle_timeout_ms = 20; /* not counted while paused */
    begin(fixture, &played, true);
    assert_true(WAIT_FOR(fixture->loop, played.transfer.held, 1000));
    usleep(60000);
    loop_enter(fixture->loop);
    assert_int_equal(played.piece_count, 2);
    transfer_resume(&played.transfer);
    assert_int_equal(played.piece_count, 2);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_COMPLETE);
    assert_int_equal(played.piece_count, 4);
    prepare_stream(fixture, &played, "{}");
    played.pause_at = 1;
    played.transfer.timeout_ms = 40; /* counted */
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_LATE);
}

static void a_replay_keeps_to_the_bound_of_the_answer(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    played.transfer.response_max = 10;
    begin(fixture, &played, true);
    finish(fixture, &played);
    assert_int_equal(played.end, TRANSFER_TOO_LARGE);
    assert_int_equal(played.piece_count, 2);
}

static void a_client_that_is_closed_ends_its_replays(void **state)
{
    struct fixture *fixture = *state;
    struct exchange played, waiting;
    both_ways(fixture, streamed, true, &played);
    prepare_stream(fixture, &played, "{}");
    prepare_stream(fixture, &waiting, "{}");
    played.pause_at = 1;
    begin(fixture, &played, true);
    assert_true(WAIT_FOR(fixture->loop, played.transfer.held, 1000));
    loop_enter(fixture->loop);
    transfer_replay(fixture->client, &waiting.transfer, fixture->cassette);
    http_client_destroy(&fixture->client);
    assert_int_equal(played.finished + waiting.finished, 2);
    loop_leave(fixture->loop);
    finish(fixture, &played);
    finish(fixture, &waiting);
    assert_int_equal(played.end, TRANSFER_CANCELLED);
}

static void what_the_owner_ended_is_not_recorded(void **state)
{
    struct fixture *fixture = *state;
    struct exchange exchange;
    record_from(fixture, streamed);
    prepare_stream(fixture, &exchange, "{}");
    exchange.cancel_at = 1;
    begin(fixture, &exchange, false);
    finish(fixture, &exchange);
    assert_int_equal(exchange.end, TRANSFER_CANCELLED);
    prepare_stream(fixture, &exchange, "{}");
    exchange.transfer.response_max = 10;
    begin(fixture, &exchange, false);
    finish(fixture, &exchange);
    assert_int_equal(exchange.end, TRANSFER_TOO_LARGE);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.recorded, 0);
    peer_stop(&fixture->peer);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

#define LINE "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200}\n"

static void assert_refused(struct fixture *fixture, const char *text, enum cassette_mode mode, const char *why)
{
    struct status st = {0};
    write_file(fixture, text);
    struct cassette *cassette = cassette_open(fixture->path, &(struct cassette_options){.mode = mode}, &st);
    assert_null(cassette);
    print_message("          %s\n", st.text);
    assert_non_null(strstr(st.text, fixture->path));
    if (!strstr(st.text, why))
        fail_msg("'%s' does not say '%s'", st.text, why);
}

static void a_broken_file_is_refused_by_its_line(void **state)
{
    struct fixture *fixture = *state;
    assert_refused(fixture, LINE "{\"method\":1}\n", CASSETTE_REPLAY, ":2: ");
    assert_refused(fixture, "[]\n", CASSETTE_REPLAY, ":1: ");
    assert_refused(fixture, "{\n", CASSETTE_REPLAY, ":1: ");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"never\"}\n", CASSETTE_REPLAY, "end");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"cut\",\"code\":\"OK\"}\n", CASSETTE_REPLAY,
                   "code");
    assert_refused(
        fixture,
        "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200,\"pieces\":[{\"base64\":\"a\"}]}\n",
        CASSETTE_REPLAY, "base64");
    assert_refused(fixture, "{\"method\":\"GET\",\"path\":\"/\",\"end\":\"complete\",\"status\":200,\"pieces\":[7]}\n",
                   CASSETTE_REPLAY, "pieces[0]");
    assert_refused(fixture, LINE "{\"meth", CASSETTE_RECORD, "whole line");
    struct status st = {0};
    assert_null(cassette_open("/nowhere/at/all", &(struct cassette_options){.mode = CASSETTE_REPLAY}, &st));
    assert_int_equal(st.code, NOT_FOUND);
    assert_null(cassette_open("/nowhere/at/all", &(struct cassette_options){.mode = CASSETTE_RECORD}, &st));
}

static void an_exchange_that_was_cut_off_at_the_end_is_passed_over(void **state)
{
    struct fixture *fixture = *state;
    struct cassette_stats stats;
    write_file(fixture, LINE "\n" LINE "{\"method\":\"GE");
    record_opened(fixture, &(struct cassette_options){.mode = CASSETTE_REPLAY});
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.exchanges, 2);
}

static void recording_goes_on_behind_what_is_there(void **state)
{
    struct fixture *fixture = *state;
    write_file(fixture, LINE);
    record_from(fixture, counting);
    asks(fixture, "one", false, "1");
    replay(fixture);
    struct cassette_stats stats;
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.exchanges, 2);
    asks(fixture, "one", true, "1");
}

/* ---- several loops ---------------------------------------------------------------------------------------------- */

#define LOOPS 3
#define EACH  20

/* A question after the other, each of its own. */
struct asker {
    struct fixture fixture;
    struct exchange exchange;
    char body[32];
    int index, asked;
    bool replays, done;
    struct work go;
};

static void ask_next(struct asker *asker);

static void asker_answered(struct transfer *transfer)
{
    struct asker *asker = transfer->owner;
    assert_int_equal(transfer->end, TRANSFER_COMPLETE);
    http_url_destroy(&asker->exchange.url);
    ask_next(asker);
}

static void ask_next(struct asker *asker)
{
    if (asker->asked == EACH) {
        asker->done = true;
        return;
    }
    snprintf(asker->body, sizeof asker->body, "%d of %d", asker->asked++, asker->index);
    prepare(&asker->fixture, &asker->exchange, asker->body);
    asker->exchange.transfer.owner = asker;
    asker->exchange.transfer.headers_received = NULL;
    asker->exchange.transfer.finished = asker_answered;
    if (asker->replays) {
        transfer_replay(asker->fixture.client, &asker->exchange.transfer, asker->fixture.cassette);
    } else {
        transfer_record(&asker->exchange.transfer, asker->fixture.cassette);
        transfer_start(asker->fixture.client, &asker->exchange.transfer);
    }
}

static void go(struct work *work)
{
    ask_next((struct asker *)(void *)((char *)work - offsetof(struct asker, go)));
}

static void ask_from_loops(struct fixture *fixture, bool replays)
{
    static struct asker askers[LOOPS];
    for (int i = 0; i < LOOPS; i++) {
        struct asker *asker = &askers[i];
        memset(asker, 0, sizeof *asker);
        asker->fixture.cassette = fixture->cassette;
        asker->fixture.port = fixture->port;
        asker->index = i;
        asker->replays = replays;
        asker->go.run = go;
        asker->fixture.loop = loop_started((unsigned)i + 1);
        loop_enter(asker->fixture.loop);
        asker->fixture.client = http_client_create(asker->fixture.loop, &(struct http_client_options){0});
        loop_leave(asker->fixture.loop);
        loop_post(asker->fixture.loop, &asker->go);
    }
    for (int i = 0; i < LOOPS; i++) {
        struct asker *asker = &askers[i];
        assert_true(WAIT_FOR(asker->fixture.loop, asker->done, 20000));
        loop_enter(asker->fixture.loop);
        http_client_destroy(&asker->fixture.client);
        loop_leave(asker->fixture.loop);
        loop_ended(&asker->fixture.loop);
    }
}

static void several_loops_share_a_cassette(void **state)
{
    struct fixture *fixture = *state;
    struct cassette_stats stats;
    record_from(fixture, whole);
    ask_from_loops(fixture, false);
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.recorded, LOOPS * EACH);
    replay(fixture);
    ask_from_loops(fixture, true);
    cassette_stats(fixture->cassette, &stats);
    assert_int_equal(stats.played, LOOPS * EACH);
    assert_int_equal(stats.unused, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_answer_is_played_without_its_server),
        TEST(a_stream_comes_in_the_pieces_it_came_in),
        TEST(a_stream_may_come_as_slowly_as_it_did),
        TEST(a_refusal_keeps_its_hints),
        TEST(gzip_is_kept_unpacked),
        TEST(bytes_that_are_no_text_come_back_as_they_were),
        TEST(an_answer_without_a_body_has_none),
        TEST(a_stream_that_was_cut_is_cut_again),
        TEST(no_answer_stays_none),
        TEST(the_same_request_is_answered_in_order_and_then_by_the_last),
        TEST(a_kept_connection_that_was_dead_is_dead_again),
        TEST(what_was_never_recorded_is_not_found),
        TEST(what_is_redacted_is_in_no_file_and_still_found),
        TEST(a_cancelled_replay_ends_at_once_and_once),
        TEST(a_paused_replay_waits_until_it_is_resumed),
        TEST(a_replay_keeps_to_the_bound_of_the_answer),
        TEST(a_client_that_is_closed_ends_its_replays),
        TEST(what_the_owner_ended_is_not_recorded),
        TEST(a_broken_file_is_refused_by_its_line),
        TEST(an_exchange_that_was_cut_off_at_the_end_is_passed_over),
        TEST(recording_goes_on_behind_what_is_there),
        TEST(several_loops_share_a_cassette),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
