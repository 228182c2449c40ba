#include "search/source_slots.h"

#include "base/hash.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct tenant_slots {
    uint64_t tenant; /* its hash */
    int64_t taken;
};

struct source_slots {
    pthread_mutex_t lock;
    int64_t most; /* of a tenant; 0: no limit */
    size_t count, room;
    struct tenant_slots slots[]; /* of tenants with requests under way */
};

struct source_slots *source_slots_create(int64_t concurrency)
{
    size_t room = concurrency > 0 ? (size_t)concurrency : 0;
    struct source_slots *slots = calloc(1, sizeof *slots + room * sizeof *slots->slots);
    if (!slots)
        return NULL;
    pthread_mutex_init(&slots->lock, NULL);
    slots->most = (concurrency + 1) / 2;
    slots->room = room;
    return slots;
}

void source_slots_destroy(struct source_slots **slots)
{
    if (*slots)
        pthread_mutex_destroy(&(*slots)->lock);
    free(*slots);
    *slots = NULL;
}

static bool tenant_slots_is_free(const struct source_slots *slots, const char *tenant)
{
    return !slots->room || !*tenant;
}

static struct tenant_slots *tenant_slots_find(struct source_slots *slots, uint64_t tenant)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->slots[i].tenant == tenant)
            return &slots->slots[i];
    return NULL;
}

bool source_slot_acquire(struct source_slots *slots, const char *tenant)
{
    uint64_t hash = hash_text(tenant);
    if (tenant_slots_is_free(slots, tenant))
        return true;
    pthread_mutex_lock(&slots->lock);
    struct tenant_slots *share = tenant_slots_find(slots, hash);
    if (!share && slots->count < slots->room) {
        share = &slots->slots[slots->count++];
        *share = (struct tenant_slots){.tenant = hash};
    }
    bool taken = share && share->taken < slots->most;
    if (taken)
        share->taken++;
    pthread_mutex_unlock(&slots->lock);
    return taken;
}

void source_slot_release(struct source_slots *slots, const char *tenant)
{
    uint64_t hash = hash_text(tenant);
    if (tenant_slots_is_free(slots, tenant))
        return;
    pthread_mutex_lock(&slots->lock);
    struct tenant_slots *share = tenant_slots_find(slots, hash);
    assert(share && share->taken > 0);
    if (--share->taken == 0)
        *share = slots->slots[--slots->count];
    pthread_mutex_unlock(&slots->lock);
}
