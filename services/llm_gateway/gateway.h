/* The LLM gateway: one interface to all models (proto/renga/v1/llm_gateway.proto). */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_H
#define RENGA_LLM_GATEWAY_GATEWAY_H

#include "daemon/service.h"

extern const struct service llm_gateway_service;

#endif
