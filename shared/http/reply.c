/* Whole answers: head and content are sent from their own memory in one system call. Only the rest that the socket does
 * not take is kept. */
#include "base/memory.h"
#include "http/server_priv.h"
#include "json/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_TEXT_MAX 1024 /* bytes */

/* Gives the unsent rest of head and content to the request; `taken` may be the content's memory, or NULL. */
static void keep_rest(struct http_request *request, const struct buffer *head, char *taken, const char *bytes,
                      size_t size, size_t sent)
{
    if (sent < head->length)
        buffer_append(&request->out, head->data + sent, head->length - sent);
    size_t of_content = sent > head->length ? sent - head->length : 0;
    request->answer = taken;
    request->answer_size = size;
    request->answer_sent = of_content;
    if (taken || size <= of_content)
        return;
    request->answer_size = size - of_content;
    request->answer_sent = 0;
    request->answer = xmalloc(request->answer_size);
    memcpy(request->answer, bytes + of_content, request->answer_size);
}

static void reply_with(struct http_request *request, int http_status, const char *content_type, const char *bytes,
                       size_t size, char *taken)
{
    assert(request->received && request->reply == REPLY_NONE && !request->handler_done);
    bool gone = request->gone;
    request_done(request); /* frees it if the client is gone */
    if (gone) {
        free(taken);
        return;
    }
    struct buffer *head = &request->server->head;
    request->reply = REPLY_ENDED;
    buffer_clear(head);
    reply_write_head(request, head, http_status, content_type, size);
    if (head->failed)
        memory_exhausted();
    if (request->bodyless)
        size = 0;
    struct iovec pieces[] = {{head->data, head->length}, {(void *)(uintptr_t)bytes, size}};
    ssize_t sent = reply_send_pieces(request, pieces, size ? 2 : 1);
    keep_rest(request, head, taken, bytes, size, sent > 0 ? (size_t)sent : 0);
    reply_send(request); /* also detects failures */
}

void http_reply(struct http_request *request, int http_status, const char *content_type, const void *bytes, size_t size)
{
    reply_with(request, http_status, content_type, bytes, size, NULL);
}

void http_reply_take(struct http_request *request, int http_status, const char *content_type, char *bytes, size_t size)
{
    reply_with(request, http_status, content_type, bytes, size, bytes);
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
    if (request->server && request->server->options.refuse)
        request->server->options.refuse(request, http_status, text);
    else
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
