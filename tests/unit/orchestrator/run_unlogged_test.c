/* What is in memory and in no record: a run goes on without it, or with it, as it does when the log is read again.
 */
#include "unit.h"

#include "migrate_fixture.h"

#define S "\"kind\": \"script\""

static void end_script(const char *node, const char *path, const char *update)
{
    struct script_call *call = script_find(node, path, -1);
    if (!call)
        fail_msg("nothing is at work on '%s' in '%s'", node, path);
    else
        INSIDE(&stage, script_write(call, "", update));
}

/* Of those that are at work, in this order. */
static void end_branches(const char *order)
{
    char path[] = "w[0]";
    for (; *order; order++) {
        path[2] = *order;
        end_script("n", path, "");
    }
}

static void restart_and_find(const char *run)
{
    restart();
    get(&stage, run);
}

/* In this version of its agent. */
static void resume_as(const char *run, const char *document)
{
    write_version(document);
    if (!migrate(run, NULL, NULL, false))
        fail_msg("%s", last_status.text);
    resume(&stage, run, NULL);
}

static void assert_unchanged_when_read_again(const char *run, const char *output)
{
    assert_run(&stage, run, SUCCEEDED, output);
    char before[512];
    snprintf(before, sizeof before, "%s", get_state(&stage, "t", ""));
    assert_int_equal(last_status.code, OK);
    restart();
    assert_string_equal(get_state(&stage, "t", ""), before);
    assert_run(&stage, run, SUCCEEDED, output);
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

#define OVER(of, nodes, node)                                                                                          \
    "\"state\": {\"a\": {\"type\": \"integer[]\"}, \"b\": {\"type\": \"integer[]\"}, \"out\": {\"type\": "             \
    "\"object[]\", \"reduce\": \"append\"}}, \"output\": [\"out\"], " nodes "\"w\": {" node of                         \
    "}}, \"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"integer\"}}, \"start\": \"n\", \"nodes\": {\"n\": " \
    "{" S "}}}}"
#define EACH     "\"kind\": \"each\", \"as\": \"item\", \"graph\": \"sub\", \"into\": \"out\", \"of\": "
#define ALONE    "\"start\": \"w\", \"nodes\": {"
#define FLOWS    "\"mode\": \"dataflow\", \"start\": [\"w\", \"s\"], \"nodes\": {\"s\": {" S "}, "
#define OF_A     OVER("\"a\"", ALONE, EACH)
#define OF_B     OVER("\"b\"", ALONE, EACH)
#define LISTS    "{\"a\":[1,2,3,4,5],\"b\":[8,9]}"
#define OUT_OF_B "{\"out\":[{\"item\":8},{\"item\":9}]}"

/* Five branches are at work, and no record is about one. */
static char *stop_at_work(const char *document)
{
    static char run[64];
    set_stage(document);
    snprintf(run, sizeof run, "%s", start(&stage, "t", LISTS));
    assert_non_null(script_find("n", "w[4]", -1));
    cancel(&stage, run);
    assert_run(&stage, run, STOPPED, "");
    return run;
}

static void branches_without_a_record_are_given_the_list_of_the_new_version(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char *run = stop_at_work(OF_A);
        resume_as(run, OF_B);
        assert_null(script_find("n", "w[2]", -1));
        end_script("n", "w[1]", "");
        if (restarts)
            restart_and_find(run);
        end_script("n", "w[0]", "");
        assert_unchanged_when_read_again(run, OUT_OF_B);
        stage_clear(&stage);
    }
}

static void branches_without_a_record_may_become_a_node_of_another_kind(void **state)
{
    char *run = stop_at_work(OF_A);
    resume_as(run, "\"state\": {\"a\": {\"type\": \"integer[]\"}, \"b\": {\"type\": \"integer[]\"}}, \"output\": "
                   "[\"b\"], \"start\": \"w\", \"nodes\": {\"w\": {\"kind\": \"set\", \"values\": {\"b\": [7]}}}");
    assert_unchanged_when_read_again(run, "{\"b\":[7]}");
    stage_clear(&stage);
}

/* The other node changes the list while the branches are at work: they have it as it was when the run was moved. */
static void branches_are_given_their_list_at_once_where_the_state_goes_on_meanwhile(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char *run = stop_at_work(OVER("\"a\"", FLOWS, EACH));
        resume_as(run, OVER("\"b\"", FLOWS, EACH));
        end_script("s", "", "{\"b\":[1,2,3]}");
        if (restarts)
            restart_and_find(run);
        end_branches("10");
        assert_unchanged_when_read_again(run, OUT_OF_B);
        stage_clear(&stage);
    }
}

