/* Whole answers. */
#include "http/server_priv.h"

#include "base/json_writer.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_TEXT_MAX 1024 /* bytes */

bool http_reply_header(struct http_request *request, const char *name, const char *value)
{
    if (name[strcspn(name, "\r\n: ")] || value[strcspn(value, "\r\n")])
        return false;
    struct reply_header *header = arena_alloc(&request->arena, sizeof *header);
    const char *name_copy = arena_strdup(&request->arena, name), *value_copy = arena_strdup(&request->arena, value);
    if (!header || !name_copy || !value_copy)
        return false;
    *header = (struct reply_header){.next = request->headers, .name = name_copy, .value = value_copy};
    request->headers = header;
    return true;
}

/* Hands the answer to the daemon, in its access callback. */
enum MHD_Result reply_queue(struct http_request *request)
{
    struct MHD_Response *response = request->response;
    request->response = NULL;
    if (!response)
        return MHD_NO;
    for (const struct reply_header *header = request->headers; header; header = header->next)
        MHD_add_response_header(response, header->name, header->value);
    if (request->server->stopping)
        MHD_add_response_header(response, "Connection", "close");
    connection_allow(request->connection, 0);
    if (request->reply_size)
        connection_allow(request->connection, request->reply_size);
    enum MHD_Result queued = MHD_queue_response(request->connection->mhd, (unsigned)request->http_status, response);
    MHD_destroy_response(response);
    return queued;
}

static void reply_with(struct http_request *request, int http_status, const char *content_type,
                       struct MHD_Response *response, size_t size)
{
    assert(request->received && request->reply != REPLY_STREAMING && !request->handler_done);
    if (response && content_type)
        MHD_add_response_header(response, "Content-Type", content_type);
    request->response = response;
    request->http_status = http_status;
    request->reply_size = size;
    if (!request->gone) {
        request->reply = response ? REPLY_WHOLE : REPLY_ABORTED;
        request_resume(request);
    }
    request_done(request);
}

void http_reply(struct http_request *request, int http_status, const char *content_type, const void *bytes, size_t size)
{
    /* The daemon only reads what it is told to copy. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    reply_with(request, http_status, content_type, response, size);
}

void http_reply_take(struct http_request *request, int http_status, const char *content_type, char *bytes, size_t size)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(bytes);
    reply_with(request, http_status, content_type, response, size);
}

static void reply_error(struct http_request *request, int http_status, const struct status *status, const char *text)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, 16 * ERROR_TEXT_MAX);
    json_writer_init(&writer, &out);
    json_write_object(&writer, NULL);
    json_write_object(&writer, "error");
    json_write_string(&writer, "message", text);
    if (status)
        json_write_string(&writer, "code", status_code_name(status->code));
    if (status && status->field[0])
        json_write_string(&writer, "field", status->field);
    json_write_end(&writer);
    json_write_end(&writer);
    size_t length;
    char *bytes = buffer_take(&out, &length);
    if (bytes)
        http_reply_take(request, http_status, "application/json", bytes, length);
    else
        http_reply(request, http_status, NULL, NULL, 0);
}

void http_reply_error(struct http_request *request, int http_status, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reply_error(request, http_status, NULL, text);
}

void http_reply_status(struct http_request *request, const struct status *status)
{
    if (status->retry_after_ms > 0) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%d", (status->retry_after_ms + 999) / 1000);
        http_reply_header(request, "Retry-After", seconds);
    }
    reply_error(request, http_status_of(status->code), status, status->text);
}

/* As google.rpc.Code names them. */
int http_status_of(enum status_code code)
{
    switch (code) {
    case OK:
        return 200;
    case INVALID_ARGUMENT:
    case FAILED_PRECONDITION:
    case OUT_OF_RANGE:
        return 400;
    case UNAUTHENTICATED:
        return 401;
    case PERMISSION_DENIED:
        return 403;
    case NOT_FOUND:
        return 404;
    case ALREADY_EXISTS:
    case ABORTED:
        return 409;
    case RESOURCE_EXHAUSTED:
        return 429;
    case CANCELLED:
        return 499;
    case UNIMPLEMENTED:
        return 501;
    case UNAVAILABLE:
        return 503;
    case DEADLINE_EXCEEDED:
        return 504;
    default:
        return 500;
    }
}
