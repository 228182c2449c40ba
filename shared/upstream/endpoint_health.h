/* The state of an upstream, for example of a deployment of a model: its circuit breaker (breaker.h), requests under
 * way, remaining limits and refused parameters. Each model that is asked there has its own health, since providers
 * fail and count by model. The loops of the process share it behind a lock, and so do the generations of the routes in
 * which the deployment is the same.
 *
 * The breaker opens at BREAKER_FAILURES failures in a row, or when at least half of BREAKER_WINDOW_MIN or more requests
 * of the last ten seconds have failed; it rests for a time that doubles up to a limit while trials fail. After a retry
 * hint (Retry-After) a deployment rests for the time of the hint, without a move of the breaker. */
#ifndef RENGA_UPSTREAM_ENDPOINT_HEALTH_H
#define RENGA_UPSTREAM_ENDPOINT_HEALTH_H

#include "base/status.h"
#include "upstream/breaker.h"
#include "upstream/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct endpoint_health;

#define ENDPOINT_BACKOFF_MS         1000    /* after a rate limit without a retry hint */
#define ENDPOINT_QUOTA_BACKOFF_MS   60000   /* of an empty account: a person has to refill it */
#define ENDPOINT_BACKOFF_MAX_MS     3600000 /* a header must not take a deployment out of service for days */
#define ENDPOINT_LIMIT_RESET_MAX_MS 5000    /* see endpoint_health_update_limits */

/* The log settings for changes of the circuit. Borrowed for the lifetime of the process. */
struct endpoint_kind {
    const char *event; /* "llm_gateway.circuit" */
    const char *noun;  /* "deployment" */
};

/* `name` is copied, and stands in logs. NULL: out of memory. */
struct endpoint_health *endpoint_health_create(const struct endpoint_kind *kind, const char *name,
                                               const struct limits *limits);
/* Adds a holder; the last endpoint_health_destroy frees it, when no request is under way. Any thread. */
struct endpoint_health *endpoint_health_hold(struct endpoint_health *health);
void endpoint_health_destroy(struct endpoint_health **health);

/* Changes the limits from now on. The amount used in the current minute stays used. Any thread. */
void endpoint_health_limit(struct endpoint_health *health, const struct limits *limits);

/* From now on the upstream is asked despite earlier failures: it has no breaker, and only its limits count. A retry
 * hint is kept for repeated requests (route_prospects). Call it before the first endpoint_health_acquire. */
void endpoint_health_disable_breaker(struct endpoint_health *health);

/* Parameters that the model refuses there, so that they are not sent again: PARAMETER_BITs (provider/capability.h).
 * endpoint_health_refuse_parameters adds a parameter that it has just refused. Any thread. */
uint32_t endpoint_health_refused_parameters(const struct endpoint_health *health);
void endpoint_health_refuse_parameters(struct endpoint_health *health, uint32_t refused_parameters);

/* Why a deployment cannot be asked now. */
enum endpoint_refusal {
    ENDPOINT_AVAILABLE,
    ENDPOINT_CIRCUIT_OPEN,
    ENDPOINT_BACKING_OFF,
    ENDPOINT_SATURATED,
    ENDPOINT_RATE_LIMITED
};

/* A place that was taken: kept until it is given back. */
struct endpoint_slot {
    int64_t reserved; /* tokens */
    uint32_t period;  /* of the breaker */
};

/* Takes a place, with an estimate of the tokens. If it is refused, `wait_ms` is the time until another attempt makes
 * sense (0: when a request under way has ended). Times are of clock_now_ns. */
enum endpoint_refusal endpoint_health_acquire(struct endpoint_health *health, int64_t now_ns, int64_t tokens,
                                              struct endpoint_slot *place, int64_t *wait_ms);

/* The outcome of a request. Every endpoint_health_acquire that returned ENDPOINT_AVAILABLE is followed by a report. */
enum endpoint_verdict {
    ENDPOINT_SUCCEEDED, /* it answered, even if it refused our request */
    ENDPOINT_FAILED,    /* it failed, or was too slow */
    ENDPOINT_THROTTLED, /* 429, 529: it works, and asks for a rest of `rest_ms` (0: no hint) */
    ENDPOINT_UNKNOWN,   /* the caller left, or we were at fault */
};
struct endpoint_report {
    enum endpoint_verdict verdict;
    int64_t rest_ms;
    struct endpoint_slot place;
    int64_t tokens; /* tokens really used; 0 if it failed */
};
void endpoint_health_release(struct endpoint_health *health, int64_t now_ns, const struct endpoint_report *report);

/* Derives the verdict and the rest from the end of an attempt; `quota`: the account is empty. A failure before the
 * request left this process (our own queue, an invalid URL) is ENDPOINT_UNKNOWN; the caller sets it, since the code
 * does not tell. */
void endpoint_report_of(struct endpoint_report *report, enum status_code code, bool quota, int64_t hint_ms);

/* The remaining limits that the provider reports (retry_hint.h): -1 if it does not report them. A remaining limit of 0
 * rests the deployment until the reset, but at most for ENDPOINT_LIMIT_RESET_MAX_MS. Most providers report the time
 * until the whole limit is back, long after the next request may come; a request that comes too early gets a 429. */
void endpoint_health_update_limits(struct endpoint_health *health, int64_t now_ns, int64_t requests, int64_t tokens,
                                   int64_t reset_ms);

struct endpoint_health_view {
    enum circuit circuit;
    unsigned outstanding;
    int64_t rests_ms; /* remaining rest, for either reason; 0: it does not rest */
    uint64_t opened;  /* times the breaker has opened */
};
void endpoint_health_view(struct endpoint_health *health, int64_t now_ns, struct endpoint_health_view *view);

#endif