/* By hand, between its stop and its going on. */
static void write_state(const char *update)
{
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.update_json = (char *)(uintptr_t)update;
    struct test_request *sent = ask_runner(&stage, &request);
    if (!answer_of(sent))
        fail_msg("%s", last_status.text);
    ask_end(sent);
}

static void branches_without_a_record_are_given_the_list_that_was_written_by_hand(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char *run = stop_at_work(OF_A);
        write_state("{\"a\":[8,9]}");
        resume(&stage, run, NULL);
        assert_null(script_find("n", "w[2]", -1));
        end_script("n", "w[1]", "");
        if (restarts)
            restart_and_find(run);
        end_script("n", "w[0]", "");
        assert_unchanged_when_read_again(run, OUT_OF_B);
        stage_clear(&stage);
    }
}

#define STANDS                                                                                                         \
    "\"state\": {\"a\": {\"type\": \"integer[]\"}, \"b\": {\"type\": \"integer[]\"}, \"out\": {\"type\": "             \
    "\"object[]\"}}, \"output\": [\"out\"], \"start\": \"w\", \"nodes\": {\"w\": {" EACH                               \
    "\"a\"}}, \"graphs\": {\"sub\": "                                                                                  \
    "{\"state\": {\"item\": {\"type\": \"integer\"}}, \"interrupt_before\": [\"n\"], \"start\": \"n\", \"nodes\": "    \
    "{\"n\": {" S "}}}}"

static void branches_paused_before_their_first_node_are_paused_there_when_they_are_read_again(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char run[64];
        set_stage(STANDS);
        snprintf(run, sizeof run, "%s", start(&stage, "t", LISTS));
        assert_run(&stage, run, WAITING, "");
        if (restarts)
            restart();
        write_state("{\"a\":[8,9]}");
        assert_int_equal(get(&stage, run)->n_interrupts, 5);
        resume(&stage, run, NULL);
        end_branches("43210");
        assert_unchanged_when_read_again(
            run, "{\"out\":[{\"item\":1},{\"item\":2},{\"item\":3},{\"item\":4},{\"item\":5}]}");
        stage_clear(&stage);
    }
}

#define STANDS_WITHIN                                                                                                  \
    "\"start\": [\"g\", \"s\"], \"nodes\": {\"s\": {" S                                                                \
    "}, \"g\": {\"kind\": \"graph\", \"graph\": \"sub\"}}, \"graphs\": "                                               \
    "{\"sub\": {\"interrupt_before\": [\"n\"], \"start\": \"n\", \"nodes\": {\"n\": {" S "}}}}"

static void only_who_resumes_a_run_gives_it_leave(void **state)
{
    char run[64];
    set_stage(STANDS_WITHIN);
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    restart();
    assert_run(&stage, run, RUNNING, ""); /* taken up */
    assert_null(script_find("n", "g", -1));
    end_script("s", "", "");
    assert_run(&stage, run, WAITING, "");
    resume(&stage, run, NULL);
    end_script("n", "g", "");
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void branches_of_a_checkpoint_are_given_their_list_at_once_where_the_state_goes_on_meanwhile(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char head[64], again[64];
        snprintf(head, sizeof head, "%s", get(&stage, stop_at_work(OVER("\"a\"", FLOWS, EACH)))->checkpoint_id);
        write_state("{\"a\":[0]}");
        Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
        request.checkpoint_id = head;
        struct test_request *sent = start_with(&stage, &request, "t", "");
        const Renga__V1__StartRunResponse *response = answer_of(sent);
        assert_non_null(response);
        snprintf(again, sizeof again, "%s", response->run->run_id);
        ask_end(sent);
        end_script("s", "", "{\"a\":[7]}");
        if (restarts)
            restart_and_find(again);
        end_branches("01234");
        assert_unchanged_when_read_again(
            again, "{\"out\":[{\"item\":1},{\"item\":2},{\"item\":3},{\"item\":4},{\"item\":5}]}");
        stage_clear(&stage);
    }
}

#define SENDS                                                                                                          \
    "\"state\": {\"x\": {\"type\": \"integer\"}, \"a\": {\"type\": \"integer[]\"}, \"out\": {\"type\": \"object[]\", " \
    "\"reduce\": \"append\"}}, \"output\": [\"out\"], \"mode\": \"dataflow\", \"start\": [\"p\", \"s\"], \"nodes\": "  \
    "{\"s\": {" S "}, \"p\": {" S ", \"may_reach\": [\"w\"]}, \"w\": {" EACH                                           \
    "\"a\", \"in\": {\"x\": \"x\"}}}, \"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"integer\"}, \"x\": "   \
    "{\"type\": \"integer\"}}, \"start\": \"n\", \"nodes\": {\"n\": {" S "}}}}"

