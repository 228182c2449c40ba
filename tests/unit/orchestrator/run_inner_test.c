/* Questions, sub-graphs, busy threads, and what a restart finds. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define LOG "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"x\": {\"type\": \"any\"}},"
#define S   "\"kind\": \"script\""

/* ---- questions ----------------------------------------------------------------------------------------------------
 */

static void an_answer_is_delivered_whatever_it_is(void **state)
{
    static const char *const answers[] = {"0", "false", "\"\"", "null", "{\"a\":[1]}"};
    stage_set(&stage, LOG "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"Well?\", \"into\": "
                          "\"x\", \"on\": {\"answered\": \"z\"}}, \"z\": {\"kind\": \"noop\"}}");
    for (size_t i = 0; i < COUNT(answers); i++) {
        char thread[8], wanted[64], id[64];
        snprintf(thread, sizeof thread, "t%zu", i);
        char *run = start(&stage, thread, "");
        Renga__V1__Run *waiting = get(&stage, run);
        assert_int_equal(waiting->state, WAITING);
        assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_QUESTION);
        assert_int_equal(waiting->n_interrupts, 1);
        assert_string_equal(waiting->interrupts[0]->question, "Well?");
        snprintf(id, sizeof id, "%s", waiting->interrupts[0]->interrupt_id);
        resume(&stage, run, NULL);
        waiting = get(&stage, run);
        assert_int_equal(waiting->state, WAITING);
        assert_string_equal(waiting->interrupts[0]->interrupt_id, id);
        assert_non_null(resume(&stage, run, answers[i]));
        snprintf(wanted, sizeof wanted, "{\"log\":[],\"x\":%s}", answers[i]);
        assert_run(&stage, run, SUCCEEDED, wanted);
        assert_null(resume(&stage, run, "1"));
        assert_string_equal(last_reason, "NOT_RESUMABLE");
    }
    stage_clear(&stage);
}

static void two_questions_of_one_node_wait_for_both(void **state)
{
    static const char *const keys[] = {"k1", "k2"};
    char ids[2][64];
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(script_find("a", NULL, -1), keys, 2));
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->n_interrupts, 2);
    for (int i = 0; i < 2; i++)
        snprintf(ids[i], 64, "%s", waiting->interrupts[i]->interrupt_id);
    assert_null(resume(&stage, run, "1"));
    assert_string_equal(last_reason, "AMBIGUOUS_ANSWER");
    assert_non_null(resume_by_id(&stage, run, ids[1], "\"two\""));
    assert_run(&stage, run, WAITING, "");
    assert_int_equal(script_live, 0);
    assert_null(resume_by_id(&stage, run, ids[1], "\"two\""));
    assert_string_equal(last_reason, "ALREADY_ANSWERED");
    assert_null(resume_by_id(&stage, run, "q_none", "\"two\""));
    assert_int_equal(last_status.code, NOT_FOUND);
    assert_non_null(resume_by_id(&stage, run, ids[0], "\"one\""));
    struct script_call *call = script_find("a", NULL, -1);
    assert_int_equal(call->answers, 2);
    assert_string_equal(call->answer[0], "k1=\"one\"");
    assert_string_equal(call->answer[1], "k2=\"two\"");
    INSIDE(&stage, script_write(call, "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void five_branches_ask_and_an_answered_one_never_runs_again(void **state)
{
    static const char *const keys[] = {"k"};
    char ids[5][64];
    stage_set(&stage,
              LOG "\"start\": [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}, "
                  "\"c\": {" S "}, \"d\": {" S "}, \"e\": {" S "}, \"f\": {" S "}}");
    char *run = start(&stage, "t", "");
    for (size_t i = 0; i < 5; i++)
        INSIDE(&stage, script_ask(&script_calls[i], keys, 1));
    assert_run(&stage, run, RUNNING, ""); /* the slow sibling */
    INSIDE(&stage, script_write(&script_calls[5], "", "{\"log\":[\"f\"]}"));
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->n_interrupts, 5);
    for (size_t i = 0; i < 5; i++) {
        snprintf(ids[i], 64, "%s", waiting->interrupts[i]->interrupt_id);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(ids[i], ids[j]);
    }
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(resume_by_id(&stage, run, ids[i], "1"));
        assert_int_equal(script_live, 1);
        assert_int_equal(script_count, 7 + i);
        INSIDE(&stage, script_write(&script_calls[6 + i], "", ""));
    }
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"f\"]}");
    stage_clear(&stage);
}

