/* How long a client may take, on a stopped clock: and what is done where there is no descriptor for it. */
#include "server_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#undef fail /* the macro; ours is a function of base/status.h */

#define IDLE_MS 1000

struct stepped {
    struct loop *loop;
    struct http_server *server;
    struct http_request *held;
    int fd;
};

static void hold(struct http_request *request, void *data)
{
    ((struct stepped *)data)->held = request;
}

static void hello(struct http_request *request, void *data)
{
    http_reply(request, 200, "text/plain", "hello", 5);
}

static const struct http_route routes[] = {
    {"GET", "/hello", false, hello},
    {"POST", "/hello", false, hello},
    {"GET", "/hold", false, hold},
};

static int set_up(void **state)
{
    struct stepped *stepped = calloc(1, sizeof *stepped);
    struct status st = {0};
    stepped->loop = loop_create(0);
    loop_enter(stepped->loop);
    stepped->server = http_server_create(
        stepped->loop, &(struct http_server_options){.listen = "127.0.0.1:0", .idle_ms = IDLE_MS}, &st);
    assert_non_null(stepped->server);
    http_server_route(stepped->server, routes, sizeof routes / sizeof *routes, stepped);
    int port = http_server_port(stepped->server);
    loop_leave(stepped->loop);
    stepped->fd = raw_connect(port);
    *state = stepped;
    return 0;
}

static int tear_down(void **state)
{
    struct stepped *stepped = *state;
    loop_enter(stepped->loop);
    http_server_destroy(&stepped->server);
    loop_leave(stepped->loop);
    loop_destroy(&stepped->loop);
    close(stepped->fd);
    free(stepped);
    return 0;
}

static bool is_open(const struct stepped *stepped)
{
    struct http_server_stats stats;
    http_server_stats(stepped->server, &stats);
    return stats.connections == 1;
}

