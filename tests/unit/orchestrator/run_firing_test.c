/* In dataflow two edges lead in two steps to a node that holds a graph: its firings go one after the other. */
#include "unit.h"

#include "migrate_fixture.h"

#define S "\"kind\": \"script\""
#define TWICE(mode)                                                                                                    \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, " mode " \"start\": [\"a\", \"b\"], "     \
    "\"nodes\": {\"a\": {" S ", \"on\": {\"done\": \"w\"}}, \"b\": {" S ", \"on\": {\"done\": \"w\"}}, \"w\": "        \
    "{\"kind\": \"graph\", \"graph\": \"sub\", \"in\": {}, \"out\": {\"log\": \"log\"}}}, \"graphs\": {\"sub\": "      \
    "{\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, \"start\": \"n\", \"nodes\": {\"n\": "   \
    "{" S ", \"on\": {\"done\": \"m\"}}, \"m\": {" S "}}}}"
#define FLOWS TWICE("\"mode\": \"dataflow\",")
#define STEPS TWICE("")
#define ENDS  6

static const char *const nodes[ENDS] = {"a", "b", "n", "m", "n", "m"};
static const char *const writes[ENDS] = {
    "", "", "{\"log\":[\"n1\"]}", "{\"log\":[\"m1\"]}", "{\"log\":[\"n2\"]}", "{\"log\":[\"m2\"]}"};
static char keys[ENDS][64];

static void end_next(int i)
{
    struct script_call *call = script_find(nodes[i], NULL, -1);
    if (!call) {
        fail_msg("'%s' is not at work at %d", nodes[i], i);
        return;
    }
    snprintf(keys[i], sizeof keys[i], "%s", call->key);
    INSIDE(&stage, script_write(call, "", writes[i]));
}

static void assert_keys_differ(void)
{
    for (int i = 0; i < ENDS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
}

#define OUT "{\"log\":[\"n1\",\"m1\",\"n2\",\"m2\"]}"

static void a_graph_that_is_activated_twice_is_at_work_once_whenever_it_crashes(void **state)
{
    for (int crash = 0; crash <= ENDS; crash++) {
        set_stage(FLOWS);
        char *run = start(&stage, "t", "");
        for (int i = 0; i < ENDS; i++) {
            if (i == crash)
                restart();
            get(&stage, run);
            assert_int_equal(script_live, i < 2 ? 2 : 1);
            end_next(i);
        }
        if (crash == ENDS)
            restart();
        assert_keys_differ();
        assert_run(&stage, run, SUCCEEDED, OUT);
        stage_clear(&stage);
    }
}

/* "a" and "b" have ended: the first firing is at work, the second waits. */
static char *pause_twice(void)
{
    set_stage(FLOWS);
    char *run = start(&stage, "t", "");
    end_next(0);
    end_next(1);
    assert_int_equal(script_live, 1);
    return run;
}

static void at_a_checkpoint_both_are_activated_and_still_differ(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    static char checkpoint[64];
    char *run = pause_twice();
    snprintf(checkpoint, sizeof checkpoint, "%s", get(&stage, run)->checkpoint_id);
    cancel(&stage, run);
    request.checkpoint_id = checkpoint;
    ask_end(start_with(&stage, &request, "t", ""));
    for (int i = 2; i < ENDS; i++) {
        assert_int_equal(script_live, 1);
        end_next(i);
    }
    assert_keys_differ();
    assert_string_equal(get_state(&stage, "t", ""), OUT);
    restart();
    assert_string_equal(get_state(&stage, "t", ""), OUT);
    stage_clear(&stage);
}

/* Its steps have no turns: the second is a branch. */
static void moved_to_supersteps_they_are_branches(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char *run = pause_twice();
        end_next(2);
        cancel(&stage, run);
        write_version(STEPS);
        if (!migrate(run, NULL, NULL, false))
            fail_msg("%s", last_status.text);
        if (restarts)
            restart();
        resume(&stage, run, NULL);
        assert_non_null(script_find("m", "w", -1));
        assert_non_null(script_find("n", "w[1]", -1));
        end_next(4);
        if (restarts)
            restart();
        get(&stage, run);
        end_next(3);
        end_next(5);
        assert_keys_differ();
        assert_run(&stage, run, SUCCEEDED, "");
        char before[512];
        snprintf(before, sizeof before, "%s", get_state(&stage, "t", ""));
        restart();
        assert_string_equal(get_state(&stage, "t", ""), before);
        stage_clear(&stage);
    }
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_that_is_activated_twice_is_at_work_once_whenever_it_crashes),
        cmocka_unit_test(at_a_checkpoint_both_are_activated_and_still_differ),
        cmocka_unit_test(moved_to_supersteps_they_are_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
