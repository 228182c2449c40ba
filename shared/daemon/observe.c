#include "daemon/observe.h"

#include "base/log.h"
#include "base/memory.h"
#include "http/server.h"
#include "rpc/schema.h"
#include "telemetry/loops.h"
#include "telemetry/otlp.h"
#include "telemetry/pages.h"
#include "telemetry/process.h"
#include "telemetry/rpc_metrics.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLUSH_MS             1000 /* the time for spans at the end */
#define HTTP_DRAIN_MS        500
#define DELAY_MIN_MS         10
#define DELAY_MAX_MS         60000
#define PAGE_CONNECTIONS_MAX 256
#define PAGE_BODY_MAX        1024 /* bytes: pages are only read */

struct observation {
    const struct config *config;
    const char *name;
    struct loop *loop; /* of exporter and pages */
    struct loop *const *loops;
    unsigned loop_count;
    struct metrics *metrics;
    struct spans *spans; /* NULL: no traces */
    struct otlp *otlp;
    struct rpc_metrics *rpc;
    struct http_server *http;
    struct pages pages;
    _Atomic(const char *) not_ready; /* NULL: ready */
};

static const char *why_not_ready(void *data)
{
    struct observation *observation = data;
    return atomic_load(&observation->not_ready);
}

/* The option, else the variable that OpenTelemetry's own libraries read. */
static const char *endpoint_of(const struct config *config, bool *whole)
{
    const char *endpoint = config_string(config, "trace.endpoint");
    const char *traces = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    *whole = !endpoint && traces && *traces;
    if (*whole)
        return traces;
    const char *common = getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
    return endpoint ? endpoint : common && *common ? common : NULL;
}

/* The option, else the variable of OpenTelemetry's own libraries: "http/protobuf" or "http/json". */
static const char *protocol_of(const struct config *config)
{
    const char *traces = getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), *common = getenv("OTEL_EXPORTER_OTLP_PROTOCOL");
    const char *variable = traces && *traces ? traces : common ? common : "";
    const char *option = config_string(config, "trace.protocol");
    if (strcmp(option, "auto") != 0)
        return option;
    return strcmp(variable, "http/protobuf") == 0 ? "protobuf" : "json";
}

/* The longest that a span waits for others, of OpenTelemetry's own libraries; 0: our own default. */
static int64_t delay_of_environment(void)
{
    const char *text = getenv("OTEL_BSP_SCHEDULE_DELAY");
    char *end;
    long long ms = text && *text ? strtoll(text, &end, 10) : 0;
    return ms >= DELAY_MIN_MS && ms <= DELAY_MAX_MS && !*end ? ms : 0;
}

static bool roots_are_runs(const struct observation *observation)
{
    return strcmp(config_string(observation->config, "trace.roots"), "runs") == 0;
}

static bool start_traces(struct observation *observation, struct http_client *http, struct status *st)
{
    struct otlp_options options = {
        .headers = config_string(observation->config, "trace.headers"),
        .protobuf = strcmp(protocol_of(observation->config), "protobuf") == 0,
        .interval_ms = delay_of_environment(),
        .service = observation->name,
        .resource = getenv("OTEL_RESOURCE_ATTRIBUTES"),
    };
    options.endpoint = endpoint_of(observation->config, &options.endpoint_is_whole);
    if (!options.headers)
        options.headers = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    if (!options.endpoint)
        return true;
    observation->spans = spans_create(0);
    spans_configure(observation->spans, roots_are_runs(observation) ? SPANS_ROOTS_RUNS : SPANS_ROOTS_CALLS,
                    (uint32_t)config_integer(observation->config, "trace.samples_per_million"));
    loop_enter(observation->loop);
    observation->otlp = otlp_create(observation->loop, http, observation->spans, &options, st);
    loop_leave(observation->loop);
    if (!observation->otlp)
        return false;
    otlp_metrics_add(observation->metrics, observation->spans, observation->otlp);
    return true;
}

