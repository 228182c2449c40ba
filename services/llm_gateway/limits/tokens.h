/* How many tokens a text is, before anybody has counted them: within 15 % of what OpenAI's o200k_base counts on
 * Japanese and English prose, for limits and for accounts of streams that were cut. Measured over many texts it is
 * within 3 % there, within 10 % on code, JSON, Chinese, Korean and Russian, and 5 to 15 % too low on German, French and
 * Spanish. One pass over the bytes at 3 to 5 ns each, no memory. */
#ifndef RENGA_LLM_GATEWAY_TOKENS_H
#define RENGA_LLM_GATEWAY_TOKENS_H

#include "renga/v1/llm_gateway.pb-c.h"

#include <stddef.h>
#include <stdint.h>

/* Any bytes; one that is no UTF-8 counts as a token. */
int64_t tokens_of_text(const char *text, size_t size);

/* Of text that comes in pieces, each of whole characters: all zero at first. A piece is taken to begin where a token
 * does, as models send them. */
struct token_count {
    int64_t hundredths; /* of a token */
    int before;         /* what the last piece ended with */
};
void token_count_add(struct token_count *count, const char *text, size_t size);
int64_t token_count_whole(const struct token_count *count); /* rounded, but never to none */

/* The input of a request: turns, tools, schema and what the format adds to each. */
int64_t tokens_of_chat(const Renga__V1__ChatRequest *request);
int64_t tokens_of_embed(const Renga__V1__EmbedRequest *request);

#endif
