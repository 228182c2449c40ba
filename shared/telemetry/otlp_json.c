#include "telemetry/otlp_json.h"

#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLAG_SAMPLED 1

/* ---- the resource ------------------------------------------------------------------------------------------------ */

static void write_attribute(void *data, const char *name, const char *value)
{
    struct buffer *out = data;
    buffer_print(out, out->length ? ",{\"key\":" : "{\"key\":");
    json_append_string(out, name, strlen(name));
    buffer_print(out, ",\"value\":{\"stringValue\":");
    json_append_string(out, value, strlen(value));
    buffer_print(out, "}}");
}

void otlp_json_resource(struct buffer *out, const char *service, const char *more)
{
    char host[256] = "", process[24];
    gethostname(host, sizeof host - 1);
    snprintf(process, sizeof process, "%d", (int)getpid());
    write_attribute(out, "service.name", service);
    write_attribute(out, "service.version", RENGA_VERSION);
    write_attribute(out, "host.name", host);
    write_attribute(out, "telemetry.sdk.name", "renga");
    write_attribute(out, "telemetry.sdk.language", "c");
    buffer_printf(out, ",{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%s\"}}", process);
    if (more)
        otlp_pairs(more, write_attribute, out);
}

static int otlp_json_hex(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

static void otlp_json_decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        int high = *from == '%' ? otlp_json_hex(from[1]) : -1, low = high >= 0 ? otlp_json_hex(from[2]) : -1;
        if (low >= 0 && (high || low)) {
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static char *otlp_json_trimmed(char *text)
{
    text += strspn(text, " \t");
    for (size_t length = strlen(text); length && strchr(" \t", text[length - 1]); length--)
        text[length - 1] = '\0';
    return text;
}

void otlp_pairs(const char *text, void (*each)(void *data, const char *name, const char *value), void *data)
{
    char *copy = strdup(text), *rest = copy;
    for (char *pair; copy && (pair = strsep(&rest, ","));) {
        char *equals = strchr(pair, '=');
        if (!equals)
            continue;
        *equals = '\0';
        char *name = otlp_json_trimmed(pair), *value = otlp_json_trimmed(equals + 1);
        otlp_json_decode(value);
        if (*name)
            each(data, name, value);
    }
    if (copy)
        explicit_bzero(copy, strlen(text));
    free(copy);
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static bool otlp_json_is_set(const uint8_t id[8])
{
    static const uint8_t zero[8];
    return memcmp(id, zero, sizeof zero) != 0;
}

static void write_links(struct buffer *out, const struct span *span)
{
    char trace_id[33], span_id[17];
    trace_hex(span->trace.link_trace_id, 16, trace_id);
    trace_hex(span->trace.link_span_id, 8, span_id);
    buffer_printf(out, ",\"links\":[{\"traceId\":\"%s\",\"spanId\":\"%s\"}]", trace_id, span_id);
}

static void write_attributes(struct buffer *out, const struct span *span)
{
    static const char *const roles[SPAN_ROLES] = {[SPAN_CHAIN] = "chain",
                                                  [SPAN_LLM] = "llm",
                                                  [SPAN_EMBEDDING] = "embedding",
                                                  [SPAN_TOOL] = "tool",
                                                  [SPAN_RETRIEVER] = "retriever"};
    buffer_print(out, ",\"attributes\":[");
    if (otlp_json_is_set(span->trace.link_span_id)) {
        /* LangSmith shows metadata, and no links. */
        char trace_id[33], span_id[17];
        trace_hex(span->trace.link_trace_id, 16, trace_id);
        trace_hex(span->trace.link_span_id, 8, span_id);
        buffer_printf(out,
                      "{\"key\":\"langsmith.metadata.caller_trace_id\",\"value\":{\"stringValue\":\"%s\"}},"
                      "{\"key\":\"langsmith.metadata.caller_span_id\",\"value\":{\"stringValue\":\"%s\"}},",
                      trace_id, span_id);
    }
    buffer_printf(out, "{\"key\":\"langsmith.span.kind\",\"value\":{\"stringValue\":\"%s\"}}%s", roles[span->role],
                  span->rpc_service || span->attributes.length ? "," : "");
    if (span->rpc_service)
        buffer_printf(out,
                      "{\"key\":\"rpc.system\",\"value\":{\"stringValue\":\"grpc\"}},"
                      "{\"key\":\"rpc.service\",\"value\":{\"stringValue\":\"%s\"}},"
                      "{\"key\":\"rpc.method\",\"value\":{\"stringValue\":\"%s\"}},"
                      "{\"key\":\"rpc.grpc.status_code\",\"value\":{\"intValue\":\"%d\"}}%s",
                      span->rpc_service, span->rpc_method, span->rpc_code, span->attributes.length ? "," : "");
    if (span->attributes.length)
        buffer_append(out, span->attributes.data, span->attributes.length);
    buffer_put(out, ']');
}

void otlp_json_span(struct buffer *out, const struct span *span)
{
    char trace_id[33], span_id[17], parent_id[17];
    trace_hex(span->trace.trace_id, 16, trace_id);
    trace_hex(span->trace.span_id, 8, span_id);
    buffer_printf(out, "{\"traceId\":\"%s\",\"spanId\":\"%s\"", trace_id, span_id);
    if (otlp_json_is_set(span->trace.parent_id)) {
        trace_hex(span->trace.parent_id, 8, parent_id);
        buffer_printf(out, ",\"parentSpanId\":\"%s\"", parent_id);
    }
    buffer_print(out, ",\"name\":");
    if (span->rpc_service)
        buffer_printf(out, "\"%s/%s\"", span->rpc_service, span->rpc_method); /* names of a schema need no escape */
    else
        json_append_string(out, span->name, strlen(span->name));
    buffer_printf(out, ",\"kind\":%d,\"startTimeUnixNano\":\"%lld\",\"endTimeUnixNano\":\"%lld\",\"flags\":%d",
                  (int)span->kind, (long long)span->began_ns, (long long)span->ended_ns, FLAG_SAMPLED);
    write_attributes(out, span);
    if (span->events.length || span->error) {
        buffer_print(out, ",\"events\":[");
        if (span->events.length)
            buffer_append(out, span->events.data, span->events.length);
        if (span->error) {
            /* LangSmith takes the text of an error from the event. */
            buffer_printf(out, "%s{\"name\":\"exception\",\"timeUnixNano\":\"%lld\",\"attributes\":[{\"key\":",
                          span->events.length ? "," : "", (long long)span->ended_ns);
            buffer_print(out, "\"exception.message\",\"value\":{\"stringValue\":");
            json_append_string(out, span->text, strlen(span->text));
            buffer_print(out, "}}]}");
        }
        buffer_put(out, ']');
    }
    if (otlp_json_is_set(span->trace.link_span_id))
        write_links(out, span);
    if (span->error) {
        buffer_print(out, ",\"status\":{\"code\":2,\"message\":");
        json_append_string(out, span->text, strlen(span->text));
        buffer_put(out, '}');
    }
    buffer_put(out, '}');
}

void otlp_json_request(struct buffer *out, const char *resource, const struct span *spans)
{
    buffer_print(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    buffer_print(out, resource);
    buffer_print(out,
                 "]},\"scopeSpans\":[{\"scope\":{\"name\":\"renga\",\"version\":\"" RENGA_VERSION "\"},\"spans\":[");
    for (const struct span *span = spans; span; span = span->next) {
        otlp_json_span(out, span);
        if (span->next)
            buffer_put(out, ',');
    }
    buffer_print(out, "]}]}]}");
}
