#include "errors.h"

#include "base/buffer.h"
#include "base64.h"
#include "http/server.h"
#include "rpc/details.h"
#include "rpc/rpc.h"
#include "transcode.h"

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "renga/v1/usage.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_URL(name) "type.googleapis.com/" name
#define RETRY_DEFAULT  1 /* seconds, for a 503 without a retry delay */

/* The HTTP statuses of console.md and of Google's own table. */
int edge_http_status(enum status_code code)
{
    return http_status_of(code);
}

enum status_code edge_code_of_http(int http_status)
{
    switch (http_status) {
    case 401:
        return UNAUTHENTICATED;
    case 403:
        return PERMISSION_DENIED;
    case 404:
        return NOT_FOUND;
    case 405:
    case 501:
    case 505:
        return UNIMPLEMENTED;
    case 408:
        return DEADLINE_EXCEEDED;
    case 429:
        return RESOURCE_EXHAUSTED;
    case 503:
        return UNAVAILABLE;
    default:
        return http_status >= 500 ? INTERNAL : INVALID_ARGUMENT;
    }
}

/* ---- details ----------------------------------------------------------------------------------------------------- */

static void error_begin_detail(struct json_writer *out, const char *type)
{
    json_write_object(out, NULL);
    json_write_string(out, "@type", type);
}

static void error_write_violation(struct json_writer *out, const char *field, const char *description)
{
    char json[STATUS_TEXT_MAX];
    transcode_json_path(field, json, sizeof json);
    json_write_object(out, NULL);
    json_write_string(out, "field", json);
    json_write_string(out, "description", description);
    json_write_end(out);
}

static void error_write_bad_request(struct json_writer *out, const Google__Rpc__BadRequest *bad)
{
    json_write_array(out, "fieldViolations");
    for (size_t i = 0; i < bad->n_field_violations; i++)
        error_write_violation(out, bad->field_violations[i]->field, bad->field_violations[i]->description);
    json_write_end(out);
}

static void error_write_delay(struct json_writer *out, int64_t seconds, int32_t nanos)
{
    char delay[48];
    if (nanos)
        snprintf(delay, sizeof delay, "%lld.%09ds", (long long)seconds, nanos);
    else
        snprintf(delay, sizeof delay, "%llds", (long long)seconds);
    json_write_string(out, "retryDelay", delay);
}

static void error_write_retry_info(struct json_writer *out, const Google__Rpc__RetryInfo *info)
{
    if (info->retry_delay)
        error_write_delay(out, info->retry_delay->seconds, info->retry_delay->nanos);
}

/* Details of known types. A type with a NULL writer is written like any message. */
static const struct {
    const char *type_url;
    const ProtobufCMessageDescriptor *type;
    void (*write)(struct json_writer *out, const void *message);
} detail_types[] = {
    {TYPE_URL("google.rpc.BadRequest"), &google__rpc__bad_request__descriptor,
     (void (*)(struct json_writer *, const void *))error_write_bad_request},
    {TYPE_URL("google.rpc.RetryInfo"), &google__rpc__retry_info__descriptor,
     (void (*)(struct json_writer *, const void *))error_write_retry_info},
    {TYPE_URL("google.rpc.ErrorInfo"), &google__rpc__error_info__descriptor, NULL},
    {TYPE_URL("google.rpc.QuotaFailure"), &google__rpc__quota_failure__descriptor, NULL},
    {TYPE_URL("renga.v1.InvalidOutput"), &renga__v1__invalid_output__descriptor, NULL},
    {TYPE_URL("renga.v1.Usage"), &renga__v1__usage__descriptor, NULL},
};

/* An unknown type is written as its bytes. */
static void error_write_detail(struct json_writer *out, const Google__Protobuf__Any *detail)
{
    error_begin_detail(out, detail->type_url);
    for (size_t i = 0; i < sizeof detail_types / sizeof detail_types[0]; i++) {
        ProtobufCMessage *message =
            strcmp(detail->type_url, detail_types[i].type_url) == 0
                ? protobuf_c_message_unpack(detail_types[i].type, NULL, detail->value.len, detail->value.data)
                : NULL;
        if (!message)
            continue;
        if (detail_types[i].write)
            detail_types[i].write(out, message);
        else
            transcode_write_fields(out, message);
        protobuf_c_message_free_unpacked(message, NULL);
        json_write_end(out);
        return;
    }
    char *text = malloc(BASE64_SIZE(detail->value.len) + 1);
    if (text) {
        base64_encode(detail->value.data, detail->value.len, text);
        json_write_text(out, "value", text, BASE64_SIZE(detail->value.len));
    }
    free(text);
    json_write_end(out);
}

