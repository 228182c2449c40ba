/* Private to embed*.c: one call of Embed on its way through the gateway (pipeline/pipeline.h). */
#ifndef RENGA_LLM_GATEWAY_EMBED_PRIV_H
#define RENGA_LLM_GATEWAY_EMBED_PRIV_H

#include "answer/embed_answer.h"
#include "pipeline/pipeline.h"

struct embed {
    struct pipeline pipeline; /* first */
    const Renga__V1__EmbedRequest *request;
    Renga__V1__EmbedResponse_Closure reply;
    struct embed_answer answer; /* of the request under way */
    Renga__V1__AnsweredBy answered_by;
    Renga__V1__EmbedResponse *again; /* the cached answer; NULL: not from the cache */
};

/* How large the answer to a request may become, in bytes; at least `usual`. */
size_t embed_response_max(const Renga__V1__EmbedRequest *request, size_t usual);

/* The verdict on a finished transfer: vectors, or a failure. */
bool embed_read_result(struct pipeline *pipeline);

#endif
