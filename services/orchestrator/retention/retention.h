/* Private to the orchestrator: how long threads and their histories are kept. Threads whose time is over, and
 * checkpoints and events that are too many or too old, are deleted in the background. The batches are so small that no
 * request waits for them. */
#ifndef RENGA_ORCHESTRATOR_RETENTION_H
#define RENGA_ORCHESTRATOR_RETENTION_H

#include <stdbool.h>

struct request;
struct run;
struct runner;
struct sweep;
struct thread;

/* expire.c */
/* A maintenance request: erases a thread whose time is over; a thread that is busy, or has changed since, is left
 * alone. */
void expire_thread(struct request *request, struct thread *thread);
/* True: the thread has expired, and the request is ended, or is served when the thread is erased. */
bool expire_serves(struct request *request, struct thread *thread);

/* erase.c: takes a thread that is not busy out of the store, all of it, and out of memory. Answers the request when
 * that is on disk, with the response that it has. */
void erase_thread(struct request *request, struct thread *thread);
/* A maintenance request: goes on with a thread that was being erased when the process ended; `place` has the time of
 * its mark. */
void erase_marked(struct request *request, struct thread *thread);
void history_delete(struct request *request, struct thread *thread); /* DeleteThread */

/* prune.c, a maintenance request: takes away the history of the request's thread that it need not keep. Answered when
 * that is on disk; a thread that is busy is left alone. */
void prune_thread(struct request *request, struct thread *thread);

/* sweep.c: goes through all threads periodically, a single maintenance request at a time. From inside the first loop.
 */
struct sweep *sweep_start_threads(struct runner *runner);
/* Of the pauses whose time is over alone, twice a second; `pause_ended` is their maintenance request. */
struct sweep *sweep_start_interrupt_timeouts(struct runner *runner,
                                             void (*pause_ended)(struct request *request, struct thread *thread));
bool sweep_is_busy(const struct sweep *sweep); /* begins no maintenance request while the runner drains */
void sweep_stop(struct sweep **sweep);

#endif
