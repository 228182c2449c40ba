/* Private to openai_http*.c. */
#ifndef RENGA_LLM_GATEWAY_OPENAI_HTTP_PRIV_H
#define RENGA_LLM_GATEWAY_OPENAI_HTTP_PRIV_H

#include "base/arena.h"
#include "http/server.h"
#include "openai_http.h"
#include "rpc/rpc.h"
#include "json/reader.h"
#include "json/writer.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>

struct rpc_auth;

struct openai_http {
    struct loop *loop;
    struct http_server *server;
    ProtobufCService *stub;      /* of our own instance */
    const struct rpc_auth *auth; /* NULL: calls need no key */
    size_t message_max;
    int64_t call_max_ms;
    int64_t opened_s;   /* Unix time */
    struct buffer out;  /* for a write of its own; cleared before each use */
    unsigned calls;     /* calls that the stub has not ended */
    bool stopped;       /* no connection is left */
    struct work report; /* drained */
    void (*drained)(void *data);
    void *drained_data;
};

#define UNCONST(text) ((char *)(uintptr_t)(text)) /* protobuf-c has no const in its structs, and only reads */

/* ---- a request (openai_http.c)
 * ------------------------------------------------------------------------------------------ */

/* A request forwarded to the gateway; lives as long as its HTTP request. */
struct openai_http_call {
    struct rpc_client_call base; /* first */
    struct openai_http *openai_http;
    struct http_request *request;
};

/* The caller, if the key permits the method ("Chat"); else NULL. */
const struct rpc_principal *openai_http_authorize(const struct openai_http *openai_http,
                                                  const struct http_request *request, const char *method,
                                                  struct status *st);
/* The same; if NULL, the request has been answered. */
const struct rpc_principal *openai_http_admit(const struct openai_http *openai_http, struct http_request *request,
                                              const char *method);

/* The JSON body of a request; the caller frees it with cJSON_Delete. NULL: not JSON, and the request has been
 * answered. The key was checked before the body was read. */
cJSON *openai_http_read_body(struct http_request *request, size_t *size);

/* Initializes a call with the deadline, trace and principal of the request. `size` is the size of the structure that
 * begins with it. NULL: the request has been answered. */
struct openai_http_call *openai_http_call_create(struct openai_http *openai_http, struct http_request *request,
                                                 const struct rpc_principal *principal, size_t size);
/* Writes the rest of the client's limits as headers. From a call's closure, before the answer begins. */
void openai_http_call_rate_limits(const struct openai_http_call *call);
/* On the last run of a call's closure, before the answer. */
void openai_http_call_ended(struct openai_http_call *call);

/* x-renga-deployment, and x-renga-cache for a cached answer: before a whole answer. */
void openai_http_origin_headers(struct http_request *request, const Renga__V1__AnsweredBy *by, Renga__V1__CacheUse use);

/* Sends the buffer as the whole answer, and empties it. */
void openai_http_reply(struct http_request *request, struct buffer *out);

/* openai_http_chat.c, openai_http_embed.c, openai_http_models.c */
void openai_http_chat(struct openai_http *openai_http, struct http_request *request);
void openai_http_embed(struct openai_http *openai_http, struct http_request *request);
void openai_http_models(struct openai_http *openai_http, struct http_request *request);
void openai_http_model(struct openai_http *openai_http, struct http_request *request);

/* ---- errors (openai_http_error.c)
 * --------------------------------------------------------------------------------------- */

/* A failure in the terms of OpenAI's clients. */
struct openai_http_error {
    int http_status;
    const char *type, *code; /* code: may be NULL */
    bool final;              /* a retry would not help */
    struct status status;    /* field and text in OpenAI's terms */
};

void openai_http_error_of(const struct status *status, struct openai_http_error *error);
/* The same for a call that ended, with the details of its status. Call it from the call's closure. */
void openai_http_error_of_call(const struct rpc_client_call *call, struct openai_http_error *error);

