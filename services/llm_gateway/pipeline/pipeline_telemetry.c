/* A series is looked up when its model or deployment is first met in the loop; after that counting is a few stores. */
#include "pipeline_telemetry.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "generation_use.h"
#include "pipeline_content.h"
#include "pipeline_priv.h"
#include "provider/provider.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"
#include "usage/price.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX /* a series that was not looked up yet */
#define MS   INT64_C(1000000)

#define MICROS_IN_USD 1e6

/* As the conventions want it of gen_ai.client.operation.duration, from a cached answer to a long chain of thought. */
static const int64_t bounds_ns[] = {MS,         10 * MS,    20 * MS,    40 * MS,    80 * MS,   160 * MS,
                                    320 * MS,   640 * MS,   1280 * MS,  2560 * MS,  5120 * MS, 10240 * MS,
                                    20480 * MS, 40960 * MS, 81920 * MS, 300000 * MS};
#define DURATIONS                                                                                                      \
    .kind = METRIC_HISTOGRAM, .bounds = bounds_ns, .bound_count = sizeof bounds_ns / sizeof *bounds_ns, .scale = 1e-9

enum family { CALLS, ATTEMPTS, TOKENS, COST, DURATION, FIRST_TOKEN, FAMILIES };
static const struct metric rows[FAMILIES] = {
    [CALLS] = {.name = "renga_llm_calls_total",
               .help = "Calls of clients that ended, by status; answers from the cache included.",
               .labels = {"model", "operation", "code"}},
    [ATTEMPTS] = {.name = "renga_llm_attempts_total",
                  .help = "Requests to deployments that ended, by what became of them.",
                  .labels = {"deployment", "code"}},
    [TOKENS] = {.name = "renga_llm_tokens_total",
                .help = "Tokens, by the side that they are on.",
                .labels = {"model", "deployment", "type"}},
    [COST] = {.name = "renga_llm_cost_usd_total",
              .help = "Price of the tokens, after the configured table.",
              .scale = 1e-6,
              .labels = {"model", "deployment"}},
    [DURATION] = {.name = "renga_llm_duration_seconds",
                  .help = "From a call's arrival to its end.",
                  .labels = {"model", "operation"},
                  DURATIONS},
    [FIRST_TOKEN] = {.name = "renga_llm_first_token_seconds",
                     .help = "From a streamed call's arrival to the first piece of its answer.",
                     .labels = {"model"},
                     DURATIONS},
};

/* Of one target of a route. */
struct target_series {
    uint32_t attempts[STATUS_CODES_COUNT], input, output, cost;
};
struct route_series {
    uint32_t calls[STATUS_CODES_COUNT], duration, first_token;
    struct target_series targets[];
};

struct pipeline_metrics {
    struct metrics *metrics;
    struct spans *spans;
    struct metric_family *families[FAMILIES];
};

struct pipeline_series {
    size_t route_count;
    struct route_series *routes[]; /* NULL until it is met */
};

struct pipeline_metrics *pipeline_metrics_create(struct metrics *metrics, struct spans *spans)
{
    struct pipeline_metrics *own = xcalloc(1, sizeof *own);
    own->metrics = metrics;
    own->spans = spans;
    for (int i = 0; i < FAMILIES; i++)
        own->families[i] = metrics_register(metrics, &rows[i]);
    return own;
}

void pipeline_metrics_destroy(struct pipeline_metrics **metrics)
{
    free(*metrics);
    *metrics = NULL;
}

struct pipeline_series *pipeline_series_create(const struct routes *routes)
{
    size_t count = routes_count(routes);
    struct pipeline_series *series = xcalloc(1, sizeof *series + count * sizeof *series->routes);
    series->route_count = count;
    return series;
}

