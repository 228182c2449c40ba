#include "server_fixture.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef fail /* the macro; ours is a function of base/status.h */

static void hello(struct http_request *request, void *data)
{
    http_reply(request, 200, "text/plain", "hello", 5);
}

static void see(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    size_t size;
    const char *body = http_request_body(request, &size);
    const char *key = http_request_query(request, "key"), *none = http_request_query(request, "none");
    snprintf(fixture->seen, sizeof fixture->seen, "%s|%s|%s|%s|%s|%zu|%.100s", http_request_method(request),
             http_request_path(request), key ? key : "-", none ? none : "-", http_request_header(request, "x-a"), size,
             body);
    http_reply(request, 200, "text/plain", fixture->seen, strlen(fixture->seen));
}

static void hold(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    fixture->held = request;
    fixture->held_count++;
}

static void left(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    fixture->left_count++;
    fixture->left_ns = clock_now_ns();
    fixture->held = NULL;
    http_reply_abort(request);
}

static void hold_and_watch(struct http_request *request, void *data)
{
    hold(request, data);
    http_request_on_left(request, left, data);
}

static void writable(struct http_request *request, void *data)
{
    ((struct fixture *)data)->writable_count++;
}

static void stream(struct http_request *request, void *data)
{
    hold_and_watch(request, data);
    http_reply_begin(request, 200, "text/event-stream");
    http_reply_on_writable(request, writable, data);
}

static void large(struct http_request *request, void *data)
{
    size_t size = 32 << 20;
    char *bytes = malloc(size);
    memset(bytes, 'x', size);
    http_reply_take(request, 200, "text/plain", bytes, size);
}

static void failing(struct http_request *request, void *data)
{
    struct status st = {0};
    fail(&st, RESOURCE_EXHAUSTED, "too many \"things\"");
    st.retry_after_ms = 1500;
    http_reply_status(request, &st);
}

static void target(struct http_request *request, void *data)
{
    const char *sent = http_request_target(request);
    http_reply(request, 200, "text/plain", sent ? sent : "none", strlen(sent ? sent : "none"));
}

static const struct http_route routes[] = {
    {"GET", "/hello", false, hello},
    {"POST", "/hello", false, hello},
    {"GET", "/see", true, see},
    {"POST", "/see", true, see},
    {"GET", "/hold", false, hold},
    {"GET", "/watch", false, hold_and_watch},
    {"POST", "/watch", false, hold_and_watch},
    {"GET", "/stream", false, stream},
    {"GET", "/large", false, large},
    {"GET", "/failing", false, failing},
    {"GET", "/see/deeper", false, hello},
    {NULL, "/target", true, target},
};

struct fixture *fixture_create(const struct http_server_options *options)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct http_server_options with_address = *options;
    struct status st = {0};
    with_address.listen = "127.0.0.1:0";
    fixture->loop = loop_started(0);
    loop_enter(fixture->loop);
    fixture->server = http_server_create(fixture->loop, &with_address, &st);
    if (!fixture->server)
        abort();
    http_server_route(fixture->server, routes, sizeof routes / sizeof *routes, fixture);
    fixture->port = http_server_port(fixture->server);
    loop_leave(fixture->loop);
    return fixture;
}

void fixture_destroy(struct fixture *fixture)
{
    loop_enter(fixture->loop);
    http_server_destroy(&fixture->server);
    loop_leave(fixture->loop);
    loop_ended(&fixture->loop);
    free(fixture);
}

const char *ask(struct fixture *fixture, const char *request, const char *until)
{
    int fd = raw_connect(fixture->port);
    peer_send(fd, request);
    const char *answer = raw_read_until(fd, until, 3000);
    close(fd);
    return answer;
}

int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

void assert_has(const char *text, const char *part)
{
    if (strstr(text, part))
        return;
    print_error("'%s' is not in:\n%.500s\n", part, text);
    assert_true(strstr(text, part) != NULL);
}

void begin_stream(struct fixture *fixture, int *fd, const char *request)
{
    *fd = raw_connect(fixture->port);
    peer_send(*fd, request);
    assert_true(WAIT_FOR(fixture->loop, fixture->held != NULL, 1000));
}

void write_in(struct fixture *fixture, const char *text)
{
    loop_enter(fixture->loop);
    if (fixture->held)
        http_reply_write(fixture->held, text, strlen(text));
    loop_leave(fixture->loop);
}

void end_in(struct fixture *fixture)
{
    loop_enter(fixture->loop);
    struct http_request *request = fixture->held;
    fixture->held = NULL;
    http_reply_end(request);
    loop_leave(fixture->loop);
}
