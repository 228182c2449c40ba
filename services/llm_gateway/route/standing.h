/* How a deployment stands: its circuit breaker, what is under way there, what its limits leave. One a deployment,
 * shared by the loops of the process behind a lock of its own.
 *
 *      CLOSED --failures--> OPEN --rest is over--> HALF_OPEN --successes--> CLOSED
 *                             ^                        |
 *                             '-------- failure -------'
 *
 * It opens at BREAKER_FAILURES failures in a row, or when at least half of BREAKER_WINDOW_MIN or more requests of the
 * last ten seconds have failed; it rests for a time that doubles up to a limit while trials fail. A deployment that
 * asked to be left alone (Retry-After) rests as long as it said, without a move of the breaker. */
#ifndef RENGA_LLM_GATEWAY_STANDING_H
#define RENGA_LLM_GATEWAY_STANDING_H

#include "limits/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct route;
struct standing;

enum circuit { CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_HALF_OPEN };

struct standing *standing_create(const char *deployment, const struct limits *limits);
void standing_destroy(struct standing **standing);

/* Why a deployment cannot be asked now. */
enum standing_refusal { STANDING_FREE, STANDING_BROKEN, STANDING_RESTS, STANDING_BUSY, STANDING_RATE };

/* Takes a place, with an estimate of the tokens. Where it is refused, `wait_ms` says after what time it is worth asking
 * again (0: when one of those under way has ended). Times are of clock_now_ns. */
enum standing_refusal standing_take(struct standing *standing, int64_t now_ns, int64_t tokens, int64_t *wait_ms);

/* How a request went. Every standing_take that was STANDING_FREE is followed by one. */
enum standing_verdict {
    STANDING_GOOD,    /* it answered, be it with a refusal of our request */
    STANDING_BAD,     /* it failed, or was too slow */
    STANDING_LIMITED, /* 429, 529: it works, and wants to be left alone for `rest_ms` (0: it did not say) */
    STANDING_UNKNOWN, /* the caller left, or we were at fault */
};
struct standing_report {
    enum standing_verdict verdict;
    int64_t rest_ms;
    int64_t reserved, tokens; /* as they were taken, and as they were */
};
void standing_give_back(struct standing *standing, int64_t now_ns, const struct standing_report *report);

/* What is left at the provider, as it says itself in x-ratelimit-remaining-{requests,tokens}: -1 where it does not.
 * Nothing left rests the deployment until the reset. */
void standing_hear(struct standing *standing, int64_t now_ns, int64_t requests, int64_t tokens, int64_t reset_ms);

struct standing_view {
    enum circuit circuit;
    unsigned outstanding;
    int64_t rests_ms; /* still; 0: it does not */
    uint64_t opened;  /* times the breaker has opened */
};
void standing_view(struct standing *standing, int64_t now_ns, struct standing_view *view);

/* ---- the choice among deployments -------------------------------------------------------------------------------- */

/* Which target is to be asked, its place taken: of the lowest rank that has one to be asked, the one with the fewest
 * requests under way for its weight; among equals at random by weight. Those in `tried` (a bit each) come only where
 * `again` allows them, after the untried of their rank. -1: none; then `refusal` and `wait_ms` tell of the soonest. */
struct choice {
    uint32_t tried, again; /* targets asked already; those of them that may be asked once more */
    unsigned rank_min;     /* lower ranks have had their attempts */
    int64_t tokens;
    enum standing_refusal refusal;
    int64_t wait_ms;
};
int standing_choose(const struct route *route, struct choice *choice, int64_t now_ns);

#endif
