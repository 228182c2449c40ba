/* Metrics of the edge, on the process' page: requests by method and HTTP status, streams, bytes, cut readers, sessions,
 * refused origins. Each instance has its own, and counts from inside its loop. */
#ifndef RENGA_EDGE_EDGE_METRICS_H
#define RENGA_EDGE_EDGE_METRICS_H

#include "http/server.h"
#include "routes.h"

#include <stddef.h>

struct edge_metrics;
struct metrics;
struct sessions;

/* `metrics` is borrowed; NULL: no counts, and the result is NULL, which all functions accept. */
struct edge_metrics *edge_metrics_create(struct metrics *metrics, struct loop *loop);
void edge_metrics_destroy(struct edge_metrics **edge_metrics);

/* The name under which the request is counted: its route, or a path of the edge's own, a static text. Requests without
 * a name are counted as "none". */
void edge_metrics_name_route(struct http_request *request, const struct edge_route *route);
void edge_metrics_name_path(struct http_request *request, const char *path);

/* The answer begins; `size` is SIZE_MAX for a stream, whose bytes are counted by edge_metrics_streamed. */
void edge_metrics_answered(struct edge_metrics *edge_metrics, const struct http_request *request, int http_status,
                           size_t size);

void edge_metrics_stream_opened(struct edge_metrics *edge_metrics);
void edge_metrics_stream_closed(struct edge_metrics *edge_metrics);
void edge_metrics_streamed(struct edge_metrics *edge_metrics, size_t bytes);
/* A stream ends by the event `gap` with this reason: SLOW_READER, OUT_OF_RANGE, TOO_LARGE, OVERLOADED. */
void edge_metrics_cut(struct edge_metrics *edge_metrics, const char *reason);
void edge_metrics_origin_refused(struct edge_metrics *edge_metrics);

/* Shows the number of sessions, once a process; until metrics_uncollect of `sessions`. */
void edge_metrics_show_sessions(struct metrics *metrics, struct sessions *sessions);

#endif
