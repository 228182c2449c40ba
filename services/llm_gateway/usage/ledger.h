/* The ledger: the usage and cost of every call, by client, tenant, model, deployment, run, thread and quarter of an
 * hour (days begin at a multiple of that in every time zone). It is stored in SQLite and never delays a call: an
 * entry is added to sums in memory, and a thread of the ledger writes the sums about once a second. If the file
 * cannot be written, the sums stay in memory; this is logged once, and they are written later. Above a number of
 * distinct sums, runs and threads are merged first, so that money is never lost. One ledger in a process, shared by
 * its loops. */
#ifndef RENGA_LLM_GATEWAY_LEDGER_H
#define RENGA_LLM_GATEWAY_LEDGER_H

#include "base/status.h"
#include "loop/loop.h"

#include "renga/v1/llm_gateway.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct ledger;
struct rpc_call;

struct ledger_options {
    const char *path;       /* SQLite file, created if missing; NULL or "": in memory only */
    int64_t flush_ms;       /* between writes; 0: 1,000 */
    int64_t keep_runs_days; /* after that the lines of a day are folded over runs and threads; 0: for good */
};

/* Opens lazily: a file that cannot be opened is no failure here (it is logged, metrics and GetUsage say so). */
struct ledger *ledger_create(const struct ledger_options *options, struct status *st);
/* Writes the pending sums. Not from a loop that must not block: takes up to a second. */
void ledger_destroy(struct ledger **ledger);

struct ledger_entry {
    int64_t ended_ms;            /* Unix time */
    const char *client, *tenant; /* all are copied; NULL counts as "" */
    const char *model, *deployment;
    const char *run_id, *thread_id;
    const Renga__V1__Usage *usage; /* may be NULL */
    bool failed, cancelled, cached;
};
/* Any thread; never waits for the file. */
void ledger_note(struct ledger *ledger, const struct ledger_entry *entry);

/* The spend of clients or tenants since the beginning of the UTC day of `now_ms`, at start. Reads the file. */
bool ledger_spent(struct ledger *ledger, int64_t now_ms, bool tenants,
                  void (*spent)(const char *name, int64_t micros, void *data), void *data, struct status *st);

/* LlmGateway.GetUsage: checks the request and ends the call, now or later. `sees_all`: the caller has the right to see
 * the accounts of all tenants. The ledger outlives the call. */
void ledger_report(struct ledger *ledger, struct rpc_call *call, const Renga__V1__GetUsageRequest *request,
                   bool sees_all, Renga__V1__GetUsageResponse_Closure reply);

struct ledger_stats {
    uint64_t entries, written, failures; /* notes; sums written; writes that failed */
    int64_t behind_ms;                   /* age of the oldest unwritten sum; 0: all are written */
    unsigned pending;                    /* sums */
};
void ledger_stats(struct ledger *ledger, struct ledger_stats *stats);

/* Shows them in each scrape, as renga_ledger_…; once. The metrics may outlive the ledger. */
struct metrics;
void ledger_show(struct ledger *ledger, struct metrics *metrics);

#endif
