/* Whole answers. */
#include "http/server_priv.h"

#include "base/json_writer.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_TEXT_MAX 1024         /* bytes */
#define LARGE          (256u << 10) /* bytes of an answer from which its sending is watched piece by piece */
#define LARGE_PIECE    (64u << 10)

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
    enum MHD_Result queued = MHD_queue_response(request->connection->mhd, (unsigned)request->http_status, response);
    MHD_destroy_response(response);
    return queued;
}

static void reply_with(struct http_request *request, int http_status, const char *content_type,
                       struct MHD_Response *response)
{
    assert(request->received && request->reply != REPLY_STREAMING && !request->handler_done);
    if (response && content_type)
        MHD_add_response_header(response, "Content-Type", content_type);
    request->response = response;
    request->http_status = http_status;
    if (!request->gone) {
        request->reply = response ? REPLY_WHOLE : REPLY_ABORTED;
        request_resume(request);
    }
    request_done(request);
}

/* ---- large ones: as long as the client takes some of it, it may go on ------------------------------------------- */

struct large {
    struct connection *connection;
    char *bytes;
    size_t size;
};

static ssize_t large_read(void *cls, uint64_t position, char *buffer, size_t max)
{
    struct large *large = cls;
    size_t left = large->size - (size_t)position, size = left < max ? left : max;
    memcpy(buffer, large->bytes + position, size);
    connection_allow(large->connection, 0);
    return (ssize_t)size;
}

static void large_free(void *cls)
{
    struct large *large = cls;
    free(large->bytes);
    free(large);
}

static struct MHD_Response *large_response(struct http_request *request, char *bytes, size_t size)
{
    struct large *large = malloc(sizeof *large);
    struct MHD_Response *response =
        large ? MHD_create_response_from_callback(size, LARGE_PIECE, large_read, large, large_free) : NULL;
    if (response)
        *large = (struct large){request->connection, bytes, size};
    else
        free(large);
    return response;
}

void http_reply(struct http_request *request, int http_status, const char *content_type, const void *bytes, size_t size)
{
    char *copy = size > LARGE ? malloc(size) : NULL;
    if (copy) {
        http_reply_take(request, http_status, content_type, memcpy(copy, bytes, size), size);
        return;
    }
    /* The daemon only reads what it is told to copy. */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    reply_with(request, http_status, content_type, response);
}

void http_reply_take(struct http_request *request, int http_status, const char *content_type, char *bytes, size_t size)
{
    struct MHD_Response *response = size > LARGE && request->connection
                                        ? large_response(request, bytes, size)
                                        : MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(bytes);
    reply_with(request, http_status, content_type, response);
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
