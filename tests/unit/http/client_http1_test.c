/* HTTP/1.1 as the client speaks it, against peers whose every byte is written down: what is sent, which connections
 * serve again, and how an answer ends. */
#include "http1_fixture.h"

#include <signal.h>
#include <stdatomic.h>

/* ---- what is sent ----------------------------------------------------------------------------------------------- */

static void a_request_is_its_line_its_headers_and_its_body(void **state)
{
    struct fixture *fixture = *state;
    struct status st;
    char expected[512];
    peer_start(&fixture->peer, hear);
    struct http_headers *headers = http_headers_create();
    assert_true(http_headers_add(headers, "X-Shared", "one", &st) && http_headers_add(headers, "X-Empty", "", &st));
    prepare(fixture, &shared, "http");
    shared.transfer.method = "PATCH";
    shared.transfer.headers = headers;
    shared.transfer.extra = &(struct http_header){"User-Agent", "us"};
    shared.transfer.extra_count = 1;
    shared.transfer.body = "body";
    shared.transfer.body_size = 4;
    perform(fixture, &shared);
    snprintf(expected, sizeof expected,
             "PATCH /path?key=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: us\r\nX-Shared: one\r\nX-Empty: \r\n"
             "Content-Length: 4\r\n\r\nbody",
             fixture->peer.port);
    assert_string_equal(heard, expected);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.extra = &(struct http_header){"Host", "elsewhere"};
    shared.transfer.extra_count = 1;
    perform(fixture, &shared);
    assert_non_null(strstr(heard, "Content-Length: 0\r\n"));
    assert_non_null(strstr(heard, "Host: elsewhere\r\n"));
    assert_null(strstr(heard, "Host: 127"));
    peer_stop(&fixture->peer);
    http_headers_destroy(&headers);
}

static void read_slowly(struct peer *peer, int fd)
{
    static char bytes[1 << 16];
    peer_pause(20); /* until the client's socket is full */
    size_t sum = 0, all = 0;
    while (all < (8u << 20)) {
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++)
            sum += bytes[i] == 'b';
        all += (size_t)got;
    }
    while (sum < (8u << 20)) { /* the head is in there */
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++)
            sum += bytes[i] == 'b';
    }
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall");
}

static void a_large_body_goes_out_as_the_socket_takes_it(void **state)
{
    struct fixture *fixture = *state;
    char *body = malloc(8u << 20);
    memset(body, 'b', 8u << 20);
    peer_start(&fixture->peer, read_slowly);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.body = body;
    shared.transfer.body_size = 8u << 20;
    perform(fixture, &shared);
    assert_body(&shared, "all");
    peer_stop(&fixture->peer);
    free(body);
}

static atomic_bool answer_was_read;

