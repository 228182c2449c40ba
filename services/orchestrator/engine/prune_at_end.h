/* Private to the orchestrator: a thread that keeps a single checkpoint loses its history with the end of a run that
 * gathered its records; retention/ would do so later. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_PRUNE_AT_END_H
#define RENGA_ORCHESTRATOR_PRUNE_AT_END_H

struct run;

/* Before the record of the end. Does nothing while a client watches. */
void prune_at_end(struct run *run);

#endif
