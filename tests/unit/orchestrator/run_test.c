/* Runs from their start to their end: steps, edges, joins, reducers, limits, over a store in memory. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define LOG "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"x\": {\"type\": \"string\"}},"
#define S   "\"kind\": \"script\""

static void a_run_of_one_node_comes_to_its_end(void **state)
{
    stage_set(&stage, "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\"}}");
    char *run = start(&stage, "t", "");
    assert_run(&stage, run, SUCCEEDED, "{}");
    assert_int_equal(get(&stage, run)->step, 1);
    stage_clear(&stage);
}

static void nodes_write_one_after_the_other(void **state)
{
    stage_set(&stage, "\"state\": {\"q\": {\"type\": \"string\"}, \"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}},"
                      "\"start\": \"a\", \"nodes\": {"
                      "\"a\": {\"kind\": \"set\", \"values\": {\"n\": 2}, \"on\": {\"done\": \"b\"}},"
                      "\"b\": {\"kind\": \"set\", \"values\": {\"n\": 3}}}");
    char *run = start(&stage, "t", "{\"q\":\"x\"}");
    assert_run(&stage, run, SUCCEEDED, "{\"q\":\"x\",\"n\":5}");
    run = start(&stage, "t", "{\"q\":\"y\"}"); /* the thread remembers */
    assert_run(&stage, run, SUCCEEDED, "{\"q\":\"y\",\"n\":10}");
    stage_clear(&stage);
}

static void write_log(const char *node, const char *word)
{
    char update[64];
    struct script_call *call = script_find(node, NULL, -1);
    assert_non_null(call);
    snprintf(update, sizeof update, "{\"log\":[\"%s\"]}", word);
    INSIDE(&stage, script_write(call, "", update));
}

static void parallel_appends_keep_the_order_of_their_nodes(void **state)
{
    stage_set(&stage,
              LOG "\"start\": [\"a\", \"b\", \"c\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}, \"c\": {" S "}}");
    char *run = start(&stage, "t", "{\"log\":[\"0\"]}");
    assert_int_equal(script_live, 3);
    write_log("c", "c");
    write_log("b", "b");
    assert_run(&stage, run, RUNNING, "");
    for (size_t i = 0; i < 3; i++) /* the state before the step */
        assert_string_equal(script_calls[i].state, "{\"log\":[\"0\"]}");
    write_log("a", "a");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"0\",\"a\",\"b\",\"c\"]}");
    assert_int_equal(get(&stage, run)->step, 1);
    stage_clear(&stage);
}

static void two_plain_writers_fail_the_run_and_the_thread_stays_usable(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "{\"x\":\"before\"}");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"x\":\"1\"}"));
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "{\"x\":\"2\"}"));
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT);
    assert_contains(stopped->stop_text, "'x'");
    assert_contains(stopped->output_json, "\"x\":\"before\"");
    run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"x\":\"1\"}"));
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[],\"x\":\"1\"}");
    stage_clear(&stage);
}

static void a_conflict_runs_its_nodes_again_when_it_is_resumed(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"x\":\"1\"}"));
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "{\"x\":\"2\"}"));
    assert_run(&stage, run, FAILED, "");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 2);
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", ""));
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "{\"x\":\"2\"}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[],\"x\":\"2\"}");
    stage_clear(&stage);
}

static void a_wrong_write_fails_the_run_and_names_the_field(void **state)
{
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"x\":1}"));
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_STATE_CONFLICT);
    assert_contains(stopped->stop_text, "'x'");
    assert_int_equal(stopped->n_failures, 1);
    stage_clear(&stage);
}

