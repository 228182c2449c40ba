/* What a client may say by RFC 9112 and how it is answered: versions, targets, what is sent ahead, what is refused. */
#include "server_fixture.h"

#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int set_up(void **state)
{
    *state = fixture_create(&(struct http_server_options){.body_max = 200000});
    return 0;
}

static int tear_down(void **state)
{
    fixture_destroy(*state);
    return 0;
}

static void answer_held(struct fixture *fixture, const char *text)
{
    loop_enter(fixture->loop);
    http_reply(fixture->held, 200, "text/plain", text, strlen(text));
    loop_leave(fixture->loop);
}

static void assert_one_ends(struct fixture *fixture, const char *request, const char *status)
{
    int fd = raw_connect(fixture->port);
    peer_send(fd, request);
    const char *answer = raw_read_until(fd, NULL, 2000);
    char line[32];
    snprintf(line, sizeof line, "HTTP/1.1 %s ", status);
    if (strncmp(answer, line, strlen(line)) != 0 || !strstr(answer, "\r\nConnection: close\r\n"))
        fail_msg("%s\n---\n%s", request, answer);
    assert_int_equal(count(answer, "HTTP/1.1 "), 1);
    close(fd);
}

/* ---- first lines and fields ------------------------------------------------------------------------------------- */

#define WITH_HOST " HTTP/1.1\r\nHost: a\r\n\r\n"

static void what_is_well_formed_is_answered_and_the_connection_kept(void **state)
{
    static const struct {
        const char *request, *status, *part;
    } cases[] = {
        {"GET /hello" WITH_HOST, "200", "hello"},
        {"\r\nGET /hello" WITH_HOST, "200", "hello"},
        {"GET http://other.example/hello" WITH_HOST, "200", "hello"},
        {"GET HTTPS://a:8443/see?key=1" WITH_HOST, "200", "GET|/see|1|-"},
        {"GET http://a?key=1" WITH_HOST, "404", "nothing is served at '/'"},
        {"GET /see/%E6%B1%A0%2f?key=a+b%2&none&key=2" WITH_HOST, "200", "GET|/see/池/|a b%2||"},
        {"GET /see?%6bey=%26%3D&&=x" WITH_HOST, "200", "GET|/see|&=|-|"},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "404", "'*'"},
        {"GET /hello HTTP/1.1\r\nhOsT:\r\n\r\n", "200", "hello"},
        {"GET /hello HTTP/1.2\r\nHost: a\r\n\r\n", "200", "hello"},
        {"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "200", "\r\nConnection: keep-alive\r\n"},
        {"BREW /hello" WITH_HOST, "405", "BREW is not served here"},
        {"POST /see HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "200", "|0|"},
        {"POST /see HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ChunKed\r\n\r\n2;a=\"b\"\r\nok\r\n0\r\nX: y\r\n\r\n",
         "200", "|2|ok"},
    };
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[32];
        snprintf(line, sizeof line, "HTTP/1.1 %s ", cases[i].status);
        peer_send(fd, cases[i].request);
        const char *answer = raw_read_until(fd, cases[i].part, 2000);
        assert_has(answer, line);
        assert_has(answer, cases[i].part);
        peer_send(fd, GET("/hello")); /* behind the rest of it */
        raw_read_until(fd, "hello", 2000);
    }
    close(fd);
}