/* {"error":{…}} */
void openai_http_write_error(struct json_writer *writer, const struct openai_http_error *error);
/* Ends the request. */
void openai_http_fail(struct http_request *request, const struct openai_http_error *error);
void openai_http_fail_status(struct http_request *request, const struct status *status);
/* With an HTTP status that does not follow from a gRPC code. */
void openai_http_refuse(struct http_request *request, int http_status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- a question (openai_http_read*.c)
 * ----------------------------------------------------------------------------------- */

/* The body of POST /v1/chat/completions. Borrows from the tree and the arena. */
struct openai_http_chat_request {
    Renga__V1__ChatRequest request;
    Renga__V1__Sampling sampling;
    Renga__V1__ToolChoice tool_choice;
    Renga__V1__ResponseFormat response_format;
    Renga__V1__CallOrigin origin;
    bool stream, include_usage;
    const char *code; /* of a refusal, in OpenAI's terms; may be NULL */
};

#define OPENAI_HTTP_TOOLS_MAX 128 /* of a request, as in the contract */

struct openai_http_reader {
    struct json_reader in;
    struct arena *arena;
    struct openai_http_chat_request *question;
};

/* A refusal is INVALID_ARGUMENT and names the field as in the client's body. */
bool openai_http_read_chat(const cJSON *root, struct arena *arena, struct openai_http_chat_request *question,
                           struct status *st);

/* openai_http_read_messages.c, openai_http_read_tools.c */
void openai_http_read_messages(struct openai_http_reader *reader);
void openai_http_read_tools(struct openai_http_reader *reader);
void openai_http_read_tool_choice(struct openai_http_reader *reader);
void openai_http_read_format(struct openai_http_reader *reader);

/* Fails with an error code of OpenAI's. Always false. */
bool openai_http_read_refuse(struct openai_http_reader *reader, const cJSON *item, const char *code, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));
/* The index of a word in a list of `count` words, of which some may be NULL; -1 after a refusal. */
int openai_http_read_enum(struct openai_http_reader *reader, const cJSON *item, const char *const *words, int count);
/* A tree as text in the arena; "" after a failure. */
char *openai_http_read_raw(struct openai_http_reader *reader, const cJSON *tree);
bool openai_http_is_given(const cJSON *item); /* present, and not null */

/* ---- embeddings (openai_http_embed_read.c, openai_http_embed_write.c)
 * ---------------------------------------------------------- */

/* The body of POST /v1/embeddings. Borrows from the tree and the arena. */
struct openai_http_embed_request {
    Renga__V1__EmbedRequest request;
    bool base64;      /* the form of the answer */
    const char *code; /* of a refusal, in OpenAI's terms; may be NULL */
};
bool openai_http_read_embed(const cJSON *root, struct arena *arena, struct openai_http_embed_request *texts,
                            struct status *st);

/* Writes the list of vectors into an uninitialized buffer, with enough capacity for all numbers. */
void openai_http_write_embed(const Renga__V1__EmbedResponse *response, bool base64, struct buffer *out);

/* ---- an answer (openai_http_write.c)
 * ------------------------------------------------------------------------------------ */

#define OPENAI_HTTP_CALLS_MAX 128 /* tool calls of an answer, as in the contract */

/* A stream of chat.completion.chunk. */
struct openai_http_stream {
    char id[72], model[136];
    int64_t created_s;
    bool include_usage;
    bool has_spoken; /* the chunk with the role has been sent */
    uint64_t opened[OPENAI_HTTP_CALLS_MAX / 64],
        argued[OPENAI_HTTP_CALLS_MAX / 64]; /* calls that have begun, that have arguments */
};

/* A whole chat.completion. */
void openai_http_write_answer(struct json_writer *writer, const Renga__V1__ChatResponse *response, int64_t created_s);
/* Writes an event as zero or more server-sent events; with `finish` also the end of the stream. */
void openai_http_write_event(struct openai_http_stream *stream, const Renga__V1__ChatStreamEvent *event,
                             struct buffer *out);
/* A failure in mid-stream. */
void openai_http_write_stream_error(const struct openai_http_error *error, struct buffer *out);

#endif
