/* Private to the orchestrator: the states of a branch of each or graph. From inside the loop of its shard.
 *
 *     UNOPENED ---> OPEN ---> ENDED
 *                  ^    |
 *                  |    v
 *                  STOPPED
 *
 * A run that moves to another version of its agent takes its ended branches along: from UNOPENED to ENDED at once. */
#ifndef RENGA_ORCHESTRATOR_BRANCH_STATE_H
#define RENGA_ORCHESTRATOR_BRANCH_STATE_H

#include <stdbool.h>

struct branch;

enum branch_state {
    BRANCH_UNOPENED, /* it has no frame */
    BRANCH_OPEN,
    BRANCH_STOPPED, /* its frame waits for a person, has failed, or was stopped */
    BRANCH_ENDED,   /* it has its output, and no frame */
};

bool branch_may_move(const struct branch *branch, enum branch_state to);

/* The only way to change the state. A move that is not allowed is asserted. */
void branch_move(struct branch *branch, enum branch_state to);

#endif
