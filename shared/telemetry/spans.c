/* The queue is a stack that producers push to, and that the single consumer takes whole and reverses, so no thread ever
 * waits for another. */
#include "telemetry/spans.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "json/writer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MILLION     1000000
#define KEY_SURPLUS 96                   /* bytes around key and value */
#define ESCAPED_MAX (7 * SPAN_BYTES_MAX) /* SPAN_BYTES_MAX are counted before escaping */

struct spans {
    unsigned queue_max;
    _Atomic(struct span *) pushed; /* newest first */
    atomic_uint queued;            /* pushed and taken-but-held ones alike */
    struct span *held;             /* the consumer's, oldest first */
    atomic_size_t queued_bytes;
    enum spans_roots roots;
    uint32_t samples_per_million;
    atomic_uint_fast64_t recorded, dropped;
    unsigned notify_count;
    atomic_bool notified;
    void (*waiting)(void *data);
    void *waiting_data;
};

/* ---- recording --------------------------------------------------------------------------------------------------- */

static void spans_copy_cut(char *to, size_t room, const char *text)
{
    size_t length = text_cut(text, strlen(text), room - 1);
    memcpy(to, text, length);
    to[length] = '\0';
}

struct span *span_start(struct spans *spans, const struct trace_context *trace, const char *name, enum span_kind kind)
{
    if (!spans || !trace || !trace->sampled)
        return NULL;
    struct span *span = malloc(sizeof *span);
    if (!span)
        return NULL;
    *span = (struct span){.spans = spans, .trace = *trace, .kind = kind, .began_ns = clock_now_ns()};
    spans_copy_cut(span->name, sizeof span->name, name);
    buffer_init(&span->attributes, ESCAPED_MAX);
    buffer_init(&span->events, ESCAPED_MAX);
    return span;
}

void span_set_began(struct span *span, int64_t began_ns)
{
    if (span)
        span->began_ns = began_ns;
}

void span_set_role(struct span *span, enum span_role role)
{
    if (span)
        span->role = role;
}

void span_set_rpc(struct span *span, const char *service, const char *method, int code)
{
    if (!span)
        return;
    span->rpc_service = service;
    span->rpc_method = method;
    span->rpc_code = code;
}

void span_error(struct span *span, const char *text)
{
    if (!span)
        return;
    span->error = true;
    spans_copy_cut(span->text, sizeof span->text, text);
}

/* ---- attributes, as the JSON that is sent ------------------------------------------------------------------------ */

static void comma(struct buffer *out)
{
    if (out->length && out->data[out->length - 1] != '[')
        buffer_put(out, ',');
}

/* A value that does not fit is left out whole. */
static struct buffer *value_begin(struct span *span, const char *key, size_t bytes, const char *type)
{
    if (!span)
        return NULL;
    bytes += strlen(key) + KEY_SURPLUS;
    if (bytes > SPAN_BYTES_MAX - span->bytes)
        return NULL;
    span->bytes += bytes;
    struct buffer *out = span->in_event ? &span->events : &span->attributes;
    comma(out);
    buffer_print(out, "{\"key\":\"");
    buffer_print(out, key);
    buffer_print(out, "\",\"value\":{\"");
    buffer_print(out, type);
    buffer_print(out, "\":");
    return out;
}

static void value_end(struct buffer *out)
{
    buffer_append(out, "}}", 2);
}

void span_text(struct span *span, const char *key, const char *value, size_t length)
{
    struct buffer *out = value_begin(span, key, length, "stringValue");
    if (!out)
        return;
    json_append_string(out, value, length);
    value_end(out);
}

void span_string(struct span *span, const char *key, const char *value)
{
    span_text(span, key, value, strlen(value));
}

void span_strings(struct span *span, const char *key, const char *const *values, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(values[i]) + KEY_SURPLUS;
    struct buffer *out = value_begin(span, key, bytes, "arrayValue");
    if (!out)
        return;
    buffer_print(out, "{\"values\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_print(out, i ? ",{\"stringValue\":" : "{\"stringValue\":");
        json_append_string(out, values[i], strlen(values[i]));
        buffer_put(out, '}');
    }
    buffer_print(out, "]}");
    value_end(out);
}

void span_int(struct span *span, const char *key, int64_t value)
{
    struct buffer *out = value_begin(span, key, 24, "intValue");
    if (!out)
        return;
    buffer_printf(out, "\"%lld\"", (long long)value);
    value_end(out);
}

void span_double(struct span *span, const char *key, double value)
{
    struct buffer *out = isfinite(value) ? value_begin(span, key, 32, "doubleValue") : NULL;
    if (!out)
        return;
    buffer_printf(out, "%.17g", value);
    value_end(out);
}

void span_bool(struct span *span, const char *key, bool value)
{
    struct buffer *out = value_begin(span, key, 8, "boolValue");
    if (!out)
        return;
    buffer_print(out, value ? "true" : "false");
    value_end(out);
}

void span_event(struct span *span, const char *name)
{
    if (!span)
        return;
    span_event_end(span);
    size_t bytes = strlen(name) + KEY_SURPLUS;
    if (bytes > SPAN_BYTES_MAX - span->bytes)
        return;
    span->bytes += bytes;
    comma(&span->events);
    buffer_print(&span->events, "{\"name\":");
    json_append_string(&span->events, name, strlen(name));
    buffer_printf(&span->events, ",\"timeUnixNano\":\"%lld\",\"attributes\":[", (long long)clock_wall_ns());
    span->in_event = true;
}

