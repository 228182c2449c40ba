/* Attributes and events are kept as the JSON of OTLP, in which most collectors take them; here they are read back. A
 * message is written into a buffer of its own first: its length stands before it. The numbers of fields are those of
 * opentelemetry/proto/trace/v1/trace.proto and its imports. */
#include "telemetry/otlp_protobuf.h"

#include "telemetry/otlp_json.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#define PART_MAX     (64u << 20) /* bytes of a message */
#define FLAG_SAMPLED 1

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void put_varint(struct buffer *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        buffer_put(out, (char)(value | 128));
    buffer_put(out, (char)value);
}

static void put_tag(struct buffer *out, unsigned field, enum wire wire)
{
    put_varint(out, field << 3 | wire);
}

static void otlp_protobuf_put_number(struct buffer *out, unsigned field, uint64_t value)
{
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, value);
}

static void put_fixed(struct buffer *out, unsigned field, uint64_t value, size_t size)
{
    put_tag(out, field, size == 4 ? WIRE_FIXED32 : WIRE_FIXED64);
    for (size_t i = 0; i < size; i++)
        buffer_put(out, (char)(value >> (8 * i)));
}

static void put_bytes(struct buffer *out, unsigned field, const void *bytes, size_t size)
{
    put_tag(out, field, WIRE_BYTES);
    put_varint(out, size);
    buffer_append(out, bytes, size);
}

static void otlp_protobuf_put_text(struct buffer *out, unsigned field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* Takes the message's buffer. */
static void otlp_protobuf_put_message(struct buffer *out, unsigned field, struct buffer *message)
{
    put_bytes(out, field, message->length ? message->data : "", message->length);
    out->failed |= message->failed;
    buffer_fini(message);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Of span_strings: the only values within a value. */
static void put_texts(struct buffer *out, const cJSON *array)
{
    const cJSON *item;
    struct buffer values;
    buffer_init(&values, PART_MAX);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(array, "values"))
    {
        struct buffer value;
        buffer_init(&value, PART_MAX);
        otlp_protobuf_put_text(&value, 1, cJSON_GetStringValue(item->child));
        otlp_protobuf_put_message(&values, 1, &value);
    }
    otlp_protobuf_put_message(out, 5, &values);
}

static void otlp_protobuf_put_value(struct buffer *out, const cJSON *value)
{
    struct buffer any;
    double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    uint64_t bits;
    buffer_init(&any, PART_MAX);
    memcpy(&bits, &number, sizeof bits);
    if (strcmp(value->string, "stringValue") == 0)
        otlp_protobuf_put_text(&any, 1, value->valuestring);
    else if (strcmp(value->string, "boolValue") == 0)
        otlp_protobuf_put_number(&any, 2, cJSON_IsTrue(value));
    else if (strcmp(value->string, "intValue") == 0)
        otlp_protobuf_put_number(&any, 3, (uint64_t)strtoll(value->valuestring, NULL, 10));
    else if (strcmp(value->string, "doubleValue") == 0)
        put_fixed(&any, 4, bits, sizeof bits);
    else
        put_texts(&any, value);
    otlp_protobuf_put_message(out, 2, &any);
}

static void put_attributes(struct buffer *out, unsigned field, const cJSON *attributes)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, attributes)
    {
        struct buffer pair;
        buffer_init(&pair, PART_MAX);
        otlp_protobuf_put_text(&pair, 1, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "key")));
        otlp_protobuf_put_value(&pair, cJSON_GetObjectItemCaseSensitive(item, "value")->child);
        otlp_protobuf_put_message(out, field, &pair);
    }
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