static void what_is_not_is_refused_and_the_connection_ends(void **state)
{
    static const struct {
        const char *request, *status;
    } cases[] = {
        {"GET /hello HTTP/1.1\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\nHost: a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost: a\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost : a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1\r\nHost\r\n\r\n", "400"},
        {"GET  /hello" WITH_HOST, "400"},
        {"GET /hello \r\nHost: a\r\n\r\n", "400"},
        {"GET /hello x HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.1 \r\nHost: a\r\n\r\n", "400"},
        {"GET /hello HTTP/1.10\r\nHost: a\r\n\r\n", "400"},
        {"GET /hello http/1.1\r\nHost: a\r\n\r\n", "400"},
        {"G(T /hello" WITH_HOST, "400"},
        {" GET /hello" WITH_HOST, "400"},
        {"\x16\x03\x01", "400"},
        {"GET hello" WITH_HOST, "400"},
        {"CONNECT a:443" WITH_HOST, "400"},
        {"GET ftp://a/hello" WITH_HOST, "400"},
        {"GET ?key=1" WITH_HOST, "400"},
        {"GET /hello%00" WITH_HOST, "400"},
        {"GET /hello#a" WITH_HOST, "400"},
        {"GET /hello?a#b" WITH_HOST, "400"},
        {"GET http://a/hello#b" WITH_HOST, "400"},
        {"GET /hello%2" WITH_HOST, "400"},
        {"GET /hell%zz" WITH_HOST, "400"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
        {"GET /hello HTTP/9.9\r\nHost: a\r\n\r\n", "505"},
        {"POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: a-miracle\r\n\r\nok", "417"},
        {"POST /see HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n", "400"},
        {"POST /see HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n", "400"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_one_ends(*state, cases[i].request, cases[i].status);
}

static void what_hides_behind_an_ambiguous_length_is_never_handled(void **state)
{
    static const char *const heads[] = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
        "Content-Length: 5\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 5, 5\r\n\r\nabcde",
        "Content-Length: +5\r\n\r\nabcde",
        "Content-Length: 0x5\r\n\r\nabcde",
        "Content-Length: \r\n\r\n",
        "Content-Length: 18446744073709551621\r\n\r\nabcde",
        "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\x0b"
        "chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\n\n",
    };
    struct fixture *fixture = *state;
    char request[512];
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        snprintf(request, sizeof request, "POST /see HTTP/1.1\r\nHost: a\r\n%s%s", heads[i], GET("/hold"));
        assert_one_ends(fixture, request, "400");
    }
    snprintf(request, sizeof request, "POST /see HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s",
             GET("/hold"));
    assert_one_ends(fixture, request, "400");
    assert_int_equal(fixture->held_count, 0);
}

static void a_nul_in_a_head_is_refused(void **state)
{
    static const char request[] = "GET /hello HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";
    int fd = raw_connect(((struct fixture *)*state)->port);
    peer_send_bytes(fd, request, sizeof request - 1);
    assert_has(raw_read_until(fd, NULL, 2000), "HTTP/1.1 400 ");
    close(fd);
}

static void a_request_may_be_cut_anywhere(void **state)
{
    static const char *const requests[] = {
        "POST /see/a?key=1 HTTP/1.1\r\nHost: a\r\nX-A: b\r\nContent-Length: 4\r\n\r\nbody",
        "POST /see/a?key=1 HTTP/1.1\r\nHost: a\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;x=y\r\nbod\r\n1\r\ny\r\n0\r\nT: u\r\n\r\n",
    };
    int fd = raw_connect(((struct fixture *)*state)->port), at_once = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (size_t at = 1; at < strlen(requests[i]); at++) {
            peer_send_bytes(fd, requests[i], at);
            usleep(300);
            peer_send(fd, requests[i] + at);
            assert_has(raw_read_until(fd, "body", 2000), "POST|/see/a|1|-|b|4|body");
        }
    close(fd);
}

/* ---- sent ahead ------------------------------------------------------------------------------------------------- */

static void what_is_sent_ahead_waits_for_the_answer_before_it(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hold") GET("/hold") GET("/hello"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 1, 1000));
    assert_string_equal(raw_read_until(fd, NULL, 20), "");
    assert_int_equal(fixture->held_count, 1);
    answer_held(fixture, "first");
    assert_has(raw_read_until(fd, "first", 1000), "200 OK");
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 2, 1000));
    answer_held(fixture, "second");
    const char *answer = raw_read_until(fd, "hello", 1000);
    assert_true(strstr(answer, "second") && strstr(answer, "second") < strstr(answer, "hello"));
    close(fd);
}

