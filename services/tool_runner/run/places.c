#include "places.h"

#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tenant_places {
    struct tenant_places *next;
    unsigned taken, waiting; /* both 0: it is forgotten */
    char name[];
};

struct places {
    pthread_mutex_t lock;
    struct places_options options;
    struct tenant_places *tenants; /* those that have or want places */
    struct place *first, *last;    /* the waiting places */
    struct places_stats stats;
};

struct places *places_create(const struct places_options *options)
{
    struct places *places = calloc(1, sizeof *places);
    if (!places)
        fatal("tool_runner.memory", "no memory for the places of tools");
    pthread_mutex_init(&places->lock, NULL);
    places->options = *options;
    return places;
}

void places_destroy(struct places **places_pointer)
{
    struct places *places = *places_pointer;
    *places_pointer = NULL;
    if (!places)
        return;
    for (struct tenant_places *tenant = places->tenants, *next; tenant; tenant = next) {
        next = tenant->next;
        free(tenant);
    }
    pthread_mutex_destroy(&places->lock);
    free(places);
}

static struct tenant_places *find_tenant(struct places *places, const char *name)
{
    for (struct tenant_places *tenant = places->tenants; tenant; tenant = tenant->next)
        if (strcmp(tenant->name, name) == 0)
            return tenant;
    struct tenant_places *tenant = calloc(1, sizeof *tenant + strlen(name) + 1);
    if (!tenant)
        fatal("tool_runner.memory", "no memory for a tenant's places");
    memcpy(tenant->name, name, strlen(name) + 1);
    tenant->next = places->tenants;
    places->tenants = tenant;
    return tenant;
}

static void forget_tenant(struct places *places, const struct tenant_places *tenant)
{
    struct tenant_places **at = &places->tenants;
    if (tenant->taken || tenant->waiting)
        return;
    while (*at != tenant)
        at = &(*at)->next;
    *at = tenant->next;
    free((void *)(uintptr_t)tenant);
}

static bool is_free(const struct places *places, const struct tenant_places *tenant)
{
    return places->stats.taken < places->options.in_flight_max && tenant->taken < places->options.tenant_max;
}

static void take(struct places *places, struct place *place)
{
    place->standing = PLACE_GIVEN;
    place->tenant->taken++;
    places->stats.taken++;
}

static void enqueue(struct places *places, struct place *place)
{
    place->standing = PLACE_WAITING;
    place->previous = places->last;
    *(places->last ? &places->last->next : &places->first) = place;
    places->last = place;
    place->tenant->waiting++;
    places->stats.waiting++;
}

static void dequeue(struct places *places, struct place *place)
{
    *(place->previous ? &place->previous->next : &places->first) = place->next;
    *(place->next ? &place->next->previous : &places->last) = place->previous;
    place->next = place->previous = NULL;
    place->tenant->waiting--;
    places->stats.waiting--;
}

static void run_came(struct work *work)
{
    struct place *place = OWNER_OF(work, struct place, work);
    place->coming = false;
    place->came(place);
}

static enum place_answer ask_locked(struct places *places, struct place *place, const char *tenant)
{
    place->tenant = find_tenant(places, tenant);
    place->coming = false;
    place->next = place->previous = NULL;
    place->work = (struct work){.run = run_came};
    if (is_free(places, place->tenant)) {
        take(places, place);
        return PLACE_TAKEN;
    }
    if (places->stats.waiting < places->options.queue_max) {
        enqueue(places, place);
        return PLACE_QUEUED;
    }
    places->stats.refused++;
    forget_tenant(places, place->tenant);
    place->standing = PLACE_NONE;
    return PLACE_REFUSED;
}

enum place_answer place_ask(struct places *places, struct place *place, const char *tenant)
{
    pthread_mutex_lock(&places->lock);
    enum place_answer answer = ask_locked(places, place, tenant);
    pthread_mutex_unlock(&places->lock);
    return answer;
}

/* Gives places to the queue, in order, skipping tenants without a free place. */
static void let_in(struct places *places)
{
    for (struct place *place = places->first, *next; place; place = next) {
        next = place->next;
        if (places->stats.taken >= places->options.in_flight_max)
            return;
        if (!is_free(places, place->tenant))
            continue;
        dequeue(places, place);
        take(places, place);
        place->coming = true;
        loop_post(place->loop, &place->work);
    }
}

static bool leave_locked(struct places *places, struct place *place)
{
    if (place->standing == PLACE_NONE)
        return true;
    if (place->standing == PLACE_WAITING) {
        dequeue(places, place);
    } else {
        if (place->coming)
            return false;
        place->tenant->taken--;
        places->stats.taken--;
        let_in(places);
    }
    forget_tenant(places, place->tenant);
    place->standing = PLACE_NONE;
    return true;
}

bool place_leave(struct places *places, struct place *place)
{
    pthread_mutex_lock(&places->lock);
    bool left = leave_locked(places, place);
    pthread_mutex_unlock(&places->lock);
    return left;
}

void places_stats(struct places *places, struct places_stats *stats)
{
    pthread_mutex_lock(&places->lock);
    *stats = places->stats;
    pthread_mutex_unlock(&places->lock);
}
