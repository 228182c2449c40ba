/* Each loop has its own table of series numbers, by side, method and code; a number is looked up when its call first
 * happens there. After that a call costs a handful of loads and stores. */
#include "telemetry/rpc_metrics.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX /* a series that was not looked up yet */

#define MS INT64_C(1000000)

/* From a call within the process to a long agent run. */
static const int64_t duration_bounds_ns[] = {
    MS / 10,  MS / 4,   MS / 2,    MS,        5 * MS / 2, 5 * MS,     10 * MS,    25 * MS,    50 * MS,     100 * MS,
    250 * MS, 500 * MS, 1000 * MS, 2500 * MS, 5000 * MS,  10000 * MS, 30000 * MS, 60000 * MS, 300000 * MS,
};

enum series_kind { STARTED, IN_FLIGHT, DURATION, RECEIVED, SENT, SERIES_KINDS };

#define BY_METHOD .labels = {"grpc_service", "grpc_method"}
#define BY_CODE   .labels = {"grpc_service", "grpc_method", "grpc_code"}
#define DURATIONS                                                                                                      \
    .kind = METRIC_HISTOGRAM, .bounds = duration_bounds_ns,                                                            \
    .bound_count = sizeof duration_bounds_ns / sizeof *duration_bounds_ns, .scale = 1e-9

static const struct metric rows[RPC_SIDES][SERIES_KINDS] = {
    [RPC_SERVER] =
        {
            [STARTED] = {.name = "grpc_server_started_total", .help = "Calls that arrived.", BY_METHOD},
            [IN_FLIGHT] =
                {.name = "grpc_server_in_flight", .help = "Calls being handled.", .kind = METRIC_GAUGE, BY_METHOD},
            [DURATION] =
                {.name = "grpc_server_handling_seconds", .help = "From arrival to the end.", DURATIONS, BY_METHOD},
            [RECEIVED] = {.name = "grpc_server_received_bytes_total", .help = "Bytes of requests.", BY_METHOD},
            [SENT] = {.name = "grpc_server_sent_bytes_total", .help = "Bytes of responses.", BY_METHOD},
        },
    [RPC_CLIENT] =
        {
            [STARTED] = {.name = "grpc_client_started_total", .help = "Calls that were made.", BY_METHOD},
            [IN_FLIGHT] =
                {.name = "grpc_client_in_flight", .help = "Calls under way.", .kind = METRIC_GAUGE, BY_METHOD},
            [DURATION] =
                {.name = "grpc_client_handling_seconds", .help = "From the start to the end.", DURATIONS, BY_METHOD},
            [RECEIVED] = {.name = "grpc_client_received_bytes_total", .help = "Bytes of responses.", BY_METHOD},
            [SENT] = {.name = "grpc_client_sent_bytes_total", .help = "Bytes of requests.", BY_METHOD},
        },
};

static const struct metric handled_rows[RPC_SIDES] = {
    [RPC_SERVER] = {.name = "grpc_server_handled_total", .help = "Calls that ended, by status.", BY_CODE},
    [RPC_CLIENT] = {.name = "grpc_client_handled_total", .help = "Calls that ended, by status.", BY_CODE},
};

/* The series of a method on one side, in a single loop. */
struct method_series {
    uint32_t of[SERIES_KINDS];
    uint32_t handled[STATUS_CODES_COUNT];
};

struct rpc_metrics {
    struct rpc_observer observer;
    struct metrics *metrics;
    struct spans *spans;
    struct rpc_metrics_method *methods; /* the last is "unknown" */
    size_t method_count;                /* without it */
    struct metric_family *families[RPC_SIDES][SERIES_KINDS], *handled[RPC_SIDES];
    struct method_series **loops; /* [loop][side × methods + method] */
};

static struct method_series *rpc_metrics_series_of(struct rpc_metrics *rpc, unsigned loop, enum rpc_side side,
                                                   unsigned method_id)
{
    size_t method = method_id < rpc->method_count ? method_id : rpc->method_count;
    struct method_series *series = &rpc->loops[loop][(size_t)side * (rpc->method_count + 1) + method];
    if (series->of[STARTED] != NONE)
        return series;
    const char *labels[] = {rpc->methods[method].service, rpc->methods[method].method};
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        series->of[kind] = metrics_series(rpc->families[side][kind], labels);
    return series;
}

static uint32_t handled_of(struct rpc_metrics *rpc, struct method_series *series, const struct rpc_ended *ended)
{
    unsigned code = (unsigned)ended->code < STATUS_CODES_COUNT ? (unsigned)ended->code : UNKNOWN;
    if (series->handled[code] == NONE) {
        size_t method = ended->method_id < rpc->method_count ? ended->method_id : rpc->method_count;
        const char *labels[] = {rpc->methods[method].service, rpc->methods[method].method, status_code_name((int)code)};
        series->handled[code] = metrics_series(rpc->handled[ended->side], labels);
    }
    return series->handled[code];
}

