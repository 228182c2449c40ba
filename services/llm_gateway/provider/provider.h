/* A provider: how one kind of upstream is spoken to. It writes requests and reads answers; sending, waiting, streaming,
 * limits and errors of transport are the same for all and none of its business. One that answers in this process has
 * `answer_chat`, and nothing of what concerns requests; it is routed, limited, counted and answered for as all others.
 *
 * Adding one is a file <name>.c with its const entry, and its row here and in providers.c. */
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

/* What is to be asked. The request has been checked (check.h): its JSON is JSON, its enums are known. */
struct chat_question {
    const Renga__V1__ChatRequest *request;
    const char *model; /* as the upstream calls it */
    bool stream;
    bool old_token_limit;   /* the upstream wants a parameter by its former name */
    int64_t output_tokens;  /* where the request has no limit and the API must have one */
    int64_t context_tokens; /* for upstreams that cut the question to a length they are told */
    struct capability capability;
};

/* What a deployment is configured with, and how that makes it be reached. */
struct provider_terms {
    const char *version; /* of the API; "": the provider's own choice */
    const char *model;   /* classic Azure: the deployment that stands in the URL; else "" */
};
#define PROVIDER_PATH_MAX 512
struct provider_endpoint {
    char path[PROVIDER_PATH_MAX];       /* of chat, behind the base URL */
    char embed_path[PROVIDER_PATH_MAX]; /* of embeddings; "": there are none */
    const char *key_header;
    bool bearer;                          /* "Bearer " stands before the key */
    const char *version_header, *version; /* NULL: none */
};

struct provider {
    const char *name;                        /* "openai": in answers, accounts and logs */
    const char *base_url;                    /* where none is configured; NULL: one must be */
    const char *url_variable, *key_variable; /* of the environment, read where no option is set; NULL: none */
    const char *keyed_host;                  /* says nothing without a key; NULL: there is none */
    const char *stream_type; /* Content-Type of a stream: "text/event-stream" or "application/x-ndjson" */
    uint32_t unknown;        /* PARAMETER_BITs its API does not have */

    /* False with INVALID_ARGUMENT and a field, "api_version" or "azure_deployment", where the terms cannot be. */
    bool (*find_endpoint)(const struct provider_terms *terms, struct provider_endpoint *way, struct status *st);

    /* The body of a request, one JSON object. */
    void (*write_chat)(const struct chat_question *question, struct json_writer *writer);

    /* A whole answer, and one event (or line) of a stream. False with `failure` filled where it cannot be read
     * (DATA_LOSS), or is an error in the place of an answer. `answer` is told what was said (answer.h). */
    bool (*read_chat)(struct answer *answer, const char *body, size_t size, struct failure *failure);
    bool (*read_event)(struct answer *answer, const struct sse_event *event, struct failure *failure);

    /* What an HTTP status of 300 and up means, with the provider's message kept. `body` may be anything. How long to
     * wait is read from the headers by retry_hint.h. */
    void (*read_error)(int http_status, const char *body, size_t size, struct failure *failure);

    /* True where an HTTP error is in truth an answer, such as a blocked prompt. NULL: never. */
    bool (*read_outcome)(struct answer *answer, int http_status, const char *body, size_t size);

    /* The same of embeddings; NULL: it has none. */
    void (*write_embed)(const struct embed_question *question, struct json_writer *writer);
    bool (*read_embed)(struct embed_answer *answer, const char *body, size_t size, struct failure *failure);

    /* Answers in this process: no URL, no key, no network. Says everything to `answer` and how it stopped; false with
     * `failure` filled where it cannot. Of a long request it runs in a worker thread. NULL: it is asked over HTTP. */
    bool (*answer_chat)(const struct chat_question *question, struct answer *answer, struct failure *failure);

    /* What each of its answers says of itself, of the route by that name; NULL where memory is out. NULL: nothing. */
    Renga__V1__Degradation *(*degradation)(struct arena *arena, const char *route,
                                           const Renga__V1__ChatRequest *request);
};

/* All of them, NULL at the end (providers.c). */
extern const struct provider *const providers[];
const struct provider *provider_named(const char *name); /* NULL: none */

extern const struct provider openai_provider;
extern const struct provider azure_provider;
extern const struct provider anthropic_provider;
extern const struct provider ollama_provider;
extern const struct provider extractive_provider; /* extractive/ */

#endif
