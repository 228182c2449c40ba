/* A group: the batches of one script call. Redis serves no other command while it executes them. */
#ifndef RENGA_STORE_REDIS_PIECE_H
#define RENGA_STORE_REDIS_PIECE_H

#include "redis/replies.h"
#include "store/redis/connection.h"
#include "store/store_priv.h"

struct redis_group {
    struct store_batch *first; /* NULL: an empty one */
    unsigned batches;
    size_t arguments; /* of the command */
    size_t bytes;     /* of keys and values */
    bool takes_away;  /* only: it is taken though memory is full */
};

/* Batches from `first` on, as many as are good for one group, at least one. */
struct redis_group redis_group_take(struct store_batch *first);
/* The first one alone. */
struct redis_group redis_group_take_one(struct store_batch *first);

#define REDIS_GROUP_ARGUMENTS_MAX 1000000 /* a number that every Redis accepts */

/* Appends the command; `number` is its own, the one before it is one less. */
void redis_group_append(const struct redis_group *group, struct redis_connection *connection, const char *writer,
                        uint64_t number);

/* Sets ABORTED on the batches that the answer names. False if the answer is not one of ours. */
bool redis_group_answered(const struct redis_group *group, const struct redis_reply *answer);

/* "from" and "to" as Redis compares them, two parts of a command. */
void redis_range_append(struct buffer *out, struct store_bytes from, struct store_bytes to);

void redis_group_fail(const struct redis_group *group, const struct status *st);

#endif
