/* Estimates the number of tokens of a request, by words/tokens.h. */
#ifndef RENGA_LLM_GATEWAY_TOKENS_H
#define RENGA_LLM_GATEWAY_TOKENS_H

#include "words/tokens.h"

#include "renga/v1/llm_gateway.pb-c.h"

/* Input tokens of a request: messages, tools, schema, and the overhead of the format for each. */
int64_t tokens_of_chat(const Renga__V1__ChatRequest *request);
int64_t tokens_of_embed(const Renga__V1__EmbedRequest *request);

#endif
