/* Admission: who may send a request now, who waits in the queue, who is rejected.
 *
 *      admission_enter --- rate or money is used up -----------------> refused, with the time after which to come back
 *            |------- all places are taken ---> waits -- turn --> admitted
 *            |                                    '-- crowded out by another, or too long ---> refused
 *            '------- else ---------------------------------------> admitted --- admission_leave, with what it really
 * used
 *
 * Tokens and money are reserved on entering, by estimate, and settled on leaving: callers at the same time never get
 * past a limit together. An estimate that was too low leaves a debt, which is refilled before the next may enter.
 * Limits hold for the client (the name of its key) and for its tenant; both must let a call pass. A day of money is one
 * of UTC, and begins once: a wall clock that is set back brings nothing.
 *
 * Places are those of the process, of the client and of the tenant. The queue is bounded. Turns go to the highest
 * priority that waits; within it clients take turns by weight (deficit round robin, a request each), so that a greedy
 * one waits behind itself; every 16th turn goes to the one that waits longest of all, so that nobody starves. A client
 * or tenant that has all its places taken is passed over. Where the queue is full, a newcomer takes a place of the
 * lowest priority below its own; else of its own priority, from a client with more in the queue for its weight than the
 * newcomer's would have; else it is refused. It is the last of the client with most in the queue that goes.
 *
 * One admission a process, and behind it one or two for a model whose deployments all bound what is under way there or
 * what comes in a minute; shared by the loops behind one lock each. A ticket is used from inside its own loop alone,
 * where `admitted` runs too, never from within admission_enter. */
#ifndef RENGA_LLM_GATEWAY_ADMISSION_H
#define RENGA_LLM_GATEWAY_ADMISSION_H

#include "base/status.h"
#include "loop/loop.h"
#include "upstream/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct admission;
struct admission_consumer;

struct admission_options {
    unsigned in_flight_max;                       /* requests under way in the process; 0: no limit */
    unsigned queue_max;                           /* that wait for a place; 0: none may */
    int64_t queue_wait_ms;                        /* longest; then RESOURCE_EXHAUSTED */
    const struct limits_table *clients, *tenants; /* read by admission_create alone; NULL: no limits */
    const char *model;        /* copied: the places are of this model alone, behind another admission
                                 that keeps the limits; here only weights count. NULL: the process's */
    int64_t (*wall_ns)(void); /* NULL: clock_wall_ns, which tests cannot turn */
};

struct admission *admission_create(const struct admission_options *options);
/* One more holds it. Any thread. */
struct admission *admission_hold(struct admission *admission);
/* By each who holds it; by the last when nobody waits and nobody is inside. Loops may still run. */
void admission_destroy(struct admission **admission);

/* Other limits and places from now on, for those too who are inside or wait. What has been used of a minute or a day
 * stays used; who is new to money has spent what admission_load_spend says after this. Any thread. */
void admission_limit(struct admission *admission, unsigned in_flight_max, const struct limits_table *clients,
                     const struct limits_table *tenants);

enum admission_priority { ADMISSION_BATCH, ADMISSION_NORMAL, ADMISSION_INTERACTIVE, ADMISSION_PRIORITIES };

struct admission_link {
    struct admission_link *next, *previous;
};

/* Embedded in its owner, zeroed before its first use; free for the next use, or to be freed, when it is refused, has
 * left or is withdrawn. */
struct ticket {
    /* Set by the owner, and left alone until it has left. */
    struct loop *loop;
    const char *client, *tenant; /* copied; "" is a client like any other */
    enum admission_priority priority;
    int64_t tokens, micros; /* estimates of what it will use */
    void (*admitted)(struct ticket *ticket);

    /* When it is refused, here or later: why, for the client to read; and which limit, as a constant for programs such
     * as "client/tokens_per_minute", "process/queue" or "model/queue". For `admitted`: OK, or why it was sent away
     * after all. */
    struct status status;
    const char *exhausted;

    /* Private to admission. */
    struct admission *admission;
    struct admission_consumer *of_client, *of_tenant;
    bool has_rate_limits;                           /* the client has limits to tell of */
    unsigned char client_reserved, tenant_reserved; /* what is reserved for it there: GATE_HOLDS_… */
    struct admission_link link;
    struct timer wait_timer;
    int64_t since_ns;
    int state;
};

enum admission_result {
    ADMISSION_ADMITTED,
    ADMISSION_QUEUED,  /* `admitted` is to come, from the loop */
    ADMISSION_REJECTED /* ticket->status says why; RESOURCE_EXHAUSTED, with a retry hint where it may ever pass */
};
enum admission_result admission_enter(struct admission *admission, struct ticket *ticket);

/* Whose limit `exhausted` is: the name of the client or the tenant, as the ticket has it; NULL: of neither. */
const char *admission_exhausted_by(const struct ticket *ticket);

/* Of a ticket that waits: the caller has left. `admitted` does not run any more, even if its turn had come. Nothing
 * happens to one that was refused. */
void admission_withdraw(struct ticket *ticket);

/* Of one that was admitted, once. What it really used. */
void admission_leave(struct ticket *ticket, int64_t tokens, int64_t micros);

/* What was spent today in all, from the accounts: of those whose money has not been counted so far. Once after
 * admission_create and admission_limit; calls that have ended meanwhile may be in it or not. */
void admission_load_spend(struct admission *admission, bool tenant, const char *name, int64_t micros);

/* What the client's limits leave, for the x-ratelimit-* headers; -1 where there is no such limit. After
 * admission_enter, whatever it answered. False at once, with nothing filled in, where it has neither. */
struct admission_rate_limits {
    int64_t requests_limit, requests_left, requests_reset_ms, tokens_limit, tokens_left, tokens_reset_ms;
};
bool admission_rate_limits(const struct ticket *ticket, struct admission_rate_limits *rate_limits);

struct admission_stats {
    unsigned inside, waiting[ADMISSION_PRIORITIES];
    uint64_t admitted, refused_rate, refused_money, refused_queue, refused_late;
};
void admission_stats(struct admission *admission, struct admission_stats *stats);

#endif
