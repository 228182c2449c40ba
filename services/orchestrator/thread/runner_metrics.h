/* The counters of the runner for its operators: stopped runs, supersteps, attempts at nodes. One a process; counted
 * from inside the loops. With NULL metrics, the functions do not count. */
#ifndef RENGA_ORCHESTRATOR_RUNNER_METRICS_H
#define RENGA_ORCHESTRATOR_RUNNER_METRICS_H

#include "base/status.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct metrics;
struct node_kind;
struct runner_metrics;

struct runner_metrics *runner_metrics_create(struct metrics *metrics);
void runner_metrics_destroy(struct runner_metrics **runner_metrics);

/* A run waits or has ended. */
void runner_metrics_run(struct runner_metrics *runner_metrics, const struct loop *loop, Renga__V1__RunState state,
                        Renga__V1__StopReason reason);
/* A run has ended. `agent` is the name of a loaded agent, or NULL if its version is missing: counted as "other".
 * Takes the lock of the metrics. */
void runner_metrics_ended(struct runner_metrics *runner_metrics, const struct loop *loop, const char *agent,
                          Renga__V1__RunState state);
/* A superstep, of a sub-graph too, from its beginning until it was reduced. */
void runner_metrics_step(struct runner_metrics *runner_metrics, const struct loop *loop, int64_t duration_ns);
/* The cache of nodes was asked. */
void runner_metrics_cache(struct runner_metrics *runner_metrics, const struct loop *loop, bool found);
/* A thread was erased because its time was over; records of histories were pruned. */
void runner_metrics_expired(struct runner_metrics *runner_metrics, const struct loop *loop);
void runner_metrics_pruned(struct runner_metrics *runner_metrics, const struct loop *loop, size_t records);
void runner_metrics_task_began(struct runner_metrics *runner_metrics, const struct loop *loop);
/* A kind has begun an attempt in this loop, be it the run's own or not. */
void runner_metrics_started(struct runner_metrics *runner_metrics, const struct loop *loop);
void runner_metrics_task_ended(struct runner_metrics *runner_metrics, const struct loop *loop,
                               const struct node_kind *kind, enum status_code code, int64_t duration_ns);

/* Counters about the owners of threads; HELD goes up and down. */
enum owner_metric {
    OWNER_HELD,
    OWNER_TAKEN_OVER,
    OWNER_REFUSED,
    OWNER_FORWARDED,
    OWNER_PARKED,
    OWNER_QUARANTINE,
    OWNER_ROWS
};
void runner_metrics_owner(struct runner_metrics *runner_metrics, const struct loop *loop, enum owner_metric what,
                          int64_t n);

/* Counters about the fan-out; all but DISPATCHED, WAITING and LINKS only grow. */
enum fanout_metric {
    FANOUT_SENT,
    FANOUT_DISPATCHED,
    FANOUT_TAKEN_OVER,
    FANOUT_LATE,
    FANOUT_UNSHOWN,
    FANOUT_WAITING,
    FANOUT_LINKS,
    FANOUT_REMOTE_SENT,
    FANOUT_REMOTE_BEGUN,
    FANOUT_BROKEN,
    FANOUT_STRANGE,
    FANOUT_ROWS
};
void runner_metrics_fanout(struct runner_metrics *runner_metrics, const struct loop *loop, enum fanout_metric what,
                           int64_t n);

#endif
