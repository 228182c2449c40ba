/* The settings in the URL of a store on Redis: place, key prefix, durability, timeout.
 *
 *      redis://[[user]:password@]host[:port][/db][?…]      rediss://… with TLS      unix:/path[?…]
 *
 *      name=NAME            its keys are "renga:{NAME}:…"; "store" unless given. Several stores share a Redis
 *      durability=weak      taken as it is, though what was acknowledged may be lost with the machine
 *      replicas=N           acknowledged only when that many replicas have it too (WAIT)
 *      timeout=MS           how long a batch waits for a Redis that is gone or silent; 2500 unless given
 *      password_file=PATH   the password, so that it stands in no URL
 *      db=N                 of a path
 *      authorities=PATH certificate=PATH key=PATH      with TLS, PEM */
#ifndef RENGA_STORE_REDIS_SETTINGS_H
#define RENGA_STORE_REDIS_SETTINGS_H

#include "base/status.h"
#include "redis/target.h"

#include <limits.h>

#define REDIS_NAME_MAX 33 /* bytes, the NUL included */

struct redis_settings {
    struct redis_target target;
    char name[REDIS_NAME_MAX];
    bool weak;
    int replicas;
    int64_t unavailable_ms;
    char authorities[PATH_MAX], certificate[PATH_MAX], key[PATH_MAX]; /* "": not given */
};

/* The text of INVALID_ARGUMENT names the wrong part and never quotes the URL; FAILED_PRECONDITION for an unreadable
 * password file. */
bool redis_settings_read(struct redis_settings *settings, const char *url, struct status *st);
/* Leaves no password in memory. */
void redis_settings_fini(struct redis_settings *settings);

#endif
