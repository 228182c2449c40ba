/* Private to the orchestrator: the end of a state. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_STATE_RELEASE_H
#define RENGA_ORCHESTRATOR_STATE_RELEASE_H

struct shard;
struct state;

/* Takes the state. A large one is freed in parts, in later visits of the loop. Its graph may go at once. */
void state_release(struct shard *shard, struct state **state);

#endif
