#include "branch_state.h"
#include "frame.h"

#include "base/machine.h"

static const char *const branch_states[] = {"unopened", "open", "stopped", "ended"};
static const uint32_t branch_moves[] = {
    [BRANCH_UNOPENED] = MACHINE_TO(BRANCH_OPEN) | MACHINE_TO(BRANCH_ENDED),
    [BRANCH_OPEN] = MACHINE_TO(BRANCH_STOPPED) | MACHINE_TO(BRANCH_ENDED),
    [BRANCH_STOPPED] = MACHINE_TO(BRANCH_OPEN),
    [BRANCH_ENDED] = 0,
};
static const struct machine branch_machine = MACHINE("branch", branch_states, branch_moves);

bool branch_may_move(const struct branch *branch, enum branch_state to)
{
    return machine_allows(&branch_machine, branch->state, to);
}

void branch_move(struct branch *branch, enum branch_state to)
{
    machine_move(&branch_machine, &branch->state, to);
}
