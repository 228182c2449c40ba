#include "key_lock.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct key_locks {
    pthread_mutex_t lock;
    struct key_lock *buckets[BUCKETS];
};

struct key_locks *key_locks_create(void)
{
    struct key_locks *key_locks = xcalloc(1, sizeof *key_locks);
    pthread_mutex_init(&key_locks->lock, NULL);
    return key_locks;
}

void key_locks_destroy(struct key_locks **key_locks_pointer)
{
    struct key_locks *key_locks = *key_locks_pointer;
    *key_locks_pointer = NULL;
    if (!key_locks)
        return;
    pthread_mutex_destroy(&key_locks->lock);
    free(key_locks);
}

static struct key_lock **key_lock_find(struct key_locks *key_locks, const char *tenant, const char *name)
{
    struct key_lock **at = &key_locks->buckets[hash_more_text(hash_text(tenant), name) % BUCKETS];
    while (*at && (strcmp((*at)->tenant, tenant) != 0 || strcmp((*at)->name, name) != 0))
        at = &(*at)->next_name;
    return at;
}

static void key_lock_run_granted(struct work *work)
{
    struct key_lock *key_lock = CONTAINER_OF(work, struct key_lock, work);
    key_lock->state = KEY_LOCK_HELD;
    key_lock->granted(key_lock);
}

bool key_lock_acquire(struct key_locks *key_locks, struct key_lock *key_lock, const char *tenant, const char *name)
{
    key_lock->tenant = tenant;
    key_lock->name = name;
    key_lock->next = key_lock->next_name = NULL;
    key_lock->work = (struct work){.run = key_lock_run_granted};
    pthread_mutex_lock(&key_locks->lock);
    struct key_lock **at = key_lock_find(key_locks, tenant, name);
    bool first = *at == NULL;
    key_lock->state = first ? KEY_LOCK_HELD : KEY_LOCK_WAITING;
    if (first) {
        *at = key_lock;
    } else {
        struct key_lock *last = *at;
        while (last->next)
            last = last->next;
        last->next = key_lock;
    }
    pthread_mutex_unlock(&key_locks->lock);
    return first;
}

/* Gives the lock to the next waiter of the same name. */
static void key_lock_pass_on(struct key_lock **at, struct key_lock *key_lock)
{
    struct key_lock *next = key_lock->next;
    *at = next ? next : key_lock->next_name;
    if (!next)
        return;
    next->next_name = key_lock->next_name;
    next->state = KEY_LOCK_POSTED;
    loop_post(next->loop, &next->work);
}

static void withdraw(struct key_lock *first, const struct key_lock *key_lock)
{
    while (first->next != key_lock)
        first = first->next;
    first->next = key_lock->next;
}

bool key_lock_release(struct key_locks *key_locks, struct key_lock *key_lock)
{
    pthread_mutex_lock(&key_locks->lock);
    bool left = key_lock->state != KEY_LOCK_POSTED;
    if (left && key_lock->state != KEY_LOCK_NONE) {
        struct key_lock **at = key_lock_find(key_locks, key_lock->tenant, key_lock->name);
        assert(*at);
        if (key_lock->state == KEY_LOCK_HELD)
            key_lock_pass_on(at, key_lock);
        else
            withdraw(*at, key_lock);
        key_lock->state = KEY_LOCK_NONE;
    }
    pthread_mutex_unlock(&key_locks->lock);
    return left;
}
