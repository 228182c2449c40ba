#include "frame_phase.h"
#include "frame.h"

#include "base/machine.h"

#define RESTS    MACHINE_TO(FRAME_RESTS)
#define TO_BEGIN MACHINE_TO(FRAME_TO_BEGIN)
#define AT_WORK  MACHINE_TO(FRAME_AT_WORK)
#define STOPPED  MACHINE_TO(FRAME_STOPPED)
#define ENDED    MACHINE_TO(FRAME_ENDED)

static const char *const frame_phases[] = {"rests", "to begin", "at work", "stopped", "ended"};
static const uint32_t frame_moves[] = {
    [FRAME_RESTS] = RESTS | TO_BEGIN | AT_WORK | STOPPED | ENDED,
    [FRAME_TO_BEGIN] = RESTS | TO_BEGIN | AT_WORK | STOPPED | ENDED,
    [FRAME_AT_WORK] = RESTS | TO_BEGIN | STOPPED | ENDED,
    [FRAME_STOPPED] = RESTS | TO_BEGIN | ENDED,
    [FRAME_ENDED] = RESTS | TO_BEGIN | ENDED,
};
static const struct machine frame_machine = MACHINE("frame", frame_phases, frame_moves);

bool frame_may_move(const struct frame *frame, enum frame_phase to)
{
    return machine_allows(&frame_machine, frame->phase, to);
}

void frame_move(struct frame *frame, enum frame_phase to)
{
    machine_move(&frame_machine, &frame->phase, to);
}
