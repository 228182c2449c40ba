/* Private to anthropic*.c. */
#ifndef RENGA_LLM_GATEWAY_ANTHROPIC_PRIV_H
#define RENGA_LLM_GATEWAY_ANTHROPIC_PRIV_H

#include "provider.h"

/* anthropic_request.c */
void anthropic_write_chat(const struct chat_question *question, struct json_writer *writer);

/* anthropic_messages.c: "system" and "messages" of the request. */
void anthropic_write_conversation(const Renga__V1__ChatRequest *request, bool thinks, struct json_writer *writer);

#endif