void pipeline_series_destroy(struct pipeline_series **series_pointer)
{
    struct pipeline_series *series = *series_pointer;
    if (!series)
        return;
    *series_pointer = NULL;
    for (size_t i = 0; i < series->route_count; i++)
        free(series->routes[i]);
    free(series);
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

static struct route_series *pipeline_telemetry_series_of(struct pipeline_metrics *own, const struct pipeline *pipeline)
{
    const struct route *route = pipeline->route;
    struct route_series **place = &pipeline->use->series->routes[route->index], *series = *place;
    if (series)
        return series;
    size_t size = sizeof *series + route->target_count * sizeof *series->targets;
    series = *place = xmalloc(size);
    memset(series, 0xFF, size); /* no series has been looked up yet */
    series->duration =
        metrics_series(own->families[DURATION], (const char *[]){route->name, pipeline->kind->operation});
    series->first_token = metrics_series(own->families[FIRST_TOKEN], (const char *[]){route->name});
    return series;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static void record(const struct pipeline_metrics *own, struct pipeline *pipeline, enum status_code code)
{
    struct trace_context trace;
    const struct trace_context *parent = rpc_call_trace(pipeline->call);
    if (!own->spans || !parent->sampled)
        return;
    char name[SPAN_NAME_MAX];
    const struct deployment *deployment = pipeline->target->deployment;
    const Renga__V1__Usage *used = pipeline->kind->used(pipeline);
    const char *model = pipeline->kind->model(pipeline);
    snprintf(name, sizeof name, "%s %s", pipeline->kind->operation, pipeline->target->model);
    trace_child(&trace, parent);
    struct span *span = span_start(own->spans, &trace, name, SPAN_CLIENT);
    span_set_began(span, pipeline->requested_ns);
    span_string(span, "gen_ai.operation.name", pipeline->kind->operation);
    span_set_role(span, strcmp(pipeline->kind->operation, "chat") == 0 ? SPAN_LLM : SPAN_EMBEDDING);
    span_string(span, "gen_ai.provider.name", deployment->provider->name);
    span_string(span, "gen_ai.system", deployment->provider->name); /* the older name, which LangSmith reads */
    span_string(span, "gen_ai.request.model", pipeline->target->model);
    const struct http_url *way = pipeline->kind->endpoint(deployment);
    if (way)
        span_string(span, "server.address", http_url_host(way));
    span_string(span, "renga.deployment", deployment->name);
    if (model[0])
        span_string(span, "gen_ai.response.model", model);
    if (used) {
        span_int(span, "gen_ai.usage.input_tokens", used->input_tokens);
        span_int(span, "gen_ai.usage.output_tokens", used->output_tokens);
        span_int(span, "gen_ai.usage.total_tokens", used->input_tokens + used->output_tokens);
        if (used->reasoning_tokens)
            span_int(span, "gen_ai.usage.details.reasoning_tokens", used->reasoning_tokens);
        if (pipeline->target->price) {
            double usd = (double)price_of(pipeline->target->price, used) / MICROS_IN_USD;
            span_double(span, "gen_ai.usage.cost", usd);
            span_double(span, "langsmith.metadata.cost_usd", usd);
        }
    }
    if (pipeline->origin && pipeline->origin->thread_id[0])
        span_string(span, "gen_ai.conversation.id", pipeline->origin->thread_id);
    if (pipeline->kind->describe)
        pipeline->kind->describe(pipeline, span);
    pipeline_content_describe(pipeline, span);
    if (code != OK) {
        span_string(span, "error.type", status_code_name((int)code));
        span_error(span, pipeline->failure.status.text);
    }
    span_end(&span);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void pipeline_record_attempt(struct pipeline *pipeline, enum status_code code)
{
    struct pipeline_metrics *own = pipeline->gateway->metrics;
    struct target_series *series = &pipeline_telemetry_series_of(own, pipeline)->targets[pipeline->target_index];
    unsigned loop = loop_index(rpc_call_loop(pipeline->call));
    if (series->attempts[code] == NONE)
        series->attempts[code] = metrics_series(
            own->families[ATTEMPTS], (const char *[]){pipeline->target->deployment->name, status_code_name((int)code)});
    metrics_add(own->metrics, loop, series->attempts[code], 1);
    record(own, pipeline, code);
    pipeline_content_log(pipeline);
    const Renga__V1__Usage *used = pipeline->kind->used(pipeline);
    if (!used)
        return;
    if (series->input == NONE) {
        const char *model = pipeline->route->name, *deployment = pipeline->target->deployment->name;
        series->input = metrics_series(own->families[TOKENS], (const char *[]){model, deployment, "input"});
        series->output = metrics_series(own->families[TOKENS], (const char *[]){model, deployment, "output"});
        series->cost = metrics_series(own->families[COST], (const char *[]){model, deployment});
    }
    metrics_add(own->metrics, loop, series->input, used->input_tokens);
    metrics_add(own->metrics, loop, series->output, used->output_tokens);
    if (pipeline->target->price)
        metrics_add(own->metrics, loop, series->cost, price_of(pipeline->target->price, used));
}

void pipeline_record_end(struct pipeline *pipeline, enum status_code code)
{
    struct pipeline_metrics *own = pipeline->gateway->metrics;
    struct route_series *series = pipeline_telemetry_series_of(own, pipeline);
    unsigned loop = loop_index(rpc_call_loop(pipeline->call));
    int64_t now_ns = clock_now_ns();
    if (series->calls[code] == NONE)
        series->calls[code] =
            metrics_series(own->families[CALLS], (const char *[]){pipeline->route->name, pipeline->kind->operation,
                                                                  status_code_name((int)code)});
    metrics_add(own->metrics, loop, series->calls[code], 1);
    metrics_observe(own->metrics, loop, &rows[DURATION], series->duration, now_ns - pipeline->began_ns);
    if (pipeline->first_ns)
        metrics_observe(own->metrics, loop, &rows[FIRST_TOKEN], series->first_token,
                        pipeline->first_ns - pipeline->began_ns);
}
