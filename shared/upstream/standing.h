/* The state of an upstream, for example of a deployment of a model: its circuit breaker (breaker.h), requests under
 * way, remaining limits and refused parameters. Each model that is asked there has its own standing, since providers
 * fail and count by model. The loops of the process share it behind a lock, and so do the editions of the routes in
 * which the deployment is the same.
 *
 * The breaker opens at BREAKER_FAILURES failures in a row, or when at least half of BREAKER_WINDOW_MIN or more requests
 * of the last ten seconds have failed; it rests for a time that doubles up to a limit while trials fail. After a retry
 * hint (Retry-After) a deployment rests for the time of the hint, without a move of the breaker. */
#ifndef RENGA_UPSTREAM_STANDING_H
#define RENGA_UPSTREAM_STANDING_H

#include "base/status.h"
#include "upstream/breaker.h"
#include "upstream/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct standing;

#define STANDING_REST_MS       1000    /* after a rate limit without a retry hint */
#define STANDING_QUOTA_REST_MS 60000   /* of an empty account: a person has to refill it */
#define STANDING_REST_MAX_MS   3600000 /* a header must not take a deployment out of service for days */
#define STANDING_HEARD_MAX_MS  5000    /* see standing_hear */

/* The log settings for changes of the circuit. Borrowed for the lifetime of the process. */
struct standing_kind {
    const char *event; /* "llm_gateway.circuit" */
    const char *noun;  /* "deployment" */
};

/* `name` is copied, and stands in logs. NULL: out of memory. */
struct standing *standing_create(const struct standing_kind *kind, const char *name, const struct limits *limits);
/* Adds a holder; the last standing_destroy frees it, when no request is under way. Any thread. */
struct standing *standing_hold(struct standing *standing);
void standing_destroy(struct standing **standing);

/* Changes the limits from now on. The amount used in the current minute stays used. Any thread. */
void standing_limit(struct standing *standing, const struct limits *limits);

/* From now on the upstream is asked despite earlier failures: it has no breaker, and only its limits count. A retry
 * hint is kept for repeated requests (standing_prospects). Call it before the first standing_take. */
void standing_forgive(struct standing *standing);

/* Parameters that the model refuses there, so that they are not sent again: PARAMETER_BITs (provider/capability.h).
 * standing_learn adds a parameter that it has just refused. Any thread. */
uint32_t standing_left_out(const struct standing *standing);
void standing_learn(struct standing *standing, uint32_t left_out);

/* Why a deployment cannot be asked now. */
enum standing_refusal { STANDING_FREE, STANDING_BROKEN, STANDING_RESTS, STANDING_BUSY, STANDING_RATE };

/* A place that was taken: kept until it is given back. */
struct standing_place {
    int64_t reserved; /* tokens */
    uint32_t period;  /* of the breaker */
};

/* Takes a place, with an estimate of the tokens. If it is refused, `wait_ms` is the time until another attempt makes
 * sense (0: when a request under way has ended). Times are of clock_now_ns. */
enum standing_refusal standing_take(struct standing *standing, int64_t now_ns, int64_t tokens,
                                    struct standing_place *place, int64_t *wait_ms);

/* The outcome of a request. Every standing_take that returned STANDING_FREE is followed by a report. */
enum standing_verdict {
    STANDING_GOOD,    /* it answered, even if it refused our request */
    STANDING_BAD,     /* it failed, or was too slow */
    STANDING_LIMITED, /* 429, 529: it works, and asks for a rest of `rest_ms` (0: no hint) */
    STANDING_UNKNOWN, /* the caller left, or we were at fault */
};
struct standing_report {
    enum standing_verdict verdict;
    int64_t rest_ms;
    struct standing_place place;
    int64_t tokens; /* tokens really used; 0 if it failed */
};
void standing_give_back(struct standing *standing, int64_t now_ns, const struct standing_report *report);

/* Derives the verdict and the rest from the end of an attempt; `quota`: the account is empty. A failure before the
 * request left this process (our own queue, an invalid URL) is STANDING_UNKNOWN; the caller sets it, since the code
 * does not tell. */
void standing_judge(struct standing_report *report, enum status_code code, bool quota, int64_t hint_ms);

/* The remaining limits that the provider reports (retry_hint.h): -1 if it does not report them. A remaining limit of 0
 * rests the deployment until the reset, but at most for STANDING_HEARD_MAX_MS. Most providers report the time until the
 * whole limit is back, long after the next request may come; a request that comes too early gets a 429. */
void standing_hear(struct standing *standing, int64_t now_ns, int64_t requests, int64_t tokens, int64_t reset_ms);

struct standing_view {
    enum circuit circuit;
    unsigned outstanding;
    int64_t rests_ms; /* remaining rest, for either reason; 0: it does not rest */
    uint64_t opened;  /* times the breaker has opened */
};
void standing_view(struct standing *standing, int64_t now_ns, struct standing_view *view);

#endif
