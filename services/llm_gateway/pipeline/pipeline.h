/* The pipeline: the stages of every call to a model, for all kinds of operation (chat, embeddings).
 *
 *      pipeline_start
 *         |
 *     CACHE LOOKUP  stored, or in flight for another call?                       --- yes ---> cached answer
 *         |
 *      QUEUED       a slot and a share of the limits (admission/admission.h),           --- no ----> failed
 *         |         then a slot of the model, if it has a limit
 *         |
 *      ROUTING  <-------------------------------.
 *         |        choose deployment           |
 *    REQUESTING                                 |  another one, at once
 *         |        one request and its answer   |  or the same, after a BACKOFF
 *      read_result: answered? --- no, and a retry is allowed (upstream/retry.h)
 *         |
 *      settled: limits, ledger, cache, metrics; then the reply
 *
 * A caller that leaves and a deadline are recorded and lead to the single end, pipeline_end. All memory is the
 * call's arena. */
#ifndef RENGA_LLM_GATEWAY_PIPELINE_H
#define RENGA_LLM_GATEWAY_PIPELINE_H

#include "admission/admission.h"
#include "base/buffer.h"
#include "cache/response_cache.h"
#include "contract/failure.h"
#include "http/client.h"
#include "routing/choice.h"
#include "rpc/rpc.h"
#include "upstream/retry.h"
#include "json/writer.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct pipeline;
struct pipeline_reading;
struct deployment;
struct generation_use;
struct gateway;
struct route;
struct span;
struct target;

enum pipeline_state {
    PIPELINE_CACHE_LOOKUP,
    PIPELINE_QUEUED,
    PIPELINE_ROUTING,
    PIPELINE_REQUESTING,
    PIPELINE_BACKING_OFF,
    PIPELINE_ENDED
};

/* An operation: its requests and how its answers are read. A new operation is one const entry in a room of its own. */
struct pipeline_kind {
    const char *operation; /* "chat", "embeddings": in spans and metrics, by the GenAI conventions */

    /* The endpoint and the body of a request to pipeline->target; a provider inside this process has no endpoint. */
    const struct http_url *(*endpoint)(const struct deployment *deployment);
    void (*write)(struct pipeline *pipeline, struct json_writer *writer);

    /* Runs a provider inside this process; read_result reads the result. It runs in the same thread as read_result,
     * after local_begun, which runs in the loop. NULL: the operation has no local provider. */
    void (*answer_locally)(struct pipeline *pipeline);
    void (*local_begun)(struct pipeline *pipeline);

    /* The headers of an answer have arrived; a stream is read from here on. NULL: answers are not streamed. */
    void (*headers_came)(struct pipeline *pipeline, int http_status);

    /* The request has ended and delivers no more bytes. In the loop; may be NULL. */
    void (*closed)(struct pipeline *pipeline);

    /* Bytes that answer_locally and read_result read, beside the transfer's content. Above JOB_INLINE_MAX a worker
     * thread reads them. May be NULL. */
    size_t (*weight)(const struct pipeline *pipeline);

    /* Reads the answer. True: answered; false: pipeline->failure has the reason. It may run in a worker thread.
     * Meanwhile the loop uses only the pipeline's transfer and `caller_left`: it sends no message and arms no timer. */
    bool (*read_result)(struct pipeline *pipeline);

    /* In the loop, after read_result with any verdict: sends the parsed chunks to a streaming client. May be NULL. */
    void (*forward)(struct pipeline *pipeline);

    /* True: the request was amended, and the same deployment is called again at once. May be NULL. */
    bool (*amend)(struct pipeline *pipeline, bool good);

    /* Usage of the last request; NULL: no usage. And the model that answered, by the provider's name for it. */
    const Renga__V1__Usage *(*used)(struct pipeline *pipeline);
    const char *(*model)(const struct pipeline *pipeline);

    /* Adds the operation's own attributes of the last request to the span. May be NULL. */
    void (*describe)(struct pipeline *pipeline, struct span *span);

    /* Writes the newest `budget` bytes of the request or of the answer, for operators (pipeline_content.h). False:
     * no content. May be NULL. */
    bool (*write_content)(struct pipeline *pipeline, bool answer, size_t budget, struct json_writer *writer);

    /* Packs the answer for the cache, in the call's arena; false: not worth caching. */
    bool (*pack)(struct pipeline *pipeline, const uint8_t **bytes, size_t *size);

