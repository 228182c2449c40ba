#include "telemetry/rpc_metrics.h"

#include "base/clock.h"
#include "telemetry/otlp_json.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rpc_metrics_method methods[] = {
    {"renga.v1.Planner", "Plan"},
    {"renga.v1.LlmGateway", "Chat"},
    {"grpc.health.v1.Health", "Check"},
    {"grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"},
};
#define METHODS (sizeof methods / sizeof *methods)

struct fixture {
    struct metrics *metrics;
    struct spans *spans;
    struct rpc_metrics *rpc;
    struct rpc_observer *observer;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->metrics = metrics_create(2);
    fixture->spans = spans_create(0);
    fixture->rpc = rpc_metrics_create(fixture->metrics, fixture->spans, methods, METHODS);
    fixture->observer = rpc_metrics_observer(fixture->rpc);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    rpc_metrics_destroy(&fixture->rpc);
    spans_destroy(&fixture->spans);
    metrics_destroy(&fixture->metrics);
    free(fixture);
    return 0;
}

static void assert_line(struct fixture *fixture, const char *line)
{
    struct buffer out;
    char wanted[256];
    buffer_init(&out, 1 << 20);
    metrics_write(fixture->metrics, &out);
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (!strstr(buffer_text(&out), wanted))
        fail_msg("no line '%s' in:\n%s", line, buffer_text(&out));
    buffer_fini(&out);
}

static void call(struct fixture *fixture, unsigned loop, struct rpc_ended ended, int64_t ms)
{
    fixture->observer->began(fixture->observer, loop, ended.side, ended.method_id);
    ended.service = ended.method_id < METHODS ? methods[ended.method_id].service : "";
    ended.method = ended.method_id < METHODS ? methods[ended.method_id].method : "";
    ended.text = ended.code ? "what went wrong" : "";
    ended.ended_ns = clock_now_ns();
    ended.began_ns = ended.ended_ns - ms * NS_PER_MS;
    fixture->observer->ended(fixture->observer, loop, &ended);
}

static void calls_are_counted_by_method_side_and_code(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned i = 0; i < 10; i++)
        call(fixture, i % 2, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0, .received_bytes = 10}, 3);
    call(fixture, 1, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0, .code = NOT_FOUND, .sent_bytes = 7}, 3);
    call(fixture, 1, (struct rpc_ended){.side = RPC_CLIENT, .method_id = 1, .code = UNAVAILABLE}, 2000);
    assert_line(fixture, "grpc_server_started_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\"} 11");
    assert_line(fixture, "grpc_server_handled_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\","
                         "grpc_code=\"OK\"} 10");
    assert_line(fixture, "grpc_server_handled_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\","
                         "grpc_code=\"NOT_FOUND\"} 1");
    assert_line(fixture, "grpc_client_handled_total{grpc_service=\"renga.v1.LlmGateway\",grpc_method=\"Chat\","
                         "grpc_code=\"UNAVAILABLE\"} 1");
    assert_line(fixture,
                "grpc_server_received_bytes_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\"} 100");
    assert_line(fixture, "grpc_server_sent_bytes_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\"} 7");
    assert_line(fixture, "grpc_server_in_flight{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\"} 0");
}

static void durations_fall_into_their_buckets(void **state)
{
    struct fixture *fixture = *state;
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0}, 3);
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0}, 300);
    call(fixture, 1, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0}, 3600000);
#define LABELS "grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\""
    assert_line(fixture, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"0.0025\"} 0");
    assert_line(fixture, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"0.005\"} 1");
    assert_line(fixture, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"0.5\"} 2");
    assert_line(fixture, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"300\"} 2");
    assert_line(fixture, "grpc_server_handling_seconds_bucket{" LABELS ",le=\"+Inf\"} 3");
    assert_line(fixture, "grpc_server_handling_seconds_sum{" LABELS "} 3600.303");
}

static void calls_under_way_are_in_flight(void **state)
{
    struct fixture *fixture = *state;
    fixture->observer->began(fixture->observer, 0, RPC_CLIENT, 1);
    fixture->observer->began(fixture->observer, 1, RPC_CLIENT, 1);
    assert_line(fixture, "grpc_client_in_flight{grpc_service=\"renga.v1.LlmGateway\",grpc_method=\"Chat\"} 2");
}

static void unknown_methods_and_codes_have_a_place(void **state)
{
    struct fixture *fixture = *state;
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .method_id = RPC_METHOD_UNKNOWN, .code = UNIMPLEMENTED}, 1);
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .method_id = 0, .code = (enum status_code)99}, 1);
    assert_line(fixture, "grpc_server_handled_total{grpc_service=\"unknown\",grpc_method=\"unknown\","
                         "grpc_code=\"UNIMPLEMENTED\"} 1");
    assert_line(fixture, "grpc_server_handled_total{grpc_service=\"renga.v1.Planner\",grpc_method=\"Plan\","
                         "grpc_code=\"UNKNOWN\"} 1");
}

