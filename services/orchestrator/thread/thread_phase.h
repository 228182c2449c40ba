/* Private to the orchestrator: the phases of a thread in memory. From inside the loop of its shard.
 *
 *     LOADING ---> READY ---> BROKEN ---> freed when its last hold goes
 *        |                      ^
 *        '----------------------'          (it can break again while it is held) */
#ifndef RENGA_ORCHESTRATOR_THREAD_PHASE_H
#define RENGA_ORCHESTRATOR_THREAD_PHASE_H

#include <stdbool.h>

struct thread;

enum thread_phase {
    THREAD_LOADING, /* its log is read; also a thread as it was, which serves no requests */
    THREAD_READY,
    THREAD_BROKEN, /* its log cannot be read or written, or another orchestrator has it */
};

bool thread_may_move(const struct thread *thread, enum thread_phase to);

/* The only way to change the phase. A move that is not allowed is asserted. */
void thread_move(struct thread *thread, enum thread_phase to);

#endif
