/* Private to the orchestrator: another orchestrator has the thread, and its requests go there. From inside the loop of
 * the shard. */
#ifndef RENGA_ORCHESTRATOR_HANDOFF_H
#define RENGA_ORCHESTRATOR_HANDOFF_H

#include <stdbool.h>

struct request;
struct status;
struct thread;

/* At once, its requests hear of the address; or requests without an address
 * are asked anew. */
void thread_hand_off(struct thread *thread, struct status *why, const char *address);
/* Whether no waiting request needs it read here: then it has gone. */
bool thread_stays_handed_off(struct thread *thread);
/* Whether the request is served here, as the owner's row is; else it is answered. */
bool thread_serves(struct thread *thread, struct request *request);
void thread_lose(struct thread *thread);

#endif
