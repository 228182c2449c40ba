/* The series of a method and a status is looked up when it first occurs in this loop; after that it is a load and a
 * store. */
#include "edge_metrics.h"

#include "base/memory.h"
#include "loop/loop.h"
#include "sessions.h"
#include "telemetry/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 160
#define STATUS_FIRST   200
#define STATUS_END     600
#define PATHS_MAX      16 /* of the edge's own, and the console */
#define NONE           UINT32_MAX

static const struct metric requests_row = {.name = "renga_edge_requests_total",
                                           .help = "Requests by method and HTTP status.",
                                           .labels = {"method", "code"},
                                           .series_max = 4000};
static const struct metric streams_row = {
    .name = "renga_edge_streams", .help = "Streams that are open.", .kind = METRIC_GAUGE};
static const struct metric sent_row = {.name = "renga_edge_sent_bytes_total",
                                       .help = "Bytes of bodies and events, as they are sent."};
static const struct metric received_row = {.name = "renga_edge_received_bytes_total", .help = "Bytes of bodies."};
static const struct metric cut_row = {.name = "renga_edge_streams_cut_total",
                                      .help = "Streams that ended by the event gap, by its reason.",
                                      .labels = {"reason"}};
static const struct metric origins_row = {.name = "renga_edge_origins_refused_total",
                                          .help = "Requests from pages of other sites that were refused."};
static const struct metric sessions_row = {.name = "renga_edge_sessions",
                                           .help =
                                               "Sessions of browsers that this process keeps, sealed ones left out.",
                                           .kind = METRIC_GAUGE};

/* Series by status. */
struct method_codes {
    uint32_t series[STATUS_END - STATUS_FIRST];
};

struct edge_metrics {
    struct metrics *metrics;
    unsigned loop;
    struct metric_family *requests, *cut;
    uint32_t streams, sent, received, origins;
    const char *paths[PATHS_MAX]; /* the first is "none" */
    struct method_codes *of_paths[PATHS_MAX];
    struct method_codes **of_routes; /* NULL: not seen yet */
};

static uint32_t edge_metrics_single(struct metrics *metrics, const struct metric *row)
{
    return metrics_series(metrics_register(metrics, row), (const char *[]){NULL});
}

struct edge_metrics *edge_metrics_create(struct metrics *metrics, struct loop *loop)
{
    if (!metrics)
        return NULL;
    struct edge_metrics *edge_metrics = xcalloc(1, sizeof *edge_metrics);
    *edge_metrics = (struct edge_metrics){
        .metrics = metrics,
        .loop = loop_index(loop),
        .requests = metrics_register(metrics, &requests_row),
        .cut = metrics_register(metrics, &cut_row),
        .streams = edge_metrics_single(metrics, &streams_row),
        .sent = edge_metrics_single(metrics, &sent_row),
        .received = edge_metrics_single(metrics, &received_row),
        .origins = edge_metrics_single(metrics, &origins_row),
        .paths = {"none"},
        .of_routes = xcalloc(edge_route_count, sizeof *edge_metrics->of_routes),
    };
    return edge_metrics;
}

