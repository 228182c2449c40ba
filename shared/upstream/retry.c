#include "upstream/retry.h"

#include "base/random.h"

/* ---- kinds of failure -------------------------------------------------------------------------------------------- */

bool retry_mends(enum status_code code, bool quota)
{
    return code == UNAVAILABLE || code == DATA_LOSS || (code == RESOURCE_EXHAUSTED && !quota);
}

static bool retry_helps_elsewhere(enum status_code code)
{
    return code == UNAVAILABLE || code == DATA_LOSS || code == RESOURCE_EXHAUSTED || code == FAILED_PRECONDITION ||
           code == NOT_FOUND;
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Full jitter: uniformly random from 0 to the current longest backoff, which doubles with each failure
 * (https://aws.amazon.com/builders-library, "Timeouts, retries, and backoff with jitter"). */
static int64_t retry_backoff_ms(const struct retry_policy *policy, unsigned failures)
{
    int64_t longest = policy->base_ms;
    for (unsigned i = 1; i < failures && longest < policy->max_ms; i++)
        longest *= 2;
    if (longest > policy->max_ms)
        longest = policy->max_ms;
    return longest > 0 ? (int64_t)random_below((uint64_t)longest + 1) : 0;
}

static bool retry_fits(const struct retry_policy *policy, unsigned failures, int64_t hint_ms, int64_t left_ms,
                       int64_t *wait_ms)
{
    if (hint_ms < 0)
        hint_ms = 0;
    if (hint_ms > policy->hint_ms || hint_ms >= left_ms)
        return false;
    int64_t whole = hint_ms + retry_backoff_ms(policy, failures);
    if (whole >= left_ms)
        return false;
    *wait_ms = whole;
    return true;
}

bool retry_wait(const struct retry_policy *policy, unsigned turn, int64_t hint_ms, int64_t left_ms, int64_t *wait_ms)
{
    *wait_ms = 0;
    return turn < policy->attempts && retry_fits(policy, turn, hint_ms, left_ms, wait_ms);
}

/* ---- the decision ------------------------------------------------------------------------------------------------ */

static bool retry_may_go_on(const struct retry_question *question)
{
    return !question->begun && question->left_ms > 0 && question->attempts_all < RETRY_ATTEMPTS_MAX &&
           retry_helps_elsewhere(question->code);
}

static enum retry_step retry_within_rank(const struct retry_policy *policy, const struct retry_question *question,
                                         int64_t *wait_ms)
{
    if (question->attempts >= policy->attempts || (question->last && question->lower))
        return RETRY_NEVER;
    if (question->others)
        return RETRY_OTHER;
    if (question->lower && question->hint_ms > policy->base_ms) /* a lower rank answers sooner */
        return RETRY_NEVER;
    bool again = question->again || retry_mends(question->code, question->quota);
    return again && retry_fits(policy, question->attempts, question->hint_ms, question->left_ms, wait_ms) ? RETRY_SAME
                                                                                                          : RETRY_NEVER;
}

enum retry_step retry_decide(const struct retry_policy *policy, const struct retry_question *question, int64_t *wait_ms)
{
    *wait_ms = 0;
    enum retry_step step = retry_may_go_on(question) ? retry_within_rank(policy, question, wait_ms) : RETRY_NEVER;
    if (step == RETRY_NEVER && retry_may_go_on(question) && question->lower)
        step = RETRY_NEXT_RANK;
    if (step == RETRY_NEVER && !question->begun && question->hint_ms > 0 &&
        retry_mends(question->code, question->quota))
        *wait_ms = question->hint_ms;
    return step;
}
