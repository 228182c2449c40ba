/* Whether, when and where a failed request is tried again. The policy is the route's, the budget the process's.
 *
 *      what failed                                 the same deployment     another of its rank, then the next rank
 *      UNAVAILABLE, DATA_LOSS before a piece       after a backoff         at once
 *      RESOURCE_EXHAUSTED (rate)                   after its hint          at once
 *      RESOURCE_EXHAUSTED (account is empty)       no                      at once
 *      FAILED_PRECONDITION, NOT_FOUND              no                      at once
 *      INVALID_ARGUMENT and all others             no                      no
 *
 * Backoff is exponential with full jitter; a hint of the provider counts instead where it is longer. What does not fit
 * into the caller's time is not waited for. Where a piece of the answer has gone out nothing is tried again. */
#ifndef RENGA_LLM_GATEWAY_RETRY_H
#define RENGA_LLM_GATEWAY_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#define RETRY_ATTEMPTS_MAX 16 /* of one call, as ChatFinish.attempts holds them */

struct retry_policy {
    unsigned attempts; /* requests to deployments of one rank, the first included; 1 to RETRY_ATTEMPTS_MAX */
    int64_t base_ms;   /* longest backoff before the second */
    int64_t max_ms;    /* ... and before any */
    int64_t hint_ms;   /* a provider that asks for longer than this is not waited for */
};

#define RETRY_POLICY_DEFAULT                                                                                           \
    {                                                                                                                  \
        .attempts = 3, .base_ms = 500, .max_ms = 8000, .hint_ms = 30000                                                \
    }

/* A share of the requests may be retries, however sick the upstreams are: each first request earns `ratio` of one, kept
 * up to `most`; each retry and each fallback spends one. Shared by the loops, without a lock. */
struct retry_budget {
    _Atomic int64_t thousandths;
    int64_t earns, most; /* thousandths of a retry */
};
void retry_budget_init(struct retry_budget *budget, double ratio, unsigned most);
void retry_budget_earn(struct retry_budget *budget);
bool retry_budget_spend(struct retry_budget *budget); /* false: used up */

#endif
