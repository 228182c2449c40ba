/* Private to the orchestrator: the lasting part of a thread as a row, made and read. From inside the loop of the
 * shard. */
#ifndef RENGA_ORCHESTRATOR_SNAPSHOT_H
#define RENGA_ORCHESTRATOR_SNAPSHOT_H

#include "renga/v1/log.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct state;
struct status;
struct thread;

bool snapshot_possible(const struct thread *thread);
/* In the arena, and for as long as the thread does not change. */
Renga__V1__ThreadSnapshot *snapshot_make(const struct thread *thread, struct arena *arena);
/* `state`: of its own graph, taken over; NULL: it is read here. */
bool snapshot_read(struct thread *thread, const Renga__V1__ThreadSnapshot *snapshot, uint64_t number,
                   struct state **state, struct status *st);

#endif
