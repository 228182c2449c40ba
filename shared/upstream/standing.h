/* How an upstream stands, such as a deployment of a model: its circuit breaker (breaker.h), what is under way there,
 * what its limits leave, what it has refused to take. One for each model that is asked there, since providers fail and
 * count by model; shared by the loops of the process behind a lock, and by those editions of the routes in which the
 * deployment is the same.
 *
 * The breaker opens at BREAKER_FAILURES failures in a row, or when at least half of BREAKER_WINDOW_MIN or more requests
 * of the last ten seconds have failed; it rests for a time that doubles up to a limit while trials fail. A deployment
 * that asked to be left alone (Retry-After) rests as long as it said, without a move of the breaker. */
#ifndef RENGA_UPSTREAM_STANDING_H
#define RENGA_UPSTREAM_STANDING_H

#include "base/status.h"
#include "upstream/breaker.h"
#include "upstream/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct standing;

#define STANDING_REST_MS       1000    /* of one that wants to be left alone and does not say for how long */
#define STANDING_QUOTA_REST_MS 60000   /* of an account that is empty: somebody has to fill it */
#define STANDING_REST_MAX_MS   3600000 /* a header must not take a deployment out of service for days */
#define STANDING_HEARD_MAX_MS  5000    /* see standing_hear */

/* How a change of the circuit is logged. Borrowed for good. */
struct standing_kind {
    const char *event; /* "llm_gateway.circuit" */
    const char *noun;  /* "deployment" */
};

/* `name` is copied, and stands in logs. NULL: out of memory. */
struct standing *standing_create(const struct standing_kind *kind, const char *name, const struct limits *limits);
/* One more holds it; the last standing_destroy frees it, when nothing is under way. Any thread. */
struct standing *standing_hold(struct standing *standing);
void standing_destroy(struct standing **standing);

/* Other limits from now on. What has been used of a minute stays used. Any thread. */
void standing_limit(struct standing *standing, const struct limits *limits);

/* From now on it is asked whatever has happened before: it has no breaker, and only its limits count. That it wants to
 * be left alone is kept in mind for those who ask once more (standing_prospects). Before the first standing_take. */
void standing_forgive(struct standing *standing);

/* Parameters that the model refuses there, so that they are not sent again: PARAMETER_BITs (provider/capability.h). And
 * that it has just refused one more. Any thread. */
uint32_t standing_left_out(const struct standing *standing);
void standing_learn(struct standing *standing, uint32_t left_out);

/* Why a deployment cannot be asked now. */
enum standing_refusal { STANDING_FREE, STANDING_BROKEN, STANDING_RESTS, STANDING_BUSY, STANDING_RATE };

/* What was taken: to be kept until it is given back. */
struct standing_place {
    int64_t reserved; /* tokens */
    uint32_t period;  /* of the breaker */
};

/* Takes a place, with an estimate of the tokens. Where it is refused, `wait_ms` says after what time it is worth asking
 * again (0: when one of those under way has ended). Times are of clock_now_ns. */
enum standing_refusal standing_take(struct standing *standing, int64_t now_ns, int64_t tokens,
                                    struct standing_place *place, int64_t *wait_ms);

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
    struct standing_place place;
    int64_t tokens; /* what it really used; 0 where it failed */
};
void standing_give_back(struct standing *standing, int64_t now_ns, const struct standing_report *report);

/* The verdict and the rest that follow from how an attempt ended; `quota`: the account is empty. What failed before it
 * left this process (our own queue, a URL that cannot be asked) is STANDING_UNKNOWN, which a code does not tell. */
void standing_judge(struct standing_report *report, enum status_code code, bool quota, int64_t hint_ms);

/* What is left at the provider, as it says itself (retry_hint.h): -1 where it does not. Nothing left rests the
 * deployment until the reset, yet never for longer than STANDING_HEARD_MAX_MS: most say when all will be back, long
 * after the next request may come, and one that comes too early is told so by a 429. */
void standing_hear(struct standing *standing, int64_t now_ns, int64_t requests, int64_t tokens, int64_t reset_ms);

struct standing_view {
    enum circuit circuit;
    unsigned outstanding;
    int64_t rests_ms; /* still, for either reason; 0: it does not */
    uint64_t opened;  /* times the breaker has opened */
};
void standing_view(struct standing *standing, int64_t now_ns, struct standing_view *view);

#endif
