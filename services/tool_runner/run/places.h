/* Places for runs: their number in the process and for a tenant, and the queue for them. Any loop.
 *
 *      place_ask ---> PLACE_TAKEN                    place_leave
 *           '-------> PLACE_QUEUED ---> came (in the asker's loop), place_leave
 *           '-------> PLACE_REFUSED: the queue is full
 *
 * The longest waiter comes first, except that a tenant with all its places taken lets others pass. */
#ifndef RENGA_TOOL_RUNNER_PLACES_H
#define RENGA_TOOL_RUNNER_PLACES_H

#include "loop/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct places;
struct tenant_places;

struct places_options {
    unsigned in_flight_max, tenant_max, queue_max;
};

struct places *places_create(const struct places_options *options);
void places_destroy(struct places **places);

enum place_answer { PLACE_TAKEN, PLACE_QUEUED, PLACE_REFUSED };

/* Embedded in its owner, zeroed; kept until place_leave has returned or, if it was queued, `came` has run. */
struct place {
    struct loop *loop;
    void (*came)(struct place *place);

    /* The places' own. */
    struct work work;
    struct tenant_places *tenant;
    struct place *next, *previous;
    enum { PLACE_NONE, PLACE_WAITING, PLACE_GIVEN } standing;
    bool coming; /* `came` has been posted */
};

enum place_answer place_ask(struct places *places, struct place *place, const char *tenant);

/* Withdraws a waiting place, or returns a taken place. False: `came` has been posted already; call place_leave
 * there. */
bool place_leave(struct places *places, struct place *place);

struct places_stats {
    unsigned taken, waiting;
    uint64_t refused;
};
void places_stats(struct places *places, struct places_stats *stats);

#endif
