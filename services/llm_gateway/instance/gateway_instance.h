/* An instance of the gateway, one in each loop, and the state that the instances of a process share. Each room reads
 * its own part; gateway_shared.h creates and destroys them. Private to services/llm_gateway. */
#ifndef RENGA_LLM_GATEWAY_INSTANCE_H
#define RENGA_LLM_GATEWAY_INSTANCE_H

#include "loop/loop.h"
#include "renga/v1/llm_gateway.pb-c.h"
#include "upstream/retry.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct admission;
struct config;
struct config_generation;
struct gateway_shared;
struct generation_use;
struct http_client;
struct ledger;
struct metrics;
struct openai_http;
struct pipeline_metrics;
struct response_cache;
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

/* One in a process. */
struct gateway_shared {
    const struct config *config;
    struct admission *admission;
    struct ledger *ledger;
    struct response_cache *cache;
    struct retry_budget budget;
    struct metrics *metrics;
    struct gateway *members[LOOPS_MAX]; /* one in each loop, all joined before the first call */
    unsigned member_count;
    pthread_mutex_t lock; /* guards the fields below; calls do not take it */
    struct config_generation
        *generation; /* the current configuration. Calls use the reference of their loop's gateway */
    uint64_t reloaded, reload_refused;
};

#endif
