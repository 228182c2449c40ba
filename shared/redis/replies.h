/* Replies of Redis, parsed from bytes as they arrive, within bounds: the only file that uses hiredis, and only its
 * reader. (Its asynchronous context aborts the process when a peer sends one reply too many, resolves names in the
 * loop, and has no deadlines; 0.14.1.) */
#ifndef RENGA_REDIS_REPLIES_H
#define RENGA_REDIS_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_replies;

enum redis_reply_kind {
    REDIS_VALUE,   /* a string */
    REDIS_REFUSAL, /* an error, its text in `bytes` */
    REDIS_NUMBER,
    REDIS_LIST,
    REDIS_OTHER, /* nil, or a word in `bytes`, as OK */
};

struct redis_reply {
    enum redis_reply_kind kind;
    int64_t number;
    struct redis_reply **list; /* of a list, `size` of them */
    size_t size;               /* of `bytes` otherwise; followed by a NUL */
    uint8_t bytes[];
};

/* `reply_max` limits the bytes of one reply, `list_max` the length of a list in it. NULL when memory runs out. */
struct redis_replies *redis_replies_create(size_t reply_max, size_t list_max);
void redis_replies_destroy(struct redis_replies **replies);

#define REDIS_LINE_MAX ((size_t)65536) /* of a line that begins a reply or an element: a length, a number, an error */

/* False if the bytes are not in Redis's protocol, or a reply or a line of it is too long. */
bool redis_replies_feed(struct redis_replies *replies, const char *bytes, size_t size);
/* The next complete reply; NULL if there is none yet. False as above. */
bool redis_replies_next(struct redis_replies *replies, struct redis_reply **reply);

void redis_reply_free(struct redis_reply **reply);

#endif