static void a_failed_sibling_alone_is_run_again(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    write_log("a", "a");
    INSIDE(&stage, script_break(script_find("b", NULL, -1), UNAVAILABLE, "not now"));
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_NODE_FAILED);
    assert_int_equal(stopped->status_code, UNAVAILABLE);
    assert_string_equal(stopped->failures[0]->node, "b");
    for (int attempt = 2; attempt <= 3; attempt++) {
        assert_int_equal(resume(&stage, run, NULL)->state, RUNNING);
        assert_int_equal(script_live, 1);
        struct script_call *call = script_find("b", NULL, -1);
        assert_int_equal(call->attempt, attempt);
        assert_string_equal(call->key, script_calls[1].key);
        if (attempt == 2)
            INSIDE(&stage, script_break(call, UNAVAILABLE, "not now"));
    }
    write_log("b", "b");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\"]}");
    assert_int_equal(script_runs("a"), 1);
    stage_clear(&stage);
}

static void retries_end_at_their_limit_and_outside_their_codes(void **state)
{
    stage_set(&stage,
              LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"retry\": {\"attempts\": 3, \"base\": \"100ms\", "
                  "\"codes\": [\"UNAVAILABLE\"]}}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), UNAVAILABLE, "one"));
    assert_int_equal(script_live, 0);
    stage_settle(&stage, 49); /* a pause is half of 100 ms at least, and never more than the whole */
    assert_int_equal(script_live, 0);
    stage_settle(&stage, 51);
    assert_int_equal(script_live, 1);
    INSIDE(&stage, script_break(script_find("a", NULL, -1), UNAVAILABLE, "two"));
    stage_settle(&stage, 200);
    INSIDE(&stage, script_break(script_find("a", NULL, -1), UNAVAILABLE, "three"));
    stage_settle(&stage, 10000);
    assert_int_equal(script_runs("a"), 3);
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->failures[0]->attempts, 3);
    assert_contains(stopped->stop_text, "three");
    run = start(&stage, "u", "");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), INVALID_ARGUMENT, "wrong"));
    assert_run(&stage, run, FAILED, "");
    assert_int_equal(script_runs("a"), 4);
    stage_clear(&stage);
}

static void a_join_fires_once_and_two_arrows_twice(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {"
                          "\"a\": {\"kind\": \"noop\", \"on\": {\"done\": [\"j\", \"t\"]}},"
                          "\"b\": {\"kind\": \"noop\", \"on\": {\"done\": \"c\"}},"
                          "\"c\": {\"kind\": \"noop\", \"on\": {\"done\": [\"j\", \"t\"]}},"
                          "\"j\": {\"kind\": \"set\", \"values\": {\"log\": [\"j\"]}, \"join\": [\"a\", \"c\"]},"
                          "\"t\": {\"kind\": \"set\", \"values\": {\"log\": [\"t\"]}}}");
    char *run = start(&stage, "t", "");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"t\",\"j\",\"t\"]}");
    stage_clear(&stage);
}

static void a_deferred_node_runs_once_and_last(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {"
                          "\"a\": {\"kind\": \"noop\", \"on\": {\"done\": \"d\"}},"
                          "\"b\": {\"kind\": \"noop\", \"on\": {\"done\": \"c\"}},"
                          "\"c\": {\"kind\": \"set\", \"values\": {\"log\": [\"c\"]}, \"on\": {\"done\": \"d\"}},"
                          "\"d\": {\"kind\": \"set\", \"values\": {\"log\": [\"d\"]}, \"defer\": true}}");
    char *run = start(&stage, "t", "");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"c\",\"d\"]}");
    stage_clear(&stage);
}

static void a_loop_ends_at_its_recursion_limit_and_goes_on_when_resumed(void **state)
{
    stage_set(&stage,
              LOG "\"recursion_limit\": 4, \"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": "
                  "{\"log\": [\"a\"]}, \"on\": {\"done\": \"a\"}}}");
    char *run = start(&stage, "t", "");
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_RECURSION_LIMIT);
    assert_string_equal(stopped->output_json, "{\"log\":[\"a\",\"a\",\"a\",\"a\"]}");
    assert_int_equal(stopped->step, 4);
    resume(&stage, run, NULL);
    assert_int_equal(get(&stage, run)->step, 8);
    stage_clear(&stage);
}