void span_event_end(struct span *span)
{
    if (!span || !span->in_event)
        return;
    buffer_append(&span->events, "]}", 2);
    span->in_event = false;
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

void span_destroy(struct span *span)
{
    buffer_fini(&span->attributes);
    buffer_fini(&span->events);
    free(span);
}

static size_t span_memory(const struct span *span)
{
    return sizeof *span + span->attributes.capacity + span->events.capacity;
}

static void spans_leave_queue(struct spans *spans, unsigned count, size_t bytes)
{
    atomic_fetch_sub_explicit(&spans->queued, count, memory_order_relaxed);
    atomic_fetch_sub_explicit(&spans->queued_bytes, bytes, memory_order_relaxed);
}

void span_end(struct span **span_pointer)
{
    struct span *span = *span_pointer;
    if (!span)
        return;
    *span_pointer = NULL;
    span_event_end(span);
    struct spans *spans = span->spans;
    span->ended_ns = clock_wall_ns();
    span->began_ns += span->ended_ns - clock_now_ns();
    atomic_fetch_add_explicit(&spans->recorded, 1, memory_order_relaxed);
    size_t bytes = span_memory(span),
           all = atomic_fetch_add_explicit(&spans->queued_bytes, bytes, memory_order_relaxed);
    unsigned queued = atomic_fetch_add_explicit(&spans->queued, 1, memory_order_relaxed);
    if (queued >= spans->queue_max || all + bytes > SPANS_QUEUE_BYTES_MAX) {
        spans_leave_queue(spans, 1, bytes);
        atomic_fetch_add_explicit(&spans->dropped, 1, memory_order_relaxed);
        span_destroy(span);
        return;
    }
    struct span *head = atomic_load_explicit(&spans->pushed, memory_order_relaxed);
    do
        span->next = head;
    while (!atomic_compare_exchange_weak_explicit(&spans->pushed, &head, span, memory_order_release,
                                                  memory_order_relaxed));
    if (spans->waiting && queued + 1 >= spans->notify_count &&
        !atomic_exchange_explicit(&spans->notified, true, memory_order_acq_rel))
        spans->waiting(spans->waiting_data);
}

struct span *spans_take(struct spans *spans, unsigned max, unsigned *count)
{
    atomic_store_explicit(&spans->notified, false, memory_order_release);
    struct span **end = &spans->held;
    while (*end)
        end = &(*end)->next;
    struct span *newest = atomic_exchange_explicit(&spans->pushed, NULL, memory_order_acquire), *oldest = NULL;
    while (newest) {
        struct span *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    *end = oldest;

    struct span *first = spans->held, **last = &spans->held;
    unsigned taken = 0;
    size_t bytes = 0;
    for (; *last && taken < max && (!taken || bytes + span_memory(*last) <= SPANS_TAKE_BYTES_MAX); taken++) {
        bytes += span_memory(*last);
        last = &(*last)->next;
    }
    spans->held = *last;
    if (taken)
        *last = NULL;
    spans_leave_queue(spans, taken, bytes);
    *count = taken;
    return taken ? first : NULL;
}

struct spans *spans_create(unsigned queue_max)
{
    struct spans *spans = xcalloc(1, sizeof *spans);
    spans->queue_max = queue_max ? queue_max : SPANS_QUEUE_DEFAULT_MAX;
    spans->samples_per_million = MILLION;
    return spans;
}

void spans_configure(struct spans *spans, enum spans_roots roots, uint32_t samples_per_million)
{
    spans->roots = roots;
    spans->samples_per_million = samples_per_million;
}

enum spans_roots spans_roots(const struct spans *spans)
{
    return spans ? spans->roots : SPANS_ROOTS_CALLS;
}

bool spans_sample(const struct spans *spans, const uint8_t trace_id[16])
{
    uint64_t random;
    memcpy(&random, trace_id + 8, sizeof random); /* W3C: the part that is random, if any is */
    return spans && random % MILLION < spans->samples_per_million;
}

void spans_notify(struct spans *spans, unsigned count, void (*waiting)(void *data), void *data)
{
    spans->notify_count = count;
    spans->waiting_data = data;
    spans->waiting = waiting;
}

void spans_destroy(struct spans **spans_pointer)
{
    struct spans *spans = *spans_pointer;
    if (!spans)
        return;
    *spans_pointer = NULL;
    unsigned count;
    for (struct span *span = spans_take(spans, UINT32_MAX, &count); span;) {
        struct span *next = span->next;
        span_destroy(span);
        span = next;
    }
    free(spans);
}

size_t spans_queued_bytes(const struct spans *spans)
{
    return atomic_load_explicit(&spans->queued_bytes, memory_order_relaxed);
}

unsigned spans_queued(const struct spans *spans)
{
    return atomic_load_explicit(&spans->queued, memory_order_relaxed);
}

uint64_t spans_recorded(const struct spans *spans)
{
    return atomic_load_explicit(&spans->recorded, memory_order_relaxed);
}

uint64_t spans_dropped(const struct spans *spans)
{
    return atomic_load_explicit(&spans->dropped, memory_order_relaxed);
}
