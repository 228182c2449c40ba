/* Exchanges are recorded against a server that then stops, and played without one: what comes back, and which answers.
 */
#include "cassette_fixture.h"

#include "base/clock.h"
#include "starved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* ---- what comes back -------------------------------------------------------------------------------------------- */

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

static void a_stream_comes_in_the_pieces_it_came_in(void **state)
{
    struct exchange played;
    int64_t starved = starved_ns();
    both_ways(*state, streamed, true, &played);
    assert_int_equal(played.piece_count, 4);
    assert_string_equal(played.body, "data: a\n\ndata: 池\n\n"); /* cut within a character, and whole again */
    assert_true(played.took_ns - (starved_ns() - starved) < 100 * NS_PER_MS);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
