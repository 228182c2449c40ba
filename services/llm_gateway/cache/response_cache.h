/* What has been answered before, or is being answered just now: the answer cache, single flight and idempotency keys
 * are one thing, asked by a key.
 *
 *      response_cache_lookup --- kept ---------------------------------------------------> RESPONSE_CACHE_HIT, with the
 * bytes
 *            |------- under way for somebody else (`shares`) --> waits -------> RESPONSE_CACHE_COALESCED, with the
 * bytes |                                                    |-- failed -> RESPONSE_CACHE_FAILED, with its status | '--
 * left ---> RESPONSE_CACHE_MISS: now this one leads
 *            |------- the key was used for another request -------------------> RESPONSE_CACHE_KEY_CONFLICT
 *            '------- else ---------------------------------------------------> RESPONSE_CACHE_MISS: it leads
 *
 * One that leads ends with response_cache_complete, response_cache_fail or response_cache_leave. Kept in memory with a
 * bound of bytes (least recently used goes first) and, where there is one, in Redis behind it, which is asked for what
 * memory does not have; a Redis that does not answer in time is as if it had nothing. One cache a process, shared by
 * its loops; `resolved` runs in the query's own loop. */
#ifndef RENGA_LLM_GATEWAY_RESPONSE_CACHE_H
#define RENGA_LLM_GATEWAY_RESPONSE_CACHE_H

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response_cache;
struct response_cache_flight;

struct response_cache_options {
    size_t bytes_max;         /* of keys and answers in memory; 0: nothing is kept there */
    const char *redis;        /* "redis://[[user]:password@]host[:port][/db]"; NULL or "": memory alone. A secret */
    int64_t redis_timeout_ms; /* 0: RESPONSE_CACHE_REDIS_MS */
};
#define RESPONSE_CACHE_REDIS_MS 50
struct response_cache *response_cache_create(const struct response_cache_options *options, struct status *st);
/* When it is closed in all loops. */
void response_cache_destroy(struct response_cache **cache);

/* From inside the loop, before its first query: connects to Redis. And when its last query is over. */
void response_cache_open(struct response_cache *cache, struct loop *loop);
void response_cache_close(struct response_cache *cache, struct loop *loop);

#define RESPONSE_CACHE_KEY_SIZE 32
struct response_cache_key {
    uint8_t bytes[RESPONSE_CACHE_KEY_SIZE]; /* SHA-256 */
};

/* Of a request's content: everything that can change its answer, and the tenant; not cache, idempotency_key, priority
 * and origin. `stream` is no part of it: a stream may take a whole answer and the other way round. */
void response_cache_key_of_chat(const char *tenant, const Renga__V1__ChatRequest *request,
                                struct response_cache_key *key);
void response_cache_key_of_embed(const char *tenant, const Renga__V1__EmbedRequest *request,
                                 struct response_cache_key *key);
/* Of an idempotency key of a tenant. */
#define IDEMPOTENCY_KEY_MS 600000 /* how long its answer is kept, as the contract says */
void response_cache_key_of_idempotency(const char *tenant, const char *idempotency_key, struct response_cache_key *key);

enum response_cache_result {
    RESPONSE_CACHE_MISS,
    RESPONSE_CACHE_HIT,
    RESPONSE_CACHE_COALESCED,
    RESPONSE_CACHE_FAILED,
    RESPONSE_CACHE_KEY_CONFLICT
};

/* Embedded in its owner. */
struct response_cache_query {
    /* Set by the owner. */
    struct loop *loop;
    struct response_cache_key key;
    struct response_cache_key content; /* what `key` stands for: the same as `key`, but with an idempotency key */
    bool reads;                        /* take what is kept */
    bool shares;                       /* take what is under way, and let others take ours */
    int64_t max_age_ms;                /* of what is kept; 0: any */
    void (*resolved)(struct response_cache_query *query);
    void *owner; /* its own pointer */

    /* The result. `bytes` live until response_cache_release. */
    enum response_cache_result result;
    struct status status;
    const uint8_t *bytes;
    size_t size;

    /* Private to the cache. */
    struct response_cache *cache;
    struct response_cache_flight *flight;
    struct response_cache_query *next, *previous;
    struct cached_response *kept;
    struct redis_request *asked;
    int state;
};

/* All of these from inside the query's loop. */

/* True: the result is there. False: `resolved` is to come, from the loop. */
bool response_cache_lookup(struct response_cache *cache, struct response_cache_query *query);

/* Of one that leads: the answer, for those who wait, and kept for `keep_ms` (0: not kept). */
void response_cache_complete(struct response_cache_query *query, const uint8_t *bytes, size_t size, int64_t keep_ms);
/* Of one that leads: it failed, and so do those who wait. What was only its own (its deadline, its limits) is no
 * reason to fail them: then response_cache_leave. */
void response_cache_fail(struct response_cache_query *query, const struct status *status);
/* The caller has left, whether it leads or waits: the next of those who wait leads. Harmless where it does neither. */
void response_cache_leave(struct response_cache_query *query);
/* Lets go of the bytes of a result. Harmless otherwise. */
void response_cache_release(struct response_cache_query *query);

/* From any thread. */
struct response_cache_stats {
    uint64_t kept, shared, nothing, other, stored, evicted;
    uint64_t redis_kept, failures; /* kept there; of Redis: late, lost or refused */
    size_t bytes;
    unsigned entries, flights, waiting;
};
void response_cache_stats(struct response_cache *cache, struct response_cache_stats *stats);

#endif