/* The text without the field's name that fail_field puts in front. */
static const char *error_description(const struct status *st)
{
    size_t length = strlen(st->field);
    bool named = strncmp(st->text, st->field, length) == 0 && strncmp(st->text + length, ": ", 2) == 0;
    return named ? st->text + length + 2 : st->text;
}

static void error_write_own_details(struct json_writer *out, const struct status *st)
{
    if (st->field[0]) {
        error_begin_detail(out, TYPE_URL("google.rpc.BadRequest"));
        json_write_array(out, "fieldViolations");
        error_write_violation(out, st->field, error_description(st));
        json_write_end(out);
        json_write_end(out);
    }
    if (st->retry_after_ms > 0) {
        error_begin_detail(out, TYPE_URL("google.rpc.RetryInfo"));
        error_write_delay(out, st->retry_after_ms / 1000, st->retry_after_ms % 1000 * 1000000);
        json_write_end(out);
    }
}

void edge_error_write(struct json_writer *out, const char *key, int http_status, const struct status *st,
                      const void *details, size_t details_size)
{
    Google__Rpc__Status *packed = details ? google__rpc__status__unpack(NULL, details_size, details) : NULL;
    json_write_object(out, key);
    json_write_int(out, "code", http_status ? http_status : edge_http_status(st->code));
    json_write_string(out, "status", status_code_name(st->code));
    json_write_string(out, "message", st->text);
    json_write_array(out, "details");
    for (size_t i = 0; packed && i < packed->n_details; i++)
        error_write_detail(out, packed->details[i]);
    if (!packed)
        error_write_own_details(out, st);
    json_write_end(out);
    json_write_end(out);
    google__rpc__status__free_unpacked(packed, NULL);
}

void edge_error_write_call(struct json_writer *out, const char *key, const struct rpc_client_call *call)
{
    size_t size = 0;
    const void *details = rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
    edge_error_write(out, key, 0, &call->status, details, size);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void error_headers(struct http_request *request, int http_status, const struct status *st)
{
    char seconds[16];
    int64_t wait_s = ((int64_t)st->retry_after_ms + 999) / 1000;
    if (wait_s <= 0 && http_status == 503)
        wait_s = RETRY_DEFAULT;
    if (wait_s > 0) {
        snprintf(seconds, sizeof seconds, "%lld", (long long)wait_s);
        http_reply_header(request, "Retry-After", seconds);
    }
    if (http_status == 401)
        http_reply_header(request, "WWW-Authenticate", "Bearer");
}

static void error_reply(struct http_request *request, int http_status, const struct status *st, const void *details,
                        size_t details_size)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, EDGE_ERROR_MAX);
    json_writer_init(&writer, &out);
    json_write_object(&writer, NULL);
    edge_error_write(&writer, "error", http_status, st, details, details_size);
    json_write_end(&writer);
    error_headers(request, http_status, st);
    http_reply(request, http_status, "application/json", buffer_text(&out), out.length);
    buffer_fini(&out);
}

void edge_fail(struct http_request *request, const struct status *st)
{
    error_reply(request, edge_http_status(st->code), st, NULL, 0);
}

void edge_fail_with(struct http_request *request, enum status_code code, const char *format, ...)
{
    struct status st = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&st, code, format, arguments);
    va_end(arguments);
    edge_fail(request, &st);
}

void edge_refuse(struct http_request *request, int http_status, const char *format, ...)
{
    struct status st = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&st, edge_code_of_http(http_status), format, arguments);
    va_end(arguments);
    error_reply(request, http_status, &st, NULL, 0);
}

void edge_fail_call(struct http_request *request, const struct rpc_client_call *call)
{
    size_t size = 0;
    const void *details = rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
    error_reply(request, edge_http_status(call->status.code), &call->status, details, size);
}
