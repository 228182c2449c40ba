/* Key locks: requests with the same key run one after another, in every loop. So two requests with the same idempotency
 * key run once, and the second finds the record of the first. */
#ifndef RENGA_TOOL_RUNNER_KEY_LOCK_H
#define RENGA_TOOL_RUNNER_KEY_LOCK_H

#include "loop/loop.h"

#include <stdbool.h>

struct key_locks;

struct key_locks *key_locks_create(void);
void key_locks_destroy(struct key_locks **key_locks);

/* Embedded in its owner, zeroed; kept until key_lock_release has returned true or `granted` has run after it. */
struct key_lock {
    struct loop *loop;
    void (*granted)(struct key_lock *key_lock);

    /* Of the locks. */
    struct work work;
    struct key_lock *next_name; /* of the holders */
    struct key_lock *next;      /* the next waiter of the same name */
    const char *tenant, *name;
    enum { KEY_LOCK_NONE, KEY_LOCK_WAITING, KEY_LOCK_POSTED, KEY_LOCK_HELD } state;
};

/* Acquires the lock. True: it is granted now; otherwise `granted` runs when it is. Both names are borrowed until
 * key_lock_release. */
bool key_lock_acquire(struct key_locks *key_locks, struct key_lock *key_lock, const char *tenant, const char *name);

/* Withdraws, or passes the lock on to the next waiter. False: `granted` has been posted already; call key_lock_release
 * there. */
bool key_lock_release(struct key_locks *key_locks, struct key_lock *key_lock);

#endif
