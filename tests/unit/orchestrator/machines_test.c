/* The state machines of the orchestrator: each move that is allowed is made, each other move is refused. A table here
 * has a row for each state, with a letter for each state that follows it, in the order of the enum. */
#include "thread/frame.h"
#include "thread/run.h"
#include "thread/thread.h"
#include "watch/subscribers.h"

#include "unit.h"

struct machine_case {
    const char *name;
    unsigned count;
    const char *const *allowed; /* "x": the move is allowed, ".": it is not */
    bool (*may_move)(unsigned from, unsigned to);
    unsigned (*move)(unsigned from, unsigned to); /* gives the state behind it */
};

/* ---- an activation ----------------------------------------------------------------------------------------------- */

static const char *const activation_allowed[] = {
    [ACTIVATION_PENDING] = "xxx.xxx", [ACTIVATION_READY] = "xxx..x.",    [ACTIVATION_AT_WORK] = "x.xxxxx",
    [ACTIVATION_RESTS] = "xx.....",   [ACTIVATION_FINISHED] = "x......", [ACTIVATION_FAILED] = "x......",
    [ACTIVATION_WAITING] = "x......",
};

static bool activation_may(unsigned from, unsigned to)
{
    struct activation activation = {.state = from};
    return activation_may_move(&activation, to);
}

static unsigned activation_moved(unsigned from, unsigned to)
{
    struct activation activation = {.state = from};
    activation_move(&activation, to);
    return activation.state;
}

/* ---- a branch ---------------------------------------------------------------------------------------------------- */

static const char *const branch_allowed[] = {
    [BRANCH_UNOPENED] = ".x.x",
    [BRANCH_OPEN] = "..xx",
    [BRANCH_STOPPED] = ".x..",
    [BRANCH_ENDED] = "....",
};

static bool branch_may(unsigned from, unsigned to)
{
    struct branch branch = {.state = from};
    return branch_may_move(&branch, to);
}

