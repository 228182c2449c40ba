#include "thread_phase.h"
#include "thread.h"

#include "base/machine.h"

static const char *const thread_phases[] = {"loading", "ready", "broken"};
static const uint32_t thread_moves[] = {
    [THREAD_LOADING] = MACHINE_TO(THREAD_READY) | MACHINE_TO(THREAD_BROKEN),
    [THREAD_READY] = MACHINE_TO(THREAD_BROKEN),
    [THREAD_BROKEN] = MACHINE_TO(THREAD_BROKEN),
};
static const struct machine thread_machine = MACHINE("thread", thread_phases, thread_moves);

bool thread_may_move(const struct thread *thread, enum thread_phase to)
{
    return machine_allows(&thread_machine, thread->phase, to);
}

void thread_move(struct thread *thread, enum thread_phase to)
{
    machine_move(&thread_machine, &thread->phase, to);
}
