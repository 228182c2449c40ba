/* A call of Chat or ChatStream: one question to the upstream and its answer back. */
#ifndef RENGA_LLM_GATEWAY_CHAT_H
#define RENGA_LLM_GATEWAY_CHAT_H

#include "renga/v1/llm_gateway.pb-c.h"

struct gateway;
struct rpc_call;

/* Both end the call, now or later. */
void chat_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                Renga__V1__ChatResponse_Closure reply);
void chat_stream_begin(struct gateway *gateway, struct rpc_call *call, const Renga__V1__ChatRequest *request,
                       Renga__V1__ChatStreamEvent_Closure reply);

#endif
