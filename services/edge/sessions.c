#include "sessions.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/trace.h"
#include "sealed_session.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BUCKETS       1024
#define ID_SIZE       65 /* of a session in memory: 64 hexadecimal digits and a NUL */
#define SKEW_S        60 /* by which the clocks of two processes may differ */
#define RENEWAL_SHARE 16 /* a sealed session is renewed after this part of its idle time */

_Static_assert(SESSION_ID_SIZE >= SEALED_TEXT_SIZE && SESSION_KEY_SIZE == SEALED_AUTHORIZATION_SIZE, "sealed ones fit");

struct session {
    struct session *next;
    int64_t begun_ns, used_ns;
    char id[ID_SIZE];
    char authorization[]; /* "": a sealed session that was ended */
};

struct sessions {
    pthread_mutex_t mutex;
    struct session *buckets[BUCKETS];
    size_t count;
    int64_t idle_ns, max_ns;
    bool is_sealed;
    uint8_t key[SEALED_KEY_SIZE];
};

struct sessions *sessions_create(int64_t idle_ms, int64_t max_ms, const char *secret)
{
    struct sessions *sessions = xcalloc(1, sizeof *sessions);
    pthread_mutex_init(&sessions->mutex, NULL);
    sessions->idle_ns = idle_ms * NS_PER_MS;
    sessions->max_ns = max_ms * NS_PER_MS;
    sessions->is_sealed = secret != NULL;
    if (secret)
        sealed_session_key(secret, sessions->key);
    return sessions;
}

static void session_free(struct sessions *sessions, struct session **link)
{
    struct session *session = *link;
    *link = session->next;
    OPENSSL_cleanse(session->authorization, strlen(session->authorization));
    free(session);
    sessions->count--;
}

void sessions_destroy(struct sessions **sessions_pointer)
{
    struct sessions *sessions = *sessions_pointer;
    if (!sessions)
        return;
    *sessions_pointer = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        while (sessions->buckets[i])
            session_free(sessions, &sessions->buckets[i]);
    pthread_mutex_destroy(&sessions->mutex);
    OPENSSL_cleanse(sessions->key, sizeof sessions->key);
    free(sessions);
}

static struct session **session_bucket(struct sessions *sessions, const char *id)
{
    return &sessions->buckets[hash_bytes(id, ID_SIZE - 1) % BUCKETS];
}

static bool session_is_over(const struct sessions *sessions, const struct session *session, int64_t now_ns)
{
    bool is_mark = !session->authorization[0]; /* a copy of the ended session may be renewed by another edge */
    return (!is_mark && now_ns - session->used_ns > sessions->idle_ns) || now_ns - session->begun_ns > sessions->max_ns;
}

/* Frees expired sessions. `*oldest` becomes the link to the least recently used session of the key, or of all keys if
 * `authorization` is NULL. Returns the number of sessions of the key, or of all. O(SESSIONS_MAX). */
static size_t sessions_sweep(struct sessions *sessions, const char *authorization, struct session ***oldest)
{
    int64_t now_ns = clock_now_ns();
    size_t count = 0;
    *oldest = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct session **link = &sessions->buckets[i]; *link;) {
            if (session_is_over(sessions, *link, now_ns)) {
                session_free(sessions, link);
                continue;
            }
            if (!authorization || strcmp((*link)->authorization, authorization) == 0) {
                count++;
                if (!*oldest || (*link)->used_ns < (**oldest)->used_ns)
                    *oldest = link;
            }
            link = &(*link)->next;
        }
    return count;
}

static void sessions_make_room(struct sessions *sessions, const char *authorization)
{
    struct session **oldest;
    if (*authorization && sessions_sweep(sessions, authorization, &oldest) >= SESSIONS_PER_KEY)
        session_free(sessions, oldest);
    if (sessions->count >= SESSIONS_MAX && sessions_sweep(sessions, NULL, &oldest) >= SESSIONS_MAX)
        session_free(sessions, oldest);
}

static bool sessions_keep(struct sessions *sessions, const char *authorization, const char id[ID_SIZE])
{
    size_t length = strlen(authorization);
    struct session *session = calloc(1, sizeof *session + length + 1);
    if (!session)
        return false;
    memcpy(session->id, id, ID_SIZE);
    memcpy(session->authorization, authorization, length + 1);
    session->begun_ns = session->used_ns = clock_now_ns();
    pthread_mutex_lock(&sessions->mutex);
    sessions_make_room(sessions, authorization);
    struct session **bucket = session_bucket(sessions, id);
    session->next = *bucket;
    *bucket = session;
    sessions->count++;
    pthread_mutex_unlock(&sessions->mutex);
    return true;
}

