/* Private to door*.c. */
#ifndef RENGA_LLM_GATEWAY_DOOR_PRIV_H
#define RENGA_LLM_GATEWAY_DOOR_PRIV_H

#include "base/arena.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "door.h"
#include "http/server.h"
#include "rpc/rpc.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>

struct rpc_auth;

struct door {
    struct loop *loop;
    struct http_server *server;
    ProtobufCService *stub;      /* of our own instance */
    const struct rpc_auth *auth; /* NULL: anyone may call anything */
    size_t message_max;
    int64_t call_max_ms;
    int64_t opened_s;   /* Unix time */
    struct buffer out;  /* for what is written at once, cleared each time */
    unsigned calls;     /* that the stub has not ended */
    bool stopped;       /* no connection is left */
    struct work report; /* drained */
    void (*drained)(void *data);
    void *drained_data;
};

#define UNCONST(text) ((char *)(uintptr_t)(text)) /* protobuf-c knows no const, and changes nothing */

/* ---- a request (door.c) ------------------------------------------------------------------------------------------ */

/* One that goes on to the gateway; lives as long as its HTTP request. */
struct door_call {
    struct rpc_client_call base; /* first */
    struct door *door;
    struct http_request *request;
};

/* Who calls, where their key lets them call the method ("Chat"); else NULL. */
const struct rpc_principal *door_may(const struct door *door, const struct http_request *request, const char *method,
                                     struct status *st);
/* The same; where it is NULL, the request has been answered. */
const struct rpc_principal *door_admit(const struct door *door, struct http_request *request, const char *method);

/* The body of a request, to be freed with cJSON_Delete; NULL if the request has been answered, as the body is not
 * JSON. Its key was judged before the body was read. */
cJSON *door_read_body(struct http_request *request, size_t *size);

/* Initializes a call with time, trace and leave of the request's client. `size` is that of the structure it begins.
 * NULL where it has been answered. */
struct door_call *door_call_create(struct door *door, struct http_request *request,
                                   const struct rpc_principal *principal, size_t size);
/* What the client's limits leave becomes headers. From a call's closure, before the answer is begun. */
void door_call_tell_room(const struct door_call *call);
/* On the last run of a call's closure, before the answer. */
void door_call_ended(struct door_call *call);

/* x-renga-deployment and, where the answer came from the cache, x-renga-cache: before a whole answer. */
void door_tell_origin(struct http_request *request, const Renga__V1__AnsweredBy *by, Renga__V1__CacheUse use);

/* What was written to a buffer as the whole answer; the buffer is emptied. */
void door_reply(struct http_request *request, struct buffer *out);

/* door_chat.c, door_embed.c, door_models.c */
void door_chat(struct door *door, struct http_request *request);
void door_embed(struct door *door, struct http_request *request);
void door_models(struct door *door, struct http_request *request);
void door_model(struct door *door, struct http_request *request);

/* ---- errors (door_error.c) --------------------------------------------------------------------------------------- */

/* What OpenAI's clients want to know of a failure, beside its text. */
struct door_error {
    int http_status;
    const char *type, *code; /* code: NULL where there is none */
    bool final;              /* asking again would not help */
    struct status status;    /* field and text in OpenAI's terms */
};

void door_error_of(const struct status *status, struct door_error *error);
/* The same for a call that ended, which may say more in its details. To be asked from its closure. */
void door_error_of_call(const struct rpc_client_call *call, struct door_error *error);

/* {"error":{…}} */
void door_write_error(struct json_writer *writer, const struct door_error *error);
/* Ends the request. */
void door_fail(struct http_request *request, const struct door_error *error);
void door_fail_status(struct http_request *request, const struct status *status);
/* With an HTTP status that no code of ours stands for. */
void door_refuse(struct http_request *request, int http_status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- a question (door_read*.c) ----------------------------------------------------------------------------------- */

/* What stands in the body of POST /v1/chat/completions. Borrows from the tree and the arena. */
struct door_question {
    Renga__V1__ChatRequest request;
    Renga__V1__Sampling sampling;
    Renga__V1__ToolChoice tool_choice;
    Renga__V1__ResponseFormat response_format;
    Renga__V1__CallOrigin origin;
    bool stream, include_usage;
    const char *code; /* of a refusal, in OpenAI's terms; may be NULL */
};

#define DOOR_TOOLS_MAX 128 /* of a request, as in the contract */

struct door_reader {
    struct json_reader in;
    struct arena *arena;
    struct door_question *question;
};

/* Refusals are INVALID_ARGUMENT and name the field as the client knows it. */
bool door_read_chat(const cJSON *root, struct arena *arena, struct door_question *question, struct status *st);

/* door_read_messages.c, door_read_tools.c */
void door_read_messages(struct door_reader *reader);
void door_read_tools(struct door_reader *reader);
void door_read_tool_choice(struct door_reader *reader);
void door_read_format(struct door_reader *reader);

/* Fails with a code of OpenAI's. Always false. */
bool door_read_refuse(struct door_reader *reader, const cJSON *item, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The number of a word in a list of `count`, some of which may be NULL; -1 after a refusal. */
int door_read_word(struct door_reader *reader, const cJSON *item, const char *const *words, int count);
/* A tree as text in the arena; "" after a failure. */
char *door_read_raw(struct door_reader *reader, const cJSON *tree);
bool door_is_given(const cJSON *item); /* there, and not null */

/* ---- embeddings (door_embed_read.c, door_embed_write.c) ---------------------------------------------------------- */

/* What stands in the body of POST /v1/embeddings. Borrows from the tree and the arena. */
struct door_texts {
    Renga__V1__EmbedRequest request;
    bool base64;      /* the form of the answer */
    const char *code; /* of a refusal, in OpenAI's terms; may be NULL */
};
bool door_read_embed(const cJSON *root, struct arena *arena, struct door_texts *texts, struct status *st);

/* The list of vectors into a buffer that was not yet initialized; it has room for all of it, whatever the numbers. */
void door_write_embed(const Renga__V1__EmbedResponse *response, bool base64, struct buffer *out);

/* ---- an answer (door_write.c) ------------------------------------------------------------------------------------ */

#define DOOR_CALLS_MAX 128 /* tool calls of an answer, as in the contract */

/* A stream of chat.completion.chunk. */
struct door_stream {
    char id[72], model[136];
    int64_t created_s;
    bool include_usage;
    bool has_spoken;                                                   /* the chunk with the role is out */
    uint64_t opened[DOOR_CALLS_MAX / 64], argued[DOOR_CALLS_MAX / 64]; /* calls that have begun, that have arguments */
};

/* A whole chat.completion. */
void door_write_answer(struct json_writer *writer, const Renga__V1__ChatResponse *response, int64_t created_s);
/* An event as server-sent events, none or some; with `finish` also the end of the stream. */
void door_write_event(struct door_stream *stream, const Renga__V1__ChatStreamEvent *event, struct buffer *out);
/* A failure in mid-stream. */
void door_write_stream_error(const struct door_error *error, struct buffer *out);

#endif
