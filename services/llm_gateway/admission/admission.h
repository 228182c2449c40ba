/* Admission control: a request is admitted at once, waits in the queue, or is rejected.
 *
 *      admission_enter --- rate or money is used up -----------------> rejected, with a retry hint
 *            |------- all slots are taken  ---> waits -- turn --> admitted
 *            |                                    '-- displaced, or waited too long ---> rejected
 *            '------- else ---------------------------------------> admitted --- admission_leave(actual use)
 *
 * Entering reserves tokens and money by estimate; leaving settles them. Concurrent callers therefore never exceed a
 * limit together. An estimate that was too low leaves a debt, which is refilled before the next request may enter.
 * Limits hold for the client (the name of its key) and for its tenant; a request must fit both. A money budget is for
 * one day in UTC. Each day begins once: setting the wall clock back refills no budget.
 *
 * The process, each client and each tenant have slots. The queue is bounded. The highest waiting priority is served
 * first. Within a priority, clients are served by weight (deficit round robin, one request at a time), so that a greedy
 * client waits behind its own requests. Every 16th slot goes to the request that has waited longest, which prevents
 * starvation. A client or tenant without a free slot of its own is skipped. When the queue is full, a newcomer
 * displaces a request of the lowest priority below its own. Otherwise it displaces one of its own priority, from a
 * client with more queued requests per weight than the newcomer's client would have. Otherwise it is rejected. The
 * displaced request is the last one of the client with the longest queue.
 *
 * A process has one admission. A model whose deployments all limit concurrency or requests a minute has one or two
 * more behind it. Loops share an admission, which has one lock. A ticket is used only from inside its own loop;
 * `admitted` runs in that loop, and never inside admission_enter. */
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
    unsigned in_flight_max;                       /* requests in progress in the process; 0: no limit */
    unsigned queue_max;                           /* requests that wait for a slot; 0: no queue */
    int64_t queue_wait_ms;                        /* longest wait; then RESOURCE_EXHAUSTED */
    const struct limits_table *clients, *tenants; /* read only by admission_create; NULL: no limits */
    const char *model; /* copied: the slots are of this model alone, behind another admission that keeps the limits; of
                          the limits, only weights count here. NULL: the process's */
    int64_t (*wall_ns)(void); /* NULL: clock_wall_ns; a test sets its own */
};

struct admission *admission_create(const struct admission_options *options);
/* Adds a reference. Any thread. */
struct admission *admission_hold(struct admission *admission);
/* Drops a reference. The last one is dropped when the queue is empty and all tickets have left. Loops may still run. */
void admission_destroy(struct admission **admission);

/* Replaces limits and slots, also for tickets that wait or are admitted. The used share of a minute or a day stays
 * used. A consumer that gets its first money limit starts with the amount of a later admission_load_spend. Any
 * thread. */
void admission_limit(struct admission *admission, unsigned in_flight_max, const struct limits_table *clients,
                     const struct limits_table *tenants);

enum admission_priority { ADMISSION_BATCH, ADMISSION_NORMAL, ADMISSION_INTERACTIVE, ADMISSION_PRIORITIES };

struct admission_link {
    struct admission_link *next, *previous;
};

/* Embedded in its owner and zeroed before its first use. The owner may reuse or free it after a rejection,
 * admission_leave or admission_withdraw. */
struct ticket {
    /* Set by the owner; unchanged until it has left. */
    struct loop *loop;
    const char *client, *tenant; /* copied; "" is a client of its own */
    enum admission_priority priority;
    int64_t tokens, micros; /* estimated use */
    void (*admitted)(struct ticket *ticket);

    /* After a rejection, at once or from the queue: the reason for the client, and the name of the limit for
     * programs: "client/tokens_per_minute", "process/queue" or "model/queue". In `admitted`: OK, or the reason for
     * the removal from the queue. */
    struct status status;
    const char *exhausted;

    /* Private to admission. */
    struct admission *admission;
    struct admission_consumer *of_client, *of_tenant;
    bool has_rate_limits;                           /* the client has limits to report */
    unsigned char client_reserved, tenant_reserved; /* reservations there: ADMISSION_RESERVED_… */
    struct admission_link link;
    struct timer wait_timer;
    int64_t since_ns;
    int state;
};

enum admission_result {
    ADMISSION_ADMITTED,
    ADMISSION_QUEUED,  /* `admitted` will run in the loop */
    ADMISSION_REJECTED /* ticket->status has the reason: RESOURCE_EXHAUSTED, with a retry hint if a retry can succeed */
};
enum admission_result admission_enter(struct admission *admission, struct ticket *ticket);

/* The client or tenant that has the limit `exhausted`, by the name in the ticket; NULL: neither of them. */
const char *admission_exhausted_by(const struct ticket *ticket);

/* Takes a waiting ticket out: the caller has left. After this `admitted` does not run, even if the ticket was
 * already called. No effect on a rejected ticket. */
void admission_withdraw(struct ticket *ticket);

/* Once for each admitted ticket, with its actual use. */
void admission_leave(struct ticket *ticket, int64_t tokens, int64_t micros);

/* Loads today's total spend from the ledger, for a consumer without a count so far. Call it once after
 * admission_create and admission_limit. Calls that end meanwhile may or may not be included. */
void admission_load_spend(struct admission *admission, bool tenant, const char *name, int64_t micros);

/* The rest of the client's limits, for the x-ratelimit-* headers; -1: no limit of this kind. Call it after
 * admission_enter, with any result. False, and `rate_limits` is unchanged: the client has no limits. */
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
