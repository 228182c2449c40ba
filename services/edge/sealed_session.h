/* A session as its own cookie, for edges that share a key: AES-256-GCM over the times, an id and the key of the client,
 * so that a browser can neither read nor change it. Any thread. */
#ifndef RENGA_EDGE_SEALED_SESSION_H
#define RENGA_EDGE_SEALED_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEALED_KEY_SIZE           32
#define SEALED_ID_SIZE            16
#define SEALED_AUTHORIZATION_SIZE 1100 /* "Bearer ", a key of 1,024 bytes, and a NUL */
#define SEALED_TEXT_SIZE          1600 /* the longest text, the NUL included */

struct sealed_session {
    int64_t begun_s, used_s; /* Unix time */
    uint8_t id[SEALED_ID_SIZE];
    char authorization[SEALED_AUTHORIZATION_SIZE];
};

/* The key of a configured secret, which has enough entropy by itself. */
void sealed_session_key(const char *secret, uint8_t key[SEALED_KEY_SIZE]);

/* Base64. False: there are no random numbers. */
bool sealed_session_write(const uint8_t key[SEALED_KEY_SIZE], const struct sealed_session *session,
                          char text[SEALED_TEXT_SIZE]);
/* False: it was not written with this key, or was changed. The times are the caller's to judge. */
bool sealed_session_read(const uint8_t key[SEALED_KEY_SIZE], const char *text, size_t length,
                         struct sealed_session *session);

#endif