static const char *string_at(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static uint64_t otlp_protobuf_time_at(const cJSON *object, const char *key)
{
    return strtoull(string_at(object, key), NULL, 10);
}

static bool otlp_protobuf_is_set(const uint8_t id[8])
{
    static const uint8_t zero[8];
    return memcmp(id, zero, sizeof zero) != 0;
}

static void put_status(struct buffer *out, const cJSON *given)
{
    struct buffer status;
    buffer_init(&status, PART_MAX);
    otlp_protobuf_put_text(&status, 2, string_at(given, "message"));
    otlp_protobuf_put_number(&status, 3, 2);
    otlp_protobuf_put_message(out, 15, &status);
}

/* `json`: the same span, as otlp_json.h writes it. */
static void put_span(struct buffer *out, const struct span *span, const cJSON *json)
{
    struct buffer message;
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
    buffer_init(&message, PART_MAX);
    put_bytes(&message, 1, span->trace.trace_id, sizeof span->trace.trace_id);
    put_bytes(&message, 2, span->trace.span_id, sizeof span->trace.span_id);
    if (otlp_protobuf_is_set(span->trace.parent_id))
        put_bytes(&message, 4, span->trace.parent_id, sizeof span->trace.parent_id);
    otlp_protobuf_put_text(&message, 5, string_at(json, "name"));
    otlp_protobuf_put_number(&message, 6, span->kind);
    put_fixed(&message, 7, (uint64_t)span->began_ns, 8);
    put_fixed(&message, 8, (uint64_t)span->ended_ns, 8);
    put_attributes(&message, 9, cJSON_GetObjectItemCaseSensitive(json, "attributes"));
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(json, "events");
    const cJSON *item;
    cJSON_ArrayForEach(item, events)
    {
        struct buffer event;
        buffer_init(&event, PART_MAX);
        put_fixed(&event, 1, otlp_protobuf_time_at(item, "timeUnixNano"), 8);
        otlp_protobuf_put_text(&event, 2, string_at(item, "name"));
        put_attributes(&event, 3, cJSON_GetObjectItemCaseSensitive(item, "attributes"));
        otlp_protobuf_put_message(&message, 11, &event);
    }
    if (otlp_protobuf_is_set(span->trace.link_span_id)) {
        struct buffer link;
        buffer_init(&link, PART_MAX);
        put_bytes(&link, 1, span->trace.link_trace_id, sizeof span->trace.link_trace_id);
        put_bytes(&link, 2, span->trace.link_span_id, sizeof span->trace.link_span_id);
        otlp_protobuf_put_message(&message, 13, &link);
    }
    if (status)
        put_status(&message, status);
    put_fixed(&message, 16, FLAG_SAMPLED, 4);
    otlp_protobuf_put_message(out, 2, &message);
}

static void put_resource(struct buffer *out, const char *resource)
{
    struct status st = {0};
    struct buffer text, message;
    buffer_init(&text, PART_MAX);
    buffer_init(&message, PART_MAX);
    buffer_printf(&text, "[%s]", resource);
    cJSON *attributes = json_parse(buffer_text(&text), text.length, NULL, &st);
    put_attributes(&message, 1, attributes);
    otlp_protobuf_put_message(out, 1, &message);
    cJSON_Delete(attributes);
    buffer_fini(&text);
}

void otlp_protobuf_request(struct buffer *out, const char *resource, const struct span *spans)
{
    struct buffer scope_name, scope, whole;
    buffer_init(&scope_name, PART_MAX);
    buffer_init(&scope, PART_MAX);
    buffer_init(&whole, PART_MAX);
    put_resource(&whole, resource);
    otlp_protobuf_put_text(&scope_name, 1, "renga");
    otlp_protobuf_put_text(&scope_name, 2, RENGA_VERSION);
    otlp_protobuf_put_message(&scope, 1, &scope_name);
    /* Packs the spans singly: the tree of a whole batch would be many times its size. */
    struct buffer text;
    buffer_init(&text, PART_MAX);
    for (const struct span *span = spans; span; span = span->next) {
        struct status st = {0};
        buffer_clear(&text);
        otlp_json_span(&text, span);
        cJSON *json = json_parse(buffer_text(&text), text.length, NULL, &st);
        if (json)
            put_span(&scope, span, json);
        cJSON_Delete(json);
    }
    buffer_fini(&text);
    otlp_protobuf_put_message(&whole, 2, &scope);
    otlp_protobuf_put_message(out, 1, &whole);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return true;
    }
    return false;
}

/* The first field with this number: its value, or its bytes. Other fields than numbers and bytes end the reading. */
static bool otlp_protobuf_find_field(const uint8_t *at, const uint8_t *end, unsigned field, uint64_t *value,
                                     const uint8_t **bytes)
{
    uint64_t tag;
    while (at < end && take_varint(&at, end, &tag) && take_varint(&at, end, value)) {
        bool has_bytes = (tag & 7) == WIRE_BYTES;
        if ((tag & 7) != WIRE_VARINT && !has_bytes)
            return false;
        if (has_bytes && *value > (uint64_t)(end - at))
            return false;
        *bytes = has_bytes ? at : NULL;
        if (tag >> 3 == field)
            return true;
        at += has_bytes ? *value : 0;
    }
    return false;
}

uint64_t otlp_protobuf_rejected(const void *answer, size_t size)
{
    uint64_t length, rejected;
    const uint8_t *partial, *none;
    if (!size || !otlp_protobuf_find_field(answer, (const uint8_t *)answer + size, 1, &length, &partial) || !partial)
        return 0;
    return otlp_protobuf_find_field(partial, partial + length, 1, &rejected, &none) && !none ? rejected : 0;
}