void edge_metrics_destroy(struct edge_metrics **edge_metrics_pointer)
{
    struct edge_metrics *edge_metrics = *edge_metrics_pointer;
    if (!edge_metrics)
        return;
    *edge_metrics_pointer = NULL;
    for (size_t i = 0; i < edge_route_count; i++)
        free(edge_metrics->of_routes[i]);
    for (size_t i = 0; i < PATHS_MAX; i++)
        free(edge_metrics->of_paths[i]);
    free(edge_metrics->of_routes);
    free(edge_metrics);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

void edge_metrics_name_route(struct http_request *request, const struct edge_route *route)
{
    http_request_set_subject(request, route);
}

void edge_metrics_name_path(struct http_request *request, const char *path)
{
    http_request_set_subject(request, path);
}

/* The route that the subject of a request is; NULL: it is a text. */
static const struct edge_route *edge_metrics_route(const void *subject)
{
    uintptr_t at = (uintptr_t)subject, first = (uintptr_t)edge_routes;
    return at >= first && at < first + edge_route_count * sizeof *edge_routes ? subject : NULL;
}

/* The place for the series of a path; those beyond PATHS_MAX count as "none". */
static struct method_codes **edge_metrics_of_path(struct edge_metrics *edge_metrics, const char *path)
{
    for (size_t i = 1; path && i < PATHS_MAX; i++) {
        if (!edge_metrics->paths[i])
            edge_metrics->paths[i] = path;
        if (strcmp(edge_metrics->paths[i], path) == 0)
            return &edge_metrics->of_paths[i];
    }
    return &edge_metrics->of_paths[0];
}

static uint32_t edge_metrics_request_series(struct edge_metrics *edge_metrics, const void *subject, int http_status)
{
    const struct edge_route *route = edge_metrics_route(subject);
    struct method_codes **codes =
        route ? &edge_metrics->of_routes[route - edge_routes] : edge_metrics_of_path(edge_metrics, subject);
    char name[NAME_MAX_BYTES], code[16];
    if (!*codes) {
        *codes = xmalloc(sizeof **codes);
        memset(*codes, 0xff, sizeof **codes);
    }
    uint32_t *series = &(*codes)->series[http_status - STATUS_FIRST];
    if (*series != NONE)
        return *series;
    if (route)
        snprintf(name, sizeof name, "%s/%s", route->service->name, route->method);
    else
        snprintf(name, sizeof name, "%s", edge_metrics->paths[codes - edge_metrics->of_paths]);
    snprintf(code, sizeof code, "%d", http_status);
    return *series = metrics_series(edge_metrics->requests, (const char *[]){name, code});
}

void edge_metrics_answered(struct edge_metrics *edge_metrics, const struct http_request *request, int http_status,
                           size_t size)
{
    size_t received;
    if (!edge_metrics || http_status < STATUS_FIRST || http_status >= STATUS_END)
        return;
    uint32_t series = edge_metrics_request_series(edge_metrics, http_request_subject(request), http_status);
    http_request_body(request, &received);
    metrics_add(edge_metrics->metrics, edge_metrics->loop, series, 1);
    metrics_add(edge_metrics->metrics, edge_metrics->loop, edge_metrics->received, (int64_t)received);
    if (size != SIZE_MAX && strcmp(http_request_method(request), "HEAD") != 0)
        edge_metrics_streamed(edge_metrics, size);
}

/* ---- streams, origins, sessions ---------------------------------------------------------------------------------- */

static void edge_metrics_count(struct edge_metrics *edge_metrics, uint32_t series, int64_t n)
{
    metrics_add(edge_metrics->metrics, edge_metrics->loop, series, n);
}

void edge_metrics_stream_opened(struct edge_metrics *edge_metrics)
{
    if (edge_metrics)
        edge_metrics_count(edge_metrics, edge_metrics->streams, 1);
}

void edge_metrics_stream_closed(struct edge_metrics *edge_metrics)
{
    if (edge_metrics)
        edge_metrics_count(edge_metrics, edge_metrics->streams, -1);
}

void edge_metrics_streamed(struct edge_metrics *edge_metrics, size_t bytes)
{
    if (edge_metrics)
        edge_metrics_count(edge_metrics, edge_metrics->sent, (int64_t)bytes);
}

void edge_metrics_cut(struct edge_metrics *edge_metrics, const char *reason)
{
    if (edge_metrics)
        edge_metrics_count(edge_metrics, metrics_series(edge_metrics->cut, (const char *[]){reason}), 1);
}

void edge_metrics_origin_refused(struct edge_metrics *edge_metrics)
{
    if (edge_metrics)
        edge_metrics_count(edge_metrics, edge_metrics->origins, 1);
}

static void edge_metrics_collect_sessions(struct buffer *out, void *data)
{
    metrics_show(out, &sessions_row, NULL, (double)sessions_count(data));
}

void edge_metrics_show_sessions(struct metrics *metrics, struct sessions *sessions)
{
    if (metrics)
        metrics_collect(metrics, edge_metrics_collect_sessions, NULL, sessions);
}
