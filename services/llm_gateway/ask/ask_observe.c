/* A series is looked up when its model or deployment is first met in the loop; after that counting is a few stores. */
#include "ask_observe.h"

#include "accounts/price.h"
#include "ask_content.h"
#include "ask_priv.h"
#include "base/clock.h"
#include "base/log.h"
#include "edition.h"
#include "provider/provider.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"

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

struct ask_metrics {
    struct metrics *metrics;
    struct spans *spans;
    struct metric_family *families[FAMILIES];
};

struct ask_series {
    size_t route_count;
    struct route_series *routes[]; /* NULL until it is met */
};

struct ask_metrics *ask_metrics_create(struct metrics *metrics, struct spans *spans)
{
    struct ask_metrics *own = calloc(1, sizeof *own);
    if (!own)
        fatal("llm_gateway.memory", "no memory for metrics");
    own->metrics = metrics;
    own->spans = spans;
    for (int i = 0; i < FAMILIES; i++)
        own->families[i] = metrics_register(metrics, &rows[i]);
    return own;
}

void ask_metrics_destroy(struct ask_metrics **metrics)
{
    free(*metrics);
    *metrics = NULL;
}

struct ask_series *ask_series_create(const struct routes *routes)
{
    size_t count = routes_count(routes);
    struct ask_series *series = calloc(1, sizeof *series + count * sizeof *series->routes);
    if (!series)
        fatal("llm_gateway.memory", "no memory for the metrics of %zu models", count);
    series->route_count = count;
    return series;
}

void ask_series_destroy(struct ask_series **series_pointer)
{
    struct ask_series *series = *series_pointer;
    if (!series)
        return;
    *series_pointer = NULL;
    for (size_t i = 0; i < series->route_count; i++)
        free(series->routes[i]);
    free(series);
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

static struct route_series *series_of(struct ask_metrics *own, const struct ask *ask)
{
    const struct route *route = ask->route;
    struct route_series **place = &ask->use->series->routes[route->index], *series = *place;
    if (series)
        return series;
    size_t size = sizeof *series + route->target_count * sizeof *series->targets;
    series = *place = malloc(size);
    if (!series)
        fatal("llm_gateway.memory", "no memory for the metrics of a model");
    memset(series, 0xFF, size); /* NONE everywhere */
    series->duration = metrics_series(own->families[DURATION], (const char *[]){route->name, ask->kind->operation});
    series->first_token = metrics_series(own->families[FIRST_TOKEN], (const char *[]){route->name});
    return series;
}

static void look_up(struct ask_metrics *own, const struct ask *ask, struct target_series *series)
{
    const char *model = ask->route->name, *deployment = ask->target->deployment->name;
    series->input = metrics_series(own->families[TOKENS], (const char *[]){model, deployment, "input"});
    series->output = metrics_series(own->families[TOKENS], (const char *[]){model, deployment, "output"});
    series->cost = metrics_series(own->families[COST], (const char *[]){model, deployment});
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static void record_usage(struct span *span, const Renga__V1__Usage *used, const struct price *price)
{
    span_int(span, "gen_ai.usage.input_tokens", used->input_tokens);
    span_int(span, "gen_ai.usage.output_tokens", used->output_tokens);
    span_int(span, "gen_ai.usage.total_tokens", used->input_tokens + used->output_tokens);
    if (used->reasoning_tokens)
        span_int(span, "gen_ai.usage.details.reasoning_tokens", used->reasoning_tokens);
    if (price) {
        double usd = (double)price_of(price, used) / MICROS_IN_USD;
        span_double(span, "gen_ai.usage.cost", usd);
        span_double(span, "langsmith.metadata.cost_usd", usd);
    }
}

static void record(const struct ask_metrics *own, struct ask *ask, enum status_code code)
{
    struct trace_context trace;
    const struct trace_context *parent = rpc_call_trace(ask->call);
    if (!own->spans || !parent->sampled)
        return;
    char name[SPAN_NAME_MAX];
    const struct deployment *deployment = ask->target->deployment;
    const Renga__V1__Usage *used = ask->kind->used(ask);
    const char *model = ask->kind->model(ask);
    snprintf(name, sizeof name, "%s %s", ask->kind->operation, ask->target->model);
    trace_child(&trace, parent);
    struct span *span = span_start(own->spans, &trace, name, SPAN_CLIENT);
    span_set_began(span, ask->asked_ns);
    span_string(span, "gen_ai.operation.name", ask->kind->operation);
    span_set_role(span, strcmp(ask->kind->operation, "chat") == 0 ? SPAN_LLM : SPAN_EMBEDDING);
    span_string(span, "gen_ai.provider.name", deployment->provider->name);
    span_string(span, "gen_ai.system", deployment->provider->name); /* the older name, which LangSmith reads */
    span_string(span, "gen_ai.request.model", ask->target->model);
    const struct http_url *way = ask->kind->way(deployment);
    if (way)
        span_string(span, "server.address", http_url_host(way));
    span_string(span, "renga.deployment", deployment->name);
    if (model[0])
        span_string(span, "gen_ai.response.model", model);
    if (used)
        record_usage(span, used, ask->target->price);
    if (ask->origin && ask->origin->thread_id[0])
        span_string(span, "gen_ai.conversation.id", ask->origin->thread_id);
    if (ask->kind->describe)
        ask->kind->describe(ask, span);
    ask_content_describe(ask, span);
    if (code != OK) {
        span_string(span, "error.type", status_code_name((int)code));
        span_error(span, ask->failure.status.text);
    }
    span_end(&span);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

void ask_observe_attempt(struct ask *ask, enum status_code code)
{
    struct ask_metrics *own = ask->gateway->metrics;
    struct target_series *series = &series_of(own, ask)->targets[ask->target_index];
    unsigned loop = loop_index(rpc_call_loop(ask->call));
    if (series->attempts[code] == NONE)
        series->attempts[code] = metrics_series(
            own->families[ATTEMPTS], (const char *[]){ask->target->deployment->name, status_code_name((int)code)});
    metrics_add(own->metrics, loop, series->attempts[code], 1);
    record(own, ask, code);
    ask_content_log(ask);
    const Renga__V1__Usage *used = ask->kind->used(ask);
    if (!used)
        return;
    if (series->input == NONE)
        look_up(own, ask, series);
    metrics_add(own->metrics, loop, series->input, used->input_tokens);
    metrics_add(own->metrics, loop, series->output, used->output_tokens);
    if (ask->target->price)
        metrics_add(own->metrics, loop, series->cost, price_of(ask->target->price, used));
}

void ask_observe_end(struct ask *ask, enum status_code code)
{
    struct ask_metrics *own = ask->gateway->metrics;
    struct route_series *series = series_of(own, ask);
    unsigned loop = loop_index(rpc_call_loop(ask->call));
    int64_t now_ns = clock_now_ns();
    if (series->calls[code] == NONE)
        series->calls[code] =
            metrics_series(own->families[CALLS],
                           (const char *[]){ask->route->name, ask->kind->operation, status_code_name((int)code)});
    metrics_add(own->metrics, loop, series->calls[code], 1);
    metrics_observe(own->metrics, loop, &rows[DURATION], series->duration, now_ns - ask->began_ns);
    if (ask->first_ns)
        metrics_observe(own->metrics, loop, &rows[FIRST_TOKEN], series->first_token, ask->first_ns - ask->began_ns);
}
