/* An instance of the gateway, one in each loop. Private to services/llm_gateway. */
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
    const struct rpc_auth *auth;      /* NULL: calls need no key */
    struct gateway_shared *shared;    /* of the process; the first instance creates it */
    struct generation_use *use;       /* the configuration generation for new calls of this loop */
    struct pipeline_metrics *metrics; /* of this loop */
    int64_t timeout_ms, idle_timeout_ms, reader_timeout_ms, queue_wait_ms;
    size_t response_max, stream_max;
    bool logs_content;               /* prompts and answers may be written to logs and traces */
    struct openai_http *openai_http; /* the OpenAI HTTP interface; NULL: not served */
};

extern const struct option llm_gateway_options[];

#endif
