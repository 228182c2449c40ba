/* Runs that are paused within sub-graphs, and runs that wait for their turn: moved to another version, forked, in
 * conflict.
 */
#include "unit.h"

#include "migrate_fixture.h"

#define S "\"kind\": \"script\""

/* Three branches, one after the other: each asks a person, and then says which version it is of. */
#define BRANCHES(nodes, item, fields, ask, last)                                                                       \
    "\"state\": {\"items\": {\"type\": \"" item "[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": "                \
    "\"append\"}}, \"output\": [\"out\"], \"max_concurrency\": 1, " nodes ", \"graphs\": {\"sub\": {\"state\": {"      \
    "\"item\": {\"type\": \"" item "\"}, " fields                                                                      \
    "\"log\": {\"type\": \"string[]\", \"reduce\": \"append\", \"initial\": [\"" last "\"]}}, "                        \
    "\"input\": [\"item\"], \"output\": [\"item\", \"log\"], \"start\": \"n\", \"nodes\": {\"n\": {" S ", \"on\": {"   \
    "\"done\": \"" ask "\"}}, \"" ask "\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\", \"on\": {"        \
    "\"answered\": \"last\"}}, \"last\": {\"kind\": \"set\", \"values\": {\"log\": [\"" last "\"]}}}}}"
#define EACH "\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": \"sub\", \"into\": \"out\""
#define W    "\"start\": \"w\", \"nodes\": {\"w\": {" EACH "}}"
#define FIRST_V                                                                                                        \
    "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"noop\", \"on\": {\"done\": \"v\"}}, \"v\": {" EACH "}}"
#define X          "\"x\": {\"type\": \"any\"}, "
#define NEW_FIELDS "\"new\": {\"type\": \"string\", \"initial\": \"new\"}, " X
#define OLD        BRANCHES(W, "string", X, "q", "old")

static void end_script(const char *path)
{
    struct script_call *call = script_find("n", path, -1);
    assert_non_null(call);
    INSIDE(&stage, script_write(call, "", ""));
}

/* The first branch has asked, the second is at work and cancelled, nobody has opened the third. */
static char *pause_within(void)
{
    static char run[64];
    set_stage(OLD);
    snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"items\":[\"a\",\"b\",\"c\"]}"));
    end_script("w[0]");
    assert_non_null(script_find("n", "w[1]", -1));
    cancel(&stage, run);
    assert_run(&stage, run, STOPPED, "");
    return run;
}

static void answer(const char *run, const char *path)
{
    char id[64] = "";
    Renga__V1__Run *waiting = get(&stage, run);
    for (size_t i = 0; i < waiting->n_interrupts; i++)
        if (strcmp(waiting->interrupts[i]->path, path) == 0)
            snprintf(id, sizeof id, "%s", waiting->interrupts[i]->interrupt_id);
    assert_string_not_equal(id, "");
    if (!resume_by_id(&stage, run, id, "1"))
        fail_msg("%s", last_status.text);
}

