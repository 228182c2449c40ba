/* How many tokens a request is, by the estimate of words/tokens.h. */
#ifndef RENGA_LLM_GATEWAY_TOKENS_H
#define RENGA_LLM_GATEWAY_TOKENS_H

#include "words/tokens.h"

#include "renga/v1/llm_gateway.pb-c.h"

/* The input of a request: turns, tools, schema and what the format adds to each. */
int64_t tokens_of_chat(const Renga__V1__ChatRequest *request);
int64_t tokens_of_embed(const Renga__V1__EmbedRequest *request);

#endif
