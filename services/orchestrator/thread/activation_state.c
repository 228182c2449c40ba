#include "activation_state.h"
#include "frame.h"

#include "base/machine.h"

#define PENDING MACHINE_TO(ACTIVATION_PENDING)
#define READY   MACHINE_TO(ACTIVATION_READY)
#define AT_WORK MACHINE_TO(ACTIVATION_AT_WORK)
#define RESULTS (MACHINE_TO(ACTIVATION_FINISHED) | MACHINE_TO(ACTIVATION_FAILED) | MACHINE_TO(ACTIVATION_WAITING))

static const char *const activation_states[] = {"pending",  "ready",  "at work", "rests",
                                                "finished", "failed", "waiting"};
static const uint32_t activation_moves[] = {
    [ACTIVATION_PENDING] = PENDING | READY | AT_WORK | RESULTS,
    [ACTIVATION_READY] = PENDING | READY | AT_WORK | MACHINE_TO(ACTIVATION_FAILED),
    [ACTIVATION_AT_WORK] = PENDING | AT_WORK | MACHINE_TO(ACTIVATION_RESTS) | RESULTS,
    [ACTIVATION_RESTS] = PENDING | READY,
    [ACTIVATION_FINISHED] = PENDING,
    [ACTIVATION_FAILED] = PENDING,
    [ACTIVATION_WAITING] = PENDING,
};
static const struct machine activation_machine = MACHINE("activation", activation_states, activation_moves);

bool activation_may_move(const struct activation *activation, enum activation_state to)
{
    return machine_allows(&activation_machine, activation->state, to);
}

void activation_move(struct activation *activation, enum activation_state to)
{
    machine_move(&activation_machine, &activation->state, to);
}
