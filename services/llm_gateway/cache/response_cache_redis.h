/* Redis as the store behind memory: one connection a loop, which never makes anybody wait for long.
 *
 *      RESTS --rest over--> LOOKS_UP --address--> CONNECTS --connected--> GREETS --AUTH, SELECT, PING--> WORKS
 *        ^                     |                     |                      |                             |
 *        '------- failed, refused, silent for too long, the rest doubles up to a limit -------------------'
 *
 * Only a connection that works is asked; in any other state there is nothing at once. (The very first one is asked
 * while it is being made, so that a process that has just started knows what was kept before.) An answer that is late
 * is nothing; where no answer at all has come since the question was sent, the connection is given up.
 *
 * Of hiredis only the reader of replies is used: its asynchronous context ends the process by an assertion when a peer
 * sends one reply more than it was asked for, and looks names up in the loop (0.14.1). */
#ifndef RENGA_LLM_GATEWAY_RESPONSE_CACHE_REDIS_H
#define RENGA_LLM_GATEWAY_RESPONSE_CACHE_REDIS_H

#include "redis/target.h"
#include "response_cache.h"

#include <stdatomic.h>

#define REDIS_VALUE_MAX ((size_t)1 << 20) /* bytes of a value: more would take too long on the way */

struct response_cache_redis;
struct redis_request;

/* From inside the loop. `failures` is counted up; it and `target` are borrowed. */
struct response_cache_redis *response_cache_redis_open(struct loop *loop, const struct redis_target *target,
                                                       int64_t timeout_ms, atomic_ullong *failures);
/* No question is open any more. */
void response_cache_redis_close(struct response_cache_redis **redis);

/* NULL: there is nothing. Else `looked` is to run once, from the loop, with the value or with NULL. */
struct redis_request *response_cache_redis_get(struct response_cache_redis *redis, const struct response_cache_key *key,
                                               void (*looked)(void *owner, const uint8_t *value, size_t size),
                                               void *owner);
/* `looked` does not run any more. */
void response_cache_redis_forget(struct redis_request *request);

/* As far as it can be had; nobody waits for it. */
void response_cache_redis_set(struct response_cache_redis *redis, const struct response_cache_key *key,
                              const uint8_t *value, size_t size, int64_t keep_ms);

#endif
