/* Private to the orchestrator: checkpoints as messages, made from records. The message is in the caller's arena. Any
 * thread. */
#ifndef RENGA_ORCHESTRATOR_CHECKPOINT_H
#define RENGA_ORCHESTRATOR_CHECKPOINT_H

#include "thread/apply.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct arena;

/* The names of an object's fields, those that are not among them yet. */
void name_fields(struct arena *arena, const char *json, char **names, size_t *count, size_t room);
bool record_is_checkpoint(const Record *record);
Renga__V1__Checkpoint *checkpoint_of_record(struct arena *arena, const struct agent *agent, uint64_t place,
                                            const Record *record, uint64_t number, uint64_t parent);

#endif
