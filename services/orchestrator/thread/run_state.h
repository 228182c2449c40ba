/* Private to the orchestrator: the states of a run, which are the contract's. From inside the loop of its shard.
 *
 *     QUEUED ---> RUNNING ---> SUCCEEDED, FAILED, CANCELLED
 *                  ^   |                     ^
 *                  |   v                     |
 *                 WAITING -------------------' FAILED, CANCELLED
 *
 * From QUEUED a run may also fail or be cancelled. Whatever has stopped, RUNNING is next if it is resumed: a run that
 * has succeeded only if its budget had ended it. RUNNING is entered again when a run is taken up after a crash.
 * CANCELLED is entered again when a run that its caller has left is cancelled by CancelRun. */
#ifndef RENGA_ORCHESTRATOR_RUN_STATE_H
#define RENGA_ORCHESTRATOR_RUN_STATE_H

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>

struct run;
struct status;

bool run_may_move(const struct run *run, Renga__V1__RunState to);

/* The same of a record, which may be damaged: else DATA_LOSS. */
bool run_check_move(const struct run *run, Renga__V1__RunState to, struct status *st);

/* Changes the state, as run_take_state alone does beside it. A move that is not allowed is asserted. */
void run_move(struct run *run, Renga__V1__RunState to);

/* The state of a run of a snapshot: `waits` for its turn, or is the thread's last run. False: it cannot have it. */
bool run_take_state(struct run *run, Renga__V1__RunState state, bool waits);

#endif
