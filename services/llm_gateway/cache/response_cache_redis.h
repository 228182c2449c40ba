/* Redis as the store behind memory: one connection in each loop, with a bounded delay.
 *
 *      RESTS --rest over--> LOOKS_UP --address--> CONNECTS --connected--> GREETS --AUTH, SELECT, PING--> WORKS
 *        ^                     |                     |                      |                             |
 *        '------- failed, refused, silent for too long, the rest doubles up to a limit -------------------'
 *
 * Only a working connection takes commands; in any other state the lookup is a miss at once. The very first connection
 * takes commands while it is being made, so that a restarted process finds the answers stored before. A late reply
 * counts as a miss. If no reply at all has arrived since a command was sent, the connection is closed.
 *
 * Only the reply reader of hiredis is used. Its asynchronous context (0.14.1) looks names up in the loop, and an
 * unexpected reply from the peer triggers an assertion that ends the process. */
#ifndef RENGA_LLM_GATEWAY_RESPONSE_CACHE_REDIS_H
#define RENGA_LLM_GATEWAY_RESPONSE_CACHE_REDIS_H

#include "redis/target.h"
#include "response_cache.h"

#include <stdatomic.h>

#define REDIS_VALUE_MAX ((size_t)1 << 20) /* bytes of a value: a larger one would take too long to transfer */

struct response_cache_redis;
struct redis_request;

/* From inside the loop. `failures` is incremented; it and `target` are borrowed. */
struct response_cache_redis *response_cache_redis_open(struct loop *loop, const struct redis_target *target,
                                                       int64_t timeout_ms, atomic_ullong *failures);
/* No command is open any more. */
void response_cache_redis_close(struct response_cache_redis **redis);

/* NULL: a miss at once. Otherwise `looked` runs once, from the loop, with the value or with NULL. */
struct redis_request *response_cache_redis_get(struct response_cache_redis *redis, const struct response_cache_key *key,
                                               void (*looked)(void *owner, const uint8_t *value, size_t size),
                                               void *owner);
/* `looked` does not run any more. */
void response_cache_redis_forget(struct redis_request *request);

/* As far as it can be had; nobody waits for it. */
void response_cache_redis_set(struct response_cache_redis *redis, const struct response_cache_key *key,
                              const uint8_t *value, size_t size, int64_t keep_ms);

#endif