/* Sends, and lets `ms` pass. */
static bool is_open_after(struct stepped *stepped, const char *text, int64_t ms)
{
    loop_step(stepped->loop, 0);
    peer_send(stepped->fd, text);
    loop_step(stepped->loop, ms);
    return is_open(stepped);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static void a_connection_may_be_idle_so_long_and_then_as_long_again(void **state)
{
    struct stepped *stepped = *state;
    assert_true(is_open_after(stepped, "", IDLE_MS - 1));
    assert_true(is_open_after(stepped, GET("/hello"), IDLE_MS - 1));
    assert_true(is_open_after(stepped, GET("/hello"), IDLE_MS - 1));
    assert_false(is_open_after(stepped, "", 2));
}

static void a_head_has_its_time_from_its_first_byte_on(void **state)
{
    struct stepped *stepped = *state;
    assert_true(is_open_after(stepped, "", IDLE_MS - 1));
    assert_true(is_open_after(stepped, "G", 10));
    for (int i = 0; i < 9; i++)
        assert_true(is_open_after(stepped, "E", 100));
    assert_false(is_open_after(stepped, "E", 100));
}

static void a_body_has_its_time_and_a_second_more_for_each_16_kib(void **state)
{
    static char piece[(16 << 10) + 1];
    struct stepped *stepped = *state;
    memset(piece, 'x', sizeof piece - 1);
    assert_true(is_open_after(stepped, "POST /hello HTTP/1.1\r\nHost: a\r\n", IDLE_MS - 1));
    assert_true(is_open_after(stepped, "Content-Length: 1000000\r\n\r\n", IDLE_MS - 1));
    for (int i = 0; i < 2; i++)
        assert_true(is_open_after(stepped, piece, IDLE_MS - 10));
    assert_true(is_open_after(stepped, "x", 10));
    assert_false(is_open_after(stepped, "x", 50));
    assert_has(raw_read_until(stepped->fd, NULL, 1000), "HTTP/1.1 408");
}

static void a_body_that_came_fast_buys_no_right_to_be_silent(void **state)
{
    static char piece[(16 << 10) + 1];
    struct stepped *stepped = *state;
    memset(piece, 'x', sizeof piece - 1);
    assert_true(is_open_after(stepped, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n", 0));
    for (int i = 0; i < 8; i++)
        assert_true(is_open_after(stepped, piece, 0));
    assert_true(is_open_after(stepped, "", IDLE_MS - 1));
    assert_false(is_open_after(stepped, "", 2));
    assert_has(raw_read_until(stepped->fd, NULL, 1000), "HTTP/1.1 408");
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
    struct stepped *stepped = *state;
    assert_false(is_open_after(stepped, "", IDLE_MS + 1));
    assert_string_equal(raw_read_until(stepped->fd, NULL, 1000), "");
}

static void a_refused_body_has_no_more_time_than_another(void **state)
{
    struct stepped *stepped = *state;
    assert_true(
        is_open_after(stepped, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n", IDLE_MS - 1));
    assert_false(is_open_after(stepped, "x", 2));
}

/* What it took to send too much counts as it did before: it is refused, not cut. */
static void a_body_that_becomes_too_large_slowly_is_refused_in_words(void **state)
{
    static char piece[(16 << 10) + 8];
    struct stepped *stepped = *state;
    memcpy(piece, "4000\r\n", 6);
    memset(piece + 6, 'x', 16 << 10);
    memcpy(piece + sizeof piece - 2, "\r\n", 2);
    assert_true(is_open_after(stepped, "POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 0));
    for (int i = 0; i < 520; i++) { /* more than 8 MiB */
        peer_send_bytes(stepped->fd, piece, sizeof piece);
        loop_step(stepped->loop, IDLE_MS - 10);
        assert_true(is_open(stepped));
    }
    assert_true(is_open_after(stepped, "0\r\n\r\n", 0));
    assert_has(raw_read_until(stepped->fd, "}}", 1000), "HTTP/1.1 413");
}

static void a_handler_has_all_the_time_there_is(void **state)
{
    struct stepped *stepped = *state;
    assert_true(is_open_after(stepped, GET("/hold"), 100 * IDLE_MS));
    loop_enter(stepped->loop);
    http_reply(stepped->held, 200, NULL, "late", 4);
    loop_leave(stepped->loop);
    assert_true(is_open_after(stepped, "", IDLE_MS - 1));
    assert_false(is_open_after(stepped, "", 2));
}

static void who_was_refused_and_does_not_go_is_closed(void **state)
{
    struct stepped *stepped = *state;
    assert_true(is_open_after(stepped, "NONSENSE\r\n", 900));
    assert_has(raw_read_until(stepped->fd, NULL, 1000), "HTTP/1.1 400");
    assert_true(is_open_after(stepped, "more", 90));
    assert_false(is_open_after(stepped, "more", 20));
}

static void who_was_refused_and_goes_is_closed_at_once(void **state)
{
    struct stepped *stepped = *state;
    assert_true(is_open_after(stepped, "NONSENSE\r\n", 0));
    shutdown(stepped->fd, SHUT_WR);
    assert_false(is_open_after(stepped, "", 0));
}

static void who_was_refused_and_sends_without_end_is_closed(void **state)
{
    static char piece[1 << 16];
    struct stepped *stepped = *state;
    size_t sent = 0;
    memset(piece, 'x', sizeof piece);
    bool open = is_open_after(stepped, "NONSENSE\r\n", 0);
    for (; open && sent < 64 << 20; open = is_open_after(stepped, "", 0))
        sent += (size_t)(send(stepped->fd, piece, sizeof piece, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) * sizeof piece;
    assert_false(open);
    assert_in_range(sent, 16 << 20, 18 << 20);
}

static void who_ends_right_behind_a_request_is_answered_and_closed_at_once(void **state)
{
    struct stepped *stepped = *state;
    peer_send(stepped->fd, GET("/hello"));
    shutdown(stepped->fd, SHUT_WR);
    assert_false(is_open_after(stepped, "", 0));
    assert_has(raw_read_until(stepped->fd, NULL, 1000), "200 OK");
}

static void who_ends_within_a_request_is_closed_at_once(void **state)
{
    struct stepped *stepped = *state;
    peer_send(stepped->fd, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
    shutdown(stepped->fd, SHUT_WR);
    assert_false(is_open_after(stepped, "", 0));
    assert_string_equal(raw_read_until(stepped->fd, NULL, 1000), "");
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

static void without_a_descriptor_a_client_waits_and_nothing_spins(void **state)
{
    struct stepped *stepped = *state;
    struct rlimit before, few;
    loop_step(stepped->loop, 0);
    int late = socket(AF_INET, SOCK_STREAM, 0), highest = dup(late);
    close(highest);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    getpeername(stepped->fd, (struct sockaddr *)&address, &size);
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){.rlim_cur = (rlim_t)highest, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    assert_int_equal(connect(late, (struct sockaddr *)&address, size), 0);
    peer_send(late, GET("/hello"));
    loop_step(stepped->loop, 500); /* which would not come back, were the socket told of again and again */
    assert_true(is_open_after(stepped, GET("/hello"), 0)); /* the one that was there before */
    assert_has(raw_read_until(stepped->fd, "hello", 1000), "200 OK");
    setrlimit(RLIMIT_NOFILE, &before);
    assert_string_equal(raw_read_until(late, "hello", 5), "");
    loop_step(stepped->loop, 100);
    loop_step(stepped->loop, 0);
    assert_has(raw_read_until(late, "hello", 1000), "200 OK");
    close(late);
}

static void beyond_the_limit_a_client_waits_and_nothing_spins(void **state)
{
    struct stepped *stepped = *state;
    struct status st = {0};
    loop_enter(stepped->loop);
    struct http_server *server = http_server_create(
        stepped->loop, &(struct http_server_options){.listen = "127.0.0.1:0", .connections_max = 1}, &st);
    http_server_route(server, routes, sizeof routes / sizeof *routes, stepped);
    int port = http_server_port(server);
    loop_leave(stepped->loop);
    int first = raw_connect(port), late = raw_connect(port);
    peer_send(late, GET("/hello"));
    loop_step(stepped->loop, 0); /* which would not come back, were the socket told of again and again */
    assert_string_equal(raw_read_until(late, "hello", 5), "");
    close(first);
    loop_step(stepped->loop, 0);
    assert_has(raw_read_until(late, "hello", 1000), "200 OK");
    close(late);
    loop_enter(stepped->loop);
    http_server_destroy(&server);
    loop_leave(stepped->loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_may_be_idle_so_long_and_then_as_long_again),
        TEST(a_head_has_its_time_from_its_first_byte_on),
        TEST(a_body_has_its_time_and_a_second_more_for_each_16_kib),
        TEST(a_body_that_came_fast_buys_no_right_to_be_silent),
        TEST(an_idle_connection_is_closed_without_a_word),
        TEST(a_refused_body_has_no_more_time_than_another),
        TEST(a_body_that_becomes_too_large_slowly_is_refused_in_words),
        TEST(a_handler_has_all_the_time_there_is),
        TEST(who_was_refused_and_does_not_go_is_closed),
        TEST(who_was_refused_and_goes_is_closed_at_once),
        TEST(who_was_refused_and_sends_without_end_is_closed),
        TEST(who_ends_right_behind_a_request_is_answered_and_closed_at_once),
        TEST(who_ends_within_a_request_is_closed_at_once),
        TEST(without_a_descriptor_a_client_waits_and_nothing_spins),
        TEST(beyond_the_limit_a_client_waits_and_nothing_spins),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
