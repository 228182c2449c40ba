#include "knowledge/embedding.h"

static void embedding_vectors_received(const Renga__V1__EmbedResponse *response, void *data)
{
    struct rpc_client_call *call = data;
    struct embedding *embedding = call->owner;
    if (response && response->n_embeddings != embedding->count) {
        fail(&call->status, DATA_LOSS, "the gateway gave %zu vectors for %zu texts", response->n_embeddings,
             embedding->count);
        response = NULL;
    }
    embedding->received(embedding, response);
}

void embedding_begin(struct embedding *embedding)
{
    Renga__V1__EmbedRequest request = RENGA__V1__EMBED_REQUEST__INIT;
    request.model = (char *)(uintptr_t)embedding->knowledge->embedding_model;
    request.inputs = (char **)(uintptr_t)embedding->inputs;
    request.n_inputs = embedding->count;
    request.priority = embedding->priority;
    embedding->call.owner = embedding;
    renga__v1__llm_gateway__embed(embedding->knowledge->gateway, &request, embedding_vectors_received,
                                  &embedding->call);
}
