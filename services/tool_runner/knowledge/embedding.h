/* Asking the gateway for vectors. Embedded in its owner until `received` has run. */
#ifndef RENGA_TOOL_RUNNER_EMBEDDING_H
#define RENGA_TOOL_RUNNER_EMBEDDING_H

#include "knowledge/knowledge_priv.h"
#include "renga/v1/llm_gateway.pb-c.h"

struct embedding {
    struct work work;
    struct rpc_client_call call; /* from rpc_client_call_init; its status says how it ended */
    const struct knowledge *knowledge;
    const char *const *inputs; /* not empty, at most 65,536 bytes each */
    size_t count;
    Renga__V1__Priority priority;
    /* In the loop, once. NULL: failed; else as many vectors as inputs, valid until it returns. */
    void (*received)(struct embedding *embedding, const Renga__V1__EmbedResponse *response);
};

/* From inside the loop. */
void embedding_begin(struct embedding *embedding);

#endif