    /* Reads a packed answer. False: unreadable; then the model is called. */
    bool (*unpack)(struct pipeline *pipeline, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use);

    /* Ends the call: with the answer, with the unpacked answer, or with pipeline->failure. Frees the pipeline. */
    void (*answer)(struct pipeline *pipeline);
    void (*answer_again)(struct pipeline *pipeline);
    void (*fail)(struct pipeline *pipeline);
};

/* One request that was sent, for the caller's report. */
#define ATTEMPT_ERROR_MAX 512
#define SENT_ID_MAX       128 /* Attempt.provider_request_id */
struct attempt {
    Renga__V1__Attempt told;
    Renga__V1__AnsweredBy asked;
    char request_id[SENT_ID_MAX + 1];
    char error[ATTEMPT_ERROR_MAX + 1];
};

/* A slot of a model with deployments that limit concurrency, or its turn to choose a deployment. */
struct pipeline_slot {
    struct ticket ticket; /* first */
    struct pipeline *pipeline;
};

struct pipeline {
    /* Set by the owner, after pipeline_init. */
    const Renga__V1__CallOrigin *origin;  /* may be NULL */
    Renga__V1__Priority priority;         /* as in the request */
    const Renga__V1__CacheControl *cache; /* may be NULL: the route's settings hold */
    const char *idempotency_key;          /* "": no key */
    struct response_cache_key content;    /* of the request, if it can be cached (pipeline_uses_cache) */
    int64_t input_tokens, output_tokens;  /* estimates, for the limits */
    size_t requests_max;                  /* upstream requests; 0: the route's maximum */
    bool streams;                         /* the answer is sent in chunks */
    bool told;                            /* set by the owner: a chunk has been sent to the client */
    bool client_is_slow;                  /* set by the owner: the client has stopped reading */
    size_t response_max;                  /* bytes of an answer */

    /* Read-only for the owner. */
    const struct pipeline_kind *kind;
    struct gateway *gateway;
    struct generation_use *use; /* the configuration generation of the call */
    struct rpc_call *call;
    const struct route *route;
    const struct target *target; /* the last target that was called; NULL: no target yet */
    struct transfer transfer;
    struct failure failure;
    int64_t began_ns, requested_ns, first_ns, requested_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
    bool leads;              /* other calls may wait for this answer, or it will be stored */
    Renga__V1__Usage usage;  /* of all requests */
    Renga__V1__Attempt *attempts[RETRY_ATTEMPTS_MAX];
    size_t attempt_count;

    /* Private to the pipeline. */
    unsigned state; /* enum pipeline_state */
    int target_index;
    unsigned attempts_in_rank;
    struct choice choice;
    struct buffer body;
    struct timer rest;
    struct ticket ticket;
    struct pipeline_slot *place;        /* NULL: the model has no limit of concurrency */
    struct pipeline_slot *turn;         /* NULL: no wait */
    struct ticket *waiting_ticket;      /* while it is queued */
    struct response_cache_query *query; /* NULL: no cache */
    struct pipeline_reading *reading;   /* by a worker thread; NULL: no reading */
    int64_t keep_ms;                    /* of the answer; 0: not stored */
    int64_t waited_ms;
    bool entered, placed, holds_turn, caller_left;
};

/* `route` exists and the call may use it. */
void pipeline_init(struct pipeline *pipeline, struct gateway *gateway, struct rpc_call *call,
                   const struct pipeline_kind *kind, const struct route *route);

/* Whether the last deployment is an upstream outside of this process. Then a failure reports the number of requests
 * sent, and a retrying caller counts them. */
bool pipeline_has_sent(const struct pipeline *pipeline);

/* Whether pipeline->content is needed: the request or the route uses the cache, or there is an idempotency key. Call
 * it after the owner's fields are set. */
bool pipeline_uses_cache(const struct pipeline *pipeline);

/* Ends the call, now or later. */
void pipeline_start(struct pipeline *pipeline);

/* Stops the current request; pipeline_end follows. The owner has recorded the reason. */
void pipeline_stop(struct pipeline *pipeline);

/* Fills `by` with the last target; the fields are borrowed from the pipeline. */
void pipeline_answered_by(const struct pipeline *pipeline, Renga__V1__AnsweredBy *by);

/* A fallback answered: one Degradation. NULL: the first choice answered, or memory is exhausted. */
Renga__V1__Degradation *pipeline_degradation(const struct pipeline *pipeline);

#endif
