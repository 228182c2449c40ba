/* A provider: the protocol of one kind of upstream. It writes requests and reads answers. Sending, waiting, streaming,
 * limits and transport errors are common code. A provider inside this process has `answer_chat` and leaves the fields
 * of requests empty; routing, limits, accounting and replies are the same for it.
 *
 * To add a provider, write a file <name>.c with its const entry, and add a row here and in providers.c. */
#ifndef RENGA_LLM_GATEWAY_PROVIDER_H
#define RENGA_LLM_GATEWAY_PROVIDER_H

#include "base/status.h"
#include "capability.h"
#include "json/writer.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct answer;
struct arena;
struct embed_answer;
struct embed_question;
struct failure;
struct sse_event;

/* A chat request for one model. The request has been checked (contract/check.h): its JSON is well-formed, its enum
 * values are known. */
struct chat_question {
    const Renga__V1__ChatRequest *request;
    const char *model; /* the upstream's name of the model */
    bool stream;
    bool old_token_limit;     /* the upstream needs the old name of a parameter */
    int64_t output_tokens;    /* the limit if the request sets no limit and the API requires one */
    int64_t context_tokens;   /* for upstreams that truncate the prompt to a given length */
    int64_t least_confidence; /* percent: answer_chat says that it found nothing below it */
    struct capability capability;
};

/* The configuration of a deployment, and the endpoint that follows from it. */
struct provider_terms {
    const char *version; /* of the API; "": the provider's default */
    const char *model;   /* classic Azure: the deployment in the URL; else "" */
};
#define PROVIDER_PATH_MAX 512
struct provider_endpoint {
    char path[PROVIDER_PATH_MAX];       /* of chat, behind the base URL */
    char embed_path[PROVIDER_PATH_MAX]; /* of embeddings; "": not supported */
    const char *key_header;
    bool bearer;                          /* "Bearer " precedes the key */
    const char *version_header, *version; /* NULL: no header */
};

struct provider {
    const char *name;     /* "openai": in answers, the ledger and logs */
    const char *base_url; /* default; NULL: it must be configured */
    /* Environment variables, used if the option is not set; NULL: no variable. */
    const char *url_variable, *key_variable, *model_variable;
    const char *keyed_host;  /* this host requires a key; NULL: no host does */
    const char *stream_type; /* Content-Type of a stream: "text/event-stream" or "application/x-ndjson" */
    uint32_t unknown;        /* PARAMETER_BITs that its API does not support */

    /* False with INVALID_ARGUMENT and a field, "api_version" or "azure_deployment", if the terms are invalid. */
    bool (*find_endpoint)(const struct provider_terms *terms, struct provider_endpoint *way, struct status *st);

    /* The body of a request, one JSON object. */
    void (*write_chat)(const struct chat_question *question, struct json_writer *writer);

    /* Reads a whole answer, or one event (or line) of a stream, into `answer` (answer/answer.h). False with `failure`:
     * it is unreadable (DATA_LOSS), or an error in place of an answer. */
    bool (*read_chat)(struct answer *answer, const char *body, size_t size, struct failure *failure);
    bool (*read_event)(struct answer *answer, const struct sse_event *event, struct failure *failure);

    /* Translates an HTTP status of 300 and up, and keeps the provider's message. `body` may be any bytes.
     * retry_hint.h reads the time to wait from the headers. */
    void (*read_error)(int http_status, const char *body, size_t size, struct failure *failure);

    /* True: an HTTP error is an answer after all, for instance a blocked prompt. NULL: never. */
    bool (*read_outcome)(struct answer *answer, int http_status, const char *body, size_t size);

    /* The same for embeddings; NULL: not supported. */
    void (*write_embed)(const struct embed_question *question, struct json_writer *writer);
    bool (*read_embed)(struct embed_answer *answer, const char *body, size_t size, struct failure *failure);

    /* Answers inside this process, without URL, key and network. Writes the whole answer and its finish reason to
     * `answer`; false with `failure` if it cannot. For a long request it runs in a worker thread. NULL: the provider
     * is called over HTTP. */
    bool (*answer_chat)(const struct chat_question *question, struct answer *answer, struct failure *failure);

    /* The degradation that each of its answers reports, for the route of that name; NULL if memory is exhausted. It
     * runs in the loop, and does not read the request, which may be long. A NULL function: no degradation. */
    Renga__V1__Degradation *(*degradation)(struct arena *arena, const char *route, const struct answer *answer);
};

/* All providers, terminated by NULL (providers.c). */
extern const struct provider *const providers[];
const struct provider *provider_named(const char *name); /* NULL: no provider of that name */

extern const struct provider openai_provider;
extern const struct provider azure_provider;
extern const struct provider anthropic_provider;
extern const struct provider ollama_provider;
extern const struct provider extractive_provider; /* extractive/ */

#endif
