/* Slots of a source for requests of a tenant: at most half of the source's `concurrency`, so that no tenant takes all
 * of them. Callers without a tenant, and sources without that limit, are not limited. Any thread. */
#ifndef RENGA_TOOL_RUNNER_SOURCE_SLOTS_H
#define RENGA_TOOL_RUNNER_SOURCE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct source_slots;

/* For a source with so many slots; 0: without that limit. NULL: no memory. */
struct source_slots *source_slots_create(int64_t concurrency);
/* When no request is under way. */
void source_slots_destroy(struct source_slots **slots);

/* Acquires a slot for the tenant. False: the tenant has all its slots. Each slot is released again. */
bool source_slot_acquire(struct source_slots *slots, const char *tenant);
void source_slot_release(struct source_slots *slots, const char *tenant);

#endif