static Renga__V1__MigrateRunResponse *move(const char *run)
{
    Renga__V1__MigrateRunRequest request = RENGA__V1__MIGRATE_RUN_REQUEST__INIT;
    Renga__V1__MigrateRunRequest__RenamedNodesEntry names[] = {
        RENGA__V1__MIGRATE_RUN_REQUEST__RENAMED_NODES_ENTRY__INIT,
        RENGA__V1__MIGRATE_RUN_REQUEST__RENAMED_NODES_ENTRY__INIT,
        RENGA__V1__MIGRATE_RUN_REQUEST__RENAMED_NODES_ENTRY__INIT,
    };
    Renga__V1__MigrateRunRequest__RenamedNodesEntry *list[] = {&names[0], &names[1], &names[2]};
    static const char *const pairs[][2] = {{"w", "v"}, {"q", "nowhere"}, {"sub/q", "person"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        names[i].key = (char *)(uintptr_t)pairs[i][0];
        names[i].value = (char *)(uintptr_t)pairs[i][1];
    }
    request.run_id = (char *)(uintptr_t)run;
    request.renamed_nodes = list;
    request.n_renamed_nodes = COUNT(pairs);
    return ask_last(&last_migrate, &stage, &request);
}

static void a_run_within_branches_goes_on_in_the_new_version(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char *run = pause_within();
        write_version(BRANCHES(FIRST_V, "string", NEW_FIELDS, "person", "new"));
        if (!move(run))
            fail_msg("%s", last_status.text);
        if (restarts)
            restart();
        assert_string_equal(get(&stage, run)->graph_version, current_version());
        resume(&stage, run, NULL);
        assert_null(script_find("n", "v[0]", -1)); /* what has ended is not run again */
        end_script("v[1]");
        end_script("v[2]");
        Renga__V1__Run *waiting = get(&stage, run);
        assert_int_equal(waiting->state, WAITING);
        assert_int_equal(waiting->n_interrupts, 3);
        assert_string_equal(waiting->interrupts[0]->path, "v[0]");
        assert_string_equal(waiting->interrupts[0]->node, "person");
        for (int i = 0; i < 3; i++) {
            char path[8];
            snprintf(path, sizeof path, "v[%d]", i);
            if (restarts)
                restart();
            answer(run, path);
        }
        assert_run(&stage, run, SUCCEEDED,
                   "{\"out\":[{\"item\":\"a\",\"log\":[\"old\",\"new\"]},{\"item\":\"b\",\"log\":[\"new\","
                   "\"new\"]},{\"item\":\"c\",\"log\":[\"new\",\"new\"]}]}"); /* the log has nothing of b, nor of c */
        stage_clear(&stage);
    }
}

static void what_does_not_fit_within_is_named_with_its_path(void **state)
{
    static const struct {
        const char *document, *problems[4];
    } cases[] = {
        {BRANCHES(W, "string", X, "person", "new"), {"the node 'w[0]/q' is due"}},
        {BRANCHES(W, "integer", X, "q", "new"), {"items", "in 'w[0]': ", "what branch 1 of 'w' is given", NULL}},
        {BRANCHES("\"start\": \"w\", \"nodes\": {\"w\": {\"kind\": \"noop\", \"on\": {\"done\": \"v\"}}, \"v\": {" EACH
                  "}}",
                  "string", X, "q", "new"),
         {"within the sub-graph of 'w', which is of kind noop"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *run = pause_within();
        write_version(cases[i].document);
        size_t wanted = 0;
        const Renga__V1__MigrateRunResponse *response = migrate(run, NULL, NULL, true);
        assert_non_null(response);
        for (; wanted < 4 && cases[i].problems[wanted]; wanted++)
            if (wanted >= response->n_problems || !strstr(response->problems[wanted], cases[i].problems[wanted]))
                fail_msg("%zu: %s", i, wanted < response->n_problems ? response->problems[wanted] : "no problem");
        assert_int_equal(response->n_problems, wanted);
        if (wanted) {
            assert_null(migrate(run, NULL, NULL, false));
            assert_string_equal(last_reason, "DOES_NOT_FIT");
        }
        resume(&stage, run, NULL); /* nothing has changed */
        end_script("w[1]");
        end_script("w[2]");
        answer(run, "w[0]");
        stage_clear(&stage);
    }
}

#define DESCRIBED(description)                                                                                         \
    "\"description\": \"" description "\", \"state\": {\"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": "      \
    "\"object[]\"}}, \"output\": [\"out\"], " W                                                                        \
    ", \"graphs\": {\"sub\": {\"state\": {\"item\": {\"type\": \"string\"}}, \"start\": \"n\", \"nodes\": {\"n\": {" S \
    "}}}}"

static void a_branch_that_has_ended_is_not_run_again_in_the_new_version(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        char run[64];
        set_stage(DESCRIBED("old"));
        snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"items\":[\"a\",\"b\"]}"));
        end_script("w[0]");
        cancel(&stage, run);
        write_version(DESCRIBED("new"));
        if (!migrate(run, NULL, NULL, false))
            fail_msg("%s", last_status.text);
        if (restarts)
            restart();
        resume(&stage, run, NULL);
        assert_null(script_find("n", "w[0]", -1));
        end_script("w[1]");
        assert_run(&stage, run, SUCCEEDED, "{\"out\":[{\"item\":\"a\"},{\"item\":\"b\"}]}");
        stage_clear(&stage);
    }
}

