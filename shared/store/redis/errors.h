/* Classifies an error of Redis for a store: its status with the remedy, and whether to retry. */
#ifndef RENGA_STORE_REDIS_ERRORS_H
#define RENGA_STORE_REDIS_ERRORS_H

#include "base/status.h"
#include "redis/replies.h"

enum redis_error {
    REDIS_FINAL,    /* no change was made, and a retry would not help now */
    REDIS_LATER,    /* not now: over another connection, a little later */
    REDIS_NOSCRIPT, /* the scripts have to be loaded again */
    REDIS_LOST,     /* acknowledged data is missing */
};

/* Fills the status. Of the text of `reply` only the first word is quoted, and only if it looks like one of Redis's
 * own. */
enum redis_error redis_error_read(const struct redis_reply *reply, const char *place, struct status *st);

#endif
