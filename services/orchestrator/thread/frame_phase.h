/* Private to the orchestrator: the phases of a graph at work. From inside the loop of its shard.
 *
 *                           next step
 *                     .---------<---------.
 *                     v                   |
 *     RESTS ---> TO_BEGIN ----------> AT_WORK ---> ENDED
 *       ^             ^  \                |
 *       |     resumed |   '--> STOPPED <--'
 *       |             '-----------'
 *       '--- from all: the next run of the thread
 *
 * A graph that has STOPPED or ENDED begins no step before its run is resumed. When a run is resumed, a graph without
 * activations has ENDED. A graph at its new version takes the phase of the old one over, from RESTS. */
#ifndef RENGA_ORCHESTRATOR_FRAME_PHASE_H
#define RENGA_ORCHESTRATOR_FRAME_PHASE_H

#include <stdbool.h>

struct frame;

enum frame_phase {
    FRAME_RESTS,
    FRAME_TO_BEGIN, /* its next step waits for its record on disk, or for a person */
    FRAME_AT_WORK,
    FRAME_STOPPED,
    FRAME_ENDED,
};

bool frame_may_move(const struct frame *frame, enum frame_phase to);

/* The only way to change the phase. A move that is not allowed is asserted. */
void frame_move(struct frame *frame, enum frame_phase to);

#endif
