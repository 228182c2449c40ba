/* Private to the orchestrator: the two queues of a run at work: activations that wait until fewer nodes are at work,
 * and activations with branches that are not opened yet. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_RUN_QUEUES_H
#define RENGA_ORCHESTRATOR_RUN_QUEUES_H

#include <stdbool.h>

struct activation;
struct run;

void run_push_ready(struct activation *activation);
bool run_pop_ready(struct run *run, struct activation **activation);
void run_push_opener(struct activation *activation);
void run_pop_opener(struct run *run);
/* Nodes taken out of work leave them. */
void run_purge_queues(struct run *run);

#endif
