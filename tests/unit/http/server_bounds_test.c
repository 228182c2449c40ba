/* The memory of a server for requests before and after it knows the caller: keys, hosts, bodies in all, connections. */
#include "server_fixture.h"

#include "base/budget.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB          ((size_t)1 << 20)
#define POST(length) "POST /see HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nContent-Length: " length "\r\n\r\n"

static struct budget budget;
static char piece[1 << 20];

static int set_up(void **state)
{
    memset(piece, 'x', sizeof piece);
    budget_init(&budget, 15 * MIB); /* 7.5 MiB for large bodies, 11.25 for small ones */
    *state = fixture_create(&(struct http_server_options){.budget = &budget});
    return 0;
}

static int tear_down(void **state)
{
    fixture_destroy(*state);
    assert_int_equal(budget_used(&budget), 0);
    budget_fini(&budget);
    return 0;
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

/* The value of the key is the name of its client. By its first letter, as budget_owner may give two names one share. */
static bool bounds_has_key(const struct http_request *request, uint64_t *owner, struct status *st, void *data)
{
    const char *key = http_request_header(request, "authorization");
    if (key) {
        *owner = 2 * (uint64_t)(unsigned char)key[0] + 1;
        return true;
    }
    st->code = UNAUTHENTICATED;
    strcpy(st->text, "no key");
    return false;
}

static void want_keys(struct fixture *fixture)
{
    loop_enter(fixture->loop);
    http_server_set_access(fixture->server, &(struct http_access){.admits = bounds_has_key});
    loop_leave(fixture->loop);
}

static void without_a_key_no_byte_of_a_body_is_awaited_or_kept(void **state)
{
    struct fixture *fixture = *state;
    want_keys(fixture);
    int fd = raw_connect(fixture->port);
    peer_send(fd, POST("5000000"));
    const char *answer = raw_read_until(fd, NULL, 3000); /* to its end, though no body came */
    assert_has(answer, "HTTP/1.1 401");
    assert_has(answer, "Connection: close");
    assert_int_equal(budget_used(&budget), 0);
    close(fd);
}

static void without_a_key_a_body_that_comes_all_the_same_is_thrown_away(void **state)
{
    struct fixture *fixture = *state;
    want_keys(fixture);
    int fd = raw_connect(fixture->port);
    peer_send(fd, POST("5000000"));
    for (int i = 0; i < 3; i++)
        peer_send_bytes(fd, piece, sizeof piece);
    assert_has(raw_read_until(fd, "}}", 3000), "HTTP/1.1 401");
    assert_int_equal(budget_used(&budget), 0);
    close(fd);
}

static void with_a_key_a_body_is_read_and_a_bodyless_refusal_keeps_the_connection(void **state)
{
    struct fixture *fixture = *state;
    want_keys(fixture);
    int fd = raw_connect(fixture->port);
    peer_send(fd, GET("/hello"));
    assert_has(raw_read_until(fd, "}}", 1000), "HTTP/1.1 401");
    peer_send(fd, "POST /see HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nAuthorization: b\r\nContent-Length: 2\r\n\r\nok");
    assert_has(raw_read_until(fd, "|ok", 1000), "HTTP/1.1 200");
    close(fd);
}

/* ---- bodies in all ----------------------------------------------------------------------------------------------- */

static void bodies_beyond_the_budget_are_503_with_a_hint_and_give_back_what_they_held(void **state)
{
    struct fixture *fixture = *state;
    int fds[3];
    for (int i = 0; i < 2; i++) {
        fds[i] = raw_connect(fixture->port);
        peer_send(fds[i], POST("4000000"));
        peer_send_bytes(fds[i], piece, sizeof piece);
    }
    size_t wanted = 2 * MIB;
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) >= wanted, 5000));
    fds[2] = raw_connect(fixture->port);
    peer_send(fds[2], POST("4000000"));
    for (int i = 0; i < 3; i++)
        peer_send_bytes(fds[2], piece, sizeof piece);
    const char *answer = raw_read_until(fds[2], "}}", 5000);
    assert_has(answer, "HTTP/1.1 503");
    assert_has(answer, "Retry-After: 1");
    assert_true(budget_used(&budget) <= 8 * MIB);
    assert_has(ask(fixture, POST("2") "ok", "|ok"), "HTTP/1.1 200"); /* a small one has its room */
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) == 0, 5000));
}

