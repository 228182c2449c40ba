#include "run_state.h"
#include "run.h"
#include "thread.h"

#include "base/machine.h"
#include "base/status.h"

#define TO(state) MACHINE_TO(RENGA__V1__RUN_STATE__RUN_STATE_##state)

static const char *const run_states[] = {"none", "queued", "running", "waiting", "succeeded", "failed", "cancelled"};
static const uint32_t run_moves[] = {
    [RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED] = TO(QUEUED),
    [RENGA__V1__RUN_STATE__RUN_STATE_QUEUED] = TO(RUNNING) | TO(FAILED) | TO(CANCELLED),
    [RENGA__V1__RUN_STATE__RUN_STATE_RUNNING] = TO(RUNNING) | TO(WAITING) | TO(SUCCEEDED) | TO(FAILED) | TO(CANCELLED),
    [RENGA__V1__RUN_STATE__RUN_STATE_WAITING] = TO(RUNNING) | TO(FAILED) | TO(CANCELLED),
    [RENGA__V1__RUN_STATE__RUN_STATE_SUCCEEDED] = TO(RUNNING),
    [RENGA__V1__RUN_STATE__RUN_STATE_FAILED] = TO(RUNNING),
    [RENGA__V1__RUN_STATE__RUN_STATE_CANCELLED] = TO(RUNNING) | TO(CANCELLED), /* CALLER_LEFT, then by CancelRun */
};
static const struct machine run_machine = MACHINE("run", run_states, run_moves);

bool run_may_move(const struct run *run, Renga__V1__RunState to)
{
    return (unsigned)to < run_machine.count && machine_allows(&run_machine, run->state, to);
}

bool run_check_move(const struct run *run, Renga__V1__RunState to, struct status *st)
{
    return run_may_move(run, to) ||
           fail(st, DATA_LOSS, "thread '%s': a record moves run %s from %s to %s", run->thread->id, run->id,
                machine_state_name(&run_machine, run->state), machine_state_name(&run_machine, to));
}

void run_move(struct run *run, Renga__V1__RunState to)
{
    machine_move(&run_machine, &run->state, to);
}

bool run_take_state(struct run *run, Renga__V1__RunState state, bool waits)
{
    if (state == RENGA__V1__RUN_STATE__RUN_STATE_UNSPECIFIED || (unsigned)state >= run_machine.count ||
        (state == RENGA__V1__RUN_STATE__RUN_STATE_QUEUED) != waits)
        return false;
    run->state = state;
    return true;
}
