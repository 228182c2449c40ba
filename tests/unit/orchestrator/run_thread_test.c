/* Busy threads, what a restart finds, budgets, and dataflow. */
#include "unit.h"

#include "run_subgraph_fixture.h"

/* ---- busy threads -------------------------------------------------------------------------------------------------
 */

static void twenty_runs_on_one_thread_lose_nothing(void **state)
{
    struct test_request *pending[20];
    Renga__V1__StartRunRequest requests[20];
    for (int busy = RENGA__V1__ON_BUSY__ON_BUSY_REJECT; busy <= RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE; busy++) {
        stage_set(&stage,
                  "\"state\": {\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, \"start\": \"a\", \"nodes\": "
                  "{\"a\": {\"kind\": \"set\", \"values\": {\"n\": 1}}}");
        int done = 0;
        loop_enter(stage.loop);
        for (int i = 0; i < 20; i++) {
            renga__v1__start_run_request__init(&requests[i]);
            requests[i].agent = (char *)(uintptr_t) "a";
            requests[i].thread_id = (char *)(uintptr_t) "t";
            requests[i].on_busy = (Renga__V1__OnBusy)busy;
            requests[i].wait = true;
            pending[i] = request_of_test(&stage, &requests[i]);
            runner_run(stage.runner, &pending[i]->request);
        }
        loop_leave(stage.loop);
        for (int i = 0; i < 5; i++)
            stage_settle(&stage, 0);
        char last[64];
        for (int i = 0; i < 20; i++) {
            Renga__V1__StartRunResponse *response = answer_of(pending[i]);
            done += response && response->run->state == SUCCEEDED;
            if (response)
                snprintf(last, sizeof last, "{\"n\":%d}", done);
            if (response && i == 19)
                assert_string_equal(response->run->output_json, last);
            if (!response)
                assert_string_equal(last_reason, "THREAD_BUSY");
            ask_end(pending[i]);
        }
        assert_true(done == 20 || busy == RENGA__V1__ON_BUSY__ON_BUSY_REJECT);
        char *run = start(&stage, "t", "");
        snprintf(last, sizeof last, "{\"n\":%d}", done + 1);
        assert_run(&stage, run, SUCCEEDED, last);
        stage_clear(&stage);
    }
}

static void a_busy_thread_is_taken_over_or_rolled_back(void **state)
{
    for (int busy = RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT; busy <= RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK; busy++) {
        Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
        stage_set(&stage,
                  LOG "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, "
                      "\"on\": {\"done\": \"b\"}}, \"b\": {" S "}}");
        char *zero = start(&stage, "t", "{\"log\":[\"0\"]}");
        INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
        assert_run(&stage, zero, SUCCEEDED, "{\"log\":[\"0\",\"a\"]}");
        char *first = start(&stage, "t", "{\"log\":[\"1\"]}");
        request.on_busy = (Renga__V1__OnBusy)busy;
        struct test_request *sent = start_with(&stage, &request, "t", "{\"log\":[\"2\"]}");
        Renga__V1__StartRunResponse *response = answer_of(sent);
        if (!response)
            fail_msg("%s", last_status.text);
        assert_run(&stage, first, STOPPED, "");
        INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
        bool back = busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
        assert_run(&stage, response->run->run_id, SUCCEEDED,
                   back ? "{\"log\":[\"0\",\"a\",\"2\",\"a\"]}" : "{\"log\":[\"0\",\"a\",\"1\",\"a\",\"2\",\"a\"]}");
        ask_end(sent);
        stage_clear(&stage);
    }
}