static void thousands_are_answered_in_their_order_while_others_have_their_turn(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    for (int i = 0; i < 1000; i++)
        peer_send(fd, i == 999 ? "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" : GET("/hello"));
    assert_has(ask(fixture, GET("/hello"), "hello"), "200 OK");
    const char *answers = raw_read_until(fd, NULL, 5000);
    assert_int_equal(count(answers, "HTTP/1.1 200 OK"), 1000);
    assert_int_equal(count(answers, "Connection: close"), 1);
    close(fd);
}

static void a_body_of_many_pieces_ends_where_it_says(void **state)
{
    enum { SIZE = 150000 };
    struct fixture *fixture = *state;
    char *request = malloc(SIZE + 300);
    int head = snprintf(request, 200, "POST /see HTTP/1.1\r\nHost: a\r\nX-A: b\r\nContent-Length: %d\r\n\r\n", SIZE);
    memset(request + head, 'x', SIZE);
    strcpy(request + head + SIZE, GET("/hello"));
    int fd = raw_connect(fixture->port);
    peer_send(fd, request);
    const char *answers = raw_read_until(fd, "hello", 2000);
    assert_has(answers, "|150000|xxx");
    assert_int_equal(count(answers, "HTTP/1.1 200"), 2);
    close(fd);
    free(request);
}

/* ---- leave to send, and refusals -------------------------------------------------------------------------------- */

