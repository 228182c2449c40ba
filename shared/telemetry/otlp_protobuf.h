/* The body of an export: ExportTraceServiceRequest in protobuf, of the same spans as otlp_json.h. */
#ifndef RENGA_TELEMETRY_OTLP_PROTOBUF_H
#define RENGA_TELEMETRY_OTLP_PROTOBUF_H

#include "base/buffer.h"
#include "telemetry/spans.h"

/* `resource`: as otlp_json_resource has written it. */
void otlp_protobuf_request(struct buffer *out, const char *resource, const struct span *spans);

/* The number that an answer, ExportTraceServiceResponse, says was rejected; 0 if it does not say. Reads O(size). */
uint64_t otlp_protobuf_rejected(const void *answer, size_t size);

#endif