static void send_to_branches(void)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__NodeSend send = RENGA__V1__NODE_SEND__INIT, *list[] = {&send};
    send.node = (char *)(uintptr_t) "w";
    send.input_json = (char *)(uintptr_t) "{\"a\":[8]}";
    response.outcome = response.update_json = (char *)(uintptr_t) "";
    response.sends = list;
    response.n_sends = 1;
    struct script_call *call = script_find("p", "", -1);
    assert_non_null(call);
    INSIDE(&stage, script_respond(call, &response));
}

static void branches_that_were_sent_their_list_have_the_rest_as_it_was_then(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char run[64];
        set_stage(SENDS);
        snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"x\":1}"));
        send_to_branches();
        end_script("s", "", "{\"x\":2}");
        if (restarts)
            restart_and_find(run);
        end_script("n", "w[0][0]", "");
        assert_unchanged_when_read_again(run, "{\"out\":[{\"item\":8,\"x\":1}]}");
        stage_clear(&stage);
    }
}

/* ---- what a sub-graph remembers ---------------------------------------------------------------------------------- */

#define REMEMBERS(more)                                                                                                \
    "\"state\": {" more "\"log\": {\"type\": \"string[]\"}, \"seen\": {\"type\": \"string[]\"}}, \"output\": "         \
    "[\"seen\"], \"start\": \"g\", \"nodes\": {\"g\": {\"kind\": \"graph\", \"graph\": \"sub\", \"in\": {\"log\": "    \
    "\"log\"}, \"out\": {\"seen\": \"log\"}}}, \"graphs\": {\"sub\": {\"memory\": \"thread\", \"state\": {\"log\": "   \
    "{\"type\": \"string[]\", \"reduce\": \"append\"}}, \"start\": \"n\", \"nodes\": {\"n\": {" S "}}}}"

static char *stop_in_memory(void)
{
    static char run[64];
    set_stage(REMEMBERS(""));
    snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"log\":[\"first\"]}"));
    assert_non_null(script_find("n", "g", -1));
    cancel(&stage, run);
    assert_run(&stage, run, STOPPED, "");
    return run;
}

static void a_sub_graph_that_remembers_is_given_its_input_once_though_its_run_is_moved(void **state)
{
    for (int restarts = 0; restarts < 4; restarts++) {
        char *run = stop_in_memory();
        if (restarts & 1)
            restart();
        resume_as(run, REMEMBERS("\"more\": {\"type\": \"string\"}, "));
        if (restarts & 2)
            restart_and_find(run);
        end_script("n", "g", "");
        assert_unchanged_when_read_again(run, "{\"seen\":[\"first\"]}");
        stage_clear(&stage);
    }
}

static void a_sub_graph_remembers_what_a_run_before_has_given_it(void **state)
{
    for (int restarts = 0; restarts < 4; restarts++) {
        stop_in_memory();
        if (restarts & 1)
            restart();
        char *run = start(&stage, "t", "{\"log\":[\"second\"]}");
        if (restarts & 2)
            restart_and_find(run);
        end_script("n", "g", "");
        assert_unchanged_when_read_again(run, "{\"seen\":[\"first\",\"second\"]}");
        stage_clear(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_without_a_record_are_given_the_list_of_the_new_version),
        cmocka_unit_test(branches_without_a_record_may_become_a_node_of_another_kind),
        cmocka_unit_test(branches_are_given_their_list_at_once_where_the_state_goes_on_meanwhile),
        cmocka_unit_test(branches_without_a_record_are_given_the_list_that_was_written_by_hand),
        cmocka_unit_test(branches_paused_before_their_first_node_are_paused_there_when_they_are_read_again),
        cmocka_unit_test(only_who_resumes_a_run_gives_it_leave),
        cmocka_unit_test(branches_of_a_checkpoint_are_given_their_list_at_once_where_the_state_goes_on_meanwhile),
        cmocka_unit_test(branches_that_were_sent_their_list_have_the_rest_as_it_was_then),
        cmocka_unit_test(a_sub_graph_that_remembers_is_given_its_input_once_though_its_run_is_moved),
        cmocka_unit_test(a_sub_graph_remembers_what_a_run_before_has_given_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
