/* Private to the orchestrator: a thread as it was at a checkpoint, replayed from its log beside the thread in memory.
 * From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_REPLAY_H
#define RENGA_ORCHESTRATOR_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct request;
struct status;
struct thread;

/* Once, later: the past thread is the receiver's; NULL, with the reason, if it could not be replayed, or if the thread
 * is not served here any more. */
typedef void thread_replayed(void *owner, struct thread *past, const struct status *st);
void thread_replay(struct thread *thread, uint64_t upto, thread_replayed *done, void *owner);
/* False if its log would become ever longer to read; the request has heard of it. */
bool thread_may_go_back(const struct thread *thread, struct request *request);

#endif
