/* W3C trace context (https://www.w3.org/TR/trace-context/): which trace a piece of work belongs to.
 * Here is only the identity; spans are made and exported by shared/telemetry. */
#ifndef RENGA_BASE_TRACE_H
#define RENGA_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACEPARENT_LENGTH 55 /* characters, without a NUL */
#define TRACESTATE_LENGTH  22 /* of our member of a tracestate, "renga=" and a span id, without a NUL */

struct trace_context {
    uint8_t trace_id[16]; /* all zero: no trace */
    uint8_t span_id[8];   /* this piece of work */
    uint8_t parent_id[8]; /* the piece that asked for it; all zero at the root */
    bool sampled;
    /* At the root of a trace that a call from outside has caused: the trace and the span of the caller. All zero: no
     * link. */
    uint8_t link_trace_id[16], link_span_id[8];
};

/* False for the zeroed context. */
bool trace_is_set(const struct trace_context *trace);

/* Reads a traceparent: takes over the trace and flags, makes its span our parent and draws a new span id. False for an
 * invalid header, which leaves `trace` unchanged. Unknown higher versions are read as version 00. */
bool trace_continue(struct trace_context *trace, const char *traceparent, size_t length);

/* A new trace with no parent. */
void trace_begin(struct trace_context *trace, bool sampled);

/* A span below `parent` in the same trace; a root if the span id of `parent` is zero. */
void trace_child(struct trace_context *trace, const struct trace_context *parent);

/* A new trace with no parent, linked to the span that has sent `caller`'s traceparent (trace_continue). */
void trace_begin_linked(struct trace_context *trace, const struct trace_context *caller, bool sampled);

/* Writes the traceparent that `trace`'s own span hands on, NUL-terminated. */
void trace_format(const struct trace_context *trace, char traceparent[TRACEPARENT_LENGTH + 1]);

/* A tracestate lists the last span of the trace in each system. Our member names the last span of this suite: it marks
 * a traceparent from one of our services, whose spans go to the same collector. Reads our member of a list of at most
 * 512 bytes; false if it is missing. */
bool trace_state_read(const char *tracestate, size_t length, uint8_t span_id[8]);

/* Writes our member for `trace`'s own span, NUL-terminated. */
void trace_state_format(const struct trace_context *trace, char tracestate[TRACESTATE_LENGTH + 1]);

/* Lower-case hexadecimal with NUL: `out` has 2 × size + 1 bytes. */
void trace_hex(const uint8_t *id, size_t size, char *out);

#endif
