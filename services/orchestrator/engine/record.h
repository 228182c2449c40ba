/* Private to the orchestrator: records of new results and steps, applied and appended. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_RECORD_H
#define RENGA_ORCHESTRATOR_RECORD_H

struct activation;
struct frame;

void record_results(struct frame *frame);
void record_opened(struct frame *frame);
void record_step(struct frame *frame, struct activation *only);

#endif
