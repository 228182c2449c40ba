/* Failures in OpenAI's format: https://platform.openai.com/docs/guides/error-codes
 *
 * The gateway has done all sensible retries. A client of OpenAI's retries 408, 409, 429 and 5xx by itself unless
 * x-should-retry is false; it is false if a retry would only cost again. */
#include "openai_http_priv.h"

#include "base/text.h"
#include "contract/failure.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "rpc/details.h"

#include <stdio.h>
#include <string.h>

#define ERROR_MAX    4096 /* bytes of an error as JSON: a text and a field with every byte escaped */
#define INVALID      "invalid_request_error"
#define SERVER_ERROR "server_error"
#define QUOTA        "insufficient_quota"

static const struct {
    int http_status; /* 0: as HTTP knows the code */
    const char *type, *code;
    bool final;
} kinds[STATUS_CODES_COUNT] = {
    [CANCELLED] = {0, SERVER_ERROR, "cancelled", true},
    [UNKNOWN] = {0, SERVER_ERROR, NULL, true},
    [INVALID_ARGUMENT] = {0, INVALID, NULL, true},
    [DEADLINE_EXCEEDED] = {0, SERVER_ERROR, "deadline_exceeded", true},
    [NOT_FOUND] = {0, INVALID, "model_not_found", true},
    [ALREADY_EXISTS] = {0, INVALID, "already_exists", true},
    [PERMISSION_DENIED] = {0, INVALID, "permission_denied", true},
    [RESOURCE_EXHAUSTED] = {0, "requests", "rate_limit_exceeded", false},
    /* A missing configuration of the gateway: not the client's error, and a retry does not help. */
    [FAILED_PRECONDITION] = {500, SERVER_ERROR, "failed_precondition", true},
    [ABORTED] = {0, INVALID, "aborted", false},
    [OUT_OF_RANGE] = {0, INVALID, "out_of_range", true},
    [UNIMPLEMENTED] = {0, INVALID, "unimplemented", true},
    [INTERNAL] = {0, SERVER_ERROR, "internal", true},
    [UNAVAILABLE] = {0, SERVER_ERROR, "unavailable", false},
    [DATA_LOSS] = {0, SERVER_ERROR, "data_loss", true},
    [UNAUTHENTICATED] = {0, INVALID, "invalid_api_key", true},
};

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* The contract's names in OpenAI's words. Longer ones first: the first that fits is taken. */
static const struct {
    const char *ours, *theirs;
} fields[] = {
    {"sampling.", ""},
    {"inputs", "input"},
    {"max_output_tokens", "max_completion_tokens"},
    {"response_format.schema_json", "response_format.json_schema.schema"},
    {"response_format.name", "response_format.json_schema.name"},
    {"response_format.description", "response_format.json_schema.description"},
    {"response_format.kind", "response_format.type"},
    {"tool_choice.mode", "tool_choice"},
    {"tool_choice.name", "tool_choice.function.name"},
    {"origin.labels", "metadata"},
};

/* The same behind "tools[3]." and "messages[2].tool_calls[0]." */
static const struct {
    const char *ours, *theirs;
} inner_fields[] = {
    {"].name", "].function.name"},
    {"].description", "].function.description"},
    {"].parameters_json", "].function.parameters"},
    {"].arguments_json", "].function.arguments"},
};

static void translate(const char *ours, char *theirs, size_t rate_limits)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t length = strlen(fields[i].ours);
        if (strncmp(ours, fields[i].ours, length) == 0) {
            snprintf(theirs, rate_limits, "%s%s", fields[i].theirs, ours + length);
            return;
        }
    }
    const char *last = strrchr(ours, ']');
    bool of_function = strncmp(ours, "tools[", 6) == 0 || strstr(ours, "tool_calls[");
    for (size_t i = 0; last && of_function && i < sizeof inner_fields / sizeof inner_fields[0]; i++)
        if (strcmp(last, inner_fields[i].ours) == 0) {
            snprintf(theirs, rate_limits, "%.*s%s", (int)(last - ours), ours, inner_fields[i].theirs);
            return;
        }
    snprintf(theirs, rate_limits, "%s", ours);
}

