/* What an instance of the gateway has. Private to services/llm_gateway. */
#ifndef RENGA_LLM_GATEWAY_GATEWAY_PRIV_H
#define RENGA_LLM_GATEWAY_GATEWAY_PRIV_H

#include "base/config.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "route/retry.h"

struct ask_metrics;
struct door;
struct gate;
struct http_client;
struct ledger;
struct recall;

struct routes;

/* What the instances of a process share. The first one's, borrowed by the others. */
struct gateway_commons {
    struct routes *routes;
    struct gate *gate;
    struct ledger *ledger;
    struct recall *recall;
    struct retry_budget budget;
    bool counts_tokens; /* there are limits on tokens or money: estimates are worth their time */
};

struct gateway {
    Renga__V1__LlmGateway_Service base; /* first */
    struct http_client *http;
    struct gateway_commons *commons; /* of the process */
    struct ask_metrics *metrics;     /* of this loop */
    int64_t timeout_ms, idle_timeout_ms, reader_timeout_ms, queue_wait_ms;
    size_t response_max, stream_max;
    struct door *door; /* the HTTP door; NULL where it is not served */
};

extern const struct option llm_gateway_options[];

#endif
