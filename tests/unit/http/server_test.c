#include "server_fixture.h"

#include "base/clock.h"
#include "starved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_up(void **state)
{
    *state = fixture_create(&(struct http_server_options){0});
    return 0;
}

static int tear_down(void **state)
{
    fixture_destroy(*state);
    return 0;
}

/* ---- routes and requests ---------------------------------------------------------------------------------------- */

static void a_route_answers(void **state)
{
    const char *answer = ask(*state, GET("/hello"), "hello");
    assert_has(answer, "HTTP/1.1 200");
    assert_has(answer, "Content-Type: text/plain\r\n");
    assert_has(answer, "\r\n\r\nhello");
}

static void what_a_handler_sees_is_what_was_sent(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture, "POST /see/a%20b?key=v%2Fw&empty HTTP/1.1\r\nHost: a\r\nX-A: b\r\nContent-Length: 4\r\n\r\nbody",
        "body");
    assert_string_equal(fixture->seen, "POST|/see/a b|v/w|-|b|4|body");
}

static void a_chunked_body_is_put_together(void **state)
{
    struct fixture *fixture = *state;
    ask(fixture,
        "POST /see HTTP/1.1\r\nHost: a\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        "body");
    assert_string_equal(fixture->seen, "POST|/see|-|-|b|4|body");
}

static void the_longest_path_wins_and_prefixes_end_at_a_slash(void **state)
{
    assert_has(ask(*state, GET("/see/deeper"), "hello"), "\r\n\r\nhello");
    assert_has(ask(*state, GET("/seeing"), "}"), "HTTP/1.1 404");
}

static void an_unknown_path_is_404_in_json(void **state)
{
    const char *answer = ask(*state, GET("/nothing\"here"), "}}");
    assert_has(answer, "HTTP/1.1 404");
    assert_has(answer, "Content-Type: application/json\r\n");
    assert_has(answer, "{\"error\":{\"message\":\"nothing is served at '/nothing\\\"here'\"}}");
}

static void a_wrong_method_is_405_with_allow(void **state)
{
    const char *answer = ask(*state, "DELETE /hello HTTP/1.1\r\nHost: a\r\n\r\n", "}}");
    assert_has(answer, "HTTP/1.1 405");
    assert_has(answer, "Allow: GET, HEAD, POST\r\n");
}

static void a_row_without_a_method_takes_all(void **state)
{
    assert_has(ask(*state, "BREW /target HTTP/1.1\r\nHost: a\r\n\r\n", "none"), "HTTP/1.1 200");
}

static void refused_here(struct http_request *request, int http_status, const char *text)
{
    http_reply(request, http_status, "text/plain", "refused here", 12);
}

static void a_target_is_kept_as_it_was_sent_and_refusals_have_the_doors_own_form(void **state)
{
    struct fixture *fixture =
        fixture_create(&(struct http_server_options){.keeps_target = true, .refuse = refused_here});
    assert_has(ask(fixture, GET("/target/a%3Ab?x=%2F"), "x="), "\r\n\r\n/target/a%3Ab?x=%2F");
    assert_has(ask(fixture, "GET http://a/target?y HTTP/1.1\r\nHost: a\r\n\r\n", "?y"), "\r\n\r\n/target?y");
    const char *answer = ask(fixture, GET("/%zz"), "here");
    assert_has(answer, "HTTP/1.1 400");
    assert_has(answer, "refused here");
    fixture_destroy(fixture);
}

static void head_is_get_without_the_body(void **state)
{
    const char *answer = ask(*state, "HEAD /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", NULL);
    assert_has(answer, "HTTP/1.1 200");
    assert_has(answer, "Content-Length: 5\r\n");
    assert_null(strstr(answer, "hello"));
}

static void a_status_becomes_code_text_and_retry_after(void **state)
{
    const char *answer = ask(*state, GET("/failing"), "}}");
    assert_has(answer, "HTTP/1.1 429");
    assert_has(answer, "Retry-After: 2\r\n");
    assert_has(answer, "{\"error\":{\"message\":\"too many \\\"things\\\"\",\"code\":\"RESOURCE_EXHAUSTED\"}}");
}

static void connections_are_kept(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    for (int i = 0; i < 100; i++) {
        peer_send(fd, GET("/hello"));
        assert_has(raw_read_until(fd, "hello", 1000), "HTTP/1.1 200");
    }
    close(fd);
    struct http_server_stats stats;
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 0), 1000));
    assert_int_equal(stats.accepted, 1);
    assert_int_equal(stats.served, 100);
    assert_int_equal(stats.left, 0);
}

