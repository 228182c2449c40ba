/* The pipeline: the stages of every call to a model, whatever it asks (a chat, embeddings).
 *
 *      pipeline_start
 *         |
 *     CACHE LOOKUP  has it been answered before, or is it being answered now?   --- yes ---> cached answer
 *         |
 *      QUEUED       a place and a share of the limits (admission/admission.h),          --- no ----> failed
 *         |         then one of the model's own where they are bounded
 *         |
 *      ROUTING  <-------------------------------.
 *         |        which deployment             |
 *    REQUESTING                                 |  another one, at once
 *         |        one request and its answer   |  or the same, after a BACKOFF
 *      judged: answered? --- no, and may be tried again (upstream/retry.h)
 *         |
 *      settled: limits, accounts, cache, metrics; then the reply
 *
 * Whatever happens on the way (a caller who leaves, a deadline) is noted and leads to the one end, pipeline_end. All
 * memory is the call's arena. */
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

/* What is asked, and how its answers are read. Adding one is a const entry in a room of its own. */
struct pipeline_kind {
    const char *operation; /* "chat", "embeddings": in spans and metrics, as the GenAI conventions name them */

    /* The endpoint and the body of a request to pipeline->target; no endpoint where the provider answers in this
     * process. */
    const struct http_url *(*endpoint)(const struct deployment *deployment);
    void (*write)(struct pipeline *pipeline, struct json_writer *writer);

    /* Asks a provider that answers in this process; judge decides about the result. It runs as judge does, after
     * local_begun, which runs in the loop. NULL: not for this kind. */
    void (*answer_locally)(struct pipeline *pipeline);
    void (*local_begun)(struct pipeline *pipeline);

    /* The headers of an answer are there; a stream is read from here on. NULL: answers come whole. */
    void (*headers_came)(struct pipeline *pipeline, int http_status);

    /* The request has ended; no more of it comes. In the loop; may be NULL. */
    void (*closed)(struct pipeline *pipeline);

    /* How many bytes answer_locally and judge read, beside the transfer's content: above JOB_INLINE_MAX a worker thread
     * reads them. May be NULL. */
    size_t (*weight)(const struct pipeline *pipeline);

    /* Reads the answer. True: answered; false: pipeline->failure says why not. Perhaps in a worker thread, while the
     * loop touches no more of the pipeline than its transfer and `caller_left`: it sends nothing and arms nothing. */
    bool (*read_result)(struct pipeline *pipeline);

    /* In the loop, after judge with any verdict: pieces that were read go to a client that reads pieces. May be NULL.
     */
    void (*forward)(struct pipeline *pipeline);

    /* True: the same deployment is to be asked once more, at once, since the question was amended. May be NULL. */
    bool (*amend)(struct pipeline *pipeline, bool good);

    /* What the last request used; NULL where it used nothing. And the model that answered, as the provider names it. */
    const Renga__V1__Usage *(*used)(struct pipeline *pipeline);
    const char *(*model)(const struct pipeline *pipeline);

    /* What a trace is told of the last request, beside what is the same for all kinds. May be NULL. */
    void (*describe)(struct pipeline *pipeline, struct span *span);

    /* What was asked, or what was answered, of its newest `budget` bytes: for operators who want to see it
     * (ask_content.h). False where there is nothing. May be NULL. */
    bool (*write_content)(struct pipeline *pipeline, bool answer, size_t budget, struct json_writer *writer);

    /* The answer as it is kept for others, in the call's arena; false where it is not worth it. */
    bool (*pack)(struct pipeline *pipeline, const uint8_t **bytes, size_t *size);

    /* Takes an answer that was given before. False where it is none: then the model is asked after all. */
    bool (*unpack)(struct pipeline *pipeline, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use);

    /* Ends the call: with the answer, with the one that was unpacked, or with pipeline->failure. The pipeline is freed
     * after it.
     */
    void (*answer)(struct pipeline *pipeline);
    void (*answer_again)(struct pipeline *pipeline);
    void (*fail)(struct pipeline *pipeline);
};

/* One request that was sent, as far as it is told of it. */
#define ATTEMPT_ERROR_MAX 512
#define SENT_ID_MAX       128 /* Attempt.provider_request_id */
struct attempt {
    Renga__V1__Attempt told;
    Renga__V1__AnsweredBy asked;
    char request_id[SENT_ID_MAX + 1];
    char error[ATTEMPT_ERROR_MAX + 1];
};

/* One among the places of a model whose deployments bound them, or its turn to choose one of them. */
struct pipeline_slot {
    struct ticket ticket; /* first */
    struct pipeline *pipeline;
};

struct pipeline {
    /* Set by the owner, after pipeline_init. */
    const Renga__V1__CallOrigin *origin;  /* may be NULL */
    Renga__V1__Priority priority;         /* as in the request */
    const Renga__V1__CacheControl *cache; /* may be NULL: what the route says */
    const char *idempotency_key;          /* "": none */
    struct response_cache_key content;    /* of the request, where it is to be cached (pipeline_uses_cache) */
    int64_t input_tokens, output_tokens;  /* estimates, for the limits */
    size_t requests_max;                  /* to be sent upstream; 0: as the route says */
    bool streams;                         /* the answer is handed on in pieces */
    bool told;                            /* the owner's to set: a piece has gone to the client */
    bool client_is_slow;                  /* ... and: the client has stopped reading */
    size_t response_max;                  /* bytes of an answer */

    /* To be read. */
    const struct pipeline_kind *kind;
    struct gateway *gateway;
    struct generation_use *use; /* the routes that it began with */
    struct rpc_call *call;
    const struct route *route;
    const struct target *target; /* that was asked last; NULL: none yet */
    struct transfer transfer;
    struct failure failure;
    int64_t began_ns, requested_ns, first_ns, requested_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
    bool leads;              /* others may be waiting for this answer, or it is to be kept */
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
    struct pipeline_slot *place;        /* NULL: the model has as many as are wanted */
    struct pipeline_slot *turn;         /* NULL: without a wait */
    struct ticket *waiting_ticket;      /* while it is queued */
    struct response_cache_query *query; /* NULL: no cache */
    struct pipeline_reading *reading;   /* by a worker thread; NULL: no reader */
    int64_t keep_ms;                    /* of the answer; 0: it is not kept */
    int64_t waited_ms;
    bool entered, placed, holds_turn, caller_left;
};

/* `route` has been found and may be asked this. */
void pipeline_init(struct pipeline *pipeline, struct gateway *gateway, struct rpc_call *call,
                   const struct pipeline_kind *kind, const struct route *route);

/* Whether the last deployment that was asked is an upstream outside of this process. Then a failure tells how many
 * requests were sent: the caller that tries again counts them. */
bool pipeline_has_sent(const struct pipeline *pipeline);

/* Whether pipeline->content matters: the request or the route asks for the cache, or there is an idempotency key. After
 * the owner's fields are set. */
bool pipeline_uses_cache(const struct pipeline *pipeline);

/* Ends the call, now or later. */
void pipeline_start(struct pipeline *pipeline);

/* Stops the request under way; the end comes by itself. For owners who have noted why. */
void pipeline_stop(struct pipeline *pipeline);

/* Who was asked last: fields of `by`, borrowed from the pipeline. */
void pipeline_answered_by(const struct pipeline *pipeline, Renga__V1__AnsweredBy *by);

/* A fallback answered: one Degradation. NULL: the first choice did, or memory is out. */
Renga__V1__Degradation *pipeline_degradation(const struct pipeline *pipeline);

#endif
