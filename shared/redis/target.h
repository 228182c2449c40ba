/* The address and credentials of a Redis, from its URL. The lookup of its name has a thread of its own, so that no loop
 * and no deadline depends on a name server. No error quotes the URL. */
#ifndef RENGA_REDIS_TARGET_H
#define RENGA_REDIS_TARGET_H

#include "base/status.h"

#include <stdbool.h>
#include <sys/socket.h>

#define REDIS_HOST_MAX 254 /* bytes, the NUL included: the longest name DNS has */
#define REDIS_WORD_MAX 513 /* bytes of a user or password, the NUL included */

#define REDIS_PATH_MAX 108 /* the size of a socket's path in an address, in bytes with the NUL */

struct redis_target {
    char host[REDIS_HOST_MAX]; /* "": by its path */
    char path[REDIS_PATH_MAX]; /* of a socket of this machine; "": by its host */
    int port, database;
    bool tls;
    char user[REDIS_WORD_MAX], password[REDIS_WORD_MAX]; /* "": not given. Secret */
};

/* "redis://[[user]:password@]host[:port][/db]", the user and password percent-encoded; rediss:// is the same with TLS;
 * "unix:/path" is a socket of this machine. The text of INVALID_ARGUMENT begins with `option`, the option with the
 * URL. */
bool redis_target_parse(const char *option, const char *url, struct redis_target *target, struct status *st);
/* Copies one word of a target (user, password) that is given outside the URL; false if it is too long or has a NUL. */
bool redis_target_word(char word[REDIS_WORD_MAX], const char *text, size_t size);

/* For logs and errors: "HOST port PORT" or the path; never the user. */
#define REDIS_PLACE_MAX 288 /* bytes, the NUL included */
const char *redis_target_place(const struct redis_target *target, char place[REDIS_PLACE_MAX]);

/* The address of a path, or of a host that is written as one, without any lookup. */
bool redis_target_address(const struct redis_target *target, struct sockaddr_storage *address, socklen_t *size);

/* A lookup that takes as long as it takes, in a thread of its own. NULL: REDIS_LOOKUPS_MAX are under way in this
 * process, those included that were dropped and hang, or there is no memory. */
#define REDIS_LOOKUPS_MAX 32
struct redis_lookup;
struct redis_lookup *redis_lookup_start(const struct redis_target *target);
/* False: not yet. True: `size` is that of the address, 0 if the lookup failed. */
bool redis_lookup_done(struct redis_lookup *lookup, struct sockaddr_storage *address, socklen_t *size);
void redis_lookup_drop(struct redis_lookup **lookup);

#endif
