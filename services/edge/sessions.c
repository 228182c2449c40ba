#include "sessions.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/trace.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BUCKETS 1024

struct session {
    struct session *next;
    int64_t begun_ns, used_ns;
    char id[SESSION_ID_SIZE];
    char authorization[];
};

struct sessions {
    pthread_mutex_t mutex;
    struct session *buckets[BUCKETS];
    size_t count;
    int64_t idle_ns, max_ns;
};

struct sessions *sessions_create(int64_t idle_ms, int64_t max_ms)
{
    struct sessions *sessions = xcalloc(1, sizeof *sessions);
    pthread_mutex_init(&sessions->mutex, NULL);
    sessions->idle_ns = idle_ms * NS_PER_MS;
    sessions->max_ns = max_ms * NS_PER_MS;
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
    free(sessions);
}

static struct session **session_bucket(struct sessions *sessions, const char *id)
{
    return &sessions->buckets[hash_bytes(id, SESSION_ID_SIZE - 1) % BUCKETS];
}

static bool session_is_over(const struct sessions *sessions, const struct session *session, int64_t now_ns)
{
    return now_ns - session->used_ns > sessions->idle_ns || now_ns - session->begun_ns > sessions->max_ns;
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
    if (sessions_sweep(sessions, authorization, &oldest) >= SESSIONS_PER_KEY)
        session_free(sessions, oldest);
    if (sessions->count >= SESSIONS_MAX && sessions_sweep(sessions, NULL, &oldest) >= SESSIONS_MAX)
        session_free(sessions, oldest);
}

bool sessions_begin(struct sessions *sessions, const char *authorization, char id[SESSION_ID_SIZE])
{
    uint8_t bytes[(SESSION_ID_SIZE - 1) / 2];
    size_t length = strlen(authorization);
    if (length >= SESSION_KEY_SIZE || getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    struct session *session = calloc(1, sizeof *session + length + 1);
    if (!session)
        return false;
    trace_hex(bytes, sizeof bytes, session->id);
    memcpy(session->authorization, authorization, length + 1);
    session->begun_ns = session->used_ns = clock_now_ns();
    memcpy(id, session->id, SESSION_ID_SIZE);
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
    if (length != SESSION_ID_SIZE - 1)
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

bool sessions_find(struct sessions *sessions, const char *id, size_t length, char authorization[SESSION_KEY_SIZE])
{
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
    pthread_mutex_lock(&sessions->mutex);
    struct session **link = session_link(sessions, id, length);
    if (link)
        session_free(sessions, link);
    pthread_mutex_unlock(&sessions->mutex);
}

size_t sessions_count(struct sessions *sessions)
{
    pthread_mutex_lock(&sessions->mutex);
    size_t count = sessions->count;
    pthread_mutex_unlock(&sessions->mutex);
    return count;
}
