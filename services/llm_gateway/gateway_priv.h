/* What an instance of the gateway has. Private to services/llm_gateway. */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_PRIV_H
#define RENGA_LLM_GATEWAY_GATEWAY_PRIV_H

#include "base/config.h"
#include "route/models.h"

#include "renga/v1/llm_gateway.pb-c.h"

struct deployment;
struct door;
struct http_client;
struct ledger;
struct rpc_auth;

struct gateway {
    Renga__V1__LlmGateway_Service base; /* first */
    struct http_client *http;
    struct deployment *deployment;
    struct models models;
    int64_t timeout_ms, idle_timeout_ms, reader_timeout_ms;
    size_t response_max, stream_max;
    struct door *door; /* the HTTP door; NULL where it is not served */
    const struct rpc_auth *auth;
    struct ledger *ledger; /* of the process: made and destroyed by the first instance */
    bool owns_ledger;
};

extern const struct option llm_gateway_options[];

#endif
