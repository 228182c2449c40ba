/* POST /v1/chat/completions. */
#include "door_priv.h"

#include "base/clock.h"

#include <string.h>

#define ARENA_MAX   ((size_t)32 << 20) /* what a request takes while it is read: its turns, and schemas as text */
#define ANSWER_MAX  ((size_t)64 << 20) /* bytes of an answer as JSON: of the largest message, most of it escaped */
#define STREAM_TYPE "text/event-stream; charset=utf-8"

struct chat_call {
    struct door_call base; /* first */
    struct door_stream stream;
    bool begun; /* the answer has its headers */
};

/* ---- the answer, whole ------------------------------------------------------------------------------------------- */

static void fail_call(const struct chat_call *chat)
{
    struct door_error error;
    door_error_of_call(&chat->base.base, &error);
    door_fail(chat->base.request, &error);
}

static void answered(const Renga__V1__ChatResponse *response, void *data)
{
    struct chat_call *chat = data;
    door_call_tell_room(&chat->base);
    door_call_ended(&chat->base);
    if (!response) {
        fail_call(chat);
        return;
    }
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, ANSWER_MAX);
    json_writer_init(&writer, &out);
    door_write_answer(&writer, response, chat->stream.created_s);
    if (response->finish)
        door_tell_origin(chat->base.request, response->finish->answered_by, response->finish->cache_use);
    door_reply(chat->base.request, &out);
    buffer_fini(&out);
}

/* ---- the answer, in pieces --------------------------------------------------------------------------------------- */

static void client_reads_again(struct http_request *request, void *data)
{
    struct chat_call *chat = data;
    rpc_client_call_resume(&chat->base.base);
}

static void write_out(struct chat_call *chat, const struct buffer *out)
{
    struct http_request *request = chat->base.request;
    if (!out->length)
        return;
    if (!chat->begun) {
        chat->begun = true;
        door_call_tell_room(&chat->base);
        http_reply_header(request, "cache-control", "no-cache");
        http_reply_header(request, "x-accel-buffering", "no");
        http_reply_on_writable(request, client_reads_again, chat);
        http_reply_begin(request, 200, STREAM_TYPE);
    }
    http_reply_write(request, out->data, out->length);
    if (!http_reply_writable(request))
        rpc_client_call_pause(&chat->base.base);
}

/* The stream comes to a regular end also after an error in it: a reset could overtake the error on its way to the
 * client. What tells a good end is [DONE]. */
static void stream_ended(struct chat_call *chat)
{
    struct door *door = chat->base.door;
    door_call_ended(&chat->base);
    if (!chat->begun) {
        door_call_tell_room(&chat->base);
        fail_call(chat);
        return;
    }
    if (chat->base.base.status.code != OK) {
        struct door_error error;
        door_error_of_call(&chat->base.base, &error);
        buffer_clear(&door->out);
        door_write_stream_error(&error, &door->out);
        http_reply_write(chat->base.request, door->out.data, door->out.length);
    }
    http_reply_end(chat->base.request);
}

static void event_came(const Renga__V1__ChatStreamEvent *event, void *data)
{
    struct chat_call *chat = data;
    struct buffer *out = &chat->base.door->out;
    if (!event) {
        stream_ended(chat);
        return;
    }
    buffer_clear(out);
    door_write_event(&chat->stream, event, out);
    write_out(chat, out);
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static void ask(struct door *door, struct http_request *request, struct door_question *question)
{
    const char *key = http_request_header(request, "idempotency-key");
    const struct rpc_principal *principal = door_admit(door, request, question->stream ? "ChatStream" : "Chat");
    if (!principal)
        return;
    if (key)
        question->request.idempotency_key = UNCONST(key);
    struct chat_call *chat = (struct chat_call *)door_call_create(door, request, principal, sizeof(struct chat_call));
    if (!chat)
        return;
    chat->stream.created_s = clock_wall_ns() / NS_PER_SEC;
    chat->stream.include_usage = question->include_usage;
    if (question->stream)
        renga__v1__llm_gateway__chat_stream(door->stub, &question->request, event_came, &chat->base.base);
    else
        renga__v1__llm_gateway__chat(door->stub, &question->request, answered, &chat->base.base);
}

/* The stub has a copy of the request once it was called: what it was read from goes at once. */
static void read_and_ask(struct door *door, struct http_request *request, const cJSON *root, size_t size)
{
    struct door_question question;
    struct status st = {0};
    struct arena arena;
    arena_init(&arena, NULL, 0, ARENA_MAX);
    if (!door_read_chat(root, &arena, &question, &st)) {
        struct door_error error;
        door_error_of(&st, &error);
        if (question.code)
            error.code = question.code;
        door_fail(request, &error);
    } else if (size > door->message_max &&
               renga__v1__chat_request__get_packed_size(&question.request) > door->message_max) {
        door_refuse(request, 413, "request_too_large", "the request has more than the %zu bytes that are allowed",
                    door->message_max);
    } else {
        ask(door, request, &question);
    }
    arena_fini(&arena);
}

void door_chat(struct door *door, struct http_request *request)
{
    size_t size;
    cJSON *root = door_read_body(request, &size);
    if (root)
        read_and_ask(door, request, root, size);
    cJSON_Delete(root);
}
