#include "peer.h"

#include "telemetry/pages.h"
#include "telemetry/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct http_server *server;
    struct metrics *metrics;
    struct pages pages;
    const char *reason;
};

static const char *not_ready(void *data)
{
    return ((struct fixture *)data)->reason;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct status st = {0};
    fixture->loop = loop_started(0);
    fixture->metrics = metrics_create(1);
    process_metrics_add(fixture->metrics, "renga-test");
    fixture->pages = (struct pages){fixture->metrics, not_ready, fixture};
    loop_enter(fixture->loop);
    fixture->server = http_server_create(fixture->loop, &(struct http_server_options){.listen = "127.0.0.1:0"}, &st);
    pages_serve(fixture->server, &fixture->pages);
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    loop_enter(fixture->loop);
    http_server_destroy(&fixture->server);
    loop_leave(fixture->loop);
    metrics_destroy(&fixture->metrics);
    loop_ended(&fixture->loop);
    free(fixture);
    return 0;
}

static const char *get(struct fixture *fixture, const char *path)
{
    char request[128];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path);
    int fd = raw_connect(http_server_port(fixture->server));
    peer_send(fd, request);
    const char *answer = raw_read_until(fd, NULL, 2000);
    close(fd);
    return answer;
}

static void set_reason(struct fixture *fixture, const char *reason)
{
    loop_enter(fixture->loop);
    fixture->reason = reason;
    loop_leave(fixture->loop);
}

static void metrics_are_text(void **state)
{
    const char *answer = get(*state, "/metrics");
    assert_non_null(strstr(answer, "HTTP/1.1 200"));
    assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_non_null(strstr(answer, "\nprocess_resident_memory_bytes "));
    assert_non_null(strstr(answer, "\nrenga_build_info{service=\"renga-test\""));
}

static void health_is_ok_whether_ready_or_not(void **state)
{
    set_reason(*state, "starting");
    assert_non_null(strstr(get(*state, "/healthz"), "HTTP/1.1 200"));
}

static void readiness_says_why_not(void **state)
{
    set_reason(*state, "draining");
    const char *answer = get(*state, "/readyz");
    assert_non_null(strstr(answer, "HTTP/1.1 503"));
    assert_non_null(strstr(answer, "\r\n\r\ndraining"));
    set_reason(*state, NULL);
    assert_non_null(strstr(get(*state, "/readyz"), "HTTP/1.1 200"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(metrics_are_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(health_is_ok_whether_ready_or_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readiness_says_why_not, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
