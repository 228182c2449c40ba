/* What an instance of the gateway has. Private to services/llm_gateway. */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_PRIV_H
#define RENGA_LLM_GATEWAY_GATEWAY_PRIV_H

#include "config/config.h"
#include "gateway_shared.h"
#include "renga/v1/llm_gateway.pb-c.h"

struct pipeline_metrics;
struct openai_http;
struct generation_use;
struct http_client;
struct loop;
struct rpc_auth;

struct gateway {
    Renga__V1__LlmGateway_Service base; /* first */
    struct http_client *http;
    struct loop *loop;
    const struct rpc_auth *auth;      /* NULL: anyone may call anything */
    struct gateway_shared *shared;    /* of the process: made by the first instance */
    struct generation_use *use;       /* the routes with which calls of this loop begin */
    struct pipeline_metrics *metrics; /* of this loop */
    int64_t timeout_ms, idle_timeout_ms, reader_timeout_ms, queue_wait_ms;
    size_t response_max, stream_max;
    bool logs_content;               /* prompts and answers may be seen in logs and traces */
    struct openai_http *openai_http; /* the OpenAI HTTP interface; NULL: not served */
};

extern const struct option llm_gateway_options[];

#endif
