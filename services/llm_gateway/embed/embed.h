/* A call of Embed: texts to the upstream and their vectors back. */
#ifndef RENGA_LLM_GATEWAY_EMBED_H
#define RENGA_LLM_GATEWAY_EMBED_H

#include "renga/v1/llm_gateway.pb-c.h"

struct gateway;
struct rpc_call;

/* Ends the call, now or later. */
void embed_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__EmbedRequest *request,
                 Renga__V1__EmbedResponse_Closure reply);

#endif
