/* A client that leaves, and a server that stops. */
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

/* ---- leaving ---------------------------------------------------------------------------------------------------- */

static void assert_left_soon(struct fixture *fixture, int64_t began_ns, int64_t starved)
{
    assert_true(WAIT_FOR(fixture->loop, fixture->left_count == 1, 1000));
    print_message("          noticed after %.2f ms\n", (double)(fixture->left_ns - began_ns) / 1e6);
    assert_true(fixture->left_ns - began_ns - (starved_ns() - starved) < 20 * NS_PER_MS);
    peer_pause(20);
    loop_enter(fixture->loop);
    assert_int_equal(fixture->left_count, 1);
    loop_leave(fixture->loop);
    struct http_server_stats stats;
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 0), 1000));
    assert_int_equal(stats.requests, 0);
}

static void a_client_that_closes_before_the_answer_has_left(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/watch"));
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

static void a_client_that_resets_before_the_answer_has_left(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, "POST /watch HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    peer_reset_on_close(fd);
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

static void a_client_that_closes_within_a_stream_has_left(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    write_in(fixture, "data: one\n\n");
    raw_read_until(fd, "one", 1000);
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

/* Many times: what the socket shows, and to whom first, depends on the moment. */
static void a_client_that_resets_within_a_stream_leaves_nothing_behind(void **state)
{
    struct fixture *fixture = *state;
    struct http_server_stats stats;
    for (int i = 0; i < 200; i++) {
        int fd = raw_connect(fixture->port);
        peer_send(fd, GET("/stream"));
        if (i % 4)
            raw_read_until(fd, "\r\n\r\n", 1000);
        if (i % 3 == 0)
            peer_reset_on_close(fd);
        if (i % 2)
            shutdown(fd, SHUT_WR);
        close(fd);
    }
    assert_true(WAIT_FOR(fixture->loop, (http_server_stats(fixture->server, &stats), stats.connections == 0), 2000));
    assert_int_equal(stats.requests, 0);
    assert_int_equal(fixture->left_count, fixture->held_count);
}

static void a_client_that_closes_on_a_full_stream_has_left(void **state)
{
    struct fixture *fixture = *state;
    static char block[8 << 20];
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    loop_enter(fixture->loop);
    http_reply_write(fixture->held, block, sizeof block);
    loop_leave(fixture->loop);
    peer_pause(50);
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

static void a_client_that_leaves_at_its_second_request_is_noticed_too(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hold"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 1, 1000));
    loop_enter(fixture->loop);
    http_reply(fixture->held, 200, "text/plain", "late", 4);
    fixture->held = NULL;
    loop_leave(fixture->loop);
    raw_read_until(fd, "late", 1000);
    peer_send(fd, GET("/watch"));
    assert_true(WAIT_FOR(fixture->loop, fixture->held != NULL, 1000));
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

static void a_client_that_sends_and_closes_at_once_is_noticed(void **state)
{
    struct fixture *fixture = *state;
    int64_t began_ns = clock_now_ns(), starved = starved_ns();
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/watch"));
    close(fd);
    assert_left_soon(fixture, began_ns, starved);
}

static void a_half_closed_client_gets_its_answer_where_nobody_asked(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/hold"));
    shutdown(fd, SHUT_WR);
    peer_pause(30);
    loop_enter(fixture->loop);
    http_reply(fixture->held, 200, "text/plain", "late", 4);
    loop_leave(fixture->loop);
    assert_has(raw_read_until(fd, "late", 1000), "late");
    close(fd);
}

static void half_close_can_be_allowed(void **state)
{
    struct fixture *fixture = fixture_create(&(struct http_server_options){.half_close = true});
    int fd;
    begin_stream(fixture, &fd, GET("/watch"));
    shutdown(fd, SHUT_WR);
    peer_pause(30);
    loop_enter(fixture->loop);
    assert_int_equal(fixture->left_count, 0);
    http_reply(fixture->held, 200, "text/plain", "late", 4);
    loop_leave(fixture->loop);
    assert_has(raw_read_until(fd, "late", 1000), "late");
    close(fd);
    fixture_destroy(fixture);
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

static void stopped(void *data)
{
    ((struct fixture *)data)->stopped_count++;
}

static void stopping_finishes_open_answers_and_takes_no_new_ones(void **state)
{
    struct fixture *fixture = *state;
    int fd, idle = raw_connect(fixture->port);
    peer_send(idle, GET("/hello"));
    raw_read_until(idle, "hello", 1000);
    begin_stream(fixture, &fd, GET("/stream"));
    raw_read_until(fd, "\r\n\r\n", 1000);
    loop_enter(fixture->loop);
    http_server_stop(fixture->server, 5000, stopped, fixture);
    loop_leave(fixture->loop);
    assert_string_equal(raw_read_until(idle, NULL, 1000), "");
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(fixture->stopped_count, 0);
    write_in(fixture, "last");
    end_in(fixture);
    assert_has(raw_read_until(fd, "0\r\n\r\n", 1000), "last");
    assert_true(WAIT_FOR(fixture->loop, fixture->stopped_count == 1, 1000));
    close(late);
    close(fd);
    close(idle);
}

static void stopping_cuts_what_is_open_after_the_limit(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/stream"));
    loop_enter(fixture->loop);
    http_server_stop(fixture->server, 50, stopped, fixture);
    loop_leave(fixture->loop);
    assert_true(WAIT_FOR(fixture->loop, fixture->stopped_count == 1, 1000));
    assert_int_equal(fixture->left_count, 1);
    close(fd);
}

static void an_unanswered_request_outlives_its_server(void **state)
{
    struct fixture *fixture = *state;
    int fd;
    begin_stream(fixture, &fd, GET("/hold"));
    loop_enter(fixture->loop);
    http_server_destroy(&fixture->server);
    loop_leave(fixture->loop);
    loop_enter(fixture->loop);
    assert_true(http_request_left(fixture->held));
    http_reply(fixture->held, 200, "text/plain", "nowhere", 7);
    loop_leave(fixture->loop);
    close(fd);
}

static void two_loops_may_share_a_port(void **state)
{
    struct fixture *fixture = *state;
    struct status st = {0};
    struct loop *loop = loop_started(1);
    loop_enter(loop);
    struct http_server *second =
        http_server_create(loop, &(struct http_server_options){.shares = fixture->server}, &st);
    assert_non_null(second);
    assert_int_equal(http_server_port(second), fixture->port);
    loop_leave(loop);
    for (int i = 0; i < 20; i++)
        assert_has(ask(fixture, GET("/x"), "}}"), "404");
    loop_enter(loop);
    http_server_destroy(&second);
    loop_leave(loop);
    loop_ended(&loop);
}

static void a_port_that_is_taken_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct status st = {0};
    char text[32];
    snprintf(text, sizeof text, "127.0.0.1:%d", fixture->port);
    loop_enter(fixture->loop);
    assert_null(http_server_create(fixture->loop, &(struct http_server_options){.listen = text}, &st));
    assert_int_equal(st.code, UNAVAILABLE);
    assert_null(http_server_create(fixture->loop, &(struct http_server_options){.listen = "localhost:1"}, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    loop_leave(fixture->loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_client_that_closes_before_the_answer_has_left),
        TEST(a_client_that_resets_before_the_answer_has_left),
        TEST(a_client_that_closes_within_a_stream_has_left),
        TEST(a_client_that_resets_within_a_stream_leaves_nothing_behind),
        TEST(a_client_that_closes_on_a_full_stream_has_left),
        TEST(a_client_that_leaves_at_its_second_request_is_noticed_too),
        TEST(a_client_that_sends_and_closes_at_once_is_noticed),
        TEST(a_half_closed_client_gets_its_answer_where_nobody_asked),
        cmocka_unit_test(half_close_can_be_allowed),
        TEST(stopping_finishes_open_answers_and_takes_no_new_ones),
        TEST(stopping_cuts_what_is_open_after_the_limit),
        TEST(an_unanswered_request_outlives_its_server),
        TEST(two_loops_may_share_a_port),
        TEST(a_port_that_is_taken_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
