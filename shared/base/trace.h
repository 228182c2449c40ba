/* W3C trace context (https://www.w3.org/TR/trace-context/): which trace a piece of work belongs to.
 * Here is only the identity; spans are made and exported by shared/telemetry. */
#ifndef RENGA_BASE_TRACE_H
#define RENGA_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEPARENT_LENGTH 55 /* characters, without a NUL */

struct trace_context {
    uint8_t trace_id[16]; /* all zero: no trace */
    uint8_t span_id[8];   /* this piece of work */
    uint8_t parent_id[8]; /* the piece that asked for it; all zero at the root */
    bool sampled;
};

/* Reads a traceparent: the trace and flags are taken over, its span becomes our parent and a new span id is drawn.
 * False where the header is not valid (then `trace` is left alone). Unknown higher versions are read as version 00. */
bool trace_continue(struct trace_context *trace, const char *traceparent, size_t length);

/* A new trace with no parent. */
void trace_begin(struct trace_context *trace, bool sampled);

/* A span below `parent` in the same trace. */
void trace_child(struct trace_context *trace, const struct trace_context *parent);

/* Writes the traceparent that `trace`'s own span hands on, NUL-terminated. */
void trace_format(const struct trace_context *trace, char traceparent[TRACEPARENT_LENGTH + 1]);

/* Lower-case hexadecimal with NUL: `out` has 2 × size + 1 bytes. */
void trace_hex(const uint8_t *id, size_t size, char *out);

#endif