static void new_input_takes_the_place_of_a_waiting_run(void **state)
{
    stage_set(&stage, LOG "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"Well?\", \"into\": "
                          "\"x\"}}");
    char *first = start(&stage, "t", "");
    char *second = start(&stage, "t", "{\"log\":[\"n\"]}");
    assert_run(&stage, first, STOPPED, "");
    assert_run(&stage, second, WAITING, "");
    assert_null(resume(&stage, first, "1"));
    assert_string_equal(last_reason, "NOT_RESUMABLE");
    assert_non_null(resume(&stage, second, "1"));
    assert_run(&stage, second, SUCCEEDED, "{\"log\":[\"n\"],\"x\":1}");
    stage_clear(&stage);
}

static void a_run_stands_before_and_after_nodes(void **state)
{
    stage_set(&stage, LOG "\"interrupt_before\": [\"b\"], \"interrupt_after\": [\"b\"], \"start\": \"a\", \"nodes\": {"
                          "\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"b\"}},"
                          "\"b\": {\"kind\": \"set\", \"values\": {\"log\": [\"b\"]}}}");
    char *run = start(&stage, "t", "");
    Renga__V1__Run *waiting = get(&stage, run);
    assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_BEFORE);
    assert_string_equal(waiting->interrupts[0]->node, "b");
    assert_string_equal(waiting->output_json, "{\"log\":[\"a\"]}");
    resume(&stage, run, NULL);
    waiting = get(&stage, run);
    assert_int_equal(waiting->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_AFTER);
    assert_string_equal(waiting->output_json, "{\"log\":[\"a\",\"b\"]}");
    resume(&stage, run, NULL);
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\"]}");
    stage_clear(&stage);
}

/* ---- graphs within ------------------------------------------------------------------------------------------------
 */

#define EACH                                                                                                           \
    "\"state\": {\"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": \"append\"}},"     \
    "\"start\": \"w\", \"nodes\": {\"w\": {\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": "       \
    "\"sub\", "                                                                                                        \
    "\"into\": \"out\", \"on\": {\"done\": \"z\"}}, \"z\": {\"kind\": \"noop\"}},"                                     \
    "\"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"string\"}, \"r\": {\"type\": \"string\"}},"             \
    "\"input\": [\"item\"], \"output\": [\"r\"], \"start\": \"n\", \"nodes\": {\"n\": {" S                             \
    ", \"on\": {\"done\": \"m\"}}, \"m\": {\"kind\": \"noop\"}}}}"

static void answer_branch(int item)
{
    char path[16], update[32];
    snprintf(path, sizeof path, "w[%d]", item);
    struct script_call *call = script_find("n", path, -1);
    assert_non_null(call);
    snprintf(update, sizeof update, "{\"r\":\"r%d\"}", item);
    INSIDE(&stage, script_write(call, "", update));
}

static void branches_come_together_in_the_order_of_their_items(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    assert_int_equal(script_live, 3);
    assert_string_equal(script_calls[1].state, "{\"item\":\"b\"}");
    answer_branch(2);
    answer_branch(0);
    answer_branch(1);
    assert_run(&stage, run, SUCCEEDED,
               "{\"items\":[\"a\",\"b\",\"c\"],\"out\":[{\"r\":\"r0\"},{\"r\":\"r1\"},{\"r\":\"r2\"}]}");
    run = start(&stage, "u", "{\"items\":[]}");
    assert_run(&stage, run, SUCCEEDED, "{\"items\":[],\"out\":[]}");
    stage_clear(&stage);
}

