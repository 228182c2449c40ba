/* The LLM gateway: every model behind one interface (proto/renga/v1/llm_gateway.proto). */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_H
#define RENGA_LLM_GATEWAY_GATEWAY_H

#include "daemon/service.h"

extern const struct service llm_gateway_service;

#endif
