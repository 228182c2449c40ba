#include "observe.h"

#include "base/clock.h"
#include "instance/span_content.h"
#include "instance/tool_runner_instance.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"
#include "tool_call.h"

#include <stdio.h>

/* In ns: from 1 ms to 10 minutes. */
#define MS(n) ((int64_t)(n)*NS_PER_MS)
static const int64_t bounds[] = {MS(1),    MS(5),    MS(25),    MS(100),   MS(500),
                                 MS(1000), MS(5000), MS(15000), MS(60000), MS(600000)};

static const struct metric calls = {
    .name = "renga_tool_calls_total", .help = "Calls of tools, by how they ended.", .labels = {"tool", "code"}};
static const struct metric recorded = {
    .name = "renga_tool_recorded_total", .help = "Calls answered from the record.", .labels = {"tool"}};
static const struct metric durations = {.name = "renga_tool_duration_seconds",
                                        .help = "How long tools ran.",
                                        .kind = METRIC_HISTOGRAM,
                                        .labels = {"tool"},
                                        .bounds = bounds,
                                        .bound_count = sizeof bounds / sizeof bounds[0],
                                        .scale = 1e-9};

static void observe_count(const struct tool_call *call, const struct metric *metric, const char *const *labels,
                          int64_t value)
{
    struct metrics *metrics = call->runner->metrics;
    uint32_t series = metrics_series(metrics_register(metrics, metric), labels);
    unsigned loop = loop_index(call->runner->loop);
    if (metric->kind == METRIC_HISTOGRAM)
        metrics_observe(metrics, loop, metric, series, value);
    else
        metrics_add(metrics, loop, series, value);
}

void observe_start(struct tool_call *call)
{
    char name[SPAN_NAME_MAX];
    const struct tool *tool = call->entry.tool;
    snprintf(name, sizeof name, "execute_tool %s", tool->name);
    call->span = span_start(call->runner->spans, &call->run->trace, name, SPAN_INTERNAL);
    span_set_role(call->span, SPAN_TOOL);
    span_string(call->span, "gen_ai.operation.name", "execute_tool");
    span_string(call->span, "gen_ai.tool.name", tool->name);
    span_string(call->span, "gen_ai.tool.type", tool->server ? "extension" : "function");
    span_string(call->span, "gen_ai.tool.call.id", call->asked->call->id);
    if (tool->server)
        span_string(call->span, "renga.mcp.server", tool->server);
    if (call->span && call->runner->shows_content)
        tool_span_text(call->span, "input.value", call->asked->call->arguments_json);
    const Renga__V1__CallOrigin *origin = call->request->origin;
    if (call->request->attempt)
        span_int(call->span, "renga.attempt", call->request->attempt);
    if (origin && origin->thread_id[0])
        span_string(call->span, "gen_ai.conversation.id", origin->thread_id);
    if (origin && origin->run_id[0])
        span_string(call->span, "renga.run.id", origin->run_id);
    if (origin && origin->node[0])
        span_string(call->span, "renga.node", origin->node);
}

void observe_call(struct tool_call *call, bool ran)
{
    const char *tool = call->entry.tool ? call->entry.tool->name : "unknown";
    enum status_code code = (enum status_code)call->result.status_code;
    if (call->span && code != OK) {
        span_string(call->span, "error.type", status_code_name(code));
        span_error(call->span, call->runner->shows_content ? call->result.message : status_code_name(code));
    }
    if (call->span && call->runner->shows_content)
        tool_span_text(call->span, "output.value", call->result.text);
    span_end(&call->span);
    if (!call->runner->metrics)
        return;
    observe_count(call, &calls, (const char *[]){tool, status_code_name(code)}, 1);
    if (call->result.recorded)
        observe_count(call, &recorded, (const char *[]){tool}, 1);
    if (ran)
        observe_count(call, &durations, (const char *[]){tool}, clock_now_ns() - call->run->began_ns);
}
