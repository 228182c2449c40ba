/* The threads of a shard, by tenant and name. The longest idle ones are freed when they are too many. */
#include "frame.h"
#include "log/ids.h"
#include "memory.h"
#include "run.h"
#include "shard.h"
#include "state/state.h"
#include "thread.h"

#include "base/hash.h"

#include <stdlib.h>

#define TABLE_FIRST 1024

/* Callers choose the names of threads, and with them their places. */
static struct thread **table_slot(struct shard *shard, uint64_t place)
{
    return &shard->table[hash_bytes(&place, sizeof place) & (shard->room - 1)];
}

static void table_grow(struct shard *shard)
{
    size_t room = shard->room ? 2 * shard->room : TABLE_FIRST, old_room = shard->room;
    struct thread **old = shard->table;
    shard->table = xnonnull(calloc(room, sizeof(*shard->table)));
    shard->room = room;
    for (size_t i = 0; i < old_room; i++)
        for (struct thread *thread = old[i], *next; thread; thread = next) {
            next = thread->next;
            struct thread **slot = table_slot(shard, thread->place);
            thread->next = *slot;
            *slot = thread;
        }
    free(old);
}

void shard_remove_thread(struct thread *thread)
{
    struct thread **link = table_slot(thread->shard, thread->place);
    while (*link && *link != thread)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = thread->next;
    thread->shard->count--;
}

struct thread *shard_find_thread(struct shard *shard, const char *tenant, const char *id)
{
    uint64_t place = id_of_place(tenant, id);
    if (!shard->room)
        return NULL;
    for (struct thread *thread = *table_slot(shard, place); thread; thread = thread->next)
        if (thread->place == place && strcmp(thread->id, id) == 0 && strcmp(thread->tenant, tenant) == 0)
            return thread;
    return NULL;
}

void shard_add_thread(struct thread *thread)
{
    struct shard *shard = thread->shard;
    if (shard->count >= shard->room)
        table_grow(shard);
    struct thread **slot = table_slot(shard, thread->place);
    thread->listed = true;
    thread->next = *slot;
    *slot = thread;
    shard->count++;
}

/* ---- idle -------------------------------------------------------------------------------------------------------- */

void shard_wake_thread(struct thread *thread)
{
    struct shard *shard = thread->shard;
    if (!thread->idle)
        return;
    if (thread->idle_previous)
        thread->idle_previous->idle_next = thread->idle_next;
    else
        shard->idle_first = thread->idle_next;
    if (thread->idle_next)
        thread->idle_next->idle_previous = thread->idle_previous;
    else
        shard->idle_last = thread->idle_previous;
    thread->idle = false;
    shard->idle_count--;
    shard->idle_bytes -= thread->idle_bytes;
}

/* About: its states, the request of its run, and results of nodes. */
static size_t memory_of(const struct thread *thread)
{
    const struct frame *root = thread->root;
    size_t bytes = sizeof *thread + (thread->run ? thread->run->arena.used : 0);
    if (root)
        bytes += state_memory(root->state) + root->arenas[0].used + root->arenas[1].used;
    for (const struct memory *memory = thread->memories; memory; memory = memory->next)
        bytes += state_memory(memory->state);
    return bytes;
}

static bool has_too_many_idle(const struct shard *shard)
{
    return shard->idle_count > THREADS_IDLE_MAX || (shard->idle_bytes > IDLE_BYTES_MAX && shard->idle_count > 1);
}

void shard_idle_thread(struct thread *thread)
{
    struct shard *shard = thread->shard;
    thread->idle = true;
    thread->idle_next = NULL;
    thread->idle_previous = shard->idle_last;
    if (shard->idle_last)
        shard->idle_last->idle_next = thread;
    else
        shard->idle_first = thread;
    shard->idle_last = thread;
    thread->idle_bytes = memory_of(thread);
    shard->idle_count++;
    shard->idle_bytes += thread->idle_bytes;
    for (struct thread *oldest; has_too_many_idle(shard) && (oldest = shard->idle_first);) {
        shard_wake_thread(oldest);
        shard_remove_thread(oldest);
        thread_free(oldest);
    }
}
