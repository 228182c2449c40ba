/* The runner: runs graphs over threads, durably. One a process. Each thread has a shard with its own loop, by the hash
 * of its name, and is touched there alone. Requests come from any loop and are answered in the loop they came from.
 *
 *      StartRun, ResumeRun, CancelRun, UpdateState, …  --->  the thread's shard: one after the other
 *                                                                 |
 *      activated nodes  -> tasks (graph/node_kind.h) -> all ended -> reduce -> ONE record in the thread's log
 *            ^                                                                    |  on disk
 *            '------------------------------------------------- next step <-------+-> events are shown to watchers
 *
 * A thread is an append-only log (log/log.h): input, steps with their changes, results that finished before their
 * siblings, interrupts, answers, changes of a run's state. Its memory is replayed from the last snapshot on. After a
 * crash runs that were queued or at work go on by themselves. */
#ifndef RENGA_ORCHESTRATOR_RUNNER_H
#define RENGA_ORCHESTRATOR_RUNNER_H

#include <stdint.h>

struct membership;
struct request;
struct runner;
struct runner_options;
struct status;
struct watcher;

struct runner *runner_create(const struct runner_options *options, struct status *st);
/* Takes up the runs that were left behind, and begins to sweep. After it, from inside the first loop. */
void runner_recover(struct runner *runner);
/* Lets steps under way commit, and begins new steps only of runs with a waiting caller; `drained` runs once, in the
 * first loop. */
void runner_drain(struct runner *runner, int64_t limit_ms, void (*drained)(void *data), void *data);
void runner_destroy(struct runner **runner);
/* The members that share the store, valid as long as the runner; NULL if the store is not shared. */
struct membership *runner_membership(const struct runner *runner);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Serves a request of any type that request_types.c lists. From inside the request's loop; `answered` comes later,
 * once. */
void runner_run(struct runner *runner, struct request *request);
/* The caller has gone: a request that waits for a run to stop is answered with CANCELLED soon. */
void runner_abandon(struct request *request);
/* Begins to watch; watch/watch.h has the rest. From inside the watcher's loop. */
void runner_watch(struct runner *runner, struct watcher *watcher);

#endif
