#include "run_slots.h"

#include "base/list.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tenant_slots {
    struct tenant_slots *next;
    unsigned taken, waiting; /* both 0: it is forgotten */
    char name[];
};

struct run_slots {
    pthread_mutex_t lock;
    struct run_slots_options options;
    struct tenant_slots *tenants;  /* those that have or want run_slots */
    struct run_slot *first, *last; /* the waiting run_slots */
    struct run_slots_stats stats;
};

struct run_slots *run_slots_create(const struct run_slots_options *options)
{
    struct run_slots *run_slots = xcalloc(1, sizeof *run_slots);
    pthread_mutex_init(&run_slots->lock, NULL);
    run_slots->options = *options;
    return run_slots;
}

void run_slots_destroy(struct run_slots **run_slots_pointer)
{
    struct run_slots *run_slots = *run_slots_pointer;
    *run_slots_pointer = NULL;
    if (!run_slots)
        return;
    for (struct tenant_slots *tenant = run_slots->tenants, *next; tenant; tenant = next) {
        next = tenant->next;
        free(tenant);
    }
    pthread_mutex_destroy(&run_slots->lock);
    free(run_slots);
}

static struct tenant_slots *find_tenant(struct run_slots *run_slots, const char *name)
{
    for (struct tenant_slots *tenant = run_slots->tenants; tenant; tenant = tenant->next)
        if (strcmp(tenant->name, name) == 0)
            return tenant;
    struct tenant_slots *tenant = xcalloc(1, sizeof *tenant + strlen(name) + 1);
    memcpy(tenant->name, name, strlen(name) + 1);
    tenant->next = run_slots->tenants;
    run_slots->tenants = tenant;
    return tenant;
}

static void forget_tenant(struct run_slots *run_slots, const struct tenant_slots *tenant)
{
    struct tenant_slots **at = &run_slots->tenants;
    if (tenant->taken || tenant->waiting)
        return;
    while (*at != tenant)
        at = &(*at)->next;
    *at = tenant->next;
    free((void *)(uintptr_t)tenant);
}

static bool run_slots_is_free(const struct run_slots *run_slots, const struct tenant_slots *tenant)
{
    return run_slots->stats.taken < run_slots->options.in_flight_max && tenant->taken < run_slots->options.tenant_max;
}

static void run_slots_take(struct run_slots *run_slots, struct run_slot *run_slot)
{
    run_slot->state = RUN_SLOT_GIVEN;
    run_slot->tenant->taken++;
    run_slots->stats.taken++;
}

static void dequeue(struct run_slots *run_slots, struct run_slot *run_slot)
{
    LIST_REMOVE(run_slots->first, run_slots->last, run_slot);
    run_slot->tenant->waiting--;
    run_slots->stats.waiting--;
}

static void run_slots_granted(struct work *work)
{
    struct run_slot *run_slot = CONTAINER_OF(work, struct run_slot, work);
    run_slot->posted = false;
    run_slot->granted(run_slot);
}

static enum run_slot_answer acquire_locked(struct run_slots *run_slots, struct run_slot *run_slot, const char *tenant)
{
    run_slot->tenant = find_tenant(run_slots, tenant);
    run_slot->posted = false;
    run_slot->work = (struct work){.run = run_slots_granted};
    if (run_slots_is_free(run_slots, run_slot->tenant)) {
        run_slots_take(run_slots, run_slot);
        return RUN_SLOT_TAKEN;
    }
    if (run_slots->stats.waiting < run_slots->options.queue_max) {
        run_slot->state = RUN_SLOT_WAITING;
        LIST_APPEND(run_slots->first, run_slots->last, run_slot);
        run_slot->tenant->waiting++;
        run_slots->stats.waiting++;
        return RUN_SLOT_QUEUED;
    }
    run_slots->stats.refused++;
    forget_tenant(run_slots, run_slot->tenant);
    run_slot->state = RUN_SLOT_NONE;
    return RUN_SLOT_REFUSED;
}

enum run_slot_answer run_slot_acquire(struct run_slots *run_slots, struct run_slot *run_slot, const char *tenant)
{
    pthread_mutex_lock(&run_slots->lock);
    enum run_slot_answer answer = acquire_locked(run_slots, run_slot, tenant);
    pthread_mutex_unlock(&run_slots->lock);
    return answer;
}

/* Gives run_slots to the queue, in order, skipping tenants without a free run_slot. */
static void admit_waiting(struct run_slots *run_slots)
{
    for (struct run_slot *run_slot = run_slots->first, *next; run_slot; run_slot = next) {
        next = run_slot->next;
        if (run_slots->stats.taken >= run_slots->options.in_flight_max)
            return;
        if (!run_slots_is_free(run_slots, run_slot->tenant))
            continue;
        dequeue(run_slots, run_slot);
        run_slots_take(run_slots, run_slot);
        run_slot->posted = true;
        loop_post(run_slot->loop, &run_slot->work);
    }
}

static bool run_slots_release_locked(struct run_slots *run_slots, struct run_slot *run_slot)
{
    if (run_slot->state == RUN_SLOT_NONE)
        return true;
    if (run_slot->state == RUN_SLOT_WAITING) {
        dequeue(run_slots, run_slot);
    } else {
        if (run_slot->posted)
            return false;
        run_slot->tenant->taken--;
        run_slots->stats.taken--;
        admit_waiting(run_slots);
    }
    forget_tenant(run_slots, run_slot->tenant);
    run_slot->state = RUN_SLOT_NONE;
    return true;
}

bool run_slot_release(struct run_slots *run_slots, struct run_slot *run_slot)
{
    pthread_mutex_lock(&run_slots->lock);
    bool left = run_slots_release_locked(run_slots, run_slot);
    pthread_mutex_unlock(&run_slots->lock);
    return left;
}

void run_slots_stats(struct run_slots *run_slots, struct run_slots_stats *stats)
{
    pthread_mutex_lock(&run_slots->lock);
    *stats = run_slots->stats;
    pthread_mutex_unlock(&run_slots->lock);
}