static void a_sampled_call_leaves_a_span(void **state)
{
    struct fixture *fixture = *state;
    struct trace_context trace, parent;
    trace_begin(&parent, true);
    trace_child(&trace, &parent);
    call(fixture, 0, (struct rpc_ended){.side = RPC_CLIENT, .method_id = 1, .code = UNAVAILABLE, .trace = &trace}, 20);
    unsigned count;
    struct span *span = spans_take(fixture->spans, 10, &count);
    assert_int_equal(count, 1);
    assert_int_equal(span->kind, SPAN_CLIENT);
    assert_memory_equal(span->trace.trace_id, parent.trace_id, 16);
    assert_memory_equal(span->trace.parent_id, parent.span_id, 8);
    assert_in_range(span->ended_ns - span->began_ns, 20 * NS_PER_MS, 500 * NS_PER_MS);
    assert_in_range(clock_wall_ns() - span->ended_ns, 0, NS_PER_SEC);
    assert_true(span->error);
    assert_string_equal(span->text, "what went wrong");
    struct buffer out;
    buffer_init(&out, 1 << 16);
    otlp_json_request(&out, "", span);
    const char *json = buffer_text(&out);
    assert_non_null(strstr(json, "\"name\":\"renga.v1.LlmGateway/Chat\",\"kind\":3,"));
    assert_non_null(strstr(json, "{\"key\":\"langsmith.span.kind\",\"value\":{\"stringValue\":\"chain\"}},"
                                 "{\"key\":\"rpc.system\",\"value\":{\"stringValue\":\"grpc\"}},"
                                 "{\"key\":\"rpc.service\",\"value\":{\"stringValue\":\"renga.v1.LlmGateway\"}},"
                                 "{\"key\":\"rpc.method\",\"value\":{\"stringValue\":\"Chat\"}},"
                                 "{\"key\":\"rpc.grpc.status_code\",\"value\":{\"intValue\":\"14\"}}]"));
    struct status st;
    cJSON *parsed = json_parse(json, out.length, NULL, &st);
    assert_non_null(parsed);
    cJSON_Delete(parsed);
    buffer_fini(&out);
    span_destroy(span);
}

static void a_client_s_mistake_is_no_error_of_the_server_s_span(void **state)
{
    struct fixture *fixture = *state;
    struct trace_context trace;
    trace_begin(&trace, true);
    static const struct {
        enum rpc_side side;
        enum status_code code;
        bool error;
    } cases[] = {{RPC_SERVER, OK, false},       {RPC_SERVER, NOT_FOUND, false}, {RPC_SERVER, CANCELLED, false},
                 {RPC_SERVER, INTERNAL, true},  {RPC_SERVER, UNKNOWN, true},    {RPC_CLIENT, OK, false},
                 {RPC_CLIENT, NOT_FOUND, true}, {RPC_CLIENT, INTERNAL, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call(fixture, 0, (struct rpc_ended){.side = cases[i].side, .code = cases[i].code, .trace = &trace}, 1);
        unsigned count;
        struct span *span = spans_take(fixture->spans, 10, &count);
        assert_int_equal(span->error, cases[i].error);
        span_destroy(span);
    }
}

static void probes_are_counted_and_not_traced(void **state)
{
    struct fixture *fixture = *state;
    struct trace_context trace;
    trace_begin(&trace, true);
    for (unsigned id = 2; id < METHODS; id++)
        for (int side = 0; side < RPC_SIDES; side++)
            call(fixture, 0, (struct rpc_ended){.side = (enum rpc_side)side, .method_id = id, .trace = &trace}, 1);
    assert_int_equal(spans_recorded(fixture->spans), 0);
    assert_line(fixture, "grpc_server_started_total{grpc_service=\"grpc.health.v1.Health\",grpc_method=\"Check\"} 1");
}

static void a_call_that_is_not_sampled_leaves_none(void **state)
{
    struct fixture *fixture = *state;
    struct trace_context trace;
    trace_begin(&trace, false);
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .trace = &trace}, 1);
    call(fixture, 0, (struct rpc_ended){.side = RPC_SERVER, .trace = NULL}, 1);
    assert_int_equal(spans_recorded(fixture->spans), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_are_counted_by_method_side_and_code),
        TEST(durations_fall_into_their_buckets),
        TEST(calls_under_way_are_in_flight),
        TEST(unknown_methods_and_codes_have_a_place),
        TEST(a_sampled_call_leaves_a_span),
        TEST(a_client_s_mistake_is_no_error_of_the_server_s_span),
        TEST(probes_are_counted_and_not_traced),
        TEST(a_call_that_is_not_sampled_leaves_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
