/* A provider: how one kind of upstream is spoken to. It writes requests and reads answers; sending, waiting, streaming,
 * limits and errors of transport are the same for all and none of its business.
 *
 * Adding one is a file <name>.c with its const entry, and its row at the end of this header. */
#ifndef RENGA_LLM_GATEWAY_PROVIDER_H
#define RENGA_LLM_GATEWAY_PROVIDER_H

#include "base/json_writer.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct answer;
struct failure;
struct sse_event;

/* What is to be asked. The request has been checked (check.h): its JSON is JSON, its enums are known. */
struct chat_question {
    const Renga__V1__ChatRequest *request;
    const char *model; /* as the upstream calls it */
    bool stream;
    bool old_token_limit; /* the upstream wants a parameter by its former name */
};

struct provider {
    const char *name;      /* "openai": in answers, accounts and logs */
    const char *chat_path; /* behind the upstream's base URL */

    /* The body of a request, one JSON object. */
    void (*write_chat)(const struct chat_question *question, struct json_writer *writer);

    /* A whole answer, and one event of a stream. False with `failure` filled where it cannot be read (DATA_LOSS), or
     * is an error in the place of an answer. `answer` is told what was said (answer.h). */
    bool (*read_chat)(struct answer *answer, const char *body, size_t size, struct failure *failure);
    bool (*read_event)(struct answer *answer, const struct sse_event *event, struct failure *failure);

    /* What an HTTP status of 300 and up means, with the provider's message kept. `body` may be anything. How long to
     * wait is read from the headers by retry_hint.h. */
    void (*read_error)(int http_status, const char *body, size_t size, struct failure *failure);
};

extern const struct provider openai_provider;

#endif