static void a_failed_branch_alone_runs_again(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    answer_branch(0);
    INSIDE(&stage, script_break(script_find("n", "w[1]", -1), INTERNAL, "broken"));
    assert_run(&stage, run, RUNNING, "");
    answer_branch(2);
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, FAILED);
    assert_int_equal(stopped->n_failures, 1);
    assert_string_equal(stopped->failures[0]->path, "w[1]");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 1);
    answer_branch(1);
    assert_run(&stage, run, SUCCEEDED, "");
    assert_int_equal(script_count, 4);
    stage_clear(&stage);
}

static void a_cancel_reaches_the_branches(void **state)
{
    stage_set(&stage, EACH);
    char *run = start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}");
    answer_branch(1);
    cancel(&stage, run);
    assert_true(script_calls[0].cancelled && script_calls[2].cancelled);
    assert_run(&stage, run, STOPPED, "");
    resume(&stage, run, NULL);
    assert_int_equal(script_live, 2);
    answer_branch(0);
    answer_branch(2);
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

#define SUB(memory)                                                                                                    \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"n\": {\"type\": \"integer\"}},"                                         \
    "\"start\": \"g\", \"nodes\": {\"g\": {\"kind\": \"graph\", \"graph\": \"sub\", \"may_reach\": [\"p\"]}, \"p\": "  \
    "{\"kind\": \"set\", \"values\": {\"n\": 7}}},"                                                                    \
    "\"graphs\": {\"sub\": {\"memory\": \"" memory "\", \"state\": {\"x\": {\"type\": \"any\"}, \"seen\": {\"type\": " \
    "\"string[]\", \"reduce\": \"append\"}}, \"input\": [\"x\"], \"output\": [\"x\"], \"start\": \"n\", \"nodes\": "   \
    "{\"n\": {" S "}}}}"

static void a_sub_graph_remembers_where_it_is_to(void **state)
{
    static const char *const wanted[] = {"{\"x\":1,\"seen\":[]}", "{\"x\":1,\"seen\":[\"s\"]}"};
    for (int remembers = 0; remembers < 2; remembers++) {
        stage_set(&stage, remembers ? SUB("thread") : SUB("fresh"));
        for (int i = 0; i < 2; i++) {
            char *run = start(&stage, "t", "{\"x\":1}");
            assert_string_equal(script_calls[i].state, wanted[i && remembers]);
            INSIDE(&stage, script_write(script_find("n", "g", -1), "", "{\"seen\":[\"s\"]}"));
            assert_run(&stage, run, SUCCEEDED, "{\"x\":1}");
        }
        stage_clear(&stage);
    }
}

static void a_jump_to_the_parent_drops_what_the_sub_graph_wrote(void **state)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    stage_set(&stage, SUB("fresh"));
    char *run = start(&stage, "t", "{\"x\":1}");
    response.goto_parent = (char *)(uintptr_t) "p";
    response.update_json = (char *)(uintptr_t) "{\"x\":\"jumped\"}";
    INSIDE(&stage, script_respond(script_find("n", "g", -1), &response));
    assert_run(&stage, run, SUCCEEDED, "{\"x\":\"jumped\",\"n\":7}");
    stage_clear(&stage);
}

/* ---- busy threads -------------------------------------------------------------------------------------------------
 */

