/* Agents with runs that leave the thread as it was, unless they come to their end. */
#include "unit.h"

#include "checkpoint_fixture.h"

#define ATOMIC "\"atomic\": true, " AB

static char *start_exit(const char *input, Renga__V1__OnBusy on_busy)
{
    static char ids[8][64];
    static unsigned next;
    char *id = ids[next++ % 8];
    Renga__V1__StartRunRequest request = request_at("", input, on_busy);
    request.durability = RENGA__V1__DURABILITY__DURABILITY_EXIT;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    snprintf(id, 64, "%s", response->run->run_id);
    ask_end(sent);
    return id;
}

static void break_b(void)
{
    struct script_call *call = script_find("b", NULL, -1);
    assert_non_null(call);
    INSIDE(&stage, script_break(call, FAILED_PRECONDITION, "no"));
}

static void restart_after_crash(void)
{
    restart();
    INSIDE(&stage, runner_recover(stage.runner));
    for (int i = 0; i < 10; i++)
        stage_settle(&stage, 0);
}

#define BEFORE "{\"log\":[\"0\",\"a\"],\"n\":0}"
#define ALSO_2 "{\"log\":[\"0\",\"a\",\"2\",\"a\"],\"n\":0}"

static void assert_undone(const char *run, Renga__V1__RunState wanted)
{
    Renga__V1__Run *is = get(&stage, run);
    assert_int_equal(is->state, wanted);
    assert_true(is->undone);
}

static void a_run_that_fails_leaves_the_thread_as_it_was(void **state)
{
    set_stage(ATOMIC);
    go_through("{\"log\":[\"0\"]}");
    char *run = start(&stage, "t", "{\"log\":[\"1\"]}");
    assert_string_equal(state_of("t"), "{\"log\":[\"0\",\"a\",\"1\",\"a\"],\"n\":0}");
    break_b();
    assert_undone(run, FAILED);
    assert_state(BEFORE);
    assert_undone(run, FAILED);
    go_through("{\"log\":[\"2\"]}");
    assert_state(ALSO_2);
    stage_clear(&stage);
}

static void a_run_that_is_cancelled_leaves_the_thread_as_it_was(void **state)
{
    set_stage(ATOMIC);
    go_through("{\"log\":[\"0\"]}");
    char *run = start_exit("{\"log\":[\"1\"]}", 0);
    cancel(&stage, run);
    assert_undone(run, STOPPED);
    assert_state(BEFORE);
    go_through("{\"log\":[\"2\"]}");
    assert_state(ALSO_2);
    stage_clear(&stage);
}

static void a_first_run_that_fails_leaves_no_state(void **state)
{
    set_stage(ATOMIC);
    start_exit("{\"log\":[\"1\"]}", 0);
    break_b();
    assert_state("{}");
    assert_false(update_at("", "{\"n\":1}"));
    assert_contains(last_status.text, "has no state yet");
    start_exit("{\"log\":[\"1\"]}", 0);
    break_b();
    assert_state("{}");
    go_through("{\"log\":[\"0\"]}");
    assert_state(BEFORE);
    stage_clear(&stage);
}

static void a_run_that_is_taken_up_after_a_crash_and_fails_leaves_the_thread_as_it_was(void **state)
{
    for (int durable = 0; durable < 2; durable++) {
        set_stage(ATOMIC);
        go_through("{\"log\":[\"0\"]}");
        char *run = durable ? start(&stage, "t", "{\"log\":[\"1\"]}") : start_exit("{\"log\":[\"1\"]}", 0);
        restart_after_crash();
        assert_run(&stage, run, RUNNING, "");
        break_b();
        assert_undone(run, FAILED);
        assert_state(BEFORE);
        start_exit("{\"log\":[\"2\"]}", 0);
        restart_after_crash();
        end_b();
        assert_state(ALSO_2);
        stage_clear(&stage);
    }
}

static void runs_in_the_queue_begin_where_the_undone_one_did(void **state)
{
    const Renga__V1__OnBusy queue = RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE;
    set_stage(ATOMIC);
    char *first = start_exit("{\"log\":[\"0\"]}", queue);
    char *second = start_exit("{\"log\":[\"1\"]}", queue), *third = start_exit("{\"log\":[\"1\"]}", queue);
    char *last = start_exit("{\"log\":[\"2\"]}", queue);
    end_b();
    break_b();
    break_b();
    end_b();
    assert_run(&stage, first, SUCCEEDED, BEFORE);
    assert_undone(second, FAILED);
    assert_undone(third, FAILED);
    assert_run(&stage, last, SUCCEEDED, ALSO_2);
    assert_state(ALSO_2);
    stage_clear(&stage);
}

