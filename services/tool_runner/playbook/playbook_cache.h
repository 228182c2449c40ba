/* The playbooks of a process: those that were used last, in memory, bounded by their bytes; and what all loops share.
 * A playbook in the cache is used only while the head on disk has its version. Any thread. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_CACHE_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_CACHE_H

#include "base/buffer.h"
#include "playbook/playbook.h"

struct playbook_head;
struct key_locks;

struct playbooks_options {
    size_t bytes_max;    /* of the cache; its indexes count */
    int64_t revisions;   /* number of stored changes, and of requests */
    int64_t history_max; /* bytes of the changes of a playbook */
    int64_t tenant_max;  /* playbooks of a tenant */
};

struct playbooks {
    struct playbooks_options options;
    struct key_locks *key_locks; /* one writer of a playbook at a time */

    /* Figures since the process began. */
    atomic_uint_fast64_t changes, unchanged, repeated, conflicts, hits, misses, caught_up, dropped, proposed, damaged;

    /* Under the lock. */
    pthread_mutex_t lock;
    struct playbook_entry **buckets;
    struct playbook_entry *newest, *oldest;
    size_t bytes, count;
    uint64_t evicted;
};

struct playbooks *playbooks_create(const struct playbooks_options *options);
void playbooks_destroy(struct playbooks **playbooks);
/* Writes the metrics. */
void playbooks_show(struct buffer *out, struct playbooks *playbooks);

/* Held for the caller. NULL: the cache does not have that version. */
struct playbook *playbook_cache_find(struct playbooks *playbooks, const char *tenant, const char *dataset,
                                     const struct playbook_head *head);
/* Any version of that incarnation, with a reference; for its bullets and its slot. NULL: not cached. */
struct playbook *playbook_cache_any(struct playbooks *playbooks, const char *tenant, const char *dataset,
                                    int64_t incarnation);
/* Replaces an older version. */
void playbook_cache_put(struct playbooks *playbooks, struct playbook *playbook);
void playbook_cache_drop(struct playbooks *playbooks, const char *tenant, const char *dataset);

#endif
