/* The counters of the runner for its operators: stopped runs, supersteps, attempts at nodes. One a process; counted
 * from inside the loops. With a NULL tally, the functions do not count. */
#ifndef RENGA_ORCHESTRATOR_TALLY_H
#define RENGA_ORCHESTRATOR_TALLY_H

#include "base/status.h"

#include "renga/v1/orchestrator.pb-c.h"

struct loop;
struct metrics;
struct node_kind;
struct tally;

struct tally *tally_create(struct metrics *metrics);
void tally_destroy(struct tally **tally);

/* A run waits or has ended. */
void tally_run(struct tally *tally, const struct loop *loop, Renga__V1__RunState state, Renga__V1__StopReason reason);
/* A run has ended. `agent` is the name of a loaded agent, or NULL if its version is missing: counted as "other".
 * Takes the lock of the metrics. */
void tally_ended(struct tally *tally, const struct loop *loop, const char *agent, Renga__V1__RunState state);
/* A superstep, of a sub-graph too, from its beginning until it was reduced. */
void tally_step(struct tally *tally, const struct loop *loop, int64_t duration_ns);
/* The cache of nodes was asked. */
void tally_cache(struct tally *tally, const struct loop *loop, bool found);
/* A thread was erased because its time was over; records of histories were pruned. */
void tally_expired(struct tally *tally, const struct loop *loop);
void tally_pruned(struct tally *tally, const struct loop *loop, size_t records);
void tally_task_began(struct tally *tally, const struct loop *loop);
/* A kind has begun an attempt in this loop, be it the run's own or not. */
void tally_started(struct tally *tally, const struct loop *loop);
void tally_task_ended(struct tally *tally, const struct loop *loop, const struct node_kind *kind, enum status_code code,
                      int64_t duration_ns);

/* Counters about the owners of threads; HELD goes up and down. */
enum tally_owner {
    OWNER_HELD,
    OWNER_TAKEN_OVER,
    OWNER_REFUSED,
    OWNER_FORWARDED,
    OWNER_PARKED,
    OWNER_QUARANTINE,
    OWNER_ROWS
};
void tally_owner(struct tally *tally, const struct loop *loop, enum tally_owner what, int64_t n);

/* Counters about the fan-out; all but AWAY, WAITING and LINKS only grow. */
enum tally_fanout {
    FANOUT_SENT,
    FANOUT_AWAY,
    FANOUT_TAKEN_OVER,
    FANOUT_LATE,
    FANOUT_UNSHOWN,
    FANOUT_WAITING,
    FANOUT_LINKS,
    FANOUT_FAR_SENT,
    FANOUT_FAR_BEGUN,
    FANOUT_BROKEN,
    FANOUT_STRANGE,
    FANOUT_ROWS
};
void tally_fanout(struct tally *tally, const struct loop *loop, enum tally_fanout what, int64_t n);

#endif