static void an_undone_run_goes_on_when_it_is_resumed(void **state)
{
    set_stage(ATOMIC);
    go_through("{\"log\":[\"0\"]}");
    char *run = start_exit("{\"log\":[\"2\"]}", 0);
    break_b();
    assert_state(BEFORE);
    assert_non_null(resume(&stage, run, NULL));
    end_b();
    assert_run(&stage, run, SUCCEEDED, ALSO_2);
    assert_false(get(&stage, run)->undone);
    assert_state(ALSO_2);
    stage_clear(&stage);
}

static void changes_by_hand_and_forks_take_the_state_before_an_undone_run(void **state)
{
    char before[64];
    set_stage(ATOMIC);
    snprintf(before, sizeof before, "%s", go_through("{\"log\":[\"0\"]}"));
    start_exit("{\"log\":[\"1\"]}", 0);
    break_b();
    Renga__V1__ForkThreadRequest fork = RENGA__V1__FORK_THREAD_REQUEST__INIT;
    fork.thread_id = (char *)(uintptr_t) "t";
    fork.new_thread_id = (char *)(uintptr_t) "u";
    struct test_request *sent = ask_runner(&stage, &fork);
    Renga__V1__ForkThreadResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    ask_end(sent);
    assert_string_equal(state_of("u"), BEFORE);

    Renga__V1__UpdateStateRequest update = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    update.thread_id = (char *)(uintptr_t) "t";
    update.expected_checkpoint_id = before;
    update.update_json = (char *)(uintptr_t) "{\"n\":7}";
    sent = ask_runner(&stage, &update);
    if (!answer_of(sent))
        fail_msg("%s", last_status.text);
    ask_end(sent);
    assert_state("{\"log\":[\"0\",\"a\"],\"n\":7}");
    stage_clear(&stage);
}

static void the_history_that_an_undone_run_goes_back_to_is_kept(void **state)
{
    Renga__V1__Retention retention = RENGA__V1__RETENTION__INIT;
    retention.max_checkpoints = 1;
    set_stage(ATOMIC);
    INSIDE(&stage, runner_recover(stage.runner));
    Renga__V1__StartRunRequest request = request_at("", "{\"log\":[\"0\"]}", 0);
    request.retention = &retention;
    assert_int_equal(began(&request), RUNNING);
    end_b();
    start_exit("{\"log\":[\"1\"]}", 0);
    break_b();
    for (int i = 0; i < 80; i++)
        stage_settle(&stage, i ? 10 : 60000);
    assert_state(BEFORE);
    go_through("{\"log\":[\"2\"]}");
    assert_state(ALSO_2);
    stage_clear(&stage);
}

