#include "base/budget.h"

#include "base/hash.h"

#include <assert.h>

static void pool_init(struct budget_pool *pool, size_t most)
{
    pool->limit = most;
    atomic_init(&pool->used, 0);
    for (size_t i = 0; i < BUDGET_SHARES; i++)
        atomic_init(&pool->shares[i], 0);
}

void budget_init(struct budget *budget, size_t total)
{
    budget->total = total;
    pool_init(&budget->all, total / 4 * 3);
    pool_init(&budget->larges, total / 2);
    atomic_init(&budget->reported, 0);
    pthread_mutex_init(&budget->report_lock, NULL);
    budget->changed = NULL;
    budget->changed_data = NULL;
}

void budget_fini(struct budget *budget)
{
    assert(budget_used(budget) == 0);
    pthread_mutex_destroy(&budget->report_lock);
}

static size_t pool_used(const struct budget_pool *pool)
{
    return atomic_load_explicit(&((struct budget_pool *)(uintptr_t)pool)->used, memory_order_relaxed);
}

size_t budget_used(const struct budget *budget)
{
    return pool_used(&budget->all);
}

static bool has_moved(struct budget *budget)
{
    size_t used = budget_used(budget), reported = atomic_load_explicit(&budget->reported, memory_order_relaxed);
    return (used > reported ? used - reported : reported - used) >= BUDGET_STEP;
}

/* The lock keeps the order of reports: an old figure never follows a newer one. */
static void budget_report_used(struct budget *budget)
{
    pthread_mutex_lock(&budget->report_lock);
    size_t used = budget_used(budget);
    atomic_store_explicit(&budget->reported, used, memory_order_relaxed);
    if (budget->changed)
        budget->changed(budget->changed_data, used);
    pthread_mutex_unlock(&budget->report_lock);
}

void budget_on_change(struct budget *budget, void (*changed)(void *data, size_t used), void *data)
{
    pthread_mutex_lock(&budget->report_lock);
    budget->changed = changed;
    budget->changed_data = data;
    pthread_mutex_unlock(&budget->report_lock);
    budget_report_used(budget);
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

static atomic_size_t *pool_share(struct budget_pool *pool, uint64_t owner)
{
    return &pool->shares[owner / 2 % BUDGET_SHARES]; /* its last bit is always set */
}

static void pool_give(struct budget_pool *pool, uint64_t owner, size_t bytes)
{
    if (owner)
        budget_give_back(pool_share(pool, owner), bytes);
    budget_give_back(&pool->used, bytes);
}

/* Two owners that take at the same moment may both count the same free bytes; `used` still passes no bound. */
static bool pool_take(struct budget_pool *pool, uint64_t owner, size_t more)
{
    size_t used = pool_used(pool), free = used < pool->limit ? pool->limit - used : 0;
    if (owner && !take_at_most(pool_share(pool, owner), free, more))
        return false;
    if (take_at_most(&pool->used, pool->limit, more))
        return true;
    if (owner)
        budget_give_back(pool_share(pool, owner), more);
    return false;
}

bool budget_take(struct budget *budget, struct budget_hold *hold, size_t size, size_t more)
{
    bool large = size > BUDGET_SMALL_MAX;
    if (!budget || !more)
        return true;
    if (large && !pool_take(&budget->larges, hold->owner, more))
        return false;
    if (!pool_take(&budget->all, hold->owner, more)) {
        if (large)
            pool_give(&budget->larges, hold->owner, more);
        return false;
    }
    hold->bytes += more;
    hold->large += large ? more : 0;
    if (has_moved(budget))
        budget_report_used(budget);
    return true;
}

void budget_give_part(struct budget *budget, struct budget_hold *hold, size_t bytes)
{
    if (!budget || !bytes)
        return;
    assert(bytes <= hold->bytes);
    size_t large = bytes < hold->large ? bytes : hold->large;
    if (large)
        pool_give(&budget->larges, hold->owner, large);
    pool_give(&budget->all, hold->owner, bytes);
    hold->bytes -= bytes;
    hold->large -= large;
    if (has_moved(budget))
        budget_report_used(budget);
}

void budget_give(struct budget *budget, struct budget_hold *hold)
{
    budget_give_part(budget, hold, hold->bytes);
}