static unsigned branch_moved(unsigned from, unsigned to)
{
    struct branch branch = {.state = from};
    branch_move(&branch, to);
    return branch.state;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

#define STATE(name) RENGA__V1__RUN_STATE__RUN_STATE_##name

static const char *const run_allowed[] = {
    [STATE(UNSPECIFIED)] = ".x.....", [STATE(QUEUED)] = "..x..xx",    [STATE(RUNNING)] = "..xxxxx",
    [STATE(WAITING)] = "..x..xx",     [STATE(SUCCEEDED)] = "..x....", [STATE(FAILED)] = "..x....",
    [STATE(CANCELLED)] = "..x...x",
};

static bool run_may(unsigned from, unsigned to)
{
    struct run run = {.state = from};
    return run_may_move(&run, to);
}

static unsigned run_moved(unsigned from, unsigned to)
{
    struct run run = {.state = from};
    run_move(&run, to);
    return run.state;
}

static void a_snapshot_has_runs_in_states_that_fit_their_place(void **state)
{
    for (unsigned to = 0; to <= STATE(CANCELLED) + 1; to++)
        for (int waits = 0; waits < 2; waits++) {
            struct run run = {0};
            bool fits = waits ? to == STATE(QUEUED) : to > STATE(QUEUED) && to <= STATE(CANCELLED);
            assert_int_equal(run_take_state(&run, to, waits), fits);
            assert_int_equal(run.state, fits ? to : 0);
        }
}

static void a_state_that_no_release_knows_is_no_move_of_a_run(void **state)
{
    struct run run = {.state = STATE(RUNNING)};
    assert_false(run_may_move(&run, STATE(CANCELLED) + 1));
    assert_false(run_may_move(&run, 1000));
}

/* ---- a frame ------------------------------------------------------------------------------------------------------
 */

static const char *const frame_allowed[] = {
    [FRAME_RESTS] = "xxxxx",   [FRAME_TO_BEGIN] = "xxxxx", [FRAME_AT_WORK] = "xx.xx",
    [FRAME_STOPPED] = "xx..x", [FRAME_ENDED] = "xx..x",
};

static bool frame_may(unsigned from, unsigned to)
{
    struct frame frame = {.phase = from};
    return frame_may_move(&frame, to);
}

static unsigned frame_moved(unsigned from, unsigned to)
{
    struct frame frame = {.phase = from};
    frame_move(&frame, to);
    return frame.phase;
}

/* ---- a thread -----------------------------------------------------------------------------------------------------
 */

static const char *const thread_allowed[] = {
    [THREAD_LOADING] = ".xx",
    [THREAD_READY] = "..x",
    [THREAD_BROKEN] = "..x",
};

static bool thread_may(unsigned from, unsigned to)
{
    struct thread thread = {.phase = from};
    return thread_may_move(&thread, to);
}

static unsigned thread_moved(unsigned from, unsigned to)
{
    struct thread thread = {.phase = from};
    thread_move(&thread, to);
    return thread.phase;
}

/* ---- a subscription -----------------------------------------------------------------------------------------------
 */

static const char *const subscription_allowed[] = {
    [SUBSCRIPTION_ASKED] = ".x....xx",   [SUBSCRIPTION_BEHIND] = "..xx.x.x", [SUBSCRIPTION_READING] = ".x..x.x.",
    [SUBSCRIPTION_LIVE] = ".x...x.x",    [SUBSCRIPTION_ENDING] = ".....xx.", [SUBSCRIPTION_ENDED] = ".......x",
    [SUBSCRIPTION_LEAVING] = ".......x", [SUBSCRIPTION_LEFT] = "........",
};

static bool subscription_may(unsigned from, unsigned to)
{
    struct subscription subscription = {.state = from};
    return subscription_may_move(&subscription, to);
}

static unsigned subscription_moved(unsigned from, unsigned to)
{
    struct subscription subscription = {.state = from};
    subscription_move(&subscription, to);
    return subscription.state;
}

/* ---- its watcher --------------------------------------------------------------------------------------------------
 */

static const char *const watcher_allowed[] = {
    [WATCHER_WATCHES] = ".xx",
    [WATCHER_ENDED] = "...",
    [WATCHER_REFUSED] = "...",
};

static bool watcher_may(unsigned from, unsigned to)
{
    struct subscription subscription = {.watcher_state = from};
    return watcher_may_move(&subscription, to);
}

static unsigned watcher_moved(unsigned from, unsigned to)
{
    struct subscription subscription = {.watcher_state = from};
    watcher_move(&subscription, to);
    return subscription.watcher_state;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static const struct machine_case cases[] = {
    {"activation", ACTIVATION_WAITING + 1, activation_allowed, activation_may, activation_moved},
    {"branch", BRANCH_ENDED + 1, branch_allowed, branch_may, branch_moved},
    {"run", STATE(CANCELLED) + 1, run_allowed, run_may, run_moved},
    {"frame", FRAME_ENDED + 1, frame_allowed, frame_may, frame_moved},
    {"thread", THREAD_BROKEN + 1, thread_allowed, thread_may, thread_moved},
    {"subscription", SUBSCRIPTION_LEFT + 1, subscription_allowed, subscription_may, subscription_moved},
    {"watcher", WATCHER_REFUSED + 1, watcher_allowed, watcher_may, watcher_moved},
};
#define CASES (sizeof cases / sizeof *cases)

static const struct machine_case *asserted;
static unsigned asserted_from, asserted_to;

static void move_asserted(void)
{
    asserted->move(asserted_from, asserted_to);
}

static bool is_allowed(const struct machine_case *machine, unsigned from, unsigned to)
{
    assert_int_equal(strlen(machine->allowed[from]), machine->count);
    return machine->allowed[from][to] == 'x';
}

static void each_allowed_move_is_made(void **state)
{
    for (size_t i = 0; i < CASES; i++)
        for (unsigned from = 0; from < cases[i].count; from++)
            for (unsigned to = 0; to < cases[i].count; to++) {
                if (!is_allowed(&cases[i], from, to))
                    continue;
                if (!cases[i].may_move(from, to) || cases[i].move(from, to) != to)
                    fail_msg("%s: %u -> %u is refused", cases[i].name, from, to);
            }
}

static void each_other_move_is_refused_and_asserts(void **state)
{
    for (size_t i = 0; i < CASES; i++)
        for (unsigned from = 0; from < cases[i].count; from++)
            for (unsigned to = 0; to < cases[i].count; to++) {
                if (is_allowed(&cases[i], from, to))
                    continue;
                if (cases[i].may_move(from, to))
                    fail_msg("%s: %u -> %u is allowed", cases[i].name, from, to);
                asserted = &cases[i];
                asserted_from = from;
                asserted_to = to;
                assert_asserts(move_asserted);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allowed_move_is_made),
        cmocka_unit_test(each_other_move_is_refused_and_asserts),
        cmocka_unit_test(a_snapshot_has_runs_in_states_that_fit_their_place),
        cmocka_unit_test(a_state_that_no_release_knows_is_no_move_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