static void visits_lead_elsewhere_when_they_are_used_up(void **state)
{
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {"
                          "\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"a\"}, "
                          "\"visits\": {\"max\": 3, \"then\": \"z\"}},"
                          "\"z\": {\"kind\": \"set\", \"values\": {\"log\": [\"z\"]}}}");
    char *run = start(&stage, "t", "");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"a\",\"a\",\"z\"]}");
    stage_clear(&stage);
}

static void a_timed_out_attempt_writes_nothing_however_late(void **state)
{
    stage_set(&stage,
              LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"timeout\": \"1s\", \"retry\": {\"attempts\": 2, "
                  "\"base\": \"10ms\", \"codes\": [\"DEADLINE_EXCEEDED\"]}}}");
    script_lingers = true;
    char *run = start(&stage, "t", "");
    stage_settle(&stage, 1000);
    assert_true(script_calls[0].cancelled);
    stage_settle(&stage, 10);
    assert_int_equal(script_count, 2);
    INSIDE(&stage, script_write(&script_calls[0], "", "{\"log\":[\"late\"]}"));
    assert_run(&stage, run, RUNNING, "");
    INSIDE(&stage, script_write(&script_calls[1], "", "{\"log\":[\"good\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"good\"]}");
    stage_clear(&stage);
}

static void no_more_nodes_are_at_work_than_may_be(void **state)
{
    for (int most = 1; most <= 4; most += most) {
        Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
        stage_set(&stage,
                  LOG "\"start\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}, "
                      "\"c\": {" S "}, \"d\": {" S "}, \"e\": {" S "}, \"f\": {" S "}}");
        request.max_concurrency = most;
        struct test_request *sent = start_with(&stage, &request, "t", "");
        assert_non_null(answer_of(sent));
        for (size_t done = 0; done < 6; done++) {
            assert_true(script_live <= (size_t)most);
            INSIDE(&stage, script_write(&script_calls[done], "", ""));
        }
        assert_int_equal(script_count, 6);
        assert_int_equal(script_peak, most);
        ask_end(sent);
        stage_clear(&stage);
    }
}

static void fail_fast_cancels_the_siblings(void **state)
{
    stage_set(&stage,
              LOG "\"fail_fast\": true, \"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), INTERNAL, "broken"));
    assert_true(script_calls[1].cancelled);
    assert_run(&stage, run, FAILED, "");
    assert_int_equal(get(&stage, run)->n_failures, 1);
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 2);
    stage_clear(&stage);
}

static void the_error_node_takes_over(void **state)
{
    stage_set(&stage,
              LOG "\"error_node\": \"sorry\", \"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "},"
                  "\"sorry\": {\"kind\": \"set\", \"values\": {\"log\": [\"sorry\"]}}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), INTERNAL, "broken"));
    write_log("b", "b");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"b\",\"sorry\"]}");
    stage_clear(&stage);
}

static void the_error_node_takes_over_the_failures_that_it_names_alone(void **state)
{
    stage_set(&stage,
              LOG "\"error_node\": \"sorry\", \"error_codes\": [\"UNAVAILABLE\"], \"start\": \"a\","
                  "\"nodes\": {\"a\": {" S "}, \"sorry\": {\"kind\": \"set\", \"values\": {\"log\": [\"sorry\"]}}}");
    char *away = start(&stage, "t", ""), *wrong = start(&stage, "u", "");
    INSIDE(&stage, script_break(&script_calls[0], UNAVAILABLE, "away"));
    INSIDE(&stage, script_break(&script_calls[1], NOT_FOUND, "no such model"));
    assert_run(&stage, away, SUCCEEDED, "{\"log\":[\"sorry\"]}");
    assert_run(&stage, wrong, FAILED, "");
    assert_int_equal(get(&stage, wrong)->failures[0]->status_code, NOT_FOUND);
    stage_clear(&stage);
}

static void a_cancelled_run_stops_its_tasks_and_goes_on_when_resumed(void **state)
{
    stage_set(&stage, LOG "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    write_log("a", "a");
    cancel(&stage, run);
    assert_true(script_calls[1].cancelled);
    assert_run(&stage, run, STOPPED, "");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 1);
    write_log("b", "b");
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\"]}");
    stage_clear(&stage);
}

