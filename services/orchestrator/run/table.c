/* The threads of a home, by tenant and name. The longest idle ones are freed when they are too many. */
#include "run_priv.h"

#include "base/hash.h"

#include <stdlib.h>

#define TABLE_FIRST 1024

/* Callers choose the names of threads, and with them their places. */
static struct thread **table_slot(struct home *home, uint64_t place)
{
    return &home->table[hash_bytes(&place, sizeof place) & (home->room - 1)];
}

static void table_grow(struct home *home)
{
    size_t room = home->room ? 2 * home->room : TABLE_FIRST, old_room = home->room;
    struct thread **old = home->table;
    home->table = need(calloc(room, sizeof(*home->table)));
    home->room = room;
    for (size_t i = 0; i < old_room; i++)
        for (struct thread *thread = old[i], *next; thread; thread = next) {
            next = thread->next;
            struct thread **slot = table_slot(home, thread->place);
            thread->next = *slot;
            *slot = thread;
        }
    free(old);
}

void home_remove_thread(struct thread *thread)
{
    struct thread **link = table_slot(thread->home, thread->place);
    while (*link && *link != thread)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = thread->next;
    thread->home->count--;
}

struct thread *home_find_thread(struct home *home, const char *tenant, const char *id)
{
    uint64_t place = id_of_place(tenant, id);
    if (!home->room)
        return NULL;
    for (struct thread *thread = *table_slot(home, place); thread; thread = thread->next)
        if (thread->place == place && strcmp(thread->id, id) == 0 && strcmp(thread->tenant, tenant) == 0)
            return thread;
    return NULL;
}

void home_add_thread(struct thread *thread)
{
    struct home *home = thread->home;
    if (home->count >= home->room)
        table_grow(home);
    struct thread **slot = table_slot(home, thread->place);
    thread->listed = true;
    thread->next = *slot;
    *slot = thread;
    home->count++;
}

/* ---- idle -------------------------------------------------------------------------------------------------------- */

void home_wake_thread(struct thread *thread)
{
    struct home *home = thread->home;
    if (!thread->idle)
        return;
    if (thread->idle_previous)
        thread->idle_previous->idle_next = thread->idle_next;
    else
        home->idle_first = thread->idle_next;
    if (thread->idle_next)
        thread->idle_next->idle_previous = thread->idle_previous;
    else
        home->idle_last = thread->idle_previous;
    thread->idle = false;
    home->idle_count--;
    home->idle_bytes -= thread->idle_bytes;
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

static bool has_too_many_idle(const struct home *home)
{
    return home->idle_count > THREADS_IDLE_MAX || (home->idle_bytes > IDLE_BYTES_MAX && home->idle_count > 1);
}

void home_idle_thread(struct thread *thread)
{
    struct home *home = thread->home;
    thread->idle = true;
    thread->idle_next = NULL;
    thread->idle_previous = home->idle_last;
    if (home->idle_last)
        home->idle_last->idle_next = thread;
    else
        home->idle_first = thread;
    home->idle_last = thread;
    thread->idle_bytes = memory_of(thread);
    home->idle_count++;
    home->idle_bytes += thread->idle_bytes;
    for (struct thread *oldest; has_too_many_idle(home) && (oldest = home->idle_first);) {
        home_wake_thread(oldest);
        home_remove_thread(oldest);
        thread_free(oldest);
    }
}
