/* How many streams each tenant has open in this process, over all loops, and how many calls these consist of: a stream
 * of several runs is a call for each. A client without a tenant counts for itself. Any thread. */
#ifndef RENGA_EDGE_STREAM_QUOTA_H
#define RENGA_EDGE_STREAM_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct stream_quota;

/* The calls of an owner, for each stream that it may have. */
#define STREAM_QUOTA_CALLS 5

struct stream_quota *stream_quota_create(unsigned streams_max);
void stream_quota_destroy(struct stream_quota **quota);

/* Takes a place of the owner (budget_owner) for a stream of so many calls. False: it has not as many left. */
bool stream_quota_take(struct stream_quota *quota, uint64_t owner, unsigned calls);
/* Gives it back. */
void stream_quota_release(struct stream_quota *quota, uint64_t owner, unsigned calls);

#endif
