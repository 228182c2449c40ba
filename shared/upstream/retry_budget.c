#include "upstream/retry.h"

#include <stdatomic.h>

#define ONE 1000 /* thousandths */

void retry_budget_init(struct retry_budget *budget, double ratio, unsigned most)
{
    budget->earns = ratio > 0 ? (int64_t)(ratio * ONE + 0.5) : 0;
    budget->most = (int64_t)most * ONE;
    atomic_init(&budget->thousandths, budget->most);
}

void retry_budget_earn(struct retry_budget *budget)
{
    int64_t has = atomic_load_explicit(&budget->thousandths, memory_order_relaxed), will_have;
    do {
        if (has == budget->most)
            return;
        will_have = has + budget->earns < budget->most ? has + budget->earns : budget->most;
    } while (!atomic_compare_exchange_weak_explicit(&budget->thousandths, &has, will_have, memory_order_relaxed,
                                                    memory_order_relaxed));
}

bool retry_budget_spend(struct retry_budget *budget)
{
    int64_t has = atomic_load_explicit(&budget->thousandths, memory_order_relaxed);
    do {
        if (has < ONE)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&budget->thousandths, &has, has - ONE, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}
