/* Where a Redis is and how it is entered, from its URL; and the lookup of its name, off the loop. */
#ifndef RENGA_LLM_GATEWAY_REDIS_TARGET_H
#define RENGA_LLM_GATEWAY_REDIS_TARGET_H

#include "base/status.h"

#include <stdbool.h>
#include <sys/socket.h>

#define REDIS_HOST_MAX 254 /* bytes, the NUL included: the longest name DNS has */
#define REDIS_WORD_MAX 513 /* bytes of a user or password, the NUL included */

struct redis_target {
    char host[REDIS_HOST_MAX];
    int port, database;
    char user[REDIS_WORD_MAX], password[REDIS_WORD_MAX]; /* "": none. Secret */
};

/* "redis://[[user]:password@]host[:port][/db]", the user and password percent-encoded. The failure never
 * quotes the URL. */
bool redis_target_parse(const char *url, struct redis_target *target, struct status *st);

/* The address of a host that is written as one, without any lookup. */
bool redis_target_address(const struct redis_target *target, struct sockaddr_storage *address, socklen_t *size);

/* A lookup that takes as long as it takes, in a thread of its own. */
struct redis_lookup;
struct redis_lookup *redis_lookup_start(const struct redis_target *target);
/* False: not yet. True: `size` is that of the address, 0 where there is none. */
bool redis_lookup_done(struct redis_lookup *lookup, struct sockaddr_storage *address, socklen_t *size);
void redis_lookup_drop(struct redis_lookup **lookup);

#endif
