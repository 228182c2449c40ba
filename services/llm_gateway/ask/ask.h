/* A question on its way: what every call that asks a model goes through, whatever it asks (a chat, embeddings).
 *
 *      ask_start
 *         |
 *     REMEMBERING   has it been answered before, or is it being answered now?   --- yes ---> recalled
 *         |
 *      QUEUED       a place and a share of the limits (limits/gate.h),          --- no ----> failed
 *         |         then one of the model's own where they are bounded
 *         |
 *      CHOOSING <-------------------------------.
 *         |        which deployment             |
 *      ASKING                                   |  another one, at once
 *         |        one request and its answer   |  or the same, after a RESTING
 *      judged: answered? --- no, and may be tried again (upstream/retry.h)
 *         |
 *      settled: limits, accounts, cache, metrics; then the reply
 *
 * Whatever happens on the way (a caller who leaves, a deadline) is noted and leads to the one end, ask_end. All memory
 * is the call's arena. */
#ifndef RENGA_LLM_GATEWAY_ASK_H
#define RENGA_LLM_GATEWAY_ASK_H

#include "base/buffer.h"
#include "base/json_writer.h"
#include "chat/failure.h"
#include "http/client.h"
#include "limits/gate.h"
#include "recall/recall.h"
#include "route/choice.h"
#include "rpc/rpc.h"
#include "upstream/retry.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct ask;
struct ask_reading;
struct deployment;
struct edition_use;
struct gateway;
struct route;
struct span;
struct target;

enum ask_state { ASK_REMEMBERING, ASK_QUEUED, ASK_CHOOSING, ASK_ASKING, ASK_RESTING, ASK_ENDED };

/* What is asked, and how its answers are read. Adding one is a const entry in a room of its own. */
struct ask_kind {
    const char *operation; /* "chat", "embeddings": in spans and metrics, as the GenAI conventions name them */

    /* The way and the body of a request to ask->target; no way where the provider answers in this process. */
    const struct http_url *(*way)(const struct deployment *deployment);
    void (*write)(struct ask *ask, struct json_writer *writer);

    /* Asks a provider that answers in this process; judge decides about the result. It runs as judge does, after
     * here_begun, which runs in the loop. NULL: not for this kind. */
    void (*ask_here)(struct ask *ask);
    void (*here_begun)(struct ask *ask);

    /* The headers of an answer are there; a stream is read from here on. NULL: answers come whole. */
    void (*headers_came)(struct ask *ask, int http_status);

    /* The request has ended; no more of it comes. In the loop; may be NULL. */
    void (*closed)(struct ask *ask);

    /* How many bytes ask_here and judge read, beside the transfer's content: above JOB_INLINE_MAX a worker thread reads
     * them. May be NULL. */
    size_t (*weight)(const struct ask *ask);

    /* Reads the answer. True: answered; false: ask->failure says why not. Perhaps in a worker thread, while the loop
     * touches no more of the ask than its transfer and `caller_left`: it sends nothing and arms nothing. */
    bool (*judge)(struct ask *ask);

    /* In the loop, after judge with any verdict: pieces that were read go to a client that reads pieces. May be NULL.
     */
    void (*hand_on)(struct ask *ask);

    /* True: the same deployment is to be asked once more, at once, since the question was amended. May be NULL. */
    bool (*amend)(struct ask *ask, bool good);

    /* What the last request used; NULL where it used nothing. And the model that answered, as the provider names it. */
    const Renga__V1__Usage *(*used)(struct ask *ask);
    const char *(*model)(const struct ask *ask);

    /* What a trace is told of the last request, beside what is the same for all kinds. May be NULL. */
    void (*describe)(struct ask *ask, struct span *span);

    /* What was asked, or what was answered, of its newest `budget` bytes: for operators who want to see it
     * (ask_content.h). False where there is nothing. May be NULL. */
    bool (*tell)(struct ask *ask, bool answer, size_t budget, struct json_writer *writer);

