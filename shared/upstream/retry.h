/* Whether, when and at which deployment a failed request is tried again. The policy is the route's, the budget the
 * process's.
 *
 *      failure                                     the same deployment     another of its rank, then the next rank
 *      UNAVAILABLE, DATA_LOSS before a piece       after a backoff         at once
 *      RESOURCE_EXHAUSTED (rate)                   after its hint          at once
 *      RESOURCE_EXHAUSTED (account is empty)       no                      at once
 *      FAILED_PRECONDITION, NOT_FOUND              no                      at once
 *      DATA_LOSS: its JSON was wrong twice         no                      a deployment in this process
 *      INVALID_ARGUMENT and all others             no                      no
 *
 * In this order: deployments of the rank that have not been asked, the same deployments again, the next rank. The next
 * rank comes before a wait for a hint longer than `base_ms`. The last request that the caller allows goes there, too.
 * Backoff is exponential with full jitter; a hint of the provider is added to it, so that callers with the same hint
 * do not retry at the same moment. A wait longer than the caller's time is not begun. After a piece of the
 * answer has gone out, the request is not tried again. */
#ifndef RENGA_UPSTREAM_RETRY_H
#define RENGA_UPSTREAM_RETRY_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define RETRY_ATTEMPTS_MAX 16 /* of one call, as ChatFinish.attempts holds them */

struct retry_policy {
    unsigned attempts; /* requests to deployments of a rank, the first included; 1 to RETRY_ATTEMPTS_MAX */
    int64_t base_ms;   /* longest backoff before the second */
    int64_t max_ms;    /* ... and before any */
    int64_t hint_ms;   /* longest hint that is waited for */
};

#define RETRY_POLICY_DEFAULT                                                                                           \
    {                                                                                                                  \
        .attempts = 3, .base_ms = 500, .max_ms = 8000, .hint_ms = 30000                                                \
    }

/* ---- after an attempt has failed --------------------------------------------------------------------------------- */

enum retry_step {
    RETRY_NEVER,     /* no retry helps; `wait_ms` is the retry hint for the caller (0: no hint) */
    RETRY_OTHER,     /* at once, a deployment of this rank that has not been asked */
    RETRY_SAME,      /* after `wait_ms`, a deployment of this rank that has been asked and may mend */
    RETRY_NEXT_RANK, /* at once, a deployment of the next rank */
};

struct retry_question {
    enum status_code code;
    bool quota; /* the account is empty */
    bool begun; /* a piece of the answer has gone out */
    /* Filled by route_prospects. */
    bool others;     /* of this rank that have not been asked, and can be */
    bool again;      /* ... that have been asked before, and may mend. The failed deployment counts by its code alone */
    bool lower;      /* of the ranks after it */
    int64_t hint_ms; /* the provider's retry hint; 0: no hint */
    unsigned attempts, attempts_all; /* made in this rank, and in all */
    bool last;                       /* the caller allows only one more request, which the next rank costs, too */
    int64_t left_ms;                 /* of the caller's time */
};

/* Attempts never exceed the policy's in a rank, nor RETRY_ATTEMPTS_MAX in all. A wait is always shorter than the time
 * left. Random numbers decide only the length of the wait. */
enum retry_step retry_decide(const struct retry_policy *policy, const struct retry_question *question,
                             int64_t *wait_ms);

/* Whether a deployment with this failure may succeed with the same request a little later. */
bool retry_mends(enum status_code code, bool quota);

/* No deployment can be asked at present (route_choose): decides whether to wait, for the `turn`th time in this call,
 * from 1. There are as many waits as the policy has attempts, less the first. */
bool retry_wait(const struct retry_policy *policy, unsigned turn, int64_t hint_ms, int64_t left_ms, int64_t *wait_ms);

/* ---- the budget -------------------------------------------------------------------------------------------------- */

/* Bounds the share of requests that are retries, however many upstreams fail: each first request earns `ratio` of a
 * retry, up to `most`; each retry and each fallback spends a whole retry. It starts full. Shared by the loops, without
 * a lock. */
struct retry_budget {
    _Atomic int64_t thousandths;
    int64_t earns, most; /* thousandths of a retry */
};
void retry_budget_init(struct retry_budget *budget, double ratio, unsigned most);
void retry_budget_earn(struct retry_budget *budget);
bool retry_budget_spend(struct retry_budget *budget); /* false: used up */

#endif
