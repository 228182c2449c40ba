/* A connection to Redis, private to response_cache_redis.c (commands and replies) and redis_socket.c (name lookup,
 * socket, bytes). */
#ifndef RENGA_LLM_GATEWAY_REDIS_PRIV_H
#define RENGA_LLM_GATEWAY_REDIS_PRIV_H

#include "base/buffer.h"
#include "redis/replies.h"
#include "response_cache_redis.h"

#define REDIS_REQUESTS_MAX 256               /* commands without a reply yet */
#define REDIS_OUT_MAX      ((size_t)8 << 20) /* bytes that wait to be written */
#define REDIS_GREET_MS     1000              /* from the name lookup to the last reply of the greeting */

enum redis_state { REDIS_RESTS, REDIS_LOOKS_UP, REDIS_CONNECTS, REDIS_GREETS, REDIS_WORKS };

enum redis_request_kind { REDIS_AUTH, REDIS_SELECT, REDIS_PING, REDIS_GET, REDIS_SET };

/* A command that was sent and has no reply yet. */
struct redis_request {
    enum redis_request_kind kind;
    bool late;
    uint64_t replies_before; /* received when it was sent */
    int64_t deadline_ns;
    void (*looked)(void *owner, const uint8_t *value, size_t size); /* NULL: the reply is ignored */
    void *owner;
};

struct response_cache_redis {
    struct loop *loop;
    const struct redis_target *target;
    int64_t timeout_ms;
    atomic_ullong *failures;

    enum redis_state state;
    bool fresh;  /* the first connection: it takes commands while it is being made */
    bool unwell; /* the log has reported the failure */
    int64_t rest_ms;
    unsigned refusals; /* consecutive */
    struct timer timer;

    struct redis_lookup *lookup;
    int64_t found_by_ns;
    int fd;
    struct watch watch;
    struct work flushing;
    struct buffer out;
    size_t written; /* of `out` */

    struct redis_replies *replies;
    uint64_t reply_count;
    struct redis_request asks[REDIS_REQUESTS_MAX]; /* a ring */
    unsigned first_request, request_count;
};

static inline size_t redis_backlog(const struct response_cache_redis *redis)
{
    return redis->out.length - redis->written;
}

/* response_cache_redis.c. Closes the connection, answers all open commands with NULL and starts the back-off. `why`
 * is never text from the peer: a server that is not Redis might echo our password. */
void redis_give_up(struct response_cache_redis *redis, const char *why);
/* The socket is connected; starts the greeting. */
void redis_greet(struct response_cache_redis *redis);
/* False: the connection was closed. */
bool redis_take_reply(struct response_cache_redis *redis, const struct redis_reply *reply);

/* redis_socket.c */
void redis_socket_init(struct response_cache_redis *redis);
void redis_socket_open(struct response_cache_redis *redis);
void redis_socket_look_up(struct response_cache_redis *redis); /* polls the result of the name lookup */
void redis_socket_close(struct response_cache_redis *redis);

#endif
