/* A connection to Redis for a thread that may block for a bounded time. No wait exceeds its deadline. A peer that
 * neither takes nor gives a byte for `silence_ms`, plus the time that a large request needs, is given up. Belongs to
 * one thread at a time. Errors are UNAVAILABLE and leave the connection useless: close it. They name the place, never
 * the password nor a text of the peer. */
#ifndef RENGA_REDIS_LINK_H
#define RENGA_REDIS_LINK_H

#include "base/buffer.h"
#include "base/status.h"
#include "redis/replies.h"
#include "redis/target.h"

struct redis_link;

/* The extra time that a slow disk needs for a request of `bytes`. */
static inline int64_t redis_link_busy_ms(size_t bytes)
{
    return (int64_t)(bytes >> 12);
}

struct redis_link_options {
    const struct redis_target *target; /* borrowed while the link lives */
    int64_t silence_ms;
    size_t request_max, reply_max; /* bytes */
    size_t list_max;               /* elements of a reply */
    /* With TLS: files in PEM, NULL for the system's authorities and for no certificate of ours. */
    const char *authorities, *certificate, *key;
};

/* Resolves, connects and completes the TLS handshake; no command is sent. `deadline_ns` is of clock_now_ns. NULL: it
 * failed. FAILED_PRECONDITION for an unreadable file, UNAUTHENTICATED for a wrong certificate of the peer. */
struct redis_link *redis_link_open(const struct redis_link_options *options, int64_t deadline_ns, struct status *st);
void redis_link_close(struct redis_link **link);

/* Commands are appended here, and stay until redis_link_send. */
struct buffer *redis_link_out(struct redis_link *link);
bool redis_link_send(struct redis_link *link, int64_t deadline_ns, struct status *st);

/* The next reply, to be freed with redis_reply_free; NULL: it failed. */
struct redis_reply *redis_link_reply(struct redis_link *link, int64_t deadline_ns, struct status *st);

#endif