static void a_body_is_of_the_budget_until_it_is_answered(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->port);
    peer_send(fd, "POST /watch HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n");
    peer_send_bytes(fd, piece, sizeof piece);
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 1, 5000));
    assert_true(budget_used(&budget) >= MIB);
    loop_enter(fixture->loop);
    http_reply(fixture->held, 200, "text/plain", "ok", 2);
    loop_leave(fixture->loop);
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) == 0, 5000));
    close(fd);
}

#define FLOOD 150 /* bodies of 60 KiB, which do not come to their end */

static void beside_a_flood_of_small_bodies_another_tenant_sends_a_large_one(void **state)
{
    struct fixture *fixture = *state;
    int fds[FLOOD];
    want_keys(fixture);
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = raw_connect(fixture->port);
        peer_send(fds[i], "POST /see HTTP/1.1\r\nHost: a\r\nAuthorization: anna\r\nContent-Length: 61440\r\n\r\n");
        peer_send_bytes(fds[i], piece, 61000);
    }
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) > 5 * MIB, 5000));
    int fd = raw_connect(fixture->port);
    peer_send(fd, "POST /see HTTP/1.1\r\nHost: a\r\nAuthorization: bert\r\nContent-Length: 3145728\r\n\r\n");
    for (int i = 0; i < 3; i++)
        peer_send_bytes(fd, piece, sizeof piece);
    assert_has(raw_read_until(fd, "xxx", 5000), "HTTP/1.1 200");
    close(fd);
    for (int i = 0; i < FLOOD; i++)
        close(fds[i]);
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) == 0, 5000));
}

static void a_body_counts_as_often_as_its_weight_says_and_stays_counted_when_it_is_forgotten(void **state)
{
    struct fixture *fixture = fixture_create(&(struct http_server_options){.budget = &budget, .body_weight = 2});
    int fd = raw_connect(fixture->port);
    peer_send(fd, "POST /watch HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n");
    peer_send_bytes(fd, piece, sizeof piece);
    assert_true(WAIT_FOR(fixture->loop, fixture->held_count == 1, 5000));
    assert_int_equal(budget_used(&budget), 2 * (MIB + 1)); /* a byte for the NUL */
    loop_enter(fixture->loop);
    http_request_forget_body(fixture->held);
    assert_int_equal(budget_used(&budget), 2 * (MIB + 1));
    http_reply(fixture->held, 200, "text/plain", "ok", 2);
    loop_leave(fixture->loop);
    assert_true(WAIT_FOR(fixture->loop, budget_used(&budget) == 0, 5000));
    close(fd);
    fixture_destroy(fixture);
}

/* ---- hosts ------------------------------------------------------------------------------------------------------- */