#define REMEMBERS(name, start)                                                                                         \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"total\": {\"type\": \"integer\"}}, \"output\": [\"total\"], "           \
    "\"recursion_limit\": 20, \"start\": \"" start "\", \"nodes\": {\"first\": {\"kind\": \"noop\", \"on\": {"         \
    "\"done\": \"" name "\"}}, \"" name "\": {\"kind\": \"graph\", \"graph\": \"sub\", \"in\": {}, \"out\": "          \
    "{\"total\": \"n\"}, \"on\": {\"done\": \"ask\"}}, \"ask\": {\"kind\": \"ask\", \"question\": \"again?\", "        \
    "\"into\": \"x\", \"visits\": {\"max\": 2, \"then\": \"end\"}, \"on\": {\"answered\": \"" name "\"}}}, "           \
    "\"graphs\": {\"sub\": {\"memory\": \"thread\", \"state\": {\"n\": {\"type\": \"integer\", \"reduce\": "           \
    "\"sum\"}}, "                                                                                                      \
    "\"start\": \"s\", \"nodes\": {\"s\": {\"kind\": \"set\", \"values\": {\"n\": 1}}}}}"

static void what_a_sub_graph_remembers_goes_over_under_its_new_name(void **state)
{
    char run[64];
    set_stage(REMEMBERS("g", "first"));
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    assert_run(&stage, run, WAITING, "{\"total\":1}");
    write_version(REMEMBERS("h", "first"));
    assert_null(migrate(run, NULL, NULL, false));
    assert_non_null(strstr(last_status.text, "remembers something at 'g'"));
    assert_non_null(migrate(run, "g", "h", false));
    resume(&stage, run, "1");
    assert_run(&stage, run, WAITING, "{\"total\":2}");
    restart();
    resume(&stage, run, "1");
    assert_run(&stage, run, SUCCEEDED, "{\"total\":3}");
    write_version("\"description\": \"another\", " REMEMBERS("h", "first")); /* and so for a new run on the thread */
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    assert_run(&stage, run, WAITING, "{\"total\":4}");
    restart();
    resume(&stage, run, "1");
    assert_run(&stage, run, WAITING, "{\"total\":5}");
    stage_clear(&stage);
}

/* ---- queued ------------------------------------------------------------------------------------------------------ */

#define SAYS(field, text)                                                                                              \
    "\"state\": {\"" field "\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, \"start\": \"n\", \"nodes\": {"     \
    "\"n\": {" S ", \"on\": {\"done\": \"say\"}}, \"say\": {\"kind\": \"set\", \"values\": {\"" field "\": [\"" text   \
    "\"]}}}"

static char *enqueue(const char *input)
{
    static char run[64];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.on_busy = RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE;
    struct test_request *sent = start_with(&stage, &request, "t", input);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_non_null(response);
    snprintf(run, sizeof run, "%s", response->run->run_id);
    ask_end(sent);
    assert_run(&stage, run, QUEUED, "");
    return run;
}

static void a_queued_run_begins_in_the_new_version(void **state)
{
    char old[72];
    set_stage(SAYS("log", "old"));
    snprintf(old, sizeof old, "%s", current_version());
    char *first = start(&stage, "t", "{\"log\":[\"in\"]}"), *second = enqueue("{\"log\":[\"more\"]}");
    write_version(SAYS("log", "new"));
    Renga__V1__MigrateRunResponse *response = migrate(second, NULL, NULL, false);
    assert_non_null(response);
    assert_int_equal(response->run->state, QUEUED);
    assert_string_equal(response->run->graph_version, current_version());
    assert_string_equal(get(&stage, first)->graph_version, old);
    restart(); /* with the first at work */
    INSIDE(&stage, runner_recover(stage.runner));
    assert_run(&stage, second, QUEUED, "");
    assert_string_equal(get(&stage, second)->graph_version, current_version());
    INSIDE(&stage, script_write(script_find("n", NULL, -1), "", ""));
    assert_run(&stage, first, SUCCEEDED, "{\"log\":[\"in\",\"old\"]}");
    INSIDE(&stage, script_write(script_find("n", NULL, -1), "", ""));
    assert_run(&stage, second, SUCCEEDED, "{\"log\":[\"in\",\"old\",\"more\",\"new\"]}");
    stage_clear(&stage);
}

