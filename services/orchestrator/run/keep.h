/* Private to run/: how long threads and their histories are kept. Threads whose time is over, and checkpoints and
 * events that are too many or too old, are deleted in the background. The batches are so small that no request waits
 * for them.
 */
#ifndef RENGA_ORCHESTRATOR_KEEP_H
#define RENGA_ORCHESTRATOR_KEEP_H

#include "run/runner.h"

struct due;
struct run;

/* The limits of a thread: its own settings if it has any, else the server's. -1: no limit. */
struct keeping {
    int64_t ttl_ms, max_checkpoints, max_age_ms;
};
struct keeping keeping_of(const struct runner *runner, const Renga__V1__Retention *own);

/* stand.c, a chore: ends a stop before or after a node that has lasted as long as it may; leaves every other run alone.
 * Answered when that is on disk. */
void stand_expire(struct errand *errand, struct thread *thread);
/* A row with the time at which the stop ends, into the filling batch, if the run stands and has a limit. */
void stand_write_row(const struct run *run);
int64_t stand_expires_ms(const struct run *run, int64_t asked_ms); /* 0: a stop has no limit */

/* expire.c: whether the time of a thread that is not busy is over, as a server with these options sees it. */
bool keeping_is_over(const struct runner *runner, const Renga__V1__Retention *own, int64_t updated_ms);
/* A chore: erases a thread whose time is over; a thread that is busy, or has changed since, is left alone. */
void expire_thread(struct errand *errand, struct thread *thread);
/* True: the thread has expired, and the request is ended, or is served when the thread is erased. */
bool expire_serves(struct errand *errand, struct thread *thread);

/* erase.c: takes a thread that is not busy out of the store, all of it, and out of memory. Answers the errand when that
 * is on disk, with the response that it has. */
void erase_thread(struct errand *errand, struct thread *thread);
/* A chore: goes on with a thread that was being erased when the process ended; `place` has the time of its mark. */
void erase_marked(struct errand *errand, struct thread *thread);
/* Whether it is DeleteThread, or erase_marked. */
bool erase_is_asked_by(const struct errand *errand);
void history_delete(struct errand *errand, struct thread *thread); /* DeleteThread */

/* prune.c, a chore: takes away the history of the errand's thread that it need not keep. Answered when that is on disk;
 * a thread that is busy is left alone. */
void prune_thread(struct errand *errand, struct thread *thread);
/* The same at once, before the record of the end of a run, if a single checkpoint is kept, the run gathered its
 * records, and no client watches. */
void prune_at_end(struct run *run);

/* cache.c: results of nodes that are used again. True if the due node's result is looked up: then the node finishes, or
 * begins. */
bool cache_ask(struct due *due);
void cache_drop(struct due *due);       /* it is taken out of work */
void cache_keep(const struct due *due); /* beside the record that is made of it */
bool cache_is_over(const struct store_row *row);

/* sweep.c: goes through all threads periodically, a single chore at a time. From inside the first loop. */
struct sweep;
struct sweep *sweep_start_threads(struct runner *runner);
struct sweep *sweep_start_stands(struct runner *runner); /* of the stops whose time is over alone, twice a second */
bool sweep_is_busy(const struct sweep *sweep);           /* begins no chore while the runner drains */
void sweep_stop(struct sweep **sweep);

#endif