/* A text about a field begins with its name. */
static void openai_http_error_name_field(const struct status *from, struct status *to)
{
    size_t length = strlen(from->field);
    translate(from->field, to->field, sizeof to->field);
    if (strncmp(from->text, from->field, length) != 0)
        return;
    char text[STATUS_TEXT_MAX + STATUS_FIELD_MAX];
    snprintf(text, sizeof text, "%s%s", to->field, from->text + length);
    size_t size = text_cut(text, strlen(text), sizeof to->text - 1);
    memcpy(to->text, text, size);
    to->text[size] = '\0';
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

void openai_http_error_of(const struct status *status, struct openai_http_error *error)
{
    enum status_code code = status->code > OK && status->code < STATUS_CODES_COUNT ? status->code : UNKNOWN;
    *error = (struct openai_http_error){
        .http_status = kinds[code].http_status ? kinds[code].http_status : http_status_of(code),
        .type = kinds[code].type,
        .code = kinds[code].code,
        .final = kinds[code].final,
        .status = *status,
    };
    if (status->field[0])
        openai_http_error_name_field(status, &error->status);
    else if (code == NOT_FOUND)
        snprintf(error->status.field, sizeof error->status.field, "model");
}

/* Why, as the gateway knows it. */
static void take_reason(const ProtobufCBinaryData *detail, struct openai_http_error *error)
{
    Google__Rpc__ErrorInfo *info = google__rpc__error_info__unpack(NULL, detail->len, detail->data);
    if (info && strcmp(info->reason, FAILURE_QUOTA) == 0) {
        error->type = error->code = QUOTA;
        error->final = true;
    } else if (info && strcmp(info->reason, FAILURE_CONTEXT) == 0) {
        error->code = "context_length_exceeded";
    }
    google__rpc__error_info__free_unpacked(info, NULL);
}

/* Which limit of ours, as OpenAI sorts them. Without a hint, there is no time after which it would pass. */
static void take_limit(const ProtobufCBinaryData *detail, struct openai_http_error *error)
{
    static const char tokens[] = "tokens_per_minute:";
    Google__Rpc__QuotaFailure *quota = google__rpc__quota_failure__unpack(NULL, detail->len, detail->data);
    for (size_t i = 0; quota && i < quota->n_violations; i++)
        if (strncmp(quota->violations[i]->description, tokens, sizeof tokens - 1) == 0)
            error->type = "tokens";
    error->final |= error->status.retry_after_ms == 0;
    google__rpc__quota_failure__free_unpacked(quota, NULL);
}

static const struct {
    const char *type_url;
    void (*take)(const ProtobufCBinaryData *detail, struct openai_http_error *error);
} takers[] = {
    {"type.googleapis.com/google.rpc.ErrorInfo", take_reason},
    {"type.googleapis.com/google.rpc.QuotaFailure", take_limit},
};

void openai_http_error_of_call(const struct rpc_client_call *call, struct openai_http_error *error)
{
    openai_http_error_of(&call->status, error);
    size_t size;
    const void *bytes = rpc_client_call_metadata(call, RPC_DETAILS_KEY, &size);
    Google__Rpc__Status *details = bytes ? google__rpc__status__unpack(NULL, size, bytes) : NULL;
    for (size_t i = 0; details && i < details->n_details; i++)
        for (size_t k = 0; k < sizeof takers / sizeof takers[0]; k++)
            if (strcmp(details->details[i]->type_url, takers[k].type_url) == 0)
                takers[k].take(&details->details[i]->value, error);
    google__rpc__status__free_unpacked(details, NULL);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

void openai_http_write_error(struct json_writer *writer, const struct openai_http_error *error)
{
    json_write_object(writer, NULL);
    json_write_object(writer, "error");
    json_write_string(writer, "message", error->status.text);
    json_write_string(writer, "type", error->type);
    json_write_string(writer, "param", error->status.field[0] ? error->status.field : NULL);
    json_write_string(writer, "code", error->code);
    json_write_end(writer);
    json_write_end(writer);
}

void openai_http_fail(struct http_request *request, const struct openai_http_error *error)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, ERROR_MAX);
    json_writer_init(&writer, &out);
    openai_http_write_error(&writer, error);
    char number[16];
    if (error->status.retry_after_ms > 0) {
        snprintf(number, sizeof number, "%d", error->status.retry_after_ms);
        http_reply_header(request, "retry-after-ms", number);
        snprintf(number, sizeof number, "%d", (int)(((int64_t)error->status.retry_after_ms + 999) / 1000));
        http_reply_header(request, "retry-after", number);
    }
    if (error->final && error->http_status >= 409)
        http_reply_header(request, "x-should-retry", "false");
    if (error->http_status == 401)
        http_reply_header(request, "www-authenticate", "Bearer");
    http_reply(request, error->http_status, "application/json", buffer_text(&out), out.length);
    buffer_fini(&out);
}

void openai_http_fail_status(struct http_request *request, const struct status *status)
{
    struct openai_http_error error;
    openai_http_error_of(status, &error);
    openai_http_fail(request, &error);
}

void openai_http_refuse(struct http_request *request, int http_status, const char *code, const char *format, ...)
{
    struct openai_http_error error = {.http_status = http_status, .type = INVALID, .code = code, .final = true};
    va_list arguments;
    va_start(arguments, format);
    status_set(&error.status, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    openai_http_fail(request, &error);
}
