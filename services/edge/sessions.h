/* Sessions of the console: a browser that signed in with a key keeps an id of 256 random bits as a cookie. Sessions
 * live in the memory of the process: after a restart a user signs in again. Each request checks the session's key
 * again, so that an expired or revoked key ends its sessions. Any thread. */
#ifndef RENGA_EDGE_SESSIONS_H
#define RENGA_EDGE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_ID_SIZE  65   /* 64 hexadecimal digits and a NUL */
#define SESSION_KEY_SIZE 1100 /* "Bearer " and a key of 1,024 bytes */
#define SESSIONS_MAX     10000
#define SESSIONS_PER_KEY 64 /* the least recently used session is removed for a new one */

struct sessions;

struct sessions *sessions_create(int64_t idle_ms, int64_t max_ms);
void sessions_destroy(struct sessions **sessions);

/* Begins one for the value of an Authorization header. False: the key is too long, or there are no random numbers. */
bool sessions_begin(struct sessions *sessions, const char *authorization, char id[SESSION_ID_SIZE]);
/* The value of the Authorization header for the session; renews its idle time. False: the session is unknown or
 * expired. */
bool sessions_find(struct sessions *sessions, const char *id, size_t length, char authorization[SESSION_KEY_SIZE]);
void sessions_end(struct sessions *sessions, const char *id, size_t length);
size_t sessions_count(struct sessions *sessions);

#endif