/* The step that ended is on its way to the disk when its run is stopped, and the next run uses the same frame. */
static void a_run_that_is_stopped_between_two_steps_makes_room_for_the_next(void **state)
{
    for (int cancels = 0; cancels < 2; cancels++) {
        Renga__V1__StartRunRequest next = RENGA__V1__START_RUN_REQUEST__INIT;
        Renga__V1__CancelRunRequest stop = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
        stage_set(&stage,
                  LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": {\"done\": \"b\"}}, \"b\": {" S "}}");
        char *first = start(&stage, "t", "");
        next.agent = (char *)(uintptr_t) "a";
        next.thread_id = (char *)(uintptr_t) "t";
        next.on_busy = cancels ? RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE : RENGA__V1__ON_BUSY__ON_BUSY_INTERRUPT;
        stop.run_id = first;
        loop_enter(stage.loop);
        script_write(script_find("a", NULL, -1), "", "{\"log\":[\"1\"]}");
        loop_leave(stage.loop);
        struct test_request *started = send_to_runner(&stage, &next, false);
        struct test_request *stopped = cancels ? send_to_runner(&stage, &stop, false) : NULL;
        stage_settle(&stage, 0);
        Renga__V1__StartRunResponse *response = answer_of(started);
        assert_run(&stage, first, STOPPED, "");
        assert_non_null(script_find("a", NULL, -1));
        INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"log\":[\"2\"]}"));
        INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
        assert_run(&stage, response->run->run_id, SUCCEEDED, "{\"log\":[\"1\",\"2\"]}");
        ask_end(started);
        if (stopped)
            ask_end(stopped);
        stage_clear(&stage);
    }
}

static void a_repeated_request_gets_the_answer_of_the_first(void **state)
{
    char first[64];
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    for (int i = 0; i < 3; i++) {
        Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
        request.request_id = (char *)(uintptr_t) "r1";
        struct test_request *sent = start_with(&stage, &request, "", i == 2 ? "{\"log\":[\"x\"]}" : "");
        Renga__V1__StartRunResponse *response = answer_of(sent);
        if (i == 2) {
            assert_int_equal(last_status.code, INVALID_ARGUMENT);
            assert_string_equal(last_status.field, "request_id");
        } else {
            assert_int_equal(response->repeated_request, i);
            if (i)
                assert_string_equal(response->run->run_id, first);
            snprintf(first, sizeof first, "%s", response->run->run_id);
        }
        ask_end(sent);
    }
    assert_int_equal(script_count, 1);
    stage_clear(&stage);
}

/* ---- after a crash ------------------------------------------------------------------------------------------------
 */

static void restart(void)
{
    script_begins = NULL;
    forget(&last_get);
    char url[256];
    snprintf(url, sizeof url, "%s", stage.url);
    script_lingers = false;
    stage_close(&stage);
    stage_open(&stage, url);
    loop_enter(stage.loop);
    runner_recover(stage.runner);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static void open_file(const char *document)
{
    char url[256];
    stage_set(&stage, document);
    stage_close(&stage);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    stage_open(&stage, url);
}

static void a_run_goes_on_after_a_crash_and_no_committed_step_runs_again(void **state)
{
    open_file(EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    answer_branch(1);
    restart();
    assert_int_equal(script_live, 2);
    assert_int_equal(script_count, 5);
    assert_int_equal(script_find("n", "w[0]", -1)->attempt, 2);
    assert_string_equal(script_find("n", "w[0]", -1)->key, script_calls[0].key);
    answer_branch(0);
    restart();
    assert_int_equal(script_live, 1);
    answer_branch(2);
    assert_run(&stage, run, SUCCEEDED,
               "{\"items\":[\"a\",\"b\",\"c\"],\"out\":[{\"r\":\"r0\"},{\"r\":\"r1\"},{\"r\":\"r2\"}]}");
    restart();
    assert_int_equal(script_live, 0);
    assert_run(&stage, run, SUCCEEDED,
               "{\"items\":[\"a\",\"b\",\"c\"],\"out\":[{\"r\":\"r0\"},{\"r\":\"r1\"},{\"r\":\"r2\"}]}");
    stage_clear(&stage);
}

static void interrupts_and_failures_outlive_a_crash(void **state)
{
    static const char *const keys[] = {"k"};
    char id[64];
    open_file(LOG "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(&script_calls[0], keys, 1));
    INSIDE(&stage, script_write(&script_calls[1], "", "{\"log\":[\"b\"]}"));
    snprintf(id, sizeof id, "%s", get(&stage, run)->interrupts[0]->interrupt_id);
    restart();
    assert_int_equal(script_live, 0);
    Renga__V1__Run *waiting = resume(&stage, run, NULL);
    assert_non_null(waiting);
    waiting = get(&stage, run);
    assert_int_equal(waiting->state, WAITING);
    assert_string_equal(waiting->interrupts[0]->interrupt_id, id);
    assert_non_null(resume(&stage, run, "5"));
    assert_string_equal(script_find("a", NULL, -1)->answer[0], "k=5");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), INTERNAL, "broken"));
    assert_run(&stage, run, FAILED, "");
    restart();
    assert_run(&stage, run, FAILED, "");
    assert_non_null(resume(&stage, run, NULL));
    assert_string_equal(script_find("a", NULL, -1)->answer[0], "k=5");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"log\":[\"a\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\"]}");
    assert_int_equal(script_runs("b"), 1);
    stage_clear(&stage);
}

