/* Private to the orchestrator: the failures of a step's nodes as a write to the state. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_NODE_FAILURES_H
#define RENGA_ORCHESTRATOR_NODE_FAILURES_H

#include <stdbool.h>

struct activation;
struct frame;
struct status;
struct write;

/* As a write of the error node; without fields if there is no write.
 * `alone`: of the first node only. */
bool failures_write(struct frame *frame, const struct activation *first, bool alone, struct write *write,
                    struct status *st);

#endif
