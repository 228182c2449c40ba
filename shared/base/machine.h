/* A lifecycle: its states and the moves that are allowed between them, as a const table.
 *
 *     enum lease_state { LEASE_FREE, LEASE_HELD, LEASE_LOST };
 *
 *     static const char *const lease_states[] = {"free", "held", "lost"};
 *     static const uint32_t lease_moves[] = {
 *         [LEASE_FREE] = MACHINE_TO(LEASE_HELD),
 *         [LEASE_HELD] = MACHINE_TO(LEASE_FREE) | MACHINE_TO(LEASE_LOST),
 *         [LEASE_LOST] = 0,
 *     };
 *     static const struct machine lease_machine = MACHINE("lease", lease_states, lease_moves);
 *
 *     machine_move(&lease_machine, &lease->state, LEASE_HELD); */
#ifndef RENGA_BASE_MACHINE_H
#define RENGA_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_STATES_MAX 32
#define MACHINE_TO(state)  (UINT32_C(1) << (state))

struct machine {
    const char *name; /* a move is logged as "<name>.moved" */
    const char *const *states;
    unsigned count;
    const uint32_t *moves; /* for each state the set of those it may move to */
};

/* Both tables have an entry for every state, or this does not compile. */
#define MACHINE(machine_name, state_names, state_moves)                                                                \
    {                                                                                                                  \
        .name = machine_name, .states = state_names,                                                                   \
        .count = sizeof(state_names) / sizeof((state_names)[0]) +                                                      \
                 0 * sizeof(char[sizeof(state_names) / sizeof((state_names)[0]) ==                                     \
                                         sizeof(state_moves) / sizeof((state_moves)[0])                                \
                                     ? 1                                                                               \
                                     : -1]),                                                                           \
        .moves = state_moves                                                                                           \
    }

bool machine_allows(const struct machine *machine, unsigned from, unsigned to);

/* The only way to change a state. A move that the table does not have is our own bug and asserted. */
void machine_move(const struct machine *machine, unsigned *state, unsigned to);

const char *machine_state_name(const struct machine *machine, unsigned state);

#endif