static void twenty_runs_on_one_thread_lose_nothing(void **state)
{
    struct question_of_test *questions[20];
    Renga__V1__StartRunRequest requests[20];
    for (int busy = RENGA__V1__ON_BUSY__ON_BUSY_REJECT; busy <= RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE; busy++) {
        stage_set(&stage,
                  "\"state\": {\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, \"start\": \"a\", \"nodes\": "
                  "{\"a\": {\"kind\": \"set\", \"values\": {\"n\": 1}}}");
        int done = 0;
        loop_enter(stage.loop);
        for (int i = 0; i < 20; i++) {
            struct question_of_test *question = questions[i] = calloc(1, sizeof *question);
            renga__v1__start_run_request__init(&requests[i]);
            requests[i].agent = (char *)(uintptr_t) "a";
            requests[i].thread_id = (char *)(uintptr_t) "t";
            requests[i].on_busy = (Renga__V1__OnBusy)busy;
            requests[i].wait = true;
            arena_init(&question->arena, NULL, 0, 1 << 20);
            question->errand = (struct errand){.loop = stage.loop,
                                               .tenant = "tenant",
                                               .request = &requests[i].base,
                                               .arena = &question->arena,
                                               .answered = asked_back,
                                               .owner = question};
            runner_run(stage.runner, &question->errand);
        }
        loop_leave(stage.loop);
        for (int i = 0; i < 5; i++)
            stage_settle(&stage, 0);
        char last[64];
        for (int i = 0; i < 20; i++) {
            Renga__V1__StartRunResponse *response = answer_of(questions[i]);
            done += response && response->run->state == SUCCEEDED;
            if (response)
                snprintf(last, sizeof last, "{\"n\":%d}", done);
            if (response && i == 19)
                assert_string_equal(response->run->output_json, last);
            if (!response)
                assert_string_equal(last_reason, "THREAD_BUSY");
            ask_end(questions[i]);
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
        struct question_of_test *question = start_with(&stage, &request, "t", "{\"log\":[\"2\"]}");
        Renga__V1__StartRunResponse *response = answer_of(question);
        if (!response)
            fail_msg("%s", last_status.text);
        assert_run(&stage, first, STOPPED, "");
        INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
        bool back = busy == RENGA__V1__ON_BUSY__ON_BUSY_ROLLBACK;
        assert_run(&stage, response->run->run_id, SUCCEEDED,
                   back ? "{\"log\":[\"0\",\"a\",\"2\",\"a\"]}" : "{\"log\":[\"0\",\"a\",\"1\",\"a\",\"2\",\"a\"]}");
        ask_end(question);
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
        struct question_of_test *question = start_with(&stage, &request, "", i == 2 ? "{\"log\":[\"x\"]}" : "");
        Renga__V1__StartRunResponse *response = answer_of(question);
        if (i == 2) {
            assert_int_equal(last_status.code, INVALID_ARGUMENT);
            assert_string_equal(last_status.field, "request_id");
        } else {
            assert_int_equal(response->repeated_request, i);
            if (i)
                assert_string_equal(response->run->run_id, first);
            snprintf(first, sizeof first, "%s", response->run->run_id);
        }
        ask_end(question);
    }
    assert_int_equal(script_count, 1);
    stage_clear(&stage);
}

/* ---- after a crash ------------------------------------------------------------------------------------------------
 */

static void restart(void)
{
    script_begins = NULL;
    if (last_get)
        ask_end(last_get);
    last_get = NULL;
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

static void questions_and_failures_outlive_a_crash(void **state)
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

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_delivered_whatever_it_is),
        cmocka_unit_test(two_questions_of_one_node_wait_for_both),
        cmocka_unit_test(five_branches_ask_and_an_answered_one_never_runs_again),
        cmocka_unit_test(new_input_takes_the_place_of_a_waiting_run),
        cmocka_unit_test(a_run_stands_before_and_after_nodes),
        cmocka_unit_test(branches_come_together_in_the_order_of_their_items),
        cmocka_unit_test(a_failed_branch_alone_runs_again),
        cmocka_unit_test(a_cancel_reaches_the_branches),
        cmocka_unit_test(a_sub_graph_remembers_where_it_is_to),
        cmocka_unit_test(a_jump_to_the_parent_drops_what_the_sub_graph_wrote),
        cmocka_unit_test(twenty_runs_on_one_thread_lose_nothing),
        cmocka_unit_test(a_busy_thread_is_taken_over_or_rolled_back),
        cmocka_unit_test(a_repeated_request_gets_the_answer_of_the_first),
        cmocka_unit_test(a_run_goes_on_after_a_crash_and_no_committed_step_runs_again),
        cmocka_unit_test(questions_and_failures_outlive_a_crash),
        cmocka_unit_test(a_long_thread_is_read_from_its_snapshot),
        cmocka_unit_test(a_step_costs_what_it_writes_and_little_more),
        cmocka_unit_test(a_budget_ends_a_run_in_part),
        cmocka_unit_test(in_dataflow_the_fast_branch_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
