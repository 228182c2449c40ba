/* The exporter against a real HTTP server that plays the collector. */
#include "peer.h"

#include "base/clock.h"
#include "http/server.h"
#include "telemetry/otlp.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUESTS_MAX 64

struct fixture {
    struct loop *loop, *collector_loop;
    struct http_client *client;
    struct http_server *collector;
    struct metrics *metrics;
    struct spans *spans;
    struct otlp *otlp;
    int flushed;

    /* The collector's. */
    int answers[8]; /* statuses to give first; 0 ends them, then 200 */
    const char *retry_after, *answer_body;
    int request_count;
    char *bodies[REQUESTS_MAX];
    int64_t times_ns[REQUESTS_MAX];
    char key[64], path[64];
};

static void collected(struct http_request *request, void *data)
{
    struct fixture *fixture = data;
    size_t size;
    const char *body = http_request_body(request, &size), *key = http_request_header(request, "x-key");
    int status = fixture->request_count < 8 ? fixture->answers[fixture->request_count] : 0;
    fixture->times_ns[fixture->request_count] = clock_now_ns();
    fixture->bodies[fixture->request_count++] = strndup(body, size);
    snprintf(fixture->key, sizeof fixture->key, "%s", key ? key : "");
    snprintf(fixture->path, sizeof fixture->path, "%s", http_request_path(request));
    if (status && fixture->retry_after)
        http_reply_header(request, "Retry-After", fixture->retry_after);
    if (status)
        http_reply_error(request, status, "not now");
    else
        http_reply(request, 200, "application/json", fixture->answer_body, strlen(fixture->answer_body));
}

static const struct http_route routes[] = {{"POST", "/", true, collected}};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct status st = {0};
    fixture->answer_body = "{}";
    fixture->loop = loop_started(0);
    fixture->collector_loop = loop_started(1);
    fixture->metrics = metrics_create(1);
    fixture->spans = spans_create(100);
    loop_enter(fixture->collector_loop);
    fixture->collector =
        http_server_create(fixture->collector_loop, &(struct http_server_options){.listen = "127.0.0.1:0"}, &st);
    http_server_route(fixture->collector, routes, 1, fixture);
    loop_leave(fixture->collector_loop);
    loop_enter(fixture->loop);
    fixture->client = http_client_create(fixture->loop, &(struct http_client_options){0});
    loop_leave(fixture->loop);
    *state = fixture;
    return 0;
}

static void export_with(struct fixture *fixture, struct otlp_options options)
{
    struct status st = {0};
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d/", http_server_port(fixture->collector));
    options.endpoint = endpoint;
    options.service = "renga-test";
    loop_enter(fixture->loop);
    fixture->otlp = otlp_create(fixture->loop, fixture->client, fixture->spans, &options, &st);
    loop_leave(fixture->loop);
    if (!fixture->otlp)
        fail_msg("%s", st.text);
    otlp_metrics_add(fixture->metrics, fixture->spans, fixture->otlp);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    metrics_destroy(&fixture->metrics);
    loop_enter(fixture->loop);
    otlp_destroy(&fixture->otlp);
    loop_leave(fixture->loop);
    loop_enter(fixture->loop);
    http_client_destroy(&fixture->client);
    loop_leave(fixture->loop);
    if (fixture->collector) {
        loop_enter(fixture->collector_loop);
        http_server_destroy(&fixture->collector);
        loop_leave(fixture->collector_loop);
    }
    spans_destroy(&fixture->spans);
    loop_ended(&fixture->loop);
    loop_ended(&fixture->collector_loop);
    for (int i = 0; i < fixture->request_count; i++)
        free(fixture->bodies[i]);
    free(fixture);
    return 0;
}

static void make(struct fixture *fixture, int count)
{
    for (int i = 0; i < count; i++) {
        struct trace_context trace;
        trace_begin(&trace, true);
        char name[16];
        snprintf(name, sizeof name, "span %d", i);
        struct span *span = span_start(fixture->spans, &trace, name, SPAN_INTERNAL);
        span_end(&span);
    }
}

static bool requests_are(struct fixture *fixture, int count, int ms)
{
    return WAIT_FOR(fixture->collector_loop, fixture->request_count == count, ms);
}

