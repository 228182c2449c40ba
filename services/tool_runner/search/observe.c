#include "search/observe.h"

#include "base/clock.h"
#include "instance/span_content.h"
#include "instance/tool_runner_instance.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"

#include <stdio.h>

/* In ns: from 10 ms to a minute. */
#define MS(n) ((int64_t)(n)*NS_PER_MS)
static const int64_t bounds[] = {MS(10),   MS(50),   MS(100),   MS(250),   MS(500),  MS(1000),
                                 MS(2500), MS(5000), MS(10000), MS(30000), MS(60000)};

static const struct metric requests = {.name = "renga_search_requests_total",
                                       .help = "Requests to search sources, by how they ended.",
                                       .labels = {"source", "code"}};
static const struct metric recorded = {.name = "renga_search_recorded_total",
                                       .help = "Searches of a source that were answered from the record.",
                                       .labels = {"source"}};
static const struct metric stand_ins = {.name = "renga_search_stand_ins_total",
                                        .help = "Searches of a source in place of one that had failed.",
                                        .labels = {"source"}};
static const struct metric durations = {.name = "renga_search_duration_seconds",
                                        .help = "How long requests to search sources took.",
                                        .kind = METRIC_HISTOGRAM,
                                        .labels = {"source"},
                                        .bounds = bounds,
                                        .bound_count = sizeof bounds / sizeof bounds[0],
                                        .scale = 1e-9};

static void search_count(const struct tool_runner *runner, const struct metric *metric, const char *const *labels,
                         int64_t value)
{
    struct metrics *metrics = runner->metrics;
    unsigned loop = loop_index(runner->loop);
    if (!metrics)
        return;
    uint32_t series = metrics_series(metrics_register(metrics, metric), labels);
    if (metric->kind == METRIC_HISTOGRAM)
        metrics_observe(metrics, loop, metric, series, value);
    else
        metrics_add(metrics, loop, series, value);
}

void search_observe_request(struct source_call *call)
{
    char name[SPAN_NAME_MAX];
    struct trace_context trace;
    const struct search_source *source = &call->site->setup->source;
    call->began_ns = clock_now_ns();
    call->sent++;
    if (!call->trace)
        return;
    snprintf(name, sizeof name, "search %s", source->name);
    trace_child(&trace, call->trace);
    call->span = span_start(call->runner->spans, &trace, name, SPAN_CLIENT);
    span_set_role(call->span, SPAN_RETRIEVER);
    span_string(call->span, "gen_ai.operation.name", "retrieval");
    span_string(call->span, "gen_ai.data_source.id", source->name);
    span_string(call->span, "renga.search.source", source->name);
    if (call->span && call->runner->shows_content)
        tool_span_text(call->span, "input.value", call->question.query);
    span_string(call->span, "renga.search.kind", source->provider->kind);
    span_string(call->span, "server.address", http_url_host(call->url));
}

void search_observe_answer(struct source_call *call, enum status_code code)
{
    const char *source = call->site->setup->source.name;
    if (call->transfer.http_status)
        span_int(call->span, "http.response.status_code", call->transfer.http_status);
    if (call->span && code != OK) {
        span_string(call->span, "error.type", status_code_name(code));
        span_error(call->span, status_code_name(code));
    }
    span_end(&call->span);
    search_count(call->runner, &requests, (const char *[]){source, status_code_name(code)}, 1);
    search_count(call->runner, &durations, (const char *[]){source}, clock_now_ns() - call->began_ns);
}

void search_observe_recorded(struct tool_runner *runner, const char *source)
{
    search_count(runner, &recorded, (const char *[]){source}, 1);
}

void search_observe_stand_in(struct tool_runner *runner, const char *source)
{
    search_count(runner, &stand_ins, (const char *[]){source}, 1);
}
