/* Replies of Redis, read from bytes as they come: the one place that knows hiredis. */
#ifndef RENGA_LLM_GATEWAY_REDIS_REPLIES_H
#define RENGA_LLM_GATEWAY_REDIS_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_replies;

enum redis_reply_kind { REDIS_VALUE, REDIS_REFUSAL, REDIS_OTHER };

struct redis_reply {
    enum redis_reply_kind kind;
    size_t size;
    uint8_t bytes[];
};

/* `reply_max` bytes is the most that one reply may have. NULL where memory is out. */
struct redis_replies *redis_replies_create(size_t reply_max);
void redis_replies_destroy(struct redis_replies **replies);

/* False where the bytes are not what Redis says, or a reply is too long. */
bool redis_replies_feed(struct redis_replies *replies, const char *bytes, size_t size);
/* The next whole reply, to be freed; NULL where there is none yet. False as above. */
bool redis_replies_next(struct redis_replies *replies, struct redis_reply **reply);

#endif
