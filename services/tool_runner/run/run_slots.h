/* Slots for runs: a limit for the process and for a tenant, and the queue for them. Any loop.
 *
 *      run_slot_acquire ---> RUN_SLOT_TAKEN                    run_slot_release
 *           '-------> RUN_SLOT_QUEUED ---> granted (in the loop of the waiter), run_slot_release
 *           '-------> RUN_SLOT_REFUSED: the queue is full
 *
 * The longest waiter comes first, except that a tenant with all its slots taken lets others pass. */
#ifndef RENGA_TOOL_RUNNER_RUN_SLOTS_H
#define RENGA_TOOL_RUNNER_RUN_SLOTS_H

#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct run_slots;
struct tenant_slots;

struct run_slots_options {
    unsigned in_flight_max, tenant_max, queue_max;
};

struct run_slots *run_slots_create(const struct run_slots_options *options);
void run_slots_destroy(struct run_slots **run_slots);

enum run_slot_answer { RUN_SLOT_TAKEN, RUN_SLOT_QUEUED, RUN_SLOT_REFUSED };

/* Embedded in its owner, zeroed; kept until run_slot_release has returned or, if it was queued, `granted` has run. */
struct run_slot {
    struct loop *loop;
    void (*granted)(struct run_slot *run_slot);

    /* Of the slots. */
    struct work work;
    struct tenant_slots *tenant;
    struct run_slot *next, *previous;
    enum { RUN_SLOT_NONE, RUN_SLOT_WAITING, RUN_SLOT_GIVEN } state;
    bool posted; /* `granted` has been posted */
};

enum run_slot_answer run_slot_acquire(struct run_slots *run_slots, struct run_slot *run_slot, const char *tenant);

/* Withdraws a waiting slot, or returns a taken slot. False: `granted` has been posted already; call run_slot_release
 * there. */
bool run_slot_release(struct run_slots *run_slots, struct run_slot *run_slot);

struct run_slots_stats {
    unsigned taken, waiting;
    uint64_t refused;
};
void run_slots_stats(struct run_slots *run_slots, struct run_slots_stats *stats);

#endif
