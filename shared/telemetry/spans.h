/* Spans: the operations of a trace, recorded by the code that executes them and passed to an exporter.
 *
 *      struct span *span = span_start(spans, &trace, "chat gpt-5", SPAN_CLIENT);
 *      span_string(span, "gen_ai.request.model", "gpt-5");
 *      ...
 *      span_end(&span);
 *
 * A trace that is not sampled gives NULL. Every function here accepts NULL and then has no effect, so recording needs
 * no conditions. Recording never waits: if the queue is full, the span is dropped and counted. A span belongs to a
 * single thread at a time; spans of all loops go into one queue. */
#ifndef RENGA_TELEMETRY_SPANS_H
#define RENGA_TELEMETRY_SPANS_H

#include "base/buffer.h"
#include "base/trace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_QUEUE_DEFAULT_MAX 4096        /* spans */
#define SPANS_QUEUE_BYTES_MAX   (32u << 20) /* of all spans in the queue */
#define SPANS_TAKE_BYTES_MAX    (4u << 20)  /* of the spans of a batch; a single span may be larger */
#define SPAN_BYTES_MAX          (64u << 10) /* of a span's attributes and events; the excess is left out */
#define SPAN_NAME_MAX           128         /* bytes, the NUL included */

/* As OTLP numbers them. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CLIENT = 3, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 };

/* The run type of a span in LangSmith's run tree. */
enum span_role { SPAN_CHAIN, SPAN_LLM, SPAN_EMBEDDING, SPAN_TOOL, SPAN_RETRIEVER, SPAN_ROLES };

/* Which spans are roots of traces: those of calls that come from outside, or those of agents' runs (trace.roots). */
enum spans_roots { SPANS_ROOTS_CALLS, SPANS_ROOTS_RUNS };

struct spans;
struct span;

/* `spans` may be NULL: then no span is recorded. */
struct span *span_start(struct spans *spans, const struct trace_context *trace, const char *name, enum span_kind kind);
/* Sets a begin earlier than span_start, on clock_now_ns. */
void span_set_began(struct span *span, int64_t began_ns);
/* Without it, the role is a chain. */
void span_set_role(struct span *span, enum span_role role);
/* Makes it the span of a gRPC call, named and with attributes as conventions have it. They are written out only when
 * the span is sent, so the strings live for ever. */
void span_set_rpc(struct span *span, const char *service, const char *method, int code);

/* Attributes; keys are ours and need no escape. Between span_event and span_event_end they are the event's. */
void span_string(struct span *span, const char *key, const char *value);
void span_text(struct span *span, const char *key, const char *value, size_t length);
void span_strings(struct span *span, const char *key, const char *const *values, size_t count);
void span_int(struct span *span, const char *key, int64_t value);
void span_double(struct span *span, const char *key, double value);
void span_bool(struct span *span, const char *key, bool value);

void span_event(struct span *span, const char *name);
void span_event_end(struct span *span);

/* The work failed: the span's status, and an event "exception". `text` may be "". Without it the status stays unset, as
 * conventions want of success. */
void span_error(struct span *span, const char *text);

/* Ends it now and hands it over. No effect for NULL. */
void span_end(struct span **span);

/* ---- the queue --------------------------------------------------------------------------------------------------- */

struct span {
    struct span *next;
    struct spans *spans;
    struct trace_context trace;
    enum span_kind kind;
    int64_t began_ns, ended_ns; /* since 1970 once it has ended */
    enum span_role role;
    bool error, in_event;
    const char *rpc_service, *rpc_method; /* NULL: no call */
    int rpc_code;
    char name[SPAN_NAME_MAX];
    char text[256];           /* of the error */
    size_t bytes;             /* of SPAN_BYTES_MAX */
    struct buffer attributes; /* KeyValues in OTLP's JSON, with commas between them */
    struct buffer events;     /* Events likewise */
};

struct spans *spans_create(unsigned queue_max);
/* Before spans are recorded: which are roots, and how many of a million traces that begin here are recorded. */
void spans_configure(struct spans *spans, enum spans_roots roots, uint32_t samples_per_million);
enum spans_roots spans_roots(const struct spans *spans); /* CALLS for NULL */
/* Whether a trace with this id is recorded: the same answer in every process with the same share of samples. */
bool spans_sample(const struct spans *spans, const uint8_t trace_id[16]);
/* Drops the queued spans. */
void spans_destroy(struct spans **spans);

/* `waiting` runs, in the thread that ends a span, when `count` have gathered; it runs again only after spans_take. */
void spans_notify(struct spans *spans, unsigned count, void (*waiting)(void *data), void *data);

/* Up to `max` spans, and about SPANS_TAKE_BYTES_MAX, in the order of their end, linked by `next`; NULL if there are no
 * spans. A single thread at a time. */
struct span *spans_take(struct spans *spans, unsigned max, unsigned *count);
void span_destroy(struct span *span);

unsigned spans_queued(const struct spans *spans);
size_t spans_queued_bytes(const struct spans *spans);
uint64_t spans_recorded(const struct spans *spans), spans_dropped(const struct spans *spans);

#endif