static void a_node_that_asks_again_what_has_its_answer_fails(void **state)
{
    static const char *const keys[] = {"k", "l"};
    open_file(LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(&script_calls[0], keys, 1));
    assert_non_null(resume(&stage, run, "5"));
    INSIDE(&stage, script_ask(script_find("a", NULL, -1), keys, 2)); /* one of them is new */
    assert_int_equal(get(&stage, run)->state, WAITING);
    assert_non_null(resume(&stage, run, "6"));
    INSIDE(&stage, script_ask(script_find("a", NULL, -1), keys, 2));
    assert_run(&stage, run, FAILED, "");
    assert_int_equal(get(&stage, run)->status_code, INVALID_ARGUMENT);
    assert_string_equal(
        get(&stage, run)->stop_text,
        "node 'a' failed: node 'a' asks 'k' again, and was given the answer; use that one, or ask under "
        "another key");
    assert_non_null(resume(&stage, run, NULL));
    assert_int_equal(script_find("a", NULL, -1)->answers, 2);
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"log\":[\"a\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\"]}");
    stage_clear(&stage);
}

static void a_long_thread_is_read_from_its_snapshot(void **state)
{
    stage_snapshot_every = 150;
    open_file(
        LOG "\"recursion_limit\": 2000, \"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": "
            "[\"a\"]}, \"on\": {\"done\": \"a\"}, \"visits\": {\"max\": 1000, \"then\": \"z\"}}, \"z\": {" S "}}");
    char *run = start(&stage, "t", "");
    for (int i = 0; i < 200 && !script_live; i++)
        stage_settle(&stage, 0);
    assert_int_equal(script_live, 1);
    restart();
    assert_int_equal(script_live, 1);
    INSIDE(&stage, script_write(script_find("z", NULL, -1), "", "{\"x\":1}"));
    assert_run(&stage, run, SUCCEEDED, "");
    assert_int_equal(get(&stage, run)->step, 1001);
    assert_int_equal(strlen(get(&stage, run)->output_json), 4 * 1000 + strlen("{\"log\":[],\"x\":1}") - 1);
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

static void a_step_costs_what_it_writes_and_little_more(void **state)
{
    struct store_stats before, after;
    char word[201], document[2048];
    memset(word, 'w', 200);
    word[200] = '\0';
    snprintf(document, sizeof document,
             LOG "\"recursion_limit\": 3000, \"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": "
                 "{\"log\": [\"%s\"]}, \"on\": {\"done\": \"a\"}, \"visits\": {\"max\": 1000, \"then\": \"z\"}}, "
                 "\"z\": {" S "}}",
             word);
    stage_set(&stage, document);
    store_stats(stage.store, &before);
    start(&stage, "thread-of-some-length", "");
    for (int i = 0; i < 200 && !script_live; i++)
        stage_settle(&stage, 0);
    assert_int_equal(script_live, 1);
    store_stats(stage.store, &after);
    print_message("%.1f bytes a step of 200, snapshots included\n", (double)(after.bytes - before.bytes) / 1000);
    assert_true(after.bytes - before.bytes <= 350 * 1000);
    stage_clear(&stage);
}

/* ---- budgets, dataflow --------------------------------------------------------------------------------------------
 */

static void a_budget_ends_a_run_in_part(void **state)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    stage_set(&stage, LOG "\"budget\": {\"model_calls\": 2}, \"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": "
                          "{\"done\": \"b\"}}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    usage.model_calls = 2;
    response.usage = &usage;
    response.update_json = (char *)(uintptr_t) "{\"log\":[\"a\"]}";
    INSIDE(&stage, script_respond(script_find("a", NULL, -1), &response));
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, SUCCEEDED);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_MODEL_CALLS);
    assert_string_equal(stopped->output_json, "{\"log\":[\"a\"]}");
    assert_int_equal(stopped->usage->model_calls, 2);
    resume(&stage, run, NULL);
    assert_run(&stage, run, SUCCEEDED, ""); /* still spent */
    assert_int_equal(script_count, 1);
    stage_clear(&stage);
}

