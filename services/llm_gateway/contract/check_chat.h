/* The boundary: a request is checked here once, against the limits of the contract, and trusted behind. */
#ifndef RENGA_LLM_GATEWAY_CHECK_H
#define RENGA_LLM_GATEWAY_CHECK_H

#include "base/status.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>

/* False with INVALID_ARGUMENT that names the field, "messages[2].role", and a valid value. */
bool check_chat_request(const Renga__V1__ChatRequest *request, struct status *st);

/* 1 to 64 bytes of A-Z, a-z, 0-9, "_" and "-". */
bool tool_name_is_valid(const char *name);

#endif
