#include "base/log.h"
#include "base/machine.h"

#include "unit.h"

enum lease_state { LEASE_FREE, LEASE_HELD, LEASE_LOST };

static const char *const lease_states[] = {"free", "held", "lost"};
static const uint32_t lease_moves[] = {
    [LEASE_FREE] = MACHINE_TO(LEASE_HELD),
    [LEASE_HELD] = MACHINE_TO(LEASE_FREE) | MACHINE_TO(LEASE_LOST),
    [LEASE_LOST] = 0,
};
static const struct machine lease_machine = MACHINE("lease", lease_states, lease_moves);

static void allowed_moves_are_made(void **state)
{
    enum lease_state lease = LEASE_FREE;
    machine_move(&lease_machine, &lease, LEASE_HELD);
    assert_int_equal(lease, LEASE_HELD);
    machine_move(&lease_machine, &lease, LEASE_FREE);
    machine_move(&lease_machine, &lease, LEASE_HELD);
    machine_move(&lease_machine, &lease, LEASE_LOST);
    assert_string_equal(machine_state_name(&lease_machine, lease), "lost");
}

static void only_the_table_allows(void **state)
{
    static const bool allowed[3][3] = {{false, true, false}, {true, false, true}, {false, false, false}};
    for (unsigned from = 0; from < 3; from++) {
        for (unsigned to = 0; to < 3; to++)
            assert_int_equal(machine_allows(&lease_machine, from, to), allowed[from][to]);
    }
    assert_string_equal(machine_state_name(&lease_machine, 3), "unknown");
}

static void move_out_of_lost(void)
{
    enum lease_state lease = LEASE_LOST;
    machine_move(&lease_machine, &lease, LEASE_HELD);
}

static void move_to_no_state(void)
{
    enum lease_state lease = LEASE_HELD;
    machine_move(&lease_machine, &lease, (enum lease_state)7);
}

static void any_other_move_asserts(void **state)
{
    assert_asserts(move_out_of_lost);
    assert_asserts(move_to_no_state);
}

static void a_move_is_logged_with_both_names(void **state)
{
    int pipes[2], kept = dup(STDERR_FILENO);
    char line[1000] = "";
    enum lease_state lease = LEASE_FREE;
    assert_int_equal(pipe(pipes), 0);
    log_configure("test", LOG_DEBUG, LOG_FORMAT_JSON);
    dup2(pipes[1], STDERR_FILENO);
    machine_move(&lease_machine, &lease, LEASE_HELD);
    dup2(kept, STDERR_FILENO);
    assert_true(read(pipes[0], line, sizeof line - 1) > 0);
    assert_contains(line, "\"id\":\"lease.moved\",\"text\":\"free -> held\"");
    close(kept);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allowed_moves_are_made),
        cmocka_unit_test(only_the_table_allows),
        cmocka_unit_test(any_other_move_asserts),
        cmocka_unit_test(a_move_is_logged_with_both_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