static void no_leave_is_given_for_a_body_that_has_come(void **state)
{
    const char *answer =
        ask(*state, "POST /see HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\nok", "|ok");
    assert_int_equal(count(answer, "HTTP/1.1"), 1);
    assert_has(answer, "HTTP/1.1 200");
    int fd = raw_connect(((struct fixture *)*state)->port);
    peer_send(fd, "POST /see HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_string_equal(raw_read_until(fd, "HTTP", 20), "");
    close(fd);
}

static void connections_are_kept_after_errors_of_whole_requests(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/nothing"));
    assert_has(raw_read_until(fd, "}}", 1000), "HTTP/1.1 404");
    peer_send(fd, "DELETE /hello" WITH_HOST);
    assert_has(raw_read_until(fd, "}}", 1000), "HTTP/1.1 405");
    peer_send(fd, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 200001\r\n\r\n");
    char *body = calloc(1, 200001);
    peer_send_bytes(fd, body, 200001);
    free(body);
    assert_has(raw_read_until(fd, "}}", 1000), "HTTP/1.1 413");
    peer_send(fd, GET("/hello"));
    assert_has(raw_read_until(fd, "hello", 1000), "HTTP/1.1 200");
    close(fd);
}

/* A reset over what was not read would take the answer away from the client. */
static void a_refusal_reaches_a_client_that_is_still_sending(void **state)
{
    struct fixture *fixture = *state;
    char *body = calloc(1, 4 << 20);
    for (int i = 0; i < 5; i++) {
        int fd = raw_connect(fixture->port);
        peer_send(fd, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
        peer_pause(5);
        ssize_t sent = 0;
        for (ssize_t n = 1; n > 0 && sent<4 << 20; sent += n> 0 ? n : 0)
            n = send(fd, body, 4 << 20, MSG_NOSIGNAL);
        assert_int_equal(sent, 4 << 20);
        const char *answer = raw_read_until(fd, NULL, 2000);
        assert_has(answer, "HTTP/1.1 413");
        assert_has(answer, "}}");
        close(fd);
    }
    free(body);
    struct http_server_stats stats;
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 0), 1000));
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

static void answers_carry_the_date(void **state)
{
    const char *date = strstr(ask(*state, GET("/hello"), "hello"), "\r\nDate: ");
    assert_non_null(date);
    struct tm tm = {0};
    const char *end = strptime(date + 8, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    assert_true(end == date + 8 + 29 && *end == '\r');
    assert_in_range(timegm(&tm), time(NULL) - 10,
                    time(NULL) + 1); /* time() is behind the exact clock by up to a tick */
}

static void fields_that_frame_an_answer_are_not_the_handlers(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/hold"));
    loop_enter(fixture->loop);
    assert_false(http_reply_header(fixture->held, "content-length", "7"));
    assert_false(http_reply_header(fixture->held, "Transfer-Encoding", "chunked"));
    assert_false(http_reply_header(fixture->held, "Connection", "close"));
    assert_false(http_reply_header(fixture->held, "X", "a\r\nSet-Cookie: b"));
    assert_false(http_reply_header(fixture->held, "X:", "a"));
    assert_false(http_reply_header(fixture->held, "", "a"));
    assert_true(http_reply_header(fixture->held, "X-First", "1"));
    assert_true(http_reply_header(fixture->held, "X-Second", ""));
    http_reply(fixture->held, 299, NULL, NULL, 0);
    loop_leave(fixture->loop);
    const char *answer = raw_read_until(fd, "\r\n\r\n", 1000);
    assert_has(answer, "HTTP/1.1 299 \r\n");
    assert_has(answer, "\r\nX-First: 1\r\nX-Second: \r\nContent-Length: 0\r\n\r\n");
    close(fd);
}

static void a_head_of_a_stream_has_no_body_and_the_connection_is_kept(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, "HEAD /stream" WITH_HOST);
    write_in(fixture, "data");
    end_in(fixture);
    peer_send(fd, GET("/hello"));
    const char *answers = raw_read_until(fd, "hello", 1000);
    assert_null(strstr(answers, "data"));
    assert_has(answers, "\r\n\r\nHTTP/1.1 200 OK");
    close(fd);
}

/* A stream that has begun; `cut` is run in the loop. */
static void assert_cut_is_a_reset(struct fixture *fixture, void (*cut)(struct fixture *fixture))
{
    int fd;
    char byte;
    begin_stream(fixture, &fd, "GET /stream HTTP/1.0\r\n\r\n");
    write_in(fixture, "one");
    raw_read_until(fd, "one", 1000);
    loop_enter(fixture->loop);
    cut(fixture);
    loop_leave(fixture->loop);
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

static void abort_held(struct fixture *fixture)
{
    struct http_request *request = fixture->held;
    fixture->held = NULL;
    http_reply_abort(request);
}

static void stop_now(struct fixture *fixture)
{
    http_server_stop(fixture->server, 0, NULL, NULL);
}

static void a_stream_without_chunks_that_is_cut_ends_in_a_reset(void **state)
{
    assert_cut_is_a_reset(*state, abort_held);
}

/* Not the handler ends it but the server: when it stops, when too much piles up. */
static void a_stream_without_chunks_that_the_server_cuts_ends_in_a_reset(void **state)
{
    assert_cut_is_a_reset(*state, stop_now);
}

static void an_answer_given_while_stopping_says_that_it_is_the_last(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/hold"));
    loop_enter(fixture->loop);
    http_server_stop(fixture->server, 5000, NULL, NULL);
    loop_leave(fixture->loop);
    answer_held(fixture, "late");
    assert_has(raw_read_until(fd, NULL, 1000), "\r\nConnection: close\r\n");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_well_formed_is_answered_and_the_connection_kept),
        TEST(what_is_not_is_refused_and_the_connection_ends),
        TEST(what_hides_behind_an_ambiguous_length_is_never_handled),
        TEST(a_nul_in_a_head_is_refused),
        TEST(a_request_may_be_cut_anywhere),
        TEST(what_is_sent_ahead_waits_for_the_answer_before_it),
        TEST(thousands_are_answered_in_their_order_while_others_have_their_turn),
        TEST(a_body_of_many_pieces_ends_where_it_says),
        TEST(no_leave_is_given_for_a_body_that_has_come),
        TEST(connections_are_kept_after_errors_of_whole_requests),
        TEST(a_refusal_reaches_a_client_that_is_still_sending),
        TEST(answers_carry_the_date),
        TEST(fields_that_frame_an_answer_are_not_the_handlers),
        TEST(a_head_of_a_stream_has_no_body_and_the_connection_is_kept),
        TEST(a_stream_without_chunks_that_is_cut_ends_in_a_reset),
        TEST(a_stream_without_chunks_that_the_server_cuts_ends_in_a_reset),
        TEST(an_answer_given_while_stopping_says_that_it_is_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
