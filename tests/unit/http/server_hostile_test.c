/* What clients do to a server: nothing of it costs more than one connection, and a polite client beside them is
 * answered. */
#include "server_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDLE_MS 250

static int set_up(void **state)
{
    *state = fixture_create(
        &(struct http_server_options){.idle_ms = IDLE_MS, .body_max = 1000, .header_max = 8192, .stream_max = 1 << 20});
    return 0;
}

static int tear_down(void **state)
{
    fixture_destroy(*state);
    return 0;
}

static void assert_polite_client_is_served(struct fixture *fixture)
{
    assert_has(ask(fixture, GET("/hello"), "hello"), "HTTP/1.1 200");
}

static void assert_no_connections(struct fixture *fixture)
{
    struct http_server_stats stats;
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 0), 2000));
    assert_int_equal(stats.requests, 0);
}

/* Sends `text` again and again until the server closes; gives how long that took. */
static int64_t drip_until_closed(struct fixture *fixture, const char *begin, const char *text, int pause_ms)
{
    int fd = raw_connect(fixture->port);
    int64_t began_ns = clock_now_ns();
    peer_send(fd, begin);
    while (clock_now_ns() - began_ns < 5 * NS_PER_SEC) {
        char byte;
        if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0 || send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
            break;
        peer_pause(pause_ms);
    }
    close(fd);
    return (clock_now_ns() - began_ns) / NS_PER_MS;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

static void a_body_over_the_bound_is_413(void **state)
{
    struct fixture *fixture = *state;
    char request[4096];
    int head = snprintf(request, sizeof request, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
    memset(request + head, 'x', 1001);
    request[head + 1001] = '\0';
    const char *answer = ask(fixture, request, "}}");
    assert_has(answer, "HTTP/1.1 413");
    assert_has(answer, "larger than the 1000 bytes allowed");
    assert_polite_client_is_served(fixture);
}

static void a_chunked_body_over_the_bound_is_413(void **state)
{
    struct fixture *fixture = *state;
    char request[8192], chunk[512];
    memset(chunk, 'x', sizeof chunk);
    int length =
        snprintf(request, sizeof request, "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++)
        length += snprintf(request + length, sizeof request - (size_t)length, "200\r\n%.512s\r\n", chunk);
    snprintf(request + length, sizeof request - (size_t)length, "0\r\n\r\n");
    assert_has(ask(fixture, request, "}}"), "HTTP/1.1 413");
    assert_polite_client_is_served(fixture);
}

static void a_body_that_waits_for_leave_to_come_is_refused_before_it_comes(void **state)
{
    const char *answer =
        ask(*state, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n", NULL);
    assert_has(answer, "HTTP/1.1 413");
    assert_null(strstr(answer, "100 Continue"));
}

static void a_body_that_may_come_is_told_so(void **state)
{
    int fd = raw_connect(((struct fixture *)*state)->port);
    peer_send(fd, "POST /see HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_has(raw_read_until(fd, "\r\n\r\n", 1000), "HTTP/1.1 100");
    peer_send(fd, "ok");
    assert_has(raw_read_until(fd, "ok", 1000), "HTTP/1.1 200");
    close(fd);
}

static void an_endless_body_is_cut(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    char chunk[65536 + 16];
    int head = snprintf(chunk, sizeof chunk, "10000\r\n");
    memset(chunk + head, 'x', 65536);
    memcpy(chunk + head + 65536, "\r\n", 2);
    size_t sent = 0;
    for (ssize_t n; (n = send(fd, chunk, (size_t)head + 65538, MSG_NOSIGNAL)) > 0 && sent < 256 << 20;)
        sent += (size_t)n;
    assert_true(sent < 64 << 20);
    close(fd);
    assert_no_connections(fixture);
}

static void headers_over_the_bound_are_refused(void **state)
{
    struct fixture *fixture = *state;
    static char request[40000];
    int length = snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: a\r\nX-Long: ");
    memset(request + length, 'x', 32000);
    strcpy(request + length + 32000, "\r\n\r\n");
    assert_has(ask(fixture, request, "\r\n\r\n"), "HTTP/1.1 431");
    length = snprintf(request, sizeof request, "GET /");
    memset(request + length, 'x', 32000);
    strcpy(request + length + 32000, " HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_has(ask(fixture, request, "\r\n\r\n"), "HTTP/1.1 414");
    assert_polite_client_is_served(fixture);
}

static void a_thousand_headers_are_refused_or_served_but_never_more(void **state)
{
    struct fixture *fixture = *state;
    static char request[40000];
    int length = snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 3000; i++)
        length += snprintf(request + length, sizeof request - (size_t)length, "X%d: a\r\n", i);
    strcpy(request + length, "\r\n");
    assert_has(ask(fixture, request, "\r\n\r\n"), "HTTP/1.1 431");
    assert_polite_client_is_served(fixture);
}

/* ---- nonsense --------------------------------------------------------------------------------------------------- */

static void an_ambiguous_length_is_400(void **state)
{
    static const char *const requests[] = {
        "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /see",
        "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\nab",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const char *answer = ask(*state, requests[i], NULL);
        if (*answer) /* or closed without a word */
            assert_has(answer, "HTTP/1.1 4");
        assert_null(strstr(answer, " 200 "));
    }
    assert_polite_client_is_served(*state);
}

static void garbage_is_answered_with_an_error_or_silence(void **state)
{
    static const char *const requests[] = {
        "\r\n\r\n\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET\r\n\r\n",
        "GET /hello\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /hello HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n", /* no Host */
        "GET /hello HTTP/1.1\r\nHost: a\r\n : b\r\n\r\n",
        "GET /%zz%00%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /../../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        assert_null(strstr(ask(*state, requests[i], "\r\n\r\n"), " 200 "));
    unsigned seed = 42;
    for (int i = 0; i < 200; i++) {
        char bytes[300];
        for (size_t at = 0; at < sizeof bytes - 1; at++)
            bytes[at] = (char)(1 + rand_r(&seed) % 255);
        bytes[sizeof bytes - 1] = '\0';
        int fd = raw_connect(((struct fixture *)*state)->port);
        peer_send(fd, bytes);
        close(fd);
    }
    assert_polite_client_is_served(*state);
    assert_no_connections(*state);
}

/* ---- slowness --------------------------------------------------------------------------------------------------- */

static void headers_that_drip_are_cut_in_time(void **state)
{
    int64_t took_ms = drip_until_closed(*state, "GET /hello HTTP/1.1\r\nHost: a\r\n", "X: y\r\n", 20);
    print_message("          closed after %lld ms\n", (long long)took_ms);
    assert_in_range(took_ms, IDLE_MS - 5, 3 * IDLE_MS);
    assert_no_connections(*state);
}

static void a_body_that_drips_is_cut_in_time(void **state)
{
    int64_t took_ms =
        drip_until_closed(*state, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", "x", 10);
    assert_in_range(took_ms, IDLE_MS - 5, 3 * IDLE_MS);
    assert_no_connections(*state);
}

static void a_silent_connection_is_closed(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hello"));
    raw_read_until(fd, "hello", 1000);
    int64_t began_ns = clock_now_ns();
    assert_string_equal(raw_read_until(fd, NULL, 2000), "");
    assert_in_range((clock_now_ns() - began_ns) / NS_PER_MS, IDLE_MS - 5, 3 * IDLE_MS);
    close(fd);
    assert_no_connections(fixture);
}

static void a_handler_at_work_is_not_idleness(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hold"));
    peer_pause(3 * IDLE_MS);
    loop_enter(fixture->loop);
    http_reply(fixture->held, 200, "text/plain", "late", 4);
    loop_leave(fixture->loop);
    assert_has(raw_read_until(fd, "late", 1000), "late");
    close(fd);
}

static void a_silent_stream_is_not_idleness(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/stream"));
    raw_read_until(fd, "\r\n\r\n", 1000);
    peer_pause(3 * IDLE_MS);
    loop_enter(fixture->loop);
    assert_int_equal(fixture->left_count, 0);
    http_reply_write(fixture->held, "late", 4);
    http_reply_end(fixture->held);
    loop_leave(fixture->loop);
    assert_has(raw_read_until(fd, "0\r\n\r\n", 1000), "late");
    close(fd);
}

static void a_stream_that_nobody_reads_is_cut_in_time(void **state)
{
    struct fixture *fixture = *state;
    static char block[1 << 18];
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/stream"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held != NULL, 1000));
    for (int i = 0; i < 400; i++) { /* fill what the kernel takes, then some */
        loop_enter(fixture->loop);
        if (fixture->held && http_reply_writable(fixture->held))
            http_reply_write(fixture->held, block, sizeof block);
        loop_leave(fixture->loop);
    }
    assert_true(WAIT_FOR(fixture->loop, fixture->left_count == 1, 4 * IDLE_MS));
    assert_no_connections(fixture);
    close(fd);
}

static void a_stream_that_piles_up_is_cut_at_its_bound(void **state)
{
    struct fixture *fixture = *state;
    static char block[1 << 16];
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/stream"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held != NULL, 1000));
    bool gone = false;
    for (int i = 0; i < 1000 && !gone; i++) {
        loop_enter(fixture->loop);
        gone = !fixture->held || http_request_left(fixture->held);
        if (!gone)
            http_reply_write(fixture->held, block, sizeof block);
        loop_leave(fixture->loop);
    }
    assert_true(gone);
    assert_true(WAIT_FOR(fixture->loop, fixture->left_count == 1, 1000));
    close(fd);
    assert_no_connections(fixture);
}

static void a_large_answer_that_nobody_reads_is_cut_in_time(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/large"));
    peer_pause(IDLE_MS / 2);
    struct http_server_stats stats;
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 1), 1000));
    assert_no_connections(fixture);
    close(fd);
}

static void a_large_answer_that_is_read_slowly_arrives(void **state)
{
    struct fixture *fixture = *state;
    static char sink[2 << 20];
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/large"));
    size_t got = 0;
    for (ssize_t size; got < 32 << 20 && (size = recv(fd, sink, sizeof sink, 0)) > 0; got += (size_t)size)
        peer_pause(IDLE_MS / 10);
    assert_true(got >= 32 << 20);
    close(fd);
    assert_no_connections(fixture);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static void connections_beyond_the_limit_wait_and_are_served_later(void **state)
{
    struct fixture *fixture = fixture_create(&(struct http_server_options){.connections_max = 4, .idle_ms = 300});
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = raw_connect(fixture->port);
        peer_send(fds[i], GET("/hello"));
        assert_has(raw_read_until(fds[i], "hello", 1000), "200");
    }
    int late = raw_connect(fixture->port);
    peer_send(late, GET("/hello"));
    assert_string_equal(raw_read_until(late, NULL, 50), "");
    close(fds[0]);
    assert_has(raw_read_until(late, "hello", 1000), "200");
    close(late);
    for (int i = 1; i < 4; i++)
        close(fds[i]);
    fixture_destroy(fixture);
}

static void one_address_gets_no_more_than_its_share(void **state)
{
    struct fixture *fixture = fixture_create(&(struct http_server_options){.connections_per_address = 2});
    int first = raw_connect(fixture->port), second = raw_connect(fixture->port);
    peer_send(first, GET("/hello"));
    peer_send(second, GET("/hello"));
    assert_has(raw_read_until(first, "hello", 1000), "200");
    assert_has(raw_read_until(second, "hello", 1000), "200");
    assert_null(strstr(ask(fixture, GET("/hello"), "hello"), "200"));
    close(first);
    close(second);
    fixture_destroy(fixture);
}

static void half_open_connections_by_the_hundred_do_not_keep_others_out(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = 500 };
    int fds[COUNT];
    for (int i = 0; i < COUNT; i++) {
        fds[i] = raw_connect(fixture->port);
        peer_send(fds[i], "GET /hello HTTP/1.1\r\nHo");
    }
    assert_polite_client_is_served(fixture);
    assert_no_connections(fixture);
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
}

static void clients_that_come_and_go_leave_nothing_behind(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 300; i++) {
        int fd = raw_connect(fixture->port);
        peer_send(fd, i % 3 == 0 ? GET("/watch") : i % 3 == 1 ? GET("/stream") : GET("/hello"));
        if (i % 2)
            usleep(300);
        if (i % 5 == 0)
            peer_reset_on_close(fd);
        close(fd);
    }
    assert_no_connections(fixture);
    assert_polite_client_is_served(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_body_over_the_bound_is_413),
        TEST(a_chunked_body_over_the_bound_is_413),
        TEST(a_body_that_waits_for_leave_to_come_is_refused_before_it_comes),
        TEST(a_body_that_may_come_is_told_so),
        TEST(an_endless_body_is_cut),
        TEST(headers_over_the_bound_are_refused),
        TEST(a_thousand_headers_are_refused_or_served_but_never_more),
        TEST(an_ambiguous_length_is_400),
        TEST(garbage_is_answered_with_an_error_or_silence),
        TEST(headers_that_drip_are_cut_in_time),
        TEST(a_body_that_drips_is_cut_in_time),
        TEST(a_silent_connection_is_closed),
        TEST(a_handler_at_work_is_not_idleness),
        TEST(a_silent_stream_is_not_idleness),
        TEST(a_stream_that_nobody_reads_is_cut_in_time),
        TEST(a_stream_that_piles_up_is_cut_at_its_bound),
        TEST(a_large_answer_that_nobody_reads_is_cut_in_time),
        TEST(a_large_answer_that_is_read_slowly_arrives),
        cmocka_unit_test(connections_beyond_the_limit_wait_and_are_served_later),
        cmocka_unit_test(one_address_gets_no_more_than_its_share),
        TEST(half_open_connections_by_the_hundred_do_not_keep_others_out),
        TEST(clients_that_come_and_go_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