static void twenty_sends_are_reduced_in_their_order(void **state)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__NodeSend sends[20], *list[20];
    char inputs[20][32], update[64], wanted[256] = "{\"log\":[";
    stage_set(&stage, LOG "\"max_concurrency\": 32, \"start\": \"a\", \"nodes\": {"
                          "\"a\": {" S ", \"may_reach\": [\"w\"], \"on\": {\"done\": \"p\"}},"
                          "\"p\": {\"kind\": \"noop\", \"on\": {\"done\": \"z\"}},"
                          "\"w\": {" S ", \"on\": {\"done\": \"z\"}},"
                          "\"z\": {\"kind\": \"set\", \"values\": {\"log\": [\"z\"]}, \"join\": [\"w\", \"p\"]}}");
    char *run = start(&stage, "t", "");
    for (int i = 0; i < 20; i++) {
        renga__v1__node_send__init(&sends[i]);
        snprintf(inputs[i], sizeof inputs[i], "{\"i\":%d}", i);
        sends[i].node = (char *)(uintptr_t) "w";
        sends[i].input_json = inputs[i];
        list[i] = &sends[i];
        sprintf(wanted + strlen(wanted), "\"%d\",", i);
    }
    response.sends = list;
    response.n_sends = 20;
    INSIDE(&stage, script_respond(script_find("a", NULL, -1), &response));
    assert_int_equal(script_live, 20);
    for (int i = 0; i < 20; i++) {
        int branch = i * 7 % 20;
        struct script_call *call = script_find("w", NULL, branch);
        assert_non_null(call);
        assert_string_equal(call->state, inputs[branch]);
        snprintf(update, sizeof update, "{\"log\":[\"%d\"]}", branch);
        INSIDE(&stage, script_write(call, "", update));
    }
    strcat(wanted, "\"z\"]}");
    assert_run(&stage, run, SUCCEEDED, wanted);
    stage_clear(&stage);
}

static void what_is_being_written_when_the_server_ends_ends_too(void **state)
{
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    start(&stage, "t", "");
    loop_enter(stage.loop);
    script_write(script_find("a", NULL, -1), "", "{\"log\":[\"x\"]}");
    loop_leave(stage.loop); /* the step is with the store */
    stage_close(&stage);
    house_close(&stage.house);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_one_node_comes_to_its_end),
        cmocka_unit_test(nodes_write_one_after_the_other),
        cmocka_unit_test(parallel_appends_keep_the_order_of_their_nodes),
        cmocka_unit_test(two_plain_writers_fail_the_run_and_the_thread_stays_usable),
        cmocka_unit_test(a_conflict_runs_its_nodes_again_when_it_is_resumed),
        cmocka_unit_test(a_wrong_write_fails_the_run_and_names_the_field),
        cmocka_unit_test(a_failed_sibling_alone_is_run_again),
        cmocka_unit_test(retries_end_at_their_limit_and_outside_their_codes),
        cmocka_unit_test(a_join_fires_once_and_two_arrows_twice),
        cmocka_unit_test(a_deferred_node_runs_once_and_last),
        cmocka_unit_test(a_loop_ends_at_its_recursion_limit_and_goes_on_when_resumed),
        cmocka_unit_test(visits_lead_elsewhere_when_they_are_used_up),
        cmocka_unit_test(a_timed_out_attempt_writes_nothing_however_late),
        cmocka_unit_test(no_more_nodes_are_at_work_than_may_be),
        cmocka_unit_test(fail_fast_cancels_the_siblings),
        cmocka_unit_test(the_error_node_takes_over),
        cmocka_unit_test(the_error_node_takes_over_the_failures_that_it_names_alone),
        cmocka_unit_test(a_cancelled_run_stops_its_tasks_and_goes_on_when_resumed),
        cmocka_unit_test(twenty_sends_are_reduced_in_their_order),
        cmocka_unit_test(what_is_being_written_when_the_server_ends_ends_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
