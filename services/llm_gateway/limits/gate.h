/* The gate: who may ask now, who waits for a turn, who is sent away.
 *
 *      gate_enter --- rate or money is used up ------------------------> refused, with the time after which to come
 * back
 *            |------- all places are taken ---> waits -- turn --> admitted
 *            |                                    '---- crowded out by a higher priority, or too long ---> refused
 *            '------- else ----------------------------------------> admitted --- gate_leave, with what it really used
 *
 * Tokens and money are reserved on entering, by estimate, and settled on leaving: callers at the same time never get
 * past a limit together. Limits hold for the client (the name of its key) and for its tenant; both must let a call
 * pass. Places are those of the process, of the client and of the tenant. The queue is bounded. Turns go to the highest
 * priority that waits; within it clients take turns by weight (deficit round robin), so that a greedy one waits behind
 * itself; every 16th turn goes to the one that waits longest of all, so that nobody starves. Where the queue is full, a
 * newcomer takes the place of the last of the lowest priority below its own, or is refused.
 * One gate a process, shared by its loops behind a lock; `admitted` runs in the ticket's own loop. */
#ifndef RENGA_LLM_GATEWAY_GATE_H
#define RENGA_LLM_GATEWAY_GATE_H

#include "base/status.h"
#include "limits/limits.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gate;
struct gate_client;

struct gate_options {
    unsigned in_flight_max; /* requests under way in the process */
    unsigned queue_max;     /* that wait for a place */
    int64_t queue_wait_ms;  /* longest; then RESOURCE_EXHAUSTED */
    const struct limits_table *clients, *tenants;
};

struct gate *gate_create(const struct gate_options *options);
/* When nobody waits and nobody is inside. */
void gate_destroy(struct gate **gate);

enum gate_priority { GATE_BATCH, GATE_NORMAL, GATE_INTERACTIVE, GATE_PRIORITIES };

/* Embedded in its owner. */
struct ticket {
    /* Set by the owner. */
    struct loop *loop;
    const char *client, *tenant; /* live as long as the process; "" is a client like any other */
    enum gate_priority priority;
    int64_t tokens, micros; /* estimates of what it will use */
    void (*admitted)(struct ticket *ticket);
    /* For `admitted`: OK, or why it was sent away after all. */
    struct status status;

    /* The gate's. */
    struct gate *gate;
    struct gate_client *of_client, *of_tenant;
    struct ticket *next, *previous;
    struct work turn;
    struct timer patience;
    int64_t since_ns;
    int state;
    const char *exhausted; /* which limit, for google.rpc.QuotaFailure: "client/requests_per_minute". A constant */
};

enum gate_answer {
    GATE_ADMITTED,
    GATE_WAITS,  /* `admitted` is to come, from the loop */
    GATE_REFUSED /* ticket->status says why; RESOURCE_EXHAUSTED with a retry hint */
};
enum gate_answer gate_enter(struct gate *gate, struct ticket *ticket);

/* Of a ticket that waits: the caller has left. `admitted` does not run any more. */
void gate_withdraw(struct ticket *ticket);

/* Of one that was admitted, once. What it really used. */
void gate_leave(struct ticket *ticket, int64_t tokens, int64_t micros);

/* What was spent today before this process began, from the accounts. Before the first gate_enter. */
void gate_remember(struct gate *gate, bool tenant, const char *name, int64_t micros);

/* What the client's limits leave, for the x-ratelimit-* headers; -1 where there is no such limit. */
struct gate_room {
    int64_t requests_limit, requests_left, requests_reset_ms, tokens_limit, tokens_left, tokens_reset_ms;
};
void gate_room(const struct ticket *ticket, struct gate_room *room);

struct gate_stats {
    unsigned inside, waiting[GATE_PRIORITIES];
    uint64_t admitted, refused_rate, refused_money, refused_queue, refused_late;
};
void gate_stats(struct gate *gate, struct gate_stats *stats);

#endif
