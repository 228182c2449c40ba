/* Sessions of the console. Each request checks the session's key again, so that an expired or revoked key ends its
 * sessions. Any thread. Two kinds:
 *
 * kept in memory: the cookie of a browser is an id of 256 random bits. After a restart a user signs in again.
 * sealed: the cookie has the session itself, encrypted (sealed_session.h), and holds for each process with the same
 * secret. Only the process that ends a session refuses its cookie from then on; others take a copy of it until it has
 * not been renewed for `idle_ms`. */
#ifndef RENGA_EDGE_SESSIONS_H
#define RENGA_EDGE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_ID_SIZE  1600 /* the longest cookie, the NUL included */
#define SESSION_KEY_SIZE 1100 /* "Bearer " and a key of 1,024 bytes */
#define SESSIONS_MAX     10000
#define SESSIONS_PER_KEY 64 /* the least recently used session is removed for a new one */

struct sessions;

/* `secret` NULL: kept in memory. */
struct sessions *sessions_create(int64_t idle_ms, int64_t max_ms, const char *secret);
void sessions_destroy(struct sessions **sessions);

/* Begins one for the value of an Authorization header. False: the key is too long, or there are no random numbers. */
bool sessions_begin(struct sessions *sessions, const char *authorization, char id[SESSION_ID_SIZE]);
/* The value of the Authorization header for the session; renews its idle time. False: the session is unknown or
 * expired. */
bool sessions_find(struct sessions *sessions, const char *id, size_t length, char authorization[SESSION_KEY_SIZE]);
/* The cookie that replaces this one, with a new idle time. False: it needs no other. Of sealed ones alone. */
bool sessions_renew(struct sessions *sessions, const char *id, size_t length, char renewed[SESSION_ID_SIZE]);
void sessions_end(struct sessions *sessions, const char *id, size_t length);
/* Of those kept in memory. */
size_t sessions_count(struct sessions *sessions);

#endif