static void assert_metric(struct fixture *fixture, const char *line)
{
    struct buffer out;
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    for (int i = 0; i < 200; i++) {
        buffer_init(&out, 1 << 20);
        metrics_write(fixture->metrics, &out);
        bool there = strstr(buffer_text(&out), wanted) != NULL;
        if (there || i == 199) {
            if (!there)
                fail_msg("no line '%s' in:\n%s", line, buffer_text(&out));
            buffer_fini(&out);
            return;
        }
        buffer_fini(&out);
        usleep(5000);
    }
}

static void flushed(void *data)
{
    ((struct fixture *)data)->flushed++;
}

static const cJSON *at(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!item)
        fail_msg("no '%s'", key);
    return item;
}

static const char *string_at(const cJSON *json, const char *key)
{
    const cJSON *item = at(json, key);
    assert_true(cJSON_IsString(item));
    return item->valuestring;
}

static const cJSON *attribute(const cJSON *attributes, const char *key, const char *type)
{
    const cJSON *pair;
    cJSON_ArrayForEach(pair, attributes)
    {
        if (strcmp(string_at(pair, "key"), key) == 0)
            return at(at(pair, "value"), type);
    }
    fail_msg("no attribute '%s'", key);
    return NULL;
}

static cJSON *parse(const char *body)
{
    struct status st = {0};
    cJSON *json = json_parse(body, strlen(body), NULL, &st);
    if (!json)
        fail_msg("%s in:\n%s", st.text, body);
    return json;
}

static void assert_hex(const char *text, size_t length)
{
    assert_int_equal(strlen(text), length);
    assert_int_equal(strspn(text, "0123456789abcdef"), length);
}

static void a_collector_reads_what_was_recorded(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture,
                (struct otlp_options){.interval_ms = 20, .headers = "x-key=a%20secret , bad", .resource = "team=blue"});
    struct trace_context parent, trace;
    trace_begin(&parent, true);
    trace_child(&trace, &parent);
    struct span *span = span_start(fixture->spans, &trace, "chat \"gpt\"", SPAN_CLIENT);
    span_string(span, "gen_ai.request.model", "gpt-5");
    span_int(span, "gen_ai.usage.input_tokens", 42);
    span_event(span, "gen_ai.evaluation.result");
    span_double(span, "gen_ai.evaluation.score.value", 0.75);
    span_error(span, "it \"failed\"");
    span_end(&span);
    assert_true(requests_are(fixture, 1, 2000));
    assert_string_equal(fixture->key, "a secret");
    assert_string_equal(fixture->path, "/v1/traces");

    cJSON *json = parse(fixture->bodies[0]);
    const cJSON *resource_spans = cJSON_GetArrayItem(at(json, "resourceSpans"), 0);
    const cJSON *resource = at(at(resource_spans, "resource"), "attributes");
    assert_string_equal(attribute(resource, "service.name", "stringValue")->valuestring, "renga-test");
    assert_string_equal(attribute(resource, "service.version", "stringValue")->valuestring, RENGA_VERSION);
    assert_string_equal(attribute(resource, "team", "stringValue")->valuestring, "blue");
    attribute(resource, "host.name", "stringValue");
    const cJSON *scope_spans = cJSON_GetArrayItem(at(resource_spans, "scopeSpans"), 0);
    assert_string_equal(string_at(at(scope_spans, "scope"), "name"), "renga");
    const cJSON *sent = cJSON_GetArrayItem(at(scope_spans, "spans"), 0);
    char hex[33];
    trace_hex(trace.trace_id, 16, hex);
    assert_hex(string_at(sent, "traceId"), 32);
    assert_string_equal(string_at(sent, "traceId"), hex);
    trace_hex(trace.span_id, 8, hex);
    assert_hex(string_at(sent, "spanId"), 16);
    assert_string_equal(string_at(sent, "spanId"), hex);
    trace_hex(parent.span_id, 8, hex);
    assert_string_equal(string_at(sent, "parentSpanId"), hex);
    assert_string_equal(string_at(sent, "name"), "chat \"gpt\"");
    assert_int_equal(at(sent, "kind")->valueint, 3);
    long long began = strtoll(string_at(sent, "startTimeUnixNano"), NULL, 10);
    long long ended = strtoll(string_at(sent, "endTimeUnixNano"), NULL, 10);
    assert_true(began <= ended && ended <= clock_wall_ns() && clock_wall_ns() - began < 5 * NS_PER_SEC);
    assert_string_equal(attribute(at(sent, "attributes"), "gen_ai.usage.input_tokens", "intValue")->valuestring, "42");
    const cJSON *event = cJSON_GetArrayItem(at(sent, "events"), 0);
    assert_string_equal(string_at(event, "name"), "gen_ai.evaluation.result");
    assert_true(strtoll(string_at(event, "timeUnixNano"), NULL, 10) >= began);
    attribute(at(event, "attributes"), "gen_ai.evaluation.score.value", "doubleValue");
    assert_int_equal(at(at(sent, "status"), "code")->valueint, 2);
    assert_string_equal(string_at(at(sent, "status"), "message"), "it \"failed\"");
    cJSON_Delete(json);
    assert_metric(fixture, "renga_spans_exported_total 1");
}

