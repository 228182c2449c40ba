#include "base/machine.h"

#include "base/log.h"

#include <assert.h>
#include <stdio.h>

bool machine_allows(const struct machine *machine, unsigned from, unsigned to)
{
    assert(machine->count <= MACHINE_STATES_MAX && from < machine->count && to < machine->count);
    return machine->moves[from] & MACHINE_TO(to);
}

void machine_move(const struct machine *machine, unsigned *state, unsigned to)
{
    assert(machine_allows(machine, *state, to));
    if (log_enabled(LOG_DEBUG)) {
        char id[64];
        snprintf(id, sizeof id, "%s.moved", machine->name);
        log_write(LOG_DEBUG, id, "%s -> %s", machine->states[*state], machine->states[to]);
    }
    *state = to;
}

const char *machine_state_name(const struct machine *machine, unsigned state)
{
    return state < machine->count ? machine->states[state] : "unknown";
}