static void requests_sent_ahead_are_answered_in_order(void **state)
{
    int fd = raw_connect(((struct fixture *)*state)->port);
    peer_send(fd, GET("/hello") GET("/nothing") GET("/hello"));
    shutdown(fd, SHUT_WR);
    const char *answer = raw_read_until(fd, NULL, 1000);
    assert_int_equal(count(answer, "HTTP/1.1 200"), 2);
    assert_int_equal(count(answer, "HTTP/1.1 404"), 1);
    assert_true(strstr(answer, " 404 ") > strstr(answer, " 200 "));
    close(fd);
}

static void a_request_may_arrive_byte_by_byte(void **state)
{
    int fd = raw_connect(((struct fixture *)*state)->port);
    for (const char *byte = "POST /see HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"; *byte; byte++) {
        peer_send_bytes(fd, byte, 1);
        usleep(200);
    }
    assert_has(raw_read_until(fd, "abc", 1000), "|3|abc");
    close(fd);
}

/* ---- later answers ---------------------------------------------------------------------------------------------- */

static void an_answer_may_come_later(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    for (int i = 1; i <= 20; i++) {
        peer_send(fd, GET("/hold"));
        assert_true(WAIT_FOR(fixture->loop, fixture->held_count == i, 1000));
        assert_string_equal(raw_read_until(fd, NULL, 5), "");
        loop_enter(fixture->loop);
        http_reply(fixture->held, 200, "text/plain", "late", 4);
        loop_leave(fixture->loop);
        assert_has(raw_read_until(fd, "late", 1000), "HTTP/1.1 200");
    }
    close(fd);
}

static void an_aborted_request_closes_the_connection(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hold"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 1, 1000));
    loop_enter(fixture->loop);
    http_reply_abort(fixture->held);
    loop_leave(fixture->loop);
    assert_string_equal(raw_read_until(fd, NULL, 1000), "");
    close(fd);
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static void headers_of_a_stream_go_out_before_its_first_piece(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    assert_has(raw_read_until(fd, "\r\n\r\n", 1000), "Transfer-Encoding: chunked");
    assert_true(clock_now_ns() - began_ns - (starved_ns() - starved) < 30 * NS_PER_MS);
    close(fd);
    assert_true(WAIT_FOR(fixture->loop, fixture->left_count == 1, 1000));
}

static void an_empty_stream_is_an_empty_body(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    end_in(fixture);
    assert_has(raw_read_until(fd, "0\r\n\r\n", 1000), "\r\n\r\n0\r\n\r\n");
    close(fd);
}

static void pieces_go_out_as_they_are_written_and_the_connection_is_kept(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    for (int i = 0; i < 2; i++) {
        raw_read_until(fd, "\r\n\r\n", 1000);
        write_in(fixture, "data: one\n\n");
        assert_string_equal(raw_read_until(fd, "one\n\n\r\n", 1000), "b\r\ndata: one\n\n\r\n");
        write_in(fixture, "data: two\n\n");
        assert_string_equal(raw_read_until(fd, "two\n\n\r\n", 1000), "b\r\ndata: two\n\n\r\n");
        end_in(fixture);
        assert_string_equal(raw_read_until(fd, "0\r\n\r\n", 1000), "0\r\n\r\n");
        if (i == 0) {
            peer_send(fd, GET("/stream"));
            assert_true(WAIT_FOR(fixture->loop, fixture->held != NULL, 1000));
        }
    }
    assert_int_equal(fixture->left_count, 0);
    close(fd);
}

static void an_old_client_gets_its_stream_without_chunks(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, "GET /stream HTTP/1.0\r\n\r\n");
    raw_read_until(fd, "\r\n\r\n", 1000);
    write_in(fixture, "one");
    write_in(fixture, "two");
    end_in(fixture);
    assert_string_equal(raw_read_until(fd, NULL, 1000), "onetwo");
    close(fd);
}

