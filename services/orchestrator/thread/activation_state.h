/* Private to the orchestrator: the states of an activation. From inside the loop of its shard.
 *
 *                 .------------------------<------------------------.
 *                 v                 stopped, or the run goes on     |
 *     PENDING --> READY --> AT_WORK --------------------> FINISHED, FAILED, WAITING
 *                   ^          |  ^  |
 *                   |          v  '--' no result in the cache
 *                   '------- RESTS
 *
 * A record that is read again moves an activation from PENDING to its result at once. */
#ifndef RENGA_ORCHESTRATOR_ACTIVATION_STATE_H
#define RENGA_ORCHESTRATOR_ACTIVATION_STATE_H

#include <stdbool.h>

struct activation;

enum activation_state {
    ACTIVATION_PENDING,  /* not begun, or to be begun again */
    ACTIVATION_READY,    /* in the queue of the run */
    ACTIVATION_AT_WORK,  /* an attempt, a look into the cache, or graphs within */
    ACTIVATION_RESTS,    /* between two attempts */
    ACTIVATION_FINISHED, /* it has a result, which its step takes over */
    ACTIVATION_FAILED,
    ACTIVATION_WAITING, /* for an answer, or for graphs within that wait or were stopped */
};

bool activation_may_move(const struct activation *activation, enum activation_state to);

/* The only way to change the state. A move that is not allowed is asserted. */
void activation_move(struct activation *activation, enum activation_state to);

#endif