/* The link to the session. NULL: not found, or it has expired and is freed. With the mutex. */
static struct session **session_link(struct sessions *sessions, const char *id, size_t length)
{
    if (length != ID_SIZE - 1)
        return NULL;
    for (struct session **link = session_bucket(sessions, id); *link; link = &(*link)->next) {
        if (CRYPTO_memcmp((*link)->id, id, length) != 0)
            continue;
        if (!session_is_over(sessions, *link, clock_now_ns()))
            return link;
        session_free(sessions, link);
        return NULL;
    }
    return NULL;
}

/* ---- sealed ------------------------------------------------------------------------------------------------------ */

/* The name in memory of a sealed session that was ended: its id and zeros. */
static void sealed_name(const struct sealed_session *sealed, char name[ID_SIZE])
{
    memset(name, '0', ID_SIZE - 1);
    name[ID_SIZE - 1] = '\0';
    trace_hex(sealed->id, sizeof sealed->id, name);
    name[2 * sizeof sealed->id] = '0'; /* over the NUL */
}

static bool sessions_unseal(struct sessions *sessions, const char *text, size_t length, struct sealed_session *sealed)
{
    char name[ID_SIZE];
    int64_t now_s = clock_wall_ns() / NS_PER_SEC;
    if (!sealed_session_read(sessions->key, text, length, sealed) || sealed->begun_s > now_s + SKEW_S ||
        sealed->used_s > now_s + SKEW_S || now_s - sealed->used_s > sessions->idle_ns / NS_PER_SEC ||
        now_s - sealed->begun_s > sessions->max_ns / NS_PER_SEC)
        return false;
    sealed_name(sealed, name);
    pthread_mutex_lock(&sessions->mutex);
    bool has_ended = session_link(sessions, name, ID_SIZE - 1) != NULL;
    pthread_mutex_unlock(&sessions->mutex);
    return !has_ended;
}

bool sessions_renew(struct sessions *sessions, const char *id, size_t length, char renewed[SESSION_ID_SIZE])
{
    struct sealed_session sealed;
    int64_t now_s = clock_wall_ns() / NS_PER_SEC;
    if (!sessions->is_sealed || !sessions_unseal(sessions, id, length, &sealed) ||
        now_s - sealed.used_s < sessions->idle_ns / NS_PER_SEC / RENEWAL_SHARE)
        return false;
    sealed.used_s = now_s;
    bool done = sealed_session_write(sessions->key, &sealed, renewed);
    OPENSSL_cleanse(&sealed, sizeof sealed);
    return done;
}

/* ---- of both kinds ----------------------------------------------------------------------------------------------- */

bool sessions_begin(struct sessions *sessions, const char *authorization, char id[SESSION_ID_SIZE])
{
    uint8_t bytes[(ID_SIZE - 1) / 2];
    struct sealed_session sealed = {.begun_s = clock_wall_ns() / NS_PER_SEC};
    if (strlen(authorization) >= SESSION_KEY_SIZE || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    if (!sessions->is_sealed) {
        trace_hex(bytes, sizeof bytes, id);
        return sessions_keep(sessions, authorization, id);
    }
    sealed.used_s = sealed.begun_s;
    memcpy(sealed.id, bytes, sizeof sealed.id);
    strcpy(sealed.authorization, authorization);
    bool done = sealed_session_write(sessions->key, &sealed, id);
    OPENSSL_cleanse(&sealed, sizeof sealed);
    return done;
}

bool sessions_find(struct sessions *sessions, const char *id, size_t length, char authorization[SESSION_KEY_SIZE])
{
    struct sealed_session sealed;
    if (sessions->is_sealed) {
        bool is_valid = sessions_unseal(sessions, id, length, &sealed);
        if (is_valid)
            memcpy(authorization, sealed.authorization, SESSION_KEY_SIZE);
        OPENSSL_cleanse(&sealed, sizeof sealed);
        return is_valid;
    }
    pthread_mutex_lock(&sessions->mutex);
    struct session **link = session_link(sessions, id, length);
    if (link) {
        (*link)->used_ns = clock_now_ns();
        strcpy(authorization, (*link)->authorization);
    }
    pthread_mutex_unlock(&sessions->mutex);
    return link != NULL;
}

void sessions_end(struct sessions *sessions, const char *id, size_t length)
{
    struct sealed_session sealed;
    char name[ID_SIZE];
    if (sessions->is_sealed) {
        if (sessions_unseal(sessions, id, length, &sealed)) {
            sealed_name(&sealed, name);
            sessions_keep(sessions, "", name);
        }
        OPENSSL_cleanse(&sealed, sizeof sealed);
        return;
    }
    pthread_mutex_lock(&sessions->mutex);
    struct session **link = session_link(sessions, id, length);
    if (link)
        session_free(sessions, link);
    pthread_mutex_unlock(&sessions->mutex);
}

size_t sessions_count(struct sessions *sessions)
{
    pthread_mutex_lock(&sessions->mutex);
    size_t count = sessions->is_sealed ? 0 : sessions->count;
    pthread_mutex_unlock(&sessions->mutex);
    return count;
}
