/* Private to the providers: what OpenAI's dialects share. */
#ifndef RENGA_LLM_GATEWAY_OPENAI_PRIV_H
#define RENGA_LLM_GATEWAY_OPENAI_PRIV_H

#include "provider.h"

#include <cjson/cJSON.h>

/* openai.c */
bool openai_read_chat(struct answer *answer, const char *body, size_t size, struct failure *failure);
bool openai_read_event(struct answer *answer, const struct sse_event *event, struct failure *failure);

/* openai_request.c */
void openai_write_chat(const struct chat_question *question, struct json_writer *writer);

/* openai_embed.c */
void openai_write_embed(const struct embed_question *question, struct json_writer *writer);
bool openai_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure);

/* Takes the value of a field "error": a failure unless it is null. */
struct json_pull;
void openai_read_embed_error(struct json_pull *in, struct failure *failure);

/* ollama_embed.c */
void ollama_write_embed(const struct embed_question *question, struct json_writer *writer);
bool ollama_read_embed(struct embed_answer *answer, const char *body, size_t size, struct failure *failure);

/* openai_error.c */
void openai_read_error(int http_status, const char *body, size_t size, struct failure *failure);

/* An error object in place of an answer: {"message", "type", "param", "code"}, or just a text. Always false. */
bool openai_fail_in_band(const cJSON *error, struct failure *failure);

/* The field "tool_calls" of an assistant's turn, in requests and in the answers of openai_http. */
void openai_write_tool_calls(const Renga__V1__ChatMessage *message, struct json_writer *writer);

#endif
