/* Metrics of the runtime's calls: counts, durations, bytes, calls in flight, and a span for each call whose trace is
 * recorded. The names are those of go-grpc-prometheus, which the usual dashboards know.
 *
 *      grpc_{server,client}_started_total         service, method
 *      grpc_{server,client}_handled_total         service, method, code
 *      grpc_{server,client}_handling_seconds      service, method (histogram)
 *      grpc_{server,client}_in_flight             service, method (gauge)
 *      grpc_{server,client}_received_bytes_total, ..._sent_bytes_total   service, method */
#ifndef RENGA_TELEMETRY_RPC_METRICS_H
#define RENGA_TELEMETRY_RPC_METRICS_H

#include "rpc/observer.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"

struct rpc_metrics;

/* A method by its id in the schema. The strings live for ever. */
struct rpc_metrics_method {
    const char *service, *method;
};

/* `methods` is copied, the rest borrowed; `spans` may be NULL. A method beyond them is counted as "unknown". */
struct rpc_metrics *rpc_metrics_create(struct metrics *metrics, struct spans *spans,
                                       const struct rpc_metrics_method *methods, size_t method_count);
void rpc_metrics_destroy(struct rpc_metrics **rpc);

/* For rpc_observe. */
struct rpc_observer *rpc_metrics_observer(struct rpc_metrics *rpc);

#endif
