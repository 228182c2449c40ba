/* A circuit breaker, without clock or lock of its own: endpoint_health.c keeps one for each deployment.
 *
 *      CLOSED --failures--> OPEN --rest is over--> HALF_OPEN --successes--> CLOSED
 *                             ^                        |
 *                             '-------- failure -------'
 *
 * Each move begins a new period. A request of an earlier period moves nothing when it ends: a trial that hangs cannot
 * block a later trial, and a late failure cannot open a breaker that has closed again.
 */
#ifndef RENGA_UPSTREAM_BREAKER_H
#define RENGA_UPSTREAM_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_FAILURES       5  /* in a row: a broken place is known before it has cost many callers an attempt */
#define BREAKER_WINDOW_SECONDS 10 /* over which the share of failures is taken */
#define BREAKER_WINDOW_MIN     20 /* requests in the window: the half of fewer requests is not significant */
#define BREAKER_TRIALS         2  /* under way at the same time */
#define BREAKER_SUCCESSES      2  /* trials that close it again */
#define BREAKER_REST_MS        1000
#define BREAKER_REST_MAX_MS    60000

enum circuit { CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_HALF_OPEN };

struct breaker {
    unsigned circuit; /* enum circuit */
    uint32_t period;
    unsigned in_a_row;          /* failures */
    unsigned trials, successes; /* of this period: trials under way, trials that succeeded */
    int64_t rest_ms;            /* the last rest, while it is not CLOSED */
    int64_t open_until_ns;
    uint64_t opened;
    struct breaker_second {
        int64_t second;
        unsigned all, bad;
    } window[BREAKER_WINDOW_SECONDS];
};

/* Whether a request may go. If not, `wait_ms` is the time until it may (0: when a trial has ended). Moves nothing. */
bool breaker_allows(const struct breaker *breaker, int64_t now_ns, int64_t *wait_ms);

/* Starts a request that breaker_allows has allowed. Returns its period. */
uint32_t breaker_take(struct breaker *breaker, int64_t now_ns);

enum breaker_verdict { BREAKER_GOOD, BREAKER_BAD, BREAKER_NEITHER };
void breaker_judge(struct breaker *breaker, int64_t now_ns, uint32_t period, enum breaker_verdict verdict);

const char *circuit_name(unsigned circuit);

#endif