    /* The answer as it is kept for others, in the call's arena; false where it is not worth it. */
    bool (*pack)(struct ask *ask, const uint8_t **bytes, size_t *size);

    /* Takes an answer that was given before. False where it is none: then the model is asked after all. */
    bool (*unpack)(struct ask *ask, const uint8_t *bytes, size_t size, Renga__V1__CacheUse use);

    /* Ends the call: with the answer, with the one that was unpacked, or with ask->failure. The ask is gone after it.
     */
    void (*answer)(struct ask *ask);
    void (*answer_again)(struct ask *ask);
    void (*fail)(struct ask *ask);
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
struct ask_place {
    struct ticket ticket; /* first */
    struct ask *ask;
};

struct ask {
    /* Set by the owner, after ask_init. */
    const Renga__V1__CallOrigin *origin;  /* may be NULL */
    Renga__V1__Priority priority;         /* as in the request */
    const Renga__V1__CacheControl *cache; /* may be NULL: what the route says */
    const char *idempotency_key;          /* "": none */
    struct recall_key content;            /* of the request, where it is to be recalled (ask_wants_recall) */
    int64_t input_tokens, output_tokens;  /* estimates, for the limits */
    size_t requests_max;                  /* to be sent upstream; 0: as the route says */
    bool streams;                         /* the answer is handed on in pieces */
    bool told;                            /* the owner's to set: a piece has gone to the client */
    bool reader_is_slow;                  /* ... and: the client has stopped reading */
    size_t response_max;                  /* bytes of an answer */

    /* To be read. */
    const struct ask_kind *kind;
    struct gateway *gateway;
    struct edition_use *use; /* the routes that it began with */
    struct rpc_call *call;
    const struct route *route;
    const struct target *target; /* that was asked last; NULL: none yet */
    struct transfer transfer;
    struct failure failure;
    int64_t began_ns, asked_ns, first_ns, asked_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
    bool leads;              /* others may be waiting for this answer, or it is to be kept */
    Renga__V1__Usage usage;  /* of all requests */
    Renga__V1__Attempt *attempts[RETRY_ATTEMPTS_MAX];
    size_t attempt_count;

    /* The ask's own. */
    unsigned state; /* enum ask_state */
    int target_index;
    unsigned attempts_in_rank;
    struct choice choice;
    struct buffer body;
    struct timer rest;
    struct ticket ticket;
    struct ask_place *place;     /* NULL: the model has as many as are wanted */
    struct ask_place *turn;      /* NULL: without a wait */
    struct ticket *waits_with;   /* while it is queued */
    struct recall_query *query;  /* NULL: no recall */
    struct ask_reading *reading; /* by a worker thread; NULL: no reader */
    int64_t keep_ms;             /* of the answer; 0: it is not kept */
    int64_t waited_ms;
    bool entered, placed, has_turn, caller_left;
};

/* `route` has been found and may be asked this. */
void ask_init(struct ask *ask, struct gateway *gateway, struct rpc_call *call, const struct ask_kind *kind,
              const struct route *route);

/* Whether the last deployment that was asked is an upstream outside of this process. Then a failure tells how many
 * requests were sent: the caller that tries again counts them. */
bool ask_has_sent(const struct ask *ask);

/* Whether ask->content matters: the request or the route asks for the cache, or there is an idempotency key. After the
 * owner's fields are set. */
bool ask_wants_recall(const struct ask *ask);

/* Ends the call, now or later. */
void ask_start(struct ask *ask);

/* Stops the request under way; the end comes by itself. For owners who have noted why. */
void ask_stop(struct ask *ask);

/* Who was asked last: fields of `by`, borrowed from the ask. */
void ask_answered_by(const struct ask *ask, Renga__V1__AnsweredBy *by);

/* A fallback answered: one Degradation. NULL: the first choice did, or memory is out. */
Renga__V1__Degradation *ask_degradation(const struct ask *ask);

#endif
