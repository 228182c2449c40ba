/* Private to the orchestrator: pauses that have lasted as long as they may (StartRunRequest.interrupt_timeout). From
 * inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_INTERRUPT_TIMEOUT_H
#define RENGA_ORCHESTRATOR_INTERRUPT_TIMEOUT_H

struct request;
struct thread;

/* A maintenance request: ends a pause before or after a node that has lasted as long as it may;
 * leaves every other run alone. Answered when that is on disk. */
void interrupt_timeout_expire(struct request *request, struct thread *thread);

#endif