static void a_queued_run_stays_where_its_input_or_the_state_does_not_fit(void **state)
{
    set_stage(SAYS("log", "old"));
    start(&stage, "t", "{\"log\":[\"in\"]}");
    char *second = enqueue("{\"log\":[\"more\"]}");
    write_version(SAYS("other", "new"));
    const Renga__V1__MigrateRunResponse *response = migrate(second, NULL, NULL, true);
    assert_int_equal(response->n_problems, 2);
    assert_non_null(strstr(response->problems[0], "input_json: "));
    assert_non_null(strstr(response->problems[1], "the field 'log'"));
    assert_null(migrate(second, NULL, NULL, false));
    assert_string_equal(last_reason, "DOES_NOT_FIT");
    assert_string_not_equal(get(&stage, second)->graph_version, current_version());
    stage_clear(&stage);
}

static void a_queued_run_begins_when_the_one_before_has_failed(void **state)
{
    set_stage(SAYS("log", "end"));
    char *first = start(&stage, "t", ""), *second = enqueue("");
    INSIDE(&stage, script_break(script_find("n", NULL, -1), INTERNAL, "broken"));
    assert_run(&stage, first, FAILED, "");
    INSIDE(&stage, script_write(script_find("n", NULL, -1), "", ""));
    assert_run(&stage, second, SUCCEEDED, "{\"log\":[\"end\"]}");
    stage_clear(&stage);
}

static int pauses;
static void count_pauses(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    pauses += event && event->event_case == RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED;
}

static void where_a_run_was_paused_is_told_once_though_another_takes_its_place(void **state)
{
    set_stage("\"state\": {\"x\": {\"type\": \"any\"}}, \"interrupt_before\": [\"b\"], \"start\": \"n\", \"nodes\": {"
              "\"n\": {" S ", \"on\": {\"done\": \"b\"}}, \"b\": {\"kind\": \"noop\"}}");
    char *first = start(&stage, "t", "");
    enqueue("");
    INSIDE(&stage, script_write(script_find("n", NULL, -1), "", ""));
    assert_run(&stage, first, STOPPED, "");
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = first;
    struct watcher watcher = {.loop = stage.loop, .tenant = "tenant", .request = &request, .came = count_pauses};
    pauses = 0;
    INSIDE(&stage, runner_watch(stage.runner, &watcher));
    assert_int_equal(pauses, 1);
    INSIDE(&stage, runner_unwatch(&watcher));
    stage_clear(&stage);
}

/* ---- what a checkpoint has --------------------------------------------------------------------------------------- */

/* What was within belongs to the run that is paused there, not to the checkpoint. */
static void a_run_that_begins_where_another_was_moved_begins_its_sub_graph_anew(void **state)
{
    char head[64];
    char *run = pause_within();
    write_version(BRANCHES(FIRST_V, "string", NEW_FIELDS, "person", "new"));
    Renga__V1__MigrateRunResponse *response = move(run);
    assert_non_null(response);
    snprintf(head, sizeof head, "%s", response->run->checkpoint_id);
    for (int forked = 0; forked < 2; forked++) {
        Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
        request.checkpoint_id = head;
        struct test_request *begun = start_with(&stage, &request, forked ? "fork" : "t", "");
        Renga__V1__StartRunResponse *started = answer_of(begun);
        assert_non_null(started);
        assert_non_null(script_find("n", "v[0]", -1));
        assert_null(script_find("n", "v[1]", -1));
        Renga__V1__ForkThreadRequest fork = RENGA__V1__FORK_THREAD_REQUEST__INIT;
        fork.thread_id = (char *)(uintptr_t) "t";
        fork.checkpoint_id = head;
        fork.new_thread_id = (char *)(uintptr_t)(forked ? "another" : "fork");
        struct test_request *sent = ask_runner(&stage, &fork);
        Renga__V1__ForkThreadResponse *made = answer_of(sent);
        if (!forked)
            snprintf(head, sizeof head, "%s", made->thread->checkpoint_id);
        ask_end(sent);
        cancel(&stage, started->run->run_id);
        ask_end(begun);
    }
    stage_clear(&stage);
}