static void a_root_span_has_no_parent(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture, (struct otlp_options){.interval_ms = 10});
    make(fixture, 1);
    assert_true(requests_are(fixture, 1, 2000));
    assert_null(strstr(fixture->bodies[0], "parentSpanId"));
    assert_null(strstr(fixture->bodies[0], "\"status\""));
}

static int spans_in(const char *body)
{
    int count = 0;
    for (const char *place = body; (place = strstr(place, "\"traceId\"")); place++)
        count++;
    return count;
}

static void spans_wait_for_others_but_no_longer_than_the_interval(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture, (struct otlp_options){.interval_ms = 150});
    int64_t began_ns = clock_now_ns();
    make(fixture, 3);
    peer_pause(50);
    make(fixture, 3);
    assert_true(requests_are(fixture, 1, 2000));
    assert_true(fixture->times_ns[0] - began_ns >= 90 * NS_PER_MS);
    assert_int_equal(spans_in(fixture->bodies[0]), 6);
}

static void a_full_batch_does_not_wait(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture, (struct otlp_options){.interval_ms = 60000, .batch_max = 10});
    make(fixture, 25);
    assert_true(requests_are(fixture, 2, 2000));
    assert_int_equal(spans_in(fixture->bodies[0]), 10);
    assert_int_equal(spans_in(fixture->bodies[1]), 10);
    assert_int_equal(spans_queued(fixture->spans), 5);
}

static void a_collector_that_is_busy_is_asked_again_when_it_said(void **state)
{
    struct fixture *fixture = *state;
    fixture->answers[0] = 503;
    fixture->answers[1] = 429;
    fixture->retry_after = "1";
    export_with(fixture, (struct otlp_options){.interval_ms = 20});
    make(fixture, 2);
    assert_true(requests_are(fixture, 3, 5000));
    assert_string_equal(fixture->bodies[0], fixture->bodies[1]);
    assert_string_equal(fixture->bodies[0], fixture->bodies[2]);
    assert_true(fixture->times_ns[1] - fixture->times_ns[0] >= 995 * NS_PER_MS);
    assert_metric(fixture, "renga_spans_exported_total 2");
    assert_metric(fixture, "renga_spans_failed_total 0");
}

static void a_refusal_for_good_drops_the_batch_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->answers[0] = 400;
    export_with(fixture, (struct otlp_options){.interval_ms = 20});
    make(fixture, 2);
    assert_metric(fixture, "renga_spans_failed_total 2");
    make(fixture, 3);
    assert_metric(fixture, "renga_spans_exported_total 3");
    assert_true(requests_are(fixture, 2, 100));
}

static void a_wait_beyond_the_budget_drops_the_batch(void **state)
{
    struct fixture *fixture = *state;
    fixture->answers[0] = 503;
    fixture->retry_after = "100";
    export_with(fixture, (struct otlp_options){.interval_ms = 20, .retry_max_ms = 500});
    make(fixture, 2);
    assert_metric(fixture, "renga_spans_failed_total 2");
    assert_true(requests_are(fixture, 1, 100));
}

