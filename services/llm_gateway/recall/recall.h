/* What has been answered before, or is being answered just now: the answer cache, single flight and idempotency keys
 * are one thing, asked by a key.
 *
 *      recall_ask --- kept ---------------------------------------------------> RECALL_KEPT, with the bytes
 *            |------- under way for somebody else (`shares`) --> waits -------> RECALL_SHARED, with the bytes
 *            |                                                    |-- failed -> RECALL_FAILED, with its status
 *            |                                                    '-- left ---> RECALL_NOTHING: now this one leads
 *            |------- the key was used for another request -------------------> RECALL_OTHER
 *            '------- else ---------------------------------------------------> RECALL_NOTHING: it leads
 *
 * One that leads ends with recall_answer, recall_fail or recall_leave. Kept in memory with a bound of bytes (least
 * recently used goes first) and, where there is one, in Redis behind it, which is asked for what memory does not have;
 * a Redis that does not answer in time is as if it had nothing.
 * One recall a process, shared by its loops; `resolved` runs in the query's own loop. */
#ifndef RENGA_LLM_GATEWAY_RECALL_H
#define RENGA_LLM_GATEWAY_RECALL_H

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recall;
struct recall_flight;

struct recall_options {
    size_t bytes_max;         /* of keys and answers in memory; 0: nothing is kept there */
    const char *redis;        /* "redis://[[user]:password@]host[:port][/db]"; NULL or "": memory alone. A secret */
    int64_t redis_timeout_ms; /* 0: RECALL_REDIS_MS */
};
#define RECALL_REDIS_MS 50
struct recall *recall_create(const struct recall_options *options, struct status *st);
/* When it is closed in all loops. */
void recall_destroy(struct recall **recall);

/* From inside the loop, before its first query: connects to Redis. And when its last query is over. */
void recall_open(struct recall *recall, struct loop *loop);
void recall_close(struct recall *recall, struct loop *loop);

#define RECALL_KEY_SIZE 32
struct recall_key {
    uint8_t bytes[RECALL_KEY_SIZE]; /* SHA-256 */
};

/* Of a request's content: everything that can change its answer, and the tenant; not cache, idempotency_key, priority
 * and origin. `stream` is no part of it: a stream may take a whole answer and the other way round. */
void recall_key_of_chat(const char *tenant, const Renga__V1__ChatRequest *request, struct recall_key *key);
void recall_key_of_embed(const char *tenant, const Renga__V1__EmbedRequest *request, struct recall_key *key);
/* Of an idempotency key of a tenant. */
#define RECALL_WORD_MS 600000 /* how long its answer is kept, as the contract says */
void recall_key_of_word(const char *tenant, const char *word, struct recall_key *key);

enum recall_result { RECALL_NOTHING, RECALL_KEPT, RECALL_SHARED, RECALL_FAILED, RECALL_OTHER };

/* Embedded in its owner. */
struct recall_query {
    /* Set by the owner. */
    struct loop *loop;
    struct recall_key key;
    struct recall_key content; /* what `key` stands for: the same as `key`, but with a word */
    bool reads;                /* take what is kept */
    bool shares;               /* take what is under way, and let others take ours */
    int64_t max_age_ms;        /* of what is kept; 0: any */
    void (*resolved)(struct recall_query *query);
    void *owner; /* its own pointer */

    /* The result. `bytes` live until recall_done. */
    enum recall_result result;
    struct status status;
    const uint8_t *bytes;
    size_t size;

    /* The recall's. */
    struct recall *recall;
    struct recall_flight *flight;
    struct recall_query *next, *previous;
    struct recall_kept *kept;
    struct redis_ask *asked;
    int state;
};

/* All of these from inside the query's loop. */

/* True: the result is there. False: `resolved` is to come, from the loop. */
bool recall_ask(struct recall *recall, struct recall_query *query);

/* Of one that leads: the answer, for those who wait, and kept for `keep_ms` (0: not kept). */
void recall_answer(struct recall_query *query, const uint8_t *bytes, size_t size, int64_t keep_ms);
/* Of one that leads: it failed, and so do those who wait. What was only its own (its deadline, its limits) is no
 * reason to fail them: then recall_leave. */
void recall_fail(struct recall_query *query, const struct status *status);
/* The caller has left, whether it leads or waits: the next of those who wait leads. Harmless where it does neither. */
void recall_leave(struct recall_query *query);
/* Lets go of the bytes of a result. Harmless otherwise. */
void recall_done(struct recall_query *query);

/* From any thread. */
struct recall_stats {
    uint64_t kept, shared, nothing, other, stored, evicted;
    uint64_t redis_kept, failures; /* kept there; of Redis: late, lost or refused */
    size_t bytes;
    unsigned entries, flights, waiting;
};
void recall_stats(struct recall *recall, struct recall_stats *stats);

#endif