static void call_began(struct rpc_observer *observer, unsigned loop, enum rpc_side side, unsigned method_id)
{
    struct rpc_metrics *rpc = (struct rpc_metrics *)observer;
    struct method_series *series = rpc_metrics_series_of(rpc, loop, side, method_id);
    metrics_add(rpc->metrics, loop, series->of[STARTED], 1);
    metrics_add(rpc->metrics, loop, series->of[IN_FLIGHT], 1);
}

/* As OpenTelemetry's conventions judge: a server's span is an error if the fault may be the server's. */
static bool is_error(const struct rpc_ended *ended)
{
    if (ended->side == RPC_CLIENT)
        return ended->code != OK;
    switch (ended->code) {
    case UNKNOWN:
    case DEADLINE_EXCEEDED:
    case UNIMPLEMENTED:
    case INTERNAL:
    case UNAVAILABLE:
    case DATA_LOSS:
        return true;
    default:
        return false;
    }
}

/* Probes come each second, for ever, and do not tell about a request. */
static bool is_probe(const char *service)
{
    return strncmp(service, "grpc.health.", 12) == 0 || strncmp(service, "grpc.reflection.", 16) == 0;
}

static void call_ended(struct rpc_observer *observer, unsigned loop, const struct rpc_ended *ended)
{
    struct rpc_metrics *rpc = (struct rpc_metrics *)observer;
    struct method_series *series = rpc_metrics_series_of(rpc, loop, ended->side, ended->method_id);
    metrics_add(rpc->metrics, loop, series->of[IN_FLIGHT], -1);
    metrics_add(rpc->metrics, loop, handled_of(rpc, series, ended), 1);
    metrics_add(rpc->metrics, loop, series->of[RECEIVED], (int64_t)ended->received_bytes);
    metrics_add(rpc->metrics, loop, series->of[SENT], (int64_t)ended->sent_bytes);
    metrics_observe(rpc->metrics, loop, &rows[ended->side][DURATION], series->of[DURATION],
                    ended->ended_ns - ended->began_ns);
    if (rpc->spans && ended->trace && ended->trace->sampled && !is_probe(ended->service)) {
        struct span *span =
            span_start(rpc->spans, ended->trace, "", ended->side == RPC_SERVER ? SPAN_SERVER : SPAN_CLIENT);
        if (span) {
            span_set_began(span, ended->began_ns);
            span_set_rpc(span, ended->service, ended->method, ended->code);
            if (is_error(ended))
                span_error(span, ended->text);
            span_end(&span);
        }
    }
}

struct rpc_metrics *rpc_metrics_create(struct metrics *metrics, struct spans *spans,
                                       const struct rpc_metrics_method *methods, size_t method_count)
{
    struct rpc_metrics *rpc = xcalloc(1, sizeof *rpc);
    size_t series_count = RPC_SIDES * (method_count + 1);
    rpc->methods = xcalloc(method_count + 1, sizeof *rpc->methods);
    rpc->loops = xcalloc(metrics->loop_count, sizeof(*rpc->loops));
    rpc->observer = (struct rpc_observer){.began = call_began, .ended = call_ended};
    rpc->metrics = metrics;
    rpc->spans = spans;
    if (method_count)
        memcpy(rpc->methods, methods, method_count * sizeof *methods);
    rpc->methods[method_count] = (struct rpc_metrics_method){"unknown", "unknown"};
    rpc->method_count = method_count;
    for (int side = 0; side < RPC_SIDES; side++) {
        rpc->handled[side] = metrics_register(metrics, &handled_rows[side]);
        for (int kind = 0; kind < SERIES_KINDS; kind++)
            rpc->families[side][kind] = metrics_register(metrics, &rows[side][kind]);
    }
    for (unsigned loop = 0; loop < metrics->loop_count; loop++) {
        rpc->loops[loop] = xmalloc(series_count * sizeof **rpc->loops);
        memset(rpc->loops[loop], 0xff, series_count * sizeof **rpc->loops); /* NONE */
    }
    return rpc;
}

void rpc_metrics_destroy(struct rpc_metrics **rpc_pointer)
{
    struct rpc_metrics *rpc = *rpc_pointer;
    if (!rpc)
        return;
    *rpc_pointer = NULL;
    for (unsigned loop = 0; loop < rpc->metrics->loop_count; loop++)
        free(rpc->loops[loop]);
    free(rpc->loops);
    free(rpc->methods);
    free(rpc);
}

struct rpc_observer *rpc_metrics_observer(struct rpc_metrics *rpc)
{
    return &rpc->observer;
}