static void answer_before_the_body(struct peer *peer, int fd)
{
    char bytes[64];
    recv(fd, bytes, sizeof bytes, 0);
    peer_send(fd, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    while (!atomic_load(&peer->stopping) && !atomic_load(&answer_was_read))
        peer_pause(1);
    peer_wait_left(peer, fd);
}

static void an_answer_before_the_request_is_out_counts_and_its_connection_is_closed(void **state)
{
    struct fixture *fixture = *state;
    char *body = calloc(1, 16u << 20);
    peer_start(&fixture->peer, answer_before_the_body);
    prepare(fixture, &shared, "http");
    shared.transfer.method = "POST";
    shared.transfer.body = body;
    shared.transfer.body_size = 16u << 20;
    perform(fixture, &shared);
    atomic_store(&answer_was_read, true);
    assert_body(&shared, "big");
    assert_int_equal(shared.http_status, 413);
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    peer_stop(&fixture->peer);
    free(body);
}

/* ---- which connections serve again ------------------------------------------------------------------------------ */

static int connections_for_two(struct fixture *fixture, const char *text, const char *body)
{
    answer = text;
    peer_start(&fixture->peer, keep_answering);
    for (int i = 0; i < 2; i++)
        assert_body(get(fixture, "http"), body);
    peer_stop(&fixture->peer);
    return fixture->peer.accepted;
}

static void a_connection_serves_again_where_the_answers_end_is_known(void **state)
{
    assert_int_equal(connections_for_two(*state, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"), 1);
    assert_int_equal(connections_for_two(*state, "HTTP/1.1 204 None\r\n\r\n", ""), 1);
    assert_int_equal(connections_for_two(*state,
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                         "2;a=b\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
                                         "ok"),
                     1);
    assert_int_equal(
        connections_for_two(*state, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "ok"),
        1);
}

static void it_does_not_where_the_server_says_so_or_says_more(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(connections_for_two(*state, texts[i], "ok"), 2);
}

static void speak_when_idle(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer_pause(5);
    peer_send(fd, "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n");
    peer_wait_left(peer, fd);
}

static void what_comes_unasked_on_an_idle_connection_is_no_answer(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, speak_when_idle);
    assert_body(get(fixture, "http"), "ok");
    assert_true(WAIT_FOR(fixture->loop, atomic_load(&fixture->peer.left), 10000));
    assert_body(get(fixture, "http"), "ok");
    assert_int_equal(fixture->peer.accepted, 2);
    peer_stop(&fixture->peer);
}

static void close_unread(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (atomic_load(&peer->requests) > 2) /* the third request is lost, and so is the fourth: it is the repetition */
        return;
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    peer_read_request(peer, fd);
}

static void a_repetition_goes_out_on_a_new_connection_and_once(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, close_unread);
    assert_body(get(fixture, "http"), "ok");
    assert_body(get(fixture, "http"), "ok");
    prepare(fixture, &shared, "http");
    shared.transfer.may_repeat = true;
    perform(fixture, &shared);
    assert_body(&shared, "ok");
    assert_int_equal(fixture->peer.requests, 4);
    assert_int_equal(fixture->peer.accepted, 2);
    peer_stop(&fixture->peer);
}

static void say_half_and_close(struct peer *peer, int fd)
{
    if (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (peer_read_request(peer, fd))
        peer_send(fd, "HTTP/1.1 200 OK\r\nCont");
}

static void half_an_answer_on_a_kept_connection_is_neither_stale_nor_repeated(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, say_half_and_close);
    assert_body(get(fixture, "http"), "ok");
    prepare(fixture, &shared, "http");
    shared.transfer.may_repeat = true;
    perform(fixture, &shared);
    assert_ended(&shared, TRANSFER_CUT);
    assert_false(shared.transfer.stale);
    assert_int_equal(fixture->peer.requests, 2);
    peer_stop(&fixture->peer);
}

/* ---- how an answer ends ----------------------------------------------------------------------------------------- */

static struct exchange *ended_with(struct fixture *fixture, const char *text)
{
    answer = text;
    peer_start(&fixture->peer, answer_and_close);
    get(fixture, "http");
    peer_stop(&fixture->peer);
    return &shared;
}

static void a_body_without_a_length_is_whole_when_the_connection_ends(void **state)
{
    assert_body(ended_with(*state, "HTTP/1.1 200 OK\r\n\r\nto the end"), "to the end");
    assert_body(ended_with(*state, "HTTP/1.0 200 OK\r\n\r\n"), "");
}

static void reset_in_body(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n\r\nto the");
    peer_pause(20);
    peer_reset_on_close(fd);
}

static void it_is_cut_where_the_connection_is_reset(void **state)
{
    struct fixture *fixture = *state;
    peer_start(&fixture->peer, reset_in_body);
    assert_ended(get(fixture, "http"), TRANSFER_CUT);
    peer_stop(&fixture->peer);
}

static void answers_that_could_be_smuggled_in_are_malformed(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_ended(ended_with(*state, texts[i]), TRANSFER_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_its_line_its_headers_and_its_body),
        TEST(a_large_body_goes_out_as_the_socket_takes_it),
        TEST(an_answer_before_the_request_is_out_counts_and_its_connection_is_closed),
        TEST(a_connection_serves_again_where_the_answers_end_is_known),
        TEST(it_does_not_where_the_server_says_so_or_says_more),
        TEST(what_comes_unasked_on_an_idle_connection_is_no_answer),
        TEST(a_repetition_goes_out_on_a_new_connection_and_once),
        TEST(half_an_answer_on_a_kept_connection_is_neither_stale_nor_repeated),
        TEST(a_body_without_a_length_is_whole_when_the_connection_ends),
        TEST(it_is_cut_where_the_connection_is_reset),
        TEST(answers_that_could_be_smuggled_in_are_malformed),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
