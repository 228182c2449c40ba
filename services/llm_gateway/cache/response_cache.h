/* Answer cache, single flight and idempotency keys: one lookup by a key.
 *
 *       response_cache_lookup --- stored -------------------> RESPONSE_CACHE_HIT, with the bytes
 *             |------- in flight elsewhere (`shares`) --> waits --> RESPONSE_CACHE_COALESCED, with the bytes
 *             |                                             |-- failed -> RESPONSE_CACHE_FAILED, with its status
 *             |                                             '-- left ---> RESPONSE_CACHE_MISS: this query leads now
 *             |------- key used for another request --------> RESPONSE_CACHE_KEY_CONFLICT
 *             '------- else --------------------------------> RESPONSE_CACHE_MISS: it leads
 *
 * A leader ends with response_cache_complete, response_cache_fail or response_cache_leave. Answers are stored in
 * memory, bounded in bytes, with LRU eviction. Redis, if configured, is a second level: it is read on a miss in memory.
 * A Redis that does not answer in time counts as a miss. A process has one cache, shared by its loops. `resolved` runs
 * in the query's own loop. */
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
    size_t bytes_max;         /* of keys and answers in memory; 0: memory stores no answers */
    const char *redis;        /* "redis://[[user]:password@]host[:port][/db]"; NULL or "": memory only. A secret */
    int64_t redis_timeout_ms; /* 0: RESPONSE_CACHE_REDIS_MS */
};
#define RESPONSE_CACHE_REDIS_MS 50
struct response_cache *response_cache_create(const struct response_cache_options *options, struct status *st);
/* After response_cache_close in all loops. */
void response_cache_destroy(struct response_cache **cache);

/* From inside the loop: open before its first query (connects to Redis), close after its last query. */
void response_cache_open(struct response_cache *cache, struct loop *loop);
void response_cache_close(struct response_cache *cache, struct loop *loop);

#define RESPONSE_CACHE_KEY_SIZE 32
struct response_cache_key {
    uint8_t bytes[RESPONSE_CACHE_KEY_SIZE]; /* SHA-256 */
};

/* Of a request's content: the tenant and all fields that can change the answer; not cache, idempotency_key, priority
 * and origin. `stream` is not included: a stream may get a stored whole answer and the reverse. */
void response_cache_key_of_chat(const char *tenant, const Renga__V1__ChatRequest *request,
                                struct response_cache_key *key);
void response_cache_key_of_embed(const char *tenant, const Renga__V1__EmbedRequest *request,
                                 struct response_cache_key *key);
/* Of an idempotency key of a tenant. */
#define IDEMPOTENCY_KEY_MS 600000 /* retention of its answer, as in the contract */
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
    struct response_cache_key content; /* key of the content; differs from `key` only for an idempotency key */
    bool reads;                        /* may take a stored answer */
    bool shares;                       /* may join a flight, and lets others join its own */
    int64_t max_age_ms;                /* maximum age of a stored answer; 0: no maximum */
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

/* All of these are called from inside the query's loop. */

/* True: the result is known. False: `resolved` will run in the loop. */
bool response_cache_lookup(struct response_cache *cache, struct response_cache_query *query);

/* For a leader: the answer for all waiting queries, stored for `keep_ms` (0: not stored). */
void response_cache_complete(struct response_cache_query *query, const uint8_t *bytes, size_t size, int64_t keep_ms);
/* For a leader: its call failed, and the waiting queries fail with it. If the failure concerns only this caller (its
 * deadline, its limits), call response_cache_leave instead. */
void response_cache_fail(struct response_cache_query *query, const struct status *status);
/* The caller has left, as leader or while waiting: the next waiting query leads. No effect in other states. */
void response_cache_leave(struct response_cache_query *query);
/* Releases the bytes of a result. No effect without a result. */
void response_cache_release(struct response_cache_query *query);

/* From any thread. */
struct response_cache_stats {
    uint64_t kept, shared, nothing, other, stored, evicted;
    uint64_t redis_kept, failures; /* stored there; of Redis: late, lost or refused */
    size_t bytes;
    unsigned entries, flights, waiting;
};
void response_cache_stats(struct response_cache *cache, struct response_cache_stats *stats);

#endif
