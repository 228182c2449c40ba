/* How many streams each client has open in this process, over all loops. Any thread. */
#ifndef RENGA_EDGE_STREAM_QUOTA_H
#define RENGA_EDGE_STREAM_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct stream_quota;

struct stream_quota *stream_quota_create(unsigned streams_max);
void stream_quota_destroy(struct stream_quota **quota);

/* Takes places of the owner (budget_owner), one for each call of its stream. False: it has not as many left. */
bool stream_quota_take(struct stream_quota *quota, uint64_t owner, unsigned places);
/* Gives them back. */
void stream_quota_release(struct stream_quota *quota, uint64_t owner, unsigned places);

#endif