static void a_snapshot_knows_that_the_last_run_is_undone(void **state)
{
    stage_snapshot_every = 1;
    set_stage("\"atomic\": true, \"recursion_limit\": 4, \"start\": \"a\", \"state\": {\"n\": {\"type\": \"integer\", "
              "\"reduce\": \"sum\"}, \"on\": {\"type\": \"boolean\"}}, \"nodes\": {"
              "\"a\": {\"kind\": \"choose\", \"cases\": [{\"when\": {\"field\": \"on\", \"equals\": true}, "
              "\"outcome\": \"on\"}], \"else\": \"off\", \"on\": {\"on\": \"b\", \"off\": \"end\"}},"
              "\"b\": {\"kind\": \"set\", \"values\": {\"n\": 1}, \"on\": {\"done\": \"a\"}}}");
    char *run = start(&stage, "t", "{\"n\":5,\"on\":false}");
    assert_run(&stage, run, SUCCEEDED, "");
    run = start_exit("{\"on\":true}", 0);
    assert_undone(run, FAILED);
    assert_state("{\"n\":5,\"on\":false}");
    assert_undone(run, FAILED);
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

static void what_sub_graphs_remember_is_as_it_was_too(void **state)
{
    set_stage(
        "\"atomic\": true, \"state\": {\"n\": {\"type\": \"integer\"}}, \"start\": \"g\", \"nodes\": {"
        "\"g\": {\"kind\": \"graph\", \"graph\": \"sub\", \"on\": {\"done\": \"b\"}}, \"b\": {\"kind\": \"script\"}},"
        "\"graphs\": {\"sub\": {\"memory\": \"thread\", \"state\": {\"n\": {\"type\": \"integer\", \"reduce\": "
        "\"sum\"}}, \"input\": [], \"start\": \"s\", \"nodes\": {\"s\": {\"kind\": \"set\", \"values\": {\"n\": "
        "1}}}}}");
    start(&stage, "t", "");
    end_b();
    assert_state("{\"n\":1}");
    start(&stage, "t", "");
    break_b();
    assert_state("{\"n\":1}");
    start(&stage, "t", "");
    end_b();
    assert_state("{\"n\":2}");
    stage_clear(&stage);
}

static char *start_pruned(const char *input)
{
    static char id[64];
    Renga__V1__Retention one = RENGA__V1__RETENTION__INIT;
    Renga__V1__StartRunRequest request = request_at("", input, 0);
    one.max_checkpoints = 1;
    request.retention = &one;
    request.durability = RENGA__V1__DURABILITY__DURABILITY_EXIT;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_non_null(response);
    snprintf(id, sizeof id, "%s", response->run->run_id);
    ask_end(sent);
    return id;
}

static void a_thread_that_keeps_one_checkpoint_is_pruned_with_the_end_of_its_run(void **state)
{
    set_stage(ATOMIC);
    for (int i = 0; i < 3; i++) {
        start_pruned("{\"log\":[\"0\"]}");
        end_b();
        assert_int_equal(stage_rows(&stage, KEY_RECORD), 2); /* the last step, and the end of the run */
        assert_int_equal(stage_rows(&stage, KEY_SNAPSHOT), 1);
        assert_int_equal(stage_rows(&stage, KEY_RUN), i + 1);
    }
    assert_state("{\"log\":[\"0\",\"a\",\"0\",\"a\",\"0\",\"a\"],\"n\":0}");
    char *run = start_pruned("{\"log\":[\"1\"]}");
    break_b();
    assert_undone(run, FAILED);
    assert_state("{\"log\":[\"0\",\"a\",\"0\",\"a\",\"0\",\"a\"],\"n\":0}");
    start_pruned("{\"log\":[\"2\"]}");
    end_b();
    assert_state("{\"log\":[\"0\",\"a\",\"0\",\"a\",\"0\",\"a\",\"2\",\"a\"],\"n\":0}");
    assert_int_equal(stage_rows(&stage, KEY_RECORD), 2);
    stage_clear(&stage);
}

/* The failed attempt is on disk before the next one, also where its record joins a batch that gathers. */
static void a_failed_attempt_is_followed_by_another_while_records_gather(void **state)
{
    set_stage("\"atomic\": true, " STATE
              "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, "
              "\"on\": {\"done\": \"b\"}}, \"b\": {\"kind\": \"set\", \"values\": {\"log\": [\"b\"]}, \"on\": "
              "{\"done\": \"c\"}}, \"c\": {\"kind\": \"script\", \"retry\": {\"attempts\": 2, \"base\": \"100ms\"}}}");
    char *run = start_exit("{}", 0);
    assert_int_equal(script_runs("c"), 1);
    INSIDE(&stage, script_break(script_find("c", NULL, -1), UNAVAILABLE, "it is gone"));
    stage_settle(&stage, 200);
    stage_settle(&stage, 10);
    assert_int_equal(script_runs("c"), 2);
    INSIDE(&stage, script_break(script_find("c", NULL, -1), UNAVAILABLE, "it is gone"));
    assert_int_equal(get(&stage, run)->state, FAILED);
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_fails_leaves_the_thread_as_it_was),
        cmocka_unit_test(a_run_that_is_cancelled_leaves_the_thread_as_it_was),
        cmocka_unit_test(a_first_run_that_fails_leaves_no_state),
        cmocka_unit_test(a_run_that_is_taken_up_after_a_crash_and_fails_leaves_the_thread_as_it_was),
        cmocka_unit_test(runs_in_the_queue_begin_where_the_undone_one_did),
        cmocka_unit_test(an_undone_run_goes_on_when_it_is_resumed),
        cmocka_unit_test(changes_by_hand_and_forks_take_the_state_before_an_undone_run),
        cmocka_unit_test(the_history_that_an_undone_run_goes_back_to_is_kept),
        cmocka_unit_test(a_snapshot_knows_that_the_last_run_is_undone),
        cmocka_unit_test(what_sub_graphs_remember_is_as_it_was_too),
        cmocka_unit_test(a_thread_that_keeps_one_checkpoint_is_pruned_with_the_end_of_its_run),
        cmocka_unit_test(a_failed_attempt_is_followed_by_another_while_records_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
