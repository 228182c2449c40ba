/* The choice among the targets of a route. Loads are compared without a lock, and may be slightly old. The slot
 * itself is checked and taken in one step (endpoint_health_acquire), so concurrent choices exceed no limit. */
#include "routing/choice.h"
#include "upstream/endpoint_health_priv.h"

#include "base/random.h"
#include "routing/route.h"
#include "upstream/retry.h"

#include <assert.h>

static uint32_t bit(size_t index)
{
    return UINT32_C(1) << index;
}

static struct endpoint_health *endpoint_health_of(const struct route *route, size_t index)
{
    return route->targets[index].health;
}

static uint32_t targets_of_rank(const struct route *route, unsigned rank)
{
    uint32_t set = 0;
    for (size_t i = 0; i < route->target_count; i++)
        if (route->targets[i].rank == rank)
            set |= bit(i);
    return set;
}

static uint32_t targets_after_rank(const struct route *route, unsigned rank)
{
    uint32_t set = 0;
    for (size_t i = 0; i < route->target_count; i++)
        if (route->targets[i].rank > rank)
            set |= bit(i);
    return set;
}

static uint32_t targets_of_health(const struct route *route, const struct endpoint_health *health)
{
    uint32_t set = 0;
    for (size_t i = 0; i < route->target_count; i++)
        if (route->targets[i].health == health)
            set |= bit(i);
    return set;
}

/* ---- the lightest ------------------------------------------------------------------------------------------------ */

static uint64_t choice_weight_of(const struct route *route, uint32_t set)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < route->target_count; i++)
        if (set & bit(i))
            weight += route->targets[i].weight;
    return weight;
}

struct load {
    uint64_t outstanding, weight;
};

static uint32_t lightest(const struct route *route, uint32_t set)
{
    struct load least = {.outstanding = UINT32_MAX, .weight = 1};
    uint32_t found = 0;
    for (size_t i = 0; i < route->target_count; i++) {
        if (!(set & bit(i)))
            continue;
        /* A model that stands twice in a route shares its current requests, and so its weights are added. */
        uint32_t same = set & targets_of_health(route, endpoint_health_of(route, i));
        struct load load =
            (struct load){endpoint_health_outstanding(endpoint_health_of(route, i)), choice_weight_of(route, same)};
        uint64_t ours = load.outstanding * least.weight, theirs = least.outstanding * load.weight;
        if (found && ours > theirs)
            continue;
        found = found && ours == theirs ? found | bit(i) : bit(i);
        least = load;
    }
    return found;
}

static size_t at_random(const struct route *route, uint32_t set)
{
    uint64_t point = random_below(choice_weight_of(route, set));
    for (size_t i = 0;; i++) {
        assert(i < route->target_count);
        if (!(set & bit(i)))
            continue;
        if (point < route->targets[i].weight)
            return i;
        point -= route->targets[i].weight;
    }
}

/* ---- its place --------------------------------------------------------------------------------------------------- */

static void note_refusal(struct choice *choice, enum endpoint_refusal refusal, int64_t wait_ms)
{
    if (choice->refusal != ENDPOINT_AVAILABLE && wait_ms >= choice->wait_ms)
        return;
    choice->refusal = refusal;
    choice->wait_ms = wait_ms;
}

static int take_one(const struct route *route, struct choice *choice, uint32_t set, int64_t now_ns)
{
    while (set) {
        int64_t wait_ms;
        size_t index = at_random(route, lightest(route, set));
        enum endpoint_refusal refusal =
            endpoint_health_acquire(endpoint_health_of(route, index), now_ns, choice->tokens, &choice->place, &wait_ms);
        if (refusal == ENDPOINT_AVAILABLE)
            return (int)index;
        note_refusal(choice, refusal, wait_ms);
        set &= ~bit(index);
    }
    return -1;
}

int route_choose(const struct route *route, struct choice *choice, int64_t now_ns)
{
    choice->refusal = ENDPOINT_AVAILABLE;
    choice->wait_ms = 0;
    for (size_t i = 0; i < route->target_count; i++) {
        unsigned rank = route->targets[i].rank;
        if (rank < choice->rank_min || (i > 0 && rank == route->targets[i - 1].rank))
            continue;
        uint32_t set = targets_of_rank(route, rank);
        int found = take_one(route, choice, set & ~choice->tried, now_ns);
        if (found < 0)
            found = take_one(route, choice, set & choice->tried & choice->again, now_ns);
        if (found >= 0)
            return found;
    }
    return -1;
}

/* ---- after a failure --------------------------------------------------------------------------------------------- */

void route_note_failure(const struct route *route, struct choice *choice, int target, enum status_code code, bool quota)
{
    assert(target >= 0 && (size_t)target < route->target_count);
    uint32_t set = targets_of_health(route, endpoint_health_of(route, (size_t)target));
    choice->tried |= set;
    if (retry_mends(code, quota))
        choice->again |= set;
    else
        choice->again &= ~set;
}

static bool any_free(const struct route *route, uint32_t set, int64_t tokens, int64_t now_ns)
{
    int64_t wait_ms;
    for (size_t i = 0; i < route->target_count; i++)
        if ((set & bit(i)) &&
            endpoint_health_peek(endpoint_health_of(route, i), now_ns, tokens, &wait_ms) == ENDPOINT_AVAILABLE)
            return true;
    return false;
}

static int64_t soonest_ms(const struct route *route, uint32_t set, int64_t tokens, int64_t now_ns)
{
    int64_t soonest = INT64_MAX, wait_ms;
    for (size_t i = 0; i < route->target_count; i++)
        if (set & bit(i)) {
            endpoint_health_peek(endpoint_health_of(route, i), now_ns, tokens, &wait_ms);
            int64_t rests_ms = endpoint_health_backoff_ms(endpoint_health_of(route, i), now_ns);
            wait_ms = wait_ms > rests_ms ? wait_ms : rests_ms;
            soonest = wait_ms < soonest ? wait_ms : soonest;
        }
    return soonest;
}

void route_prospects(const struct route *route, const struct choice *choice, unsigned rank, int64_t now_ns,
                     struct retry_question *question)
{
    uint32_t others = targets_of_rank(route, rank) & ~choice->tried;
    uint32_t again = targets_of_rank(route, rank) & choice->tried & choice->again;
    uint32_t lower = targets_after_rank(route, rank) & ~choice->tried;
    question->again = again != 0;
    question->others = any_free(route, others, choice->tokens, now_ns);
    question->lower = any_free(route, lower, choice->tokens, now_ns);
    if (again)
        question->hint_ms = soonest_ms(route, again, choice->tokens, now_ns);
    else if (!question->others && !question->lower) { /* then one is waited for (retry_wait) */
        question->others = others != 0;
        question->lower = lower != 0;
    }
}