/* A run that goes on with the activations of a checkpoint does so in a newer version, too. */
static void activations_of_a_checkpoint_go_over_to_another_version(void **state)
{
    char head[64];
    set_stage("\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"set\", "
              "\"values\": {\"x\": 1}, \"on\": {\"done\": \"b\"}}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    cancel(&stage, run);
    snprintf(head, sizeof head, "%s", get(&stage, run)->checkpoint_id);
    write_version("\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"noop\", "
                  "\"on\": {\"done\": \"b\"}}, \"b\": {\"kind\": \"set\", \"values\": {\"x\": \"new\"}}}");
    Renga__V1__StartRunRequest again = RENGA__V1__START_RUN_REQUEST__INIT;
    again.checkpoint_id = head;
    struct test_request *sent = start_with(&stage, &again, "t", "");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_non_null(response);
    assert_run(&stage, response->run->run_id, SUCCEEDED, "{\"x\":\"new\"}");
    ask_end(sent);
    stage_clear(&stage);
}

#define CONFLICT                                                                                                       \
    "\"state\": {\"items\": {\"type\": \"string[]\"}, \"out\": {\"type\": \"object[]\"}}, \"output\": [\"out\"], "     \
    "\"start\": [\"w\", \"s\"], \"nodes\": {\"w\": {" EACH "}, \"s\": {" S "}}, \"graphs\": {\"sub\": {\"state\": {"   \
    "\"item\": {\"type\": \"string\"}}, \"start\": \"n\", \"nodes\": {\"n\": {" S "}}}}"

static void what_branches_gave_is_there_after_a_conflict_and_a_restart(void **state)
{
    char run[64];
    set_stage(CONFLICT);
    snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"items\":[\"a\"]}"));
    INSIDE(&stage, script_write(script_find("s", NULL, -1), "", "{\"out\":[]}"));
    end_script("w[0]");
    assert_run(&stage, run, FAILED, "");
    resume(&stage, run, NULL);
    INSIDE(&stage, script_write(script_find("s", NULL, -1), "", ""));
    assert_run(&stage, run, SUCCEEDED, "{\"out\":[{\"item\":\"a\"}]}");
    restart();
    assert_string_equal(get_state(&stage, "t", ""), "{\"items\":[\"a\"],\"out\":[{\"item\":\"a\"}]}");
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_within_branches_goes_on_in_the_new_version),
        cmocka_unit_test(what_does_not_fit_within_is_named_with_its_path),
        cmocka_unit_test(a_branch_that_has_ended_is_not_run_again_in_the_new_version),
        cmocka_unit_test(what_a_sub_graph_remembers_goes_over_under_its_new_name),
        cmocka_unit_test(a_queued_run_begins_in_the_new_version),
        cmocka_unit_test(a_queued_run_stays_where_its_input_or_the_state_does_not_fit),
        cmocka_unit_test(a_queued_run_begins_when_the_one_before_has_failed),
        cmocka_unit_test(where_a_run_was_paused_is_told_once_though_another_takes_its_place),
        cmocka_unit_test(a_run_that_begins_where_another_was_moved_begins_its_sub_graph_anew),
        cmocka_unit_test(activations_of_a_checkpoint_go_over_to_another_version),
        cmocka_unit_test(what_branches_gave_is_there_after_a_conflict_and_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
