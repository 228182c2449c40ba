/* POST /v1/chat/completions. */
#include "openai_http_priv.h"

#include "base/clock.h"

#include <string.h>

#define ARENA_MAX   ((size_t)32 << 20) /* memory for reading a request: its messages, and schemas as text */
#define ANSWER_MAX  ((size_t)64 << 20) /* bytes of an answer as JSON: of the largest message, most of it escaped */
#define STREAM_TYPE "text/event-stream; charset=utf-8"

struct chat_call {
    struct openai_http_call base; /* first */
    struct openai_http_stream stream;
    bool begun; /* the answer has its headers */
};

/* ---- the answer, whole ------------------------------------------------------------------------------------------- */

static void fail_call(const struct chat_call *chat)
{
    struct openai_http_error error;
    openai_http_error_of_call(&chat->base.base, &error);
    openai_http_fail(chat->base.request, &error);
}

static void openai_http_chat_answered(const Renga__V1__ChatResponse *response, void *data)
{
    struct chat_call *chat = data;
    openai_http_call_rate_limits(&chat->base);
    openai_http_call_ended(&chat->base);
    if (!response) {
        fail_call(chat);
        return;
    }
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, ANSWER_MAX);
    json_writer_init(&writer, &out);
    openai_http_write_answer(&writer, response, chat->stream.created_s);
    if (response->finish)
        openai_http_origin_headers(chat->base.request, response->finish->answered_by, response->finish->cache_use);
    openai_http_reply(chat->base.request, &out);
    buffer_fini(&out);
}

/* ---- the answer, in pieces --------------------------------------------------------------------------------------- */

static void client_reads_again(struct http_request *request, void *data)
{
    struct chat_call *chat = data;
    rpc_client_call_resume(&chat->base.base);
}

/* After an error the stream still ends regularly: a reset could overtake the error. [DONE] marks a successful end. */
static void openai_http_chat_stream_ended(struct chat_call *chat)
{
    struct openai_http *openai_http = chat->base.openai_http;
    openai_http_call_ended(&chat->base);
    if (!chat->begun) {
        openai_http_call_rate_limits(&chat->base);
        fail_call(chat);
        return;
    }
    if (chat->base.base.status.code != OK) {
        struct openai_http_error error;
        openai_http_error_of_call(&chat->base.base, &error);
        buffer_clear(&openai_http->out);
        openai_http_write_stream_error(&error, &openai_http->out);
        http_reply_write(chat->base.request, openai_http->out.data, openai_http->out.length);
    }
    http_reply_end(chat->base.request);
}

static void openai_http_chat_event_came(const Renga__V1__ChatStreamEvent *event, void *data)
{
    struct chat_call *chat = data;
    struct buffer *out = &chat->base.openai_http->out;
    if (!event) {
        openai_http_chat_stream_ended(chat);
        return;
    }
    buffer_clear(out);
    openai_http_write_event(&chat->stream, event, out);
    struct http_request *request = chat->base.request;
    if (!out->length)
        return;
    if (!chat->begun) {
        chat->begun = true;
        openai_http_call_rate_limits(&chat->base);
        http_reply_header(request, "cache-control", "no-cache");
        http_reply_header(request, "x-accel-buffering", "no");
        http_reply_on_writable(request, client_reads_again, chat);
        http_reply_begin(request, 200, STREAM_TYPE);
    }
    http_reply_write(request, out->data, out->length);
    if (!http_reply_writable(request))
        rpc_client_call_pause(&chat->base.base);
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static void openai_http_chat_ask(struct openai_http *openai_http, struct http_request *request,
                                 struct openai_http_chat_request *question)
{
    const char *key = http_request_header(request, "idempotency-key");
    const struct rpc_principal *principal =
        openai_http_admit(openai_http, request, question->stream ? "ChatStream" : "Chat");
    if (!principal)
        return;
    if (key)
        question->request.idempotency_key = UNCONST(key);
    struct chat_call *chat =
        (struct chat_call *)openai_http_call_create(openai_http, request, principal, sizeof(struct chat_call));
    if (!chat)
        return;
    chat->stream.created_s = clock_wall_ns() / NS_PER_SEC;
    chat->stream.include_usage = question->include_usage;
    if (question->stream)
        renga__v1__llm_gateway__chat_stream(openai_http->stub, &question->request, openai_http_chat_event_came,
                                            &chat->base.base);
    else
        renga__v1__llm_gateway__chat(openai_http->stub, &question->request, openai_http_chat_answered,
                                     &chat->base.base);
}

/* The stub copies the request: the parsed body is freed at once. */
static void openai_http_chat_read_and_ask(struct openai_http *openai_http, struct http_request *request,
                                          const cJSON *root, size_t size)
{
    struct openai_http_chat_request question;
    struct status st = {0};
    struct arena arena;
    arena_init(&arena, NULL, 0, ARENA_MAX);
    if (!openai_http_read_chat(root, &arena, &question, &st)) {
        struct openai_http_error error;
        openai_http_error_of(&st, &error);
        if (question.code)
            error.code = question.code;
        openai_http_fail(request, &error);
    } else if (size > openai_http->message_max &&
               renga__v1__chat_request__get_packed_size(&question.request) > openai_http->message_max) {
        openai_http_refuse(request, 413, "request_too_large",
                           "the request has more than the %zu bytes that are allowed", openai_http->message_max);
    } else {
        openai_http_chat_ask(openai_http, request, &question);
    }
    arena_fini(&arena);
}

void openai_http_chat(struct openai_http *openai_http, struct http_request *request)
{
    size_t size;
    cJSON *root = openai_http_read_body(request, &size);
    if (root)
        openai_http_chat_read_and_ask(openai_http, request, root, size);
    cJSON_Delete(root);
}
