#include "base/trace.h"

#include "base/random.h"

#include <string.h>

/* version "-" trace-id "-" parent-id "-" flags */
#define TRACE_AT     3
#define PARENT_AT    36
#define FLAGS_AT     53
#define FLAG_SAMPLED 0x01

#define TRACESTATE_KEY "renga="
#define TRACESTATE_MAX 512 /* bytes that are read, as many as every system has to hand on */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool hex_read(const char *text, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_zero(const uint8_t *id, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++)
        any |= id[i];
    return any == 0;
}

static void trace_draw(uint8_t *id, size_t size)
{
    do {
        for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
            uint64_t bits = random_u64();
            memcpy(id + i, &bits, sizeof bits);
        }
    } while (is_zero(id, size));
}

bool trace_continue(struct trace_context *trace, const char *traceparent, size_t length)
{
    struct trace_context read = {.sampled = false};
    uint8_t version, flags;
    if (length < TRACEPARENT_LENGTH || !hex_read(traceparent, &version, 1) || version == 0xFF)
        return false;
    if (length > TRACEPARENT_LENGTH && (version == 0 || traceparent[TRACEPARENT_LENGTH] != '-'))
        return false;
    if (traceparent[TRACE_AT - 1] != '-' || traceparent[PARENT_AT - 1] != '-' || traceparent[FLAGS_AT - 1] != '-')
        return false;
    if (!hex_read(traceparent + TRACE_AT, read.trace_id, sizeof read.trace_id) ||
        !hex_read(traceparent + PARENT_AT, read.parent_id, sizeof read.parent_id) ||
        !hex_read(traceparent + FLAGS_AT, &flags, 1))
        return false;
    if (is_zero(read.trace_id, sizeof read.trace_id) || is_zero(read.parent_id, sizeof read.parent_id))
        return false;

    read.sampled = flags & FLAG_SAMPLED;
    trace_draw(read.span_id, sizeof read.span_id);
    *trace = read;
    return true;
}

bool trace_is_set(const struct trace_context *trace)
{
    return !is_zero(trace->trace_id, sizeof trace->trace_id);
}

void trace_begin(struct trace_context *trace, bool sampled)
{
    *trace = (struct trace_context){.sampled = sampled};
    trace_draw(trace->trace_id, sizeof trace->trace_id);
    trace_draw(trace->span_id, sizeof trace->span_id);
}

void trace_child(struct trace_context *trace, const struct trace_context *parent)
{
    struct trace_context child = *parent;
    memcpy(child.parent_id, parent->span_id, sizeof child.parent_id);
    memset(child.link_trace_id, 0, sizeof child.link_trace_id);
    memset(child.link_span_id, 0, sizeof child.link_span_id);
    trace_draw(child.span_id, sizeof child.span_id);
    *trace = child;
}

void trace_begin_linked(struct trace_context *trace, const struct trace_context *caller, bool sampled)
{
    struct trace_context begun;
    trace_begin(&begun, sampled);
    memcpy(begun.link_trace_id, caller->trace_id, sizeof begun.link_trace_id);
    memcpy(begun.link_span_id, caller->parent_id, sizeof begun.link_span_id);
    *trace = begun;
}

bool trace_state_read(const char *tracestate, size_t length, uint8_t span_id[8])
{
    const char *end = tracestate + (length < TRACESTATE_MAX ? length : TRACESTATE_MAX);
    for (const char *at = tracestate; at < end;) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        const char *comma = memchr(at, ',', (size_t)(end - at)), *last = comma ? comma : end;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (last - at == TRACESTATE_LENGTH && memcmp(at, TRACESTATE_KEY, sizeof TRACESTATE_KEY - 1) == 0) {
            uint8_t read[8];
            if (!hex_read(at + sizeof TRACESTATE_KEY - 1, read, sizeof read) || is_zero(read, sizeof read))
                return false;
            memcpy(span_id, read, sizeof read);
            return true;
        }
        at = comma ? comma + 1 : end;
    }
    return false;
}

void trace_state_format(const struct trace_context *trace, char tracestate[TRACESTATE_LENGTH + 1])
{
    memcpy(tracestate, TRACESTATE_KEY, sizeof TRACESTATE_KEY - 1);
    trace_hex(trace->span_id, sizeof trace->span_id, tracestate + sizeof TRACESTATE_KEY - 1);
}

void trace_format(const struct trace_context *trace, char traceparent[TRACEPARENT_LENGTH + 1])
{
    memcpy(traceparent, "00-", 3);
    trace_hex(trace->trace_id, sizeof trace->trace_id, traceparent + TRACE_AT);
    traceparent[PARENT_AT - 1] = '-';
    trace_hex(trace->span_id, sizeof trace->span_id, traceparent + PARENT_AT);
    memcpy(traceparent + FLAGS_AT - 1, trace->sampled ? "-01" : "-00", 4);
}

void trace_hex(const uint8_t *id, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[id[i] >> 4];
        out[2 * i + 1] = digits[id[i] & 15];
    }
    out[2 * size] = '\0';
}
