#include "base/budget.h"

#include "base/hash.h"

#include <assert.h>

static void room_init(struct budget_room *room, size_t most)
{
    room->most = most;
    atomic_init(&room->used, 0);
    for (size_t i = 0; i < BUDGET_SHARES; i++)
        atomic_init(&room->shares[i], 0);
}

void budget_init(struct budget *budget, size_t total)
{
    budget->total = total;
    room_init(&budget->all, total / 4 * 3);
    room_init(&budget->larges, total / 2);
    atomic_init(&budget->told, 0);
    pthread_mutex_init(&budget->telling, NULL);
    budget->changed = NULL;
    budget->changed_data = NULL;
}

void budget_fini(struct budget *budget)
{
    assert(budget_used(budget) == 0);
    pthread_mutex_destroy(&budget->telling);
}

static size_t room_used(const struct budget_room *room)
{
    return atomic_load_explicit(&((struct budget_room *)(uintptr_t)room)->used, memory_order_relaxed);
}

size_t budget_used(const struct budget *budget)
{
    return room_used(&budget->all);
}

static bool has_moved(struct budget *budget)
{
    size_t used = budget_used(budget), told = atomic_load_explicit(&budget->told, memory_order_relaxed);
    return (used > told ? used - told : told - used) >= BUDGET_STEP;
}

/* The lock keeps the order of reports: an old figure never follows a newer one. */
static void budget_tell_level(struct budget *budget)
{
    pthread_mutex_lock(&budget->telling);
    size_t used = budget_used(budget);
    atomic_store_explicit(&budget->told, used, memory_order_relaxed);
    if (budget->changed)
        budget->changed(budget->changed_data, used);
    pthread_mutex_unlock(&budget->telling);
}

void budget_on_change(struct budget *budget, void (*changed)(void *data, size_t used), void *data)
{
    pthread_mutex_lock(&budget->telling);
    budget->changed = changed;
    budget->changed_data = data;
    pthread_mutex_unlock(&budget->telling);
    budget_tell_level(budget);
}

uint64_t budget_owner(const char *tenant, const char *client)
{
    const char *name = tenant && *tenant ? tenant : client;
    return name && *name ? hash_text(name) | 1 : 0;
}

static bool take_at_most(atomic_size_t *used, size_t most, size_t more)
{
    size_t before = atomic_load_explicit(used, memory_order_relaxed);
    do
        if (before > most || more > most - before)
            return false;
    while (!atomic_compare_exchange_weak_explicit(used, &before, before + more, memory_order_relaxed,
                                                  memory_order_relaxed));
    return true;
}

static void budget_give_back(atomic_size_t *used, size_t bytes)
{
    size_t before = atomic_fetch_sub_explicit(used, bytes, memory_order_relaxed);
    assert(before >= bytes);
    (void)before;
}

static atomic_size_t *room_share(struct budget_room *room, uint64_t owner)
{
    return &room->shares[owner / 2 % BUDGET_SHARES]; /* its last bit is always set */
}

static void room_give(struct budget_room *room, uint64_t owner, size_t bytes)
{
    if (owner)
        budget_give_back(room_share(room, owner), bytes);
    budget_give_back(&room->used, bytes);
}

/* Two owners that take at the same moment may both count the same free bytes; `used` still passes no bound. */
static bool room_take(struct budget_room *room, uint64_t owner, size_t more)
{
    size_t used = room_used(room), free = used < room->most ? room->most - used : 0;
    if (owner && !take_at_most(room_share(room, owner), free, more))
        return false;
    if (take_at_most(&room->used, room->most, more))
        return true;
    if (owner)
        budget_give_back(room_share(room, owner), more);
    return false;
}

bool budget_take(struct budget *budget, struct budget_hold *hold, size_t size, size_t more)
{
    bool large = size > BUDGET_SMALL_MAX;
    if (!budget || !more)
        return true;
    if (large && !room_take(&budget->larges, hold->owner, more))
        return false;
    if (!room_take(&budget->all, hold->owner, more)) {
        if (large)
            room_give(&budget->larges, hold->owner, more);
        return false;
    }
    hold->bytes += more;
    hold->large += large ? more : 0;
    if (has_moved(budget))
        budget_tell_level(budget);
    return true;
}

void budget_give(struct budget *budget, struct budget_hold *hold)
{
    if (!budget || !hold->bytes)
        return;
    room_give(&budget->larges, hold->owner, hold->large);
    room_give(&budget->all, hold->owner, hold->bytes);
    hold->bytes = hold->large = 0;
    if (has_moved(budget))
        budget_tell_level(budget);
}
