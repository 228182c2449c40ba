/* The exporter: sends spans to a collector by OTLP/HTTP in JSON or protobuf
 * (https://opentelemetry.io/docs/specs/otlp/).
 *
 * It lives in a single loop and takes the spans of all loops from the queue, in batches, with a single request in
 * flight. Answers 429, 502, 503, 504 and failed connections are tried again within a budget, by Retry-After or with
 * backoff; any other error drops the batch. Meanwhile the queue fills up and then drops; no call waits for a collector.
 */
#ifndef RENGA_TELEMETRY_OTLP_H
#define RENGA_TELEMETRY_OTLP_H

#include "base/status.h"
#include "http/client.h"
#include "loop/loop.h"
#include "telemetry/metrics.h"
#include "telemetry/spans.h"

struct otlp;

struct otlp_options {
    const char *endpoint;   /* "http://collector:4318": /v1/traces is put behind it */
    bool endpoint_is_whole; /* it is the traces' own URL, as in OTEL_EXPORTER_OTLP_TRACES_ENDPOINT */
    const char *headers;    /* "name=value,name=value", values percent-encoded; NULL: no headers. Never logged */
    bool protobuf;          /* the encoding; else JSON */
    const char *service;    /* service.name */
    const char *resource;   /* more attributes of the resource, in the same form as headers; NULL: no more attributes */
    unsigned batch_max;     /* spans; 0: 512 */
    int64_t interval_ms;    /* the longest a span waits for others; 0: 1 s */
    int64_t retry_max_ms;   /* budget for a batch; 0: 30 s */
};

/* From inside the loop. Strings are copied, the rest is borrowed. */
struct otlp *otlp_create(struct loop *loop, struct http_client *client, struct spans *spans,
                         const struct otlp_options *options, struct status *st);

/* Sends the queued spans, without retries; `flushed` runs once, when the queue is empty or `limit_ms` over.
 */
void otlp_flush(struct otlp *otlp, int64_t limit_ms, void (*flushed)(void *data), void *data);

/* From inside the loop, when no span is ended any more. Unsent spans are lost. */
void otlp_destroy(struct otlp **otlp);

/* renga_spans_{recorded,dropped,exported,failed}_total and renga_spans_queued. `otlp` may be NULL. Both are borrowed as
 * long as the metrics are read. */
void otlp_metrics_add(struct metrics *metrics, const struct spans *spans, const struct otlp *otlp);

#endif
