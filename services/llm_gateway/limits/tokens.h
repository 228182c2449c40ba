/* How many tokens a text is, before anybody has counted them: within 15 % of what OpenAI's o200k_base counts on
 * Japanese and English prose, for limits and for accounts of streams that were cut. Cheap: one pass over the bytes. */
#ifndef RENGA_LLM_GATEWAY_TOKENS_H
#define RENGA_LLM_GATEWAY_TOKENS_H

#include "renga/v1/llm_gateway.pb-c.h"

#include <stddef.h>
#include <stdint.h>

int64_t tokens_of_text(const char *text, size_t size);

/* The input of a request: turns, tools, schema and what the format adds to each. */
int64_t tokens_of_chat(const Renga__V1__ChatRequest *request);
int64_t tokens_of_embed(const Renga__V1__EmbedRequest *request);

#endif