static void rejected_spans_are_counted_not_repeated(void **state)
{
    struct fixture *fixture = *state;
    fixture->answer_body = "{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"old\"}}";
    export_with(fixture, (struct otlp_options){.interval_ms = 20});
    make(fixture, 5);
    assert_metric(fixture, "renga_spans_exported_total 3");
    assert_metric(fixture, "renga_spans_failed_total 2");
    assert_true(requests_are(fixture, 1, 100));
}

static void a_collector_that_is_gone_costs_spans_not_calls(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture, (struct otlp_options){.interval_ms = 10, .retry_max_ms = 60000});
    loop_enter(fixture->collector_loop);
    http_server_destroy(&fixture->collector);
    loop_leave(fixture->collector_loop);
    int64_t began_ns = clock_now_ns();
    make(fixture, 5000);
    assert_true(clock_now_ns() - began_ns < NS_PER_SEC);
    assert_true(spans_queued(fixture->spans) <= 100);
    assert_true(spans_dropped(fixture->spans) >= 4000);
    assert_metric(fixture, "renga_spans_recorded_total 5000");
}

static void flushing_sends_everything_that_is_left(void **state)
{
    struct fixture *fixture = *state;
    export_with(fixture, (struct otlp_options){.interval_ms = 60000, .batch_max = 30});
    make(fixture, 70);
    loop_enter(fixture->loop);
    otlp_flush(fixture->otlp, 2000, flushed, fixture);
    loop_leave(fixture->loop);
    assert_true(WAIT_FOR(fixture->loop, fixture->flushed == 1, 3000));
    assert_metric(fixture, "renga_spans_exported_total 70");
    assert_int_equal(spans_queued(fixture->spans), 0);
}

static void hang(struct peer *peer, int fd)
{
    peer_read_request(peer, fd);
    peer_wait_left(peer, fd);
}

static void flushing_gives_up_at_its_limit(void **state)
{
    struct fixture *fixture = *state;
    struct peer hanging;
    peer_start(&hanging, hang);
    struct status st = {0};
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", hanging.port);
    loop_enter(fixture->loop);
    fixture->otlp = otlp_create(fixture->loop, fixture->client, fixture->spans,
                                &(struct otlp_options){.endpoint = endpoint, .service = "x"}, &st);
    loop_leave(fixture->loop);
    make(fixture, 3);
    int64_t began_ns = clock_now_ns();
    loop_enter(fixture->loop);
    otlp_flush(fixture->otlp, 100, flushed, fixture);
    loop_leave(fixture->loop);
    assert_true(WAIT_FOR(fixture->loop, fixture->flushed == 1, 3000));
    assert_in_range((clock_now_ns() - began_ns) / NS_PER_MS, 99, 600);
    loop_enter(fixture->loop);
    otlp_destroy(&fixture->otlp); /* with the request under way */
    loop_leave(fixture->loop);
    peer_stop(&hanging);
}

static void an_endpoint_or_header_that_cannot_be_used_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct status st = {0};
    loop_enter(fixture->loop);
    assert_null(otlp_create(fixture->loop, fixture->client, fixture->spans,
                            &(struct otlp_options){.endpoint = "collector:4318", .service = "x"}, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_null(otlp_create(fixture->loop, fixture->client, fixture->spans,
                            &(struct otlp_options){.endpoint = "http://c", .service = "x", .headers = "a=secret%0ab"},
                            &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_null(strstr(st.text, "secret"));
    loop_leave(fixture->loop);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_collector_reads_what_was_recorded),
        TEST(a_root_span_has_no_parent),
        TEST(spans_wait_for_others_but_no_longer_than_the_interval),
        TEST(a_full_batch_does_not_wait),
        TEST(a_collector_that_is_busy_is_asked_again_when_it_said),
        TEST(a_refusal_for_good_drops_the_batch_and_goes_on),
        TEST(a_wait_beyond_the_budget_drops_the_batch),
        TEST(rejected_spans_are_counted_not_repeated),
        TEST(a_collector_that_is_gone_costs_spans_not_calls),
        TEST(flushing_sends_everything_that_is_left),
        TEST(flushing_gives_up_at_its_limit),
        TEST(an_endpoint_or_header_that_cannot_be_used_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