static void an_aborted_stream_is_seen_to_be_cut(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    raw_read_until(fd, "\r\n\r\n", 1000);
    write_in(fixture, "one");
    raw_read_until(fd, "one\r\n", 1000);
    loop_enter(fixture->loop);
    struct http_request *request = fixture->held;
    fixture->held = NULL;
    http_reply_abort(request);
    loop_leave(fixture->loop);
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    assert_string_equal(raw_read_until(fd, NULL, 1000), "");
    assert_true(clock_now_ns() - began_ns - (starved_ns() - starved) < 500 * NS_PER_MS);
    close(fd);
}

static void the_window_closes_for_a_slow_reader_and_opens_again(void **state)
{
    struct fixture *fixture = *state;
    static char block[65536];
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    size_t written = 0;
    bool writable = true;
    for (int i = 0; i < 2000 && writable; i++) {
        loop_enter(fixture->loop);
        if ((writable = http_reply_writable(fixture->held))) {
            http_reply_write(fixture->held, block, sizeof block);
            written += sizeof block;
        }
        loop_leave(fixture->loop);
    }
    assert_false(writable);
    print_message("          %zu bytes went before the window closed\n", written);
    static char sink[65536];
    size_t got = 0;
    while (got < written / 2) {
        ssize_t size = recv(fd, sink, sizeof sink, 0);
        assert_true(size > 0);
        got += (size_t)size;
    }
    end_in(fixture);
    for (bool ended = false; !ended;) {
        ssize_t size = recv(fd, sink, sizeof sink, 0);
        assert_true(size > 0);
        got += (size_t)size;
        ended = size >= 5 && memcmp(sink + size - 5, "0\r\n\r\n", 5) == 0;
    }
    assert_true(got >= written);
    assert_int_equal(fixture->left_count, 0);
    close(fd);
}

static void writable_runs_when_the_reader_has_caught_up(void **state)
{
    struct fixture *fixture = *state;
    static char block[8 << 20], sink[1 << 20];
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    loop_enter(fixture->loop);
    http_reply_write(fixture->held, block, sizeof block);
    assert_false(http_reply_writable(fixture->held));
    loop_leave(fixture->loop);
    for (size_t got = 0; got < sizeof block;)
        got += (size_t)recv(fd, sink, sizeof sink, 0);
    assert_true(WAIT_FOR(fixture->loop, fixture->writable_count == 1, 1000));
    end_in(fixture);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_route_answers),
        TEST(what_a_handler_sees_is_what_was_sent),
        TEST(a_chunked_body_is_put_together),
        TEST(the_longest_path_wins_and_prefixes_end_at_a_slash),
        TEST(an_unknown_path_is_404_in_json),
        TEST(a_wrong_method_is_405_with_allow),
        TEST(a_row_without_a_method_takes_all),
        TEST(a_target_is_kept_as_it_was_sent_and_refusals_have_the_doors_own_form),
        TEST(head_is_get_without_the_body),
        TEST(a_status_becomes_code_text_and_retry_after),
        TEST(connections_are_kept),
        TEST(requests_sent_ahead_are_answered_in_order),
        TEST(a_request_may_arrive_byte_by_byte),
        TEST(an_answer_may_come_later),
        TEST(an_aborted_request_closes_the_connection),
        TEST(headers_of_a_stream_go_out_before_its_first_piece),
        TEST(an_empty_stream_is_an_empty_body),
        TEST(pieces_go_out_as_they_are_written_and_the_connection_is_kept),
        TEST(an_old_client_gets_its_stream_without_chunks),
        TEST(an_aborted_stream_is_seen_to_be_cut),
        TEST(the_window_closes_for_a_slow_reader_and_opens_again),
        TEST(writable_runs_when_the_reader_has_caught_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
