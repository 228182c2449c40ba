/* The body of an export: ExportTraceServiceRequest in proto3 JSON. */
#ifndef RENGA_TELEMETRY_OTLP_JSON_H
#define RENGA_TELEMETRY_OTLP_JSON_H

#include "base/buffer.h"
#include "telemetry/spans.h"

/* Attributes of the resource, as they stand between the brackets; `more` is "name=value,…" or NULL. */
void otlp_json_resource(struct buffer *out, const char *service, const char *more);
/* A single span, an object. */
void otlp_json_span(struct buffer *out, const struct span *span);
void otlp_json_request(struct buffer *out, const char *resource, const struct span *spans);

/* Walks "name=value,name=value" with percent-encoded values: calls `each` for every pair that has a name. */
void otlp_pairs(const char *text, void (*each)(void *data, const char *name, const char *value), void *data);

#endif
