#include "stream_quota.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define BUCKETS 256

/* With at least one stream. */
struct stream_owner {
    struct stream_owner *next;
    uint64_t owner;
    unsigned streams;
    uint64_t calls;
};

struct stream_quota {
    pthread_mutex_t mutex;
    unsigned streams_max;
    struct stream_owner *buckets[BUCKETS];
};

struct stream_quota *stream_quota_create(unsigned streams_max)
{
    struct stream_quota *quota = xcalloc(1, sizeof *quota);
    pthread_mutex_init(&quota->mutex, NULL);
    quota->streams_max = streams_max;
    return quota;
}

void stream_quota_destroy(struct stream_quota **quota_pointer)
{
    struct stream_quota *quota = *quota_pointer;
    if (!quota)
        return;
    *quota_pointer = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct stream_owner *entry = quota->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    pthread_mutex_destroy(&quota->mutex);
    free(quota);
}

/* The link to the client's entry, or the end of its list. With the mutex. */
static struct stream_owner **stream_quota_link(struct stream_quota *quota, uint64_t owner)
{
    struct stream_owner **link = &quota->buckets[owner % BUCKETS];
    while (*link && (*link)->owner != owner)
        link = &(*link)->next;
    return link;
}

bool stream_quota_take(struct stream_quota *quota, uint64_t owner, unsigned calls)
{
    pthread_mutex_lock(&quota->mutex);
    struct stream_owner **link = stream_quota_link(quota, owner), *entry = *link;
    uint64_t calls_max = (uint64_t)quota->streams_max * STREAM_QUOTA_CALLS;
    bool has_room =
        entry ? entry->streams < quota->streams_max && entry->calls + calls <= calls_max : calls <= calls_max;
    if (has_room && !entry) {
        entry = *link = xcalloc(1, sizeof *entry);
        entry->owner = owner;
    }
    if (has_room) {
        entry->streams++;
        entry->calls += calls;
    }
    pthread_mutex_unlock(&quota->mutex);
    return has_room;
}

void stream_quota_release(struct stream_quota *quota, uint64_t owner, unsigned calls)
{
    pthread_mutex_lock(&quota->mutex);
    struct stream_owner **link = stream_quota_link(quota, owner), *entry = *link;
    assert(entry && entry->streams && entry->calls >= calls);
    entry->calls -= calls;
    if (!--entry->streams) {
        *link = entry->next;
        free(entry);
    }
    pthread_mutex_unlock(&quota->mutex);
}