static const char *bounds_ask_as(struct fixture *fixture, const char *host)
{
    char request[512];
    snprintf(request, sizeof request, "GET /hello HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    return ask(fixture, request, NULL);
}

static void a_keyless_loopback_server_answers_to_its_own_names_alone(void **state)
{
    static const char *const own[] = {"localhost", "LocalHost:80", "127.0.0.1:8080", "[::1]", "[::1]:1", "localhost."};
    static const char *const foreign[] = {
        "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil", "", "10.0.0.1",
        "[::2]",        "localhostx"};
    struct fixture *fixture = fixture_create(&(struct http_server_options){.keyless = true, .idle_ms = 100});
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_has(bounds_ask_as(fixture, own[i]), "HTTP/1.1 200");
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_has(bounds_ask_as(fixture, foreign[i]), "HTTP/1.1 403");
    fixture_destroy(fixture);
}

static const char *ask_absolute(struct fixture *fixture, const char *authority, const char *host)
{
    char request[512];
    snprintf(request, sizeof request, "GET http://%s/hello HTTP/1.1\r\nHost: %s\r\n\r\n", authority, host);
    return ask(fixture, request, NULL);
}

static void the_host_of_an_absolute_target_is_checked_and_not_the_field(void **state)
{
    static const char *const none[] = {"", ":80@localhost", "localhost@evil.example", "a%2eexample", "a\\b", "a_b,c"};
    struct fixture *fixture = fixture_create(&(struct http_server_options){.keyless = true, .idle_ms = 100});
    assert_has(ask_absolute(fixture, "localhost:8080", "localhost"), "HTTP/1.1 200");
    assert_has(ask_absolute(fixture, "localhost", "evil.example"), "HTTP/1.1 200");
    assert_has(ask_absolute(fixture, "evil.example", "localhost"), "HTTP/1.1 403");
    assert_has(ask_absolute(fixture, "evil.example:80", "localhost"), "'evil.example:80'");
    assert_has(ask_absolute(fixture, "127.0.0.1.evil.example", "127.0.0.1"), "HTTP/1.1 403");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_has(ask_absolute(fixture, none[i], "localhost"), "HTTP/1.1 400");
    assert_has(ask_absolute(fixture, "localhost", "a b"), "HTTP/1.1 400");
    fixture_destroy(fixture);
}

static void hosts_that_are_listed_are_the_only_ones_besides(void **state)
{
    struct fixture *fixture =
        fixture_create(&(struct http_server_options){.hosts = "gw.example, other", .idle_ms = 100});
    assert_has(bounds_ask_as(fixture, "GW.example:443"), "HTTP/1.1 200");
    assert_has(bounds_ask_as(fixture, "other"), "HTTP/1.1 200");
    assert_has(bounds_ask_as(fixture, "example"), "HTTP/1.1 403");
    fixture_destroy(fixture);
}

static void a_host_that_is_none_is_400(void **state)
{
    static const char *const bad[] = {"a b", "a,b", "a/b", "me@a", "a\\b"};
    struct fixture *fixture = fixture_create(&(struct http_server_options){.idle_ms = 100});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_has(bounds_ask_as(fixture, bad[i]), "HTTP/1.1 400");
    assert_has(bounds_ask_as(fixture, "any.name"), "HTTP/1.1 200");
    fixture_destroy(fixture);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void the_share_of_an_address_is_counted_over_all_servers_of_a_port(void **state)
{
    struct fixture *fixture = fixture_create(&(struct http_server_options){.connections_per_address = 3});
    struct status st = {0};
    struct loop *loop = loop_started(1);
    loop_enter(loop);
    struct http_server *other = http_server_create(loop, &(struct http_server_options){.shares = fixture->server}, &st);
    loop_leave(loop);
    int fds[6], closed = 0;
    for (int i = 0; i < 6; i++)
        fds[i] = raw_connect(fixture->port);
    for (int i = 0; i < 6; i++) {
        peer_send(fds[i], GET("/missing"));
        closed += raw_read_until(fds[i], "}}", 1000)[0] == '\0';
    }
    assert_int_equal(closed, 3);
    for (int i = 0; i < 6; i++)
        close(fds[i]);
    loop_enter(loop);
    http_server_destroy(&other);
    loop_leave(loop);
    loop_ended(&loop);
    fixture_destroy(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_key_no_byte_of_a_body_is_awaited_or_kept),
        TEST(without_a_key_a_body_that_comes_all_the_same_is_thrown_away),
        TEST(with_a_key_a_body_is_read_and_a_bodyless_refusal_keeps_the_connection),
        TEST(bodies_beyond_the_budget_are_503_with_a_hint_and_give_back_what_they_held),
        TEST(a_body_is_of_the_budget_until_it_is_answered),
        TEST(a_body_counts_as_often_as_its_weight_says_and_stays_counted_when_it_is_forgotten),
        TEST(beside_a_flood_of_small_bodies_another_tenant_sends_a_large_one),
        cmocka_unit_test(a_keyless_loopback_server_answers_to_its_own_names_alone),
        cmocka_unit_test(the_host_of_an_absolute_target_is_checked_and_not_the_field),
        cmocka_unit_test(hosts_that_are_listed_are_the_only_ones_besides),
        cmocka_unit_test(a_host_that_is_none_is_400),
        cmocka_unit_test(the_share_of_an_address_is_counted_over_all_servers_of_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