static void in_dataflow_the_fast_branch_goes_on(void **state)
{
    stage_set(&stage, LOG "\"mode\": \"dataflow\", \"start\": [\"slow\", \"fast\"], \"nodes\": {"
                          "\"slow\": {" S ", \"on\": {\"done\": \"j\"}},"
                          "\"fast\": {" S ", \"on\": {\"done\": \"next\"}},"
                          "\"next\": {" S ", \"on\": {\"done\": \"j\"}},"
                          "\"j\": {" S ", \"join\": [\"slow\", \"next\"]}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("fast", NULL, -1), "", "{\"log\":[\"fast\"]}"));
    struct script_call *next = script_find("next", NULL, -1);
    assert_non_null(next);
    assert_string_equal(next->state, "{\"log\":[\"fast\"]}");
    INSIDE(&stage, script_write(next, "", "{\"log\":[\"next\"]}"));
    assert_null(script_find("j", NULL, -1));
    INSIDE(&stage, script_write(script_find("slow", NULL, -1), "", "{\"log\":[\"slow\"]}"));
    INSIDE(&stage, script_write(script_find("j", NULL, -1), "", "{\"log\":[\"j\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"fast\",\"next\",\"slow\",\"j\"]}");
    stage_clear(&stage);
}

/* What ends last ends no step of the others: it is kept by itself. */
static void in_dataflow_interrupts_and_failures_outlive_a_crash(void **state)
{
    static const char *const keys[] = {"k"};
    char id[64];
    for (int asks = 0; asks < 2; asks++) {
        open_file(LOG "\"mode\": \"dataflow\", \"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
        char *run = start(&stage, "t", "");
        INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "{\"log\":[\"b\"]}"));
        if (asks)
            INSIDE(&stage, script_ask(script_find("a", NULL, -1), keys, 1));
        else
            INSIDE(&stage, script_break(script_find("a", NULL, -1), INTERNAL, "broken"));
        assert_run(&stage, run, asks ? WAITING : FAILED, "");
        snprintf(id, sizeof id, "%s", asks ? get(&stage, run)->interrupts[0]->interrupt_id : "");
        restart();
        assert_int_equal(get(&stage, run)->n_interrupts, asks);
        if (asks)
            assert_string_equal(get(&stage, run)->interrupts[0]->interrupt_id, id);
        assert_non_null(resume(&stage, run, asks ? "5" : NULL));
        assert_int_equal(script_find("a", NULL, -1)->attempt, 2);
        INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"log\":[\"a\"]}"));
        assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"b\",\"a\"]}");
        stage_clear(&stage);
    }
}

static void in_dataflow_a_snapshot_knows_when_a_node_was_activated(void **state)
{
    char key[64];
    stage_snapshot_every = 1;
    open_file(LOG "\"mode\": \"dataflow\", \"start\": [\"slow\", \"fast\"], \"nodes\": {\"slow\": {" S
                  "}, \"fast\": {" S ", \"on\": {\"done\": \"next\"}}, \"next\": {" S "}}");
    char *run = start(&stage, "t", "");
    snprintf(key, sizeof key, "%s", script_find("slow", NULL, -1)->key);
    INSIDE(&stage, script_write(script_find("fast", NULL, -1), "", "{\"log\":[\"fast\"]}"));
    restart();
    assert_int_equal(script_find("slow", NULL, -1)->attempt, 2);
    assert_string_equal(script_find("slow", NULL, -1)->key, key); /* or what it has done would be done twice */
    INSIDE(&stage, script_write(script_find("slow", NULL, -1), "", "{\"log\":[\"slow\"]}"));
    INSIDE(&stage, script_write(script_find("next", NULL, -1), "", ""));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"fast\",\"slow\"]}");
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

