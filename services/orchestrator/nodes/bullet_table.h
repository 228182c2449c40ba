/* Bullets that are named by their ids: a hash table of a fixed size. */
#ifndef RENGA_ORCHESTRATOR_BULLET_TABLE_H
#define RENGA_ORCHESTRATOR_BULLET_TABLE_H

#include "base/arena.h"

#include "renga/v1/playbook.pb-c.h"

struct bullet_entry {
    const char *id;                      /* borrowed */
    const Renga__V1__Bullet *seen, *now; /* as a model saw it, and as it is; NULL: it did not, there is none */
    int32_t helpful, harmful;            /* tags */
    size_t changed_by;                   /* number of the operation that changes it, from 1; 0: no operation */
};

struct bullet_table {
    struct bullet_entry *entries; /* in the order in which they were added */
    uint32_t *slots;              /* index of an entry + 1; 0: free */
    size_t count, room, slot_count;
};

/* False if the arena is out of memory. */
bool bullet_table_open(struct bullet_table *table, struct arena *arena, size_t room);

/* The entry of the id, added if `add` is true and there is room; else NULL. */
struct bullet_entry *bullet_table_find(struct bullet_table *table, const char *id, bool add);

#endif
