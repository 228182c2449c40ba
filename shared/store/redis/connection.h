/* A connection of a store to its Redis, for one thread: made when it is needed, with a handshake and a check of Redis's
 * settings; lost and made again.
 *
 *      gone --redis_connection_ready--> handshake: AUTH, SELECT, ROLE, CONFIG GET, SCRIPT LOAD --> works
 *        ^                                                                                        |
 *        '------- redis_connection_lost: silent, closed, refused; the backoff between doubles -------'
 *
 * Requests wait for a lost connection until the timeout, counted from the loss. After that each request fails at once,
 * and the connection is tried again after each backoff. */
#ifndef RENGA_STORE_REDIS_CONNECTION_H
#define RENGA_STORE_REDIS_CONNECTION_H

#include "redis/link.h"
#include "store/redis/scripts.h"
#include "store/redis/settings.h"
#include "store/store.h"

#include <stdatomic.h>

#define REDIS_SHA_MAX 41 /* bytes, the NUL included */
#define REDIS_KEY_MAX (REDIS_NAME_MAX + 24)

struct redis_connection {
    const struct redis_settings *settings;
    const char *purpose; /* for the log: "writer" */
    char keys[REDIS_KEYS][REDIS_KEY_MAX];

    struct redis_link *link; /* NULL: gone */
    char scripts[REDIS_SCRIPTS][REDIS_SHA_MAX];
    int64_t checked_ns; /* when its settings were checked */
    bool weak;          /* and the server's settings are weak; only with durability=weak */

    bool verified;                                      /* it has answered since it was made */
    int64_t lost_ns, tried_ns, next_try_ns, backoff_ms; /* 0: not lost */
    atomic_llong *found_ns; /* when any connection of the store was answered again; borrowed */
    struct status why;
    uint64_t losses;
};

void redis_connection_init(struct redis_connection *connection, const struct redis_settings *settings,
                           atomic_llong *found_ns, const char *purpose);
void redis_connection_fini(struct redis_connection *connection);

/* The time at which a new request fails. Forgets the findings of another connection. */
int64_t redis_connection_deadline(struct redis_connection *connection);

/* It works, if need be once more; its settings were checked within REDIS_CHECK_EVERY_MS. */
#define REDIS_CHECK_EVERY_MS 10000
bool redis_connection_ready(struct redis_connection *connection, int64_t deadline_ns, struct status *st);

/* The beginning of a script's command, up to its keys; `arguments` more parts follow. */
struct buffer *redis_connection_script(struct redis_connection *connection, enum redis_script script, size_t arguments);
void redis_connection_argument(struct redis_connection *connection, const char *text);

/* Sends the appended commands and returns the reply to the first. NULL: the connection is lost, and `st` gives the
 * reason. */
struct redis_reply *redis_connection_ask(struct redis_connection *connection, int64_t deadline_ns, struct status *st);
/* The reply to the next. */
struct redis_reply *redis_connection_next(struct redis_connection *connection, int64_t deadline_ns, struct status *st);

/* Gives it up, for the reason in `why`. */
void redis_connection_lost(struct redis_connection *connection, const struct status *why);

#endif