struct observation *observation_start(const char *name, const struct config *config, struct loop *const *loops,
                                      struct http_client *const *http, unsigned loop_count,
                                      const struct rpc_schema *schema, struct status *st)
{
    struct observation *observation = xcalloc(1, sizeof *observation);
    observation->name = name;
    observation->config = config;
    observation->loop = loops[0];
    observation->loops = loops;
    observation->loop_count = loop_count;
    observation->metrics = metrics_create(loop_count);
    observation->pages =
        (struct pages){.metrics = observation->metrics, .not_ready = why_not_ready, .data = observation};
    atomic_store(&observation->not_ready, "starting");
    process_metrics_add(observation->metrics, name);
    loop_metrics_add(observation->metrics, loops, loop_count);
    if (!start_traces(observation, http[0], st)) {
        observation_stop(&observation);
        return NULL;
    }
    size_t count = rpc_schema_method_count(schema);
    struct rpc_metrics_method *methods = xcalloc(count + 1, sizeof *methods);
    for (size_t i = 0; i < count; i++) {
        const struct rpc_method *method = rpc_schema_method(schema, i);
        methods[i] = (struct rpc_metrics_method){.service = method->service, .method = method->name};
    }
    observation->rpc = rpc_metrics_create(observation->metrics, observation->spans, methods, count);
    free(methods);
    struct rpc_observer *observer = rpc_metrics_observer(observation->rpc);
    if (observation->spans) {
        observer->records = true;
        observer->samples_per_million = (uint32_t)config_integer(observation->config, "trace.samples_per_million");
        observer->traces_runs = roots_are_runs(observation);
    }
    rpc_observe(observer);
    return observation;
}

struct metrics *observation_metrics(struct observation *observation)
{
    return observation->metrics;
}

struct spans *observation_spans(struct observation *observation)
{
    return observation->spans;
}

bool observation_serve(struct observation *observation, struct status *st)
{
    const char *listen = config_string(observation->config, "http.listen");
    if (listen && *listen && strcmp(listen, "off") != 0) {
        struct http_server_options options = {
            .listen = listen,
            .connections_max = PAGE_CONNECTIONS_MAX,
            .connections_per_address = PAGE_CONNECTIONS_MAX / 4,
            .body_max = PAGE_BODY_MAX,
            .keyless = true,
            .hosts = config_string(observation->config, "http.hosts"),
        };
        loop_enter(observation->loop);
        observation->http = http_server_create(observation->loop, &options, st);
        if (observation->http)
            pages_serve(observation->http, &observation->pages);
        loop_leave(observation->loop);
        if (!observation->http)
            return fail(st, st->code, "%s; free the address, or choose another by http.listen", st->text);
        log_info("http.listening", "metrics and probes on %s, port %d", listen, http_server_port(observation->http));
    }
    atomic_store(&observation->not_ready, NULL);
    return true;
}

void observation_not_ready(struct observation *observation, const char *reason)
{
    atomic_store(&observation->not_ready, reason);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void observe_over(void *data)
{
    sem_post(data);
}

/* Waits a little longer than the limit of the awaited work. */
static void wait_over(sem_t *done, int64_t limit_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit_ms / 1000 + 1;
    sem_timedwait(done, &until);
}

static void stop_pages(struct observation *observation)
{
    sem_t done;
    sem_init(&done, 0, 0);
    loop_enter(observation->loop);
    http_server_stop(observation->http, HTTP_DRAIN_MS, observe_over, &done);
    loop_leave(observation->loop);
    wait_over(&done, HTTP_DRAIN_MS);
    loop_enter(observation->loop);
    http_server_destroy(&observation->http);
    loop_leave(observation->loop);
    sem_destroy(&done);
}

void observation_stop(struct observation **observation_pointer)
{
    struct observation *observation = *observation_pointer;
    if (!observation)
        return;
    *observation_pointer = NULL;
    rpc_observe(NULL);
    if (observation->http)
        stop_pages(observation);
    if (observation->otlp) {
        sem_t done;
        sem_init(&done, 0, 0);
        loop_enter(observation->loop);
        otlp_flush(observation->otlp, FLUSH_MS, observe_over, &done);
        loop_leave(observation->loop);
        wait_over(&done, FLUSH_MS);
        loop_enter(observation->loop);
        otlp_destroy(&observation->otlp);
        loop_leave(observation->loop);
        sem_destroy(&done);
    }
    loop_metrics_remove(observation->loops, observation->loop_count);
    rpc_metrics_destroy(&observation->rpc);
    metrics_destroy(&observation->metrics);
    spans_destroy(&observation->spans);
    free(observation);
}
