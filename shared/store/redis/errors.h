/* What an error of Redis means for a store: its status with what would mend it, and whether it is worth trying again.
 */
#ifndef RENGA_STORE_REDIS_ERRORS_H
#define RENGA_STORE_REDIS_ERRORS_H

#include "base/status.h"
#include "redis/replies.h"

enum redis_error {
    REDIS_FINAL,    /* nothing was changed, and trying again would not help now */
    REDIS_LATER,    /* not now: over another connection, a little later */
    REDIS_NOSCRIPT, /* the scripts have to be loaded again */
    REDIS_LOST,     /* what was acknowledged is not there any more */
};

/* Fills the status. Of the text of `reply` only its first word is told, and that only where it looks like one of
 * Redis's own. */
enum redis_error redis_error_read(const struct redis_reply *reply, const char *place, struct status *st);

#endif