static void in_dataflow_what_ended_behind_a_budget_is_read_again(void **state)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    Renga__V1__ResumeRunRequest more = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    Renga__V1__Budget budget = RENGA__V1__BUDGET__INIT;
    open_file(LOG "\"mode\": \"dataflow\", \"budget\": {\"model_calls\": 2}, \"start\": [\"a\", \"b\"], \"nodes\": {"
                  "\"a\": {" S ", \"on\": {\"done\": \"c\"}}, \"b\": {" S "}, \"c\": {" S "}}");
    char *run = start(&stage, "t", "");
    usage.model_calls = 2;
    response.usage = &usage;
    response.update_json = (char *)(uintptr_t) "{\"log\":[\"a\"]}";
    INSIDE(&stage, script_respond(script_find("a", NULL, -1), &response)); /* c may not begin, b may end */
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "{\"log\":[\"b\"]}"));
    assert_int_equal(get(&stage, run)->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_MODEL_CALLS);
    budget.model_calls = 2;
    more.run_id = run;
    more.budget = &budget;
    ask_end(ask_runner(&stage, &more));
    restart();
    assert_int_equal(script_live, 1);
    INSIDE(&stage, script_write(script_find("c", NULL, -1), "", "{\"log\":[\"c\"]}"));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    restart();
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    stage_clear(&stage);
}

/* Two edges in two steps: it fails the second time, and ends the first time after that. */
static void in_dataflow_the_one_that_failed_is_the_one_that_is_tried_again(void **state)
{
    open_file(LOG "\"mode\": \"dataflow\", \"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S
                  ", \"on\": {\"done\": \"z\"}}, \"b\": {" S ", \"on\": {\"done\": \"z\"}}, \"z\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", ""));
    struct script_call *first = script_find("z", NULL, -1);
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
    struct script_call *second = script_find("z", NULL, -1);
    assert_ptr_not_equal(first, second);
    INSIDE(&stage, script_break(second, INTERNAL, "broken"));
    INSIDE(&stage, script_write(first, "", ""));
    assert_run(&stage, run, FAILED, "");
    restart();
    assert_non_null(resume(&stage, run, NULL));
    assert_string_equal(script_find("z", NULL, -1)->key, second->key);
    assert_int_equal(script_find("z", NULL, -1)->attempt, 2);
    INSIDE(&stage, script_write(script_find("z", NULL, -1), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_runs_on_one_thread_lose_nothing),
        cmocka_unit_test(a_busy_thread_is_taken_over_or_rolled_back),
        cmocka_unit_test(a_run_that_is_stopped_between_two_steps_makes_room_for_the_next),
        cmocka_unit_test(a_repeated_request_gets_the_answer_of_the_first),
        cmocka_unit_test(a_run_goes_on_after_a_crash_and_no_committed_step_runs_again),
        cmocka_unit_test(interrupts_and_failures_outlive_a_crash),
        cmocka_unit_test(a_node_that_asks_again_what_has_its_answer_fails),
        cmocka_unit_test(a_long_thread_is_read_from_its_snapshot),
        cmocka_unit_test(a_step_costs_what_it_writes_and_little_more),
        cmocka_unit_test(a_budget_ends_a_run_in_part),
        cmocka_unit_test(in_dataflow_the_fast_branch_goes_on),
        cmocka_unit_test(in_dataflow_interrupts_and_failures_outlive_a_crash),
        cmocka_unit_test(in_dataflow_a_snapshot_knows_when_a_node_was_activated),
        cmocka_unit_test(in_dataflow_what_ended_behind_a_budget_is_read_again),
        cmocka_unit_test(in_dataflow_the_one_that_failed_is_the_one_that_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
