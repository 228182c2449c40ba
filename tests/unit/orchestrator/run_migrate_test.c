/* Runs that go over to another version of their agent, and versions that are in the store alone. */
#include "unit.h"

#include "log/keys.h"
#include "migrate_fixture.h"

#define OLD                                                                                                            \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}, "                    \
    "\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, \"start\": [\"ask\", \"side\"], \"nodes\": {"         \
    "\"ask\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\", \"on\": {\"answered\": \"last\"}}, "           \
    "\"side\": {\"kind\": \"set\", \"values\": {\"n\": 5}, \"on\": {\"done\": \"last\"}}, "                            \
    "\"last\": {\"kind\": \"set\", \"values\": {\"log\": [\"old\"]}}}"
/* Other nodes before, another name, a field more, and another end. */
#define NEW                                                                                                            \
    "\"state\": {\"added\": {\"type\": \"string\", \"initial\": \"new\"}, \"x\": {\"type\": \"any\"}, "                \
    "\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}, \"log\": {\"type\": \"string[]\", \"reduce\": "              \
    "\"append\"}}, "                                                                                                   \
    "\"start\": [\"first\", \"person\", \"side\"], \"nodes\": {\"first\": {\"kind\": \"noop\"}, "                      \
    "\"side\": {\"kind\": \"set\", \"values\": {\"n\": 7}, \"on\": {\"done\": \"last\"}}, "                            \
    "\"person\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\", \"on\": {\"answered\": \"last\"}}, "        \
    "\"last\": {\"kind\": \"set\", \"values\": {\"log\": [\"new\"]}}}"
/* The result of "side" does not fit, the field of it is gone, and so is the node that asks. */
#define OTHER                                                                                                          \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"log\": {\"type\": \"integer[]\", \"reduce\": \"append\"}}, "            \
    "\"start\": \"side\", \"nodes\": {\"side\": {\"kind\": \"noop\"}}"

static void a_waiting_run_goes_on_in_the_new_version(void **state)
{
    char run[64], interrupt[64];
    set_stage(OLD);
    snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"log\":[\"begin\"]}"));
    snprintf(interrupt, sizeof interrupt, "%s", get(&stage, run)->interrupts[0]->interrupt_id);
    write_version(NEW);
    Renga__V1__MigrateRunResponse *response = migrate(run, "ask", "person", true);
    assert_int_equal(response->n_problems, 0);
    assert_string_not_equal(response->run->graph_version, current_version());
    response = migrate(run, "ask", "person", false);
    assert_string_equal(response->run->graph_version, current_version());
    assert_int_equal(response->run->state, WAITING);
    assert_string_equal(get(&stage, run)->interrupts[0]->interrupt_id, interrupt);
    restart();
    assert_string_equal(get(&stage, run)->interrupts[0]->interrupt_id, interrupt);
    assert_string_equal(get(&stage, run)->interrupts[0]->node, "person");
    assert_non_null(resume_by_id(&stage, run, interrupt, "1"));
    assert_run(&stage, run, SUCCEEDED, "{\"added\":\"new\",\"x\":1,\"n\":5,\"log\":[\"begin\",\"new\"]}");
    restart();
    assert_run(&stage, run, SUCCEEDED, "{\"added\":\"new\",\"x\":1,\"n\":5,\"log\":[\"begin\",\"new\"]}");
    stage_clear(&stage);
}

#define JOINS(starts, first, last)                                                                                     \
    "\"state\": {\"x\": {\"type\": \"any\"}, \"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, "             \
    "\"start\": [\"a\", \"b\"" starts "], \"nodes\": {" first                                                          \
    "\"a\": {\"kind\": \"noop\", \"on\": {\"done\": \"both\"}}, "                                                      \
    "\"b\": {\"kind\": \"noop\", \"on\": {\"done\": \"ask\"}}, "                                                       \
    "\"ask\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\", \"on\": {\"answered\": \"both\"}}, "           \
    "\"both\": {\"kind\": \"set\", \"join\": [\"a\", \"ask\"], \"values\": {\"log\": [\"" last "\"]}}}"

static void what_has_come_to_a_join_counts_in_the_new_version(void **state)
{
    char run[64];
    set_stage(JOINS("", "", "old"));
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    write_version(JOINS(", \"c\"", "\"c\": {\"kind\": \"noop\"}, ", "new"));
    assert_non_null(migrate(run, NULL, NULL, false));
    restart();
    resume(&stage, run, "1");
    assert_run(&stage, run, SUCCEEDED, "{\"x\":1,\"log\":[\"new\"]}");
    stage_clear(&stage);
}

static void every_checkpoint_has_the_names_of_its_version(void **state)
{
    char run[64], token[128] = "";
    static const char *const wanted[] = {"last", "ask", "side"}; /* nodes of steps, or next ones; newest first */
    set_stage(OLD);
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    write_version(NEW);
    assert_non_null(migrate(run, "ask", "person", false));
    resume(&stage, run, "1");
    size_t causes[8] = {0}, pages = 0;
    do { /* one on a page: the version has to be known on each */
        Renga__V1__ListCheckpointsRequest request = RENGA__V1__LIST_CHECKPOINTS_REQUEST__INIT;
        request.thread_id = (char *)(uintptr_t) "t";
        request.page_size = 1;
        request.page_token = token;
        struct test_request *sent = ask_runner(&stage, &request);
        Renga__V1__ListCheckpointsResponse *response = answer_of(sent);
        assert_int_equal(response->n_checkpoints, 1);
        const Renga__V1__Checkpoint *checkpoint = response->checkpoints[0];
        causes[checkpoint->cause]++;
        if (checkpoint->cause == RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_INPUT) {
            assert_string_equal(checkpoint->next_nodes[0], wanted[1]);
            assert_string_equal(checkpoint->next_nodes[1], wanted[2]);
            assert_string_not_equal(checkpoint->graph_version, current_version());
        } else {
            assert_string_equal(checkpoint->graph_version, current_version());
        }
        if (checkpoint->cause == RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_MIGRATION)
            assert_string_equal(checkpoint->next_nodes[0], "person");
        if (pages == 0)
            assert_string_equal(checkpoint->nodes[0], wanted[0]);
        snprintf(token, sizeof token, "%s", response->next_page_token);
        ask_end(sent);
        pages++;
    } while (*token);
    assert_int_equal(pages, 4);
    assert_int_equal(causes[RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_MIGRATION], 1);
    stage_clear(&stage);
}

static void what_does_not_fit_is_named_and_changes_nothing(void **state)
{
    char run[64];
    set_stage(OLD);
    snprintf(run, sizeof run, "%s", start(&stage, "t", "{\"log\":[\"begin\"],\"n\":1}"));
    write_version(OTHER);
    Renga__V1__MigrateRunResponse *response = migrate(run, NULL, NULL, true);
    assert_int_equal(response->n_problems, 4);
    assert_non_null(strstr(response->problems[0], "the field 'n'"));
    assert_non_null(strstr(response->problems[1], "log"));
    assert_non_null(strstr(response->problems[2], "the node 'ask' is due"));
    assert_non_null(strstr(response->problems[3], "what the node 'side' has come to"));
    assert_null(migrate(run, NULL, NULL, false));
    assert_int_equal(last_status.code, FAILED_PRECONDITION);
    assert_string_equal(last_reason, "DOES_NOT_FIT");
    assert_non_null(resume(&stage, run, "1"));
    assert_run(&stage, run, SUCCEEDED, "{\"x\":1,\"n\":6,\"log\":[\"begin\",\"old\"]}");
    stage_clear(&stage);
}

static void a_run_at_work_is_not_moved(void **state)
{
    set_stage("\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"s\", \"nodes\": {\"s\": {\"kind\": \"script\"}}");
    char *run = start(&stage, "t", "");
    assert_null(migrate(run, NULL, NULL, false));
    assert_int_equal(last_status.code, ABORTED);
    assert_string_equal(last_reason, "RUN_BUSY");
    stage_clear(&stage);
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

static Renga__V1__DescribeAgentResponse *describe(const char *version, struct test_request **sent)
{
    Renga__V1__DescribeAgentRequest request = RENGA__V1__DESCRIBE_AGENT_REQUEST__INIT;
    request.agent = (char *)(uintptr_t) "a";
    request.graph_version = (char *)(uintptr_t)version;
    *sent = ask_runner(&stage, &request);
    Renga__V1__DescribeAgentResponse *response = answer_of(*sent);
    if (response)
        agent_release(stage.house.agents, (*sent)->request.place);
    return response;
}

static void a_version_that_is_on_disk_no_more_is_found_in_the_store(void **state)
{
    char old[72], run[64];
    struct test_request *sent;
    set_stage(OLD);
    snprintf(old, sizeof old, "%s", current_version());
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    start(&stage, "u", "");
    resume(&stage, start(&stage, "ends", ""), "1");
    write_version(NEW);
    stage_close(&stage); /* nobody holds it in memory any more */
    stage_open(&stage, url);
    Renga__V1__DescribeAgentResponse *response = describe("", &sent);
    assert_int_equal(response->n_versions, 2);
    assert_string_equal(response->versions[0]->graph_version, current_version());
    assert_true(response->versions[0]->current);
    assert_int_equal(response->versions[0]->open_runs, 0);
    assert_string_equal(response->versions[1]->graph_version, old);
    assert_int_equal(response->versions[1]->open_runs, 2);
    assert_true(response->versions[1]->loaded_ms > 0);
    ask_end(sent);
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.graph_version = old;
    sent = start_with(&stage, &request, "v", "");
    Renga__V1__StartRunResponse *started = answer_of(sent);
    assert_non_null(started);
    assert_string_equal(started->run->graph_version, old);
    ask_end(sent);
    response = describe(old, &sent);
    assert_int_equal(response->versions[1]->open_runs, 3);
    ask_end(sent);
    assert_non_null(migrate(run, "ask", "person", false));
    response = describe("", &sent);
    assert_int_equal(response->versions[0]->open_runs, 1);
    assert_int_equal(response->versions[1]->open_runs, 2);
    ask_end(sent);
    request.graph_version = (char *)(uintptr_t) "0000000000000000000000000000000000000000000000000000000000000000";
    sent = start_with(&stage, &request, "w", "");
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, NOT_FOUND);
    ask_end(sent);
    assert_null(describe("nonsense", &sent));
    ask_end(sent);
    stage_clear(&stage);
}

static int open_runs(void)
{
    struct test_request *sent;
    Renga__V1__DescribeAgentResponse *response = describe("", &sent);
    assert_int_equal(response->n_versions, 1);
    assert_string_equal(response->versions[0]->graph_version, current_version());
    int count = (int)response->versions[0]->open_runs;
    ask_end(sent);
    return count;
}

/* As the releases listed a run that had the version in the key. */
static void list_as_before(const char *run)
{
    struct key key;
    struct store_batch batch;
    store_batch_init(&batch, stage.loop, store_batch_fini);
    key_under(&key, KEY_VERSION, "tenant", "a", run);
    store_delete(&batch, key_bytes(&key));
    key_old_version(&key, "tenant", "a", current_version(), run);
    store_put(&batch, key_bytes(&key), (struct store_bytes){"", 0});
    INSIDE(&stage, store_commit(stage.store, &batch));
}

static void runs_that_were_listed_in_the_form_before_count_until_they_end(void **state)
{
    char before[64], now[64];
    set_stage(OLD);
    snprintf(before, sizeof before, "%s", start(&stage, "t", ""));
    snprintf(now, sizeof now, "%s", start(&stage, "u", ""));
    assert_int_equal(open_runs(), 2);
    list_as_before(before);
    restart();
    assert_int_equal(open_runs(), 2);
    resume(&stage, before, "1");
    assert_int_equal(open_runs(), 1);
    resume(&stage, now, "1");
    assert_int_equal(open_runs(), 0);
    stage_clear(&stage);
}

static char seen[1024];
static void note_event(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    if (event && event->event_case == RENGA__V1__RUN_EVENT__EVENT_NODE_FINISHED) {
        strcat(seen, event->node);
        strcat(seen, " ");
    } else if (event && event->event_case == RENGA__V1__RUN_EVENT__EVENT_INTERRUPTED) {
        strcat(seen, "?");
        strcat(seen, event->node);
        strcat(seen, " ");
    } else if (event && event->event_case == RENGA__V1__RUN_EVENT__EVENT_CHECKPOINT &&
               event->checkpoint->cause == RENGA__V1__CHECKPOINT_CAUSE__CHECKPOINT_CAUSE_MIGRATION) {
        strcat(seen, "moved ");
    }
}

static void a_watcher_reads_each_event_by_the_version_it_is_of(void **state)
{
    char run[64];
    set_stage(OLD);
    snprintf(run, sizeof run, "%s", start(&stage, "t", ""));
    start(&stage, "holds the old version", "");
    write_version(NEW);
    migrate(run, "ask", "person", false);
    resume(&stage, run, "1");
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = run;
    struct watcher watcher = {.loop = stage.loop, .tenant = "tenant", .request = &request, .came = note_event};
    *seen = '\0';
    INSIDE(&stage, runner_watch(stage.runner, &watcher));
    assert_string_equal(seen, "?ask side moved person last ");
    INSIDE(&stage, runner_unwatch(&watcher));
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_run_goes_on_in_the_new_version),
        cmocka_unit_test(what_has_come_to_a_join_counts_in_the_new_version),
        cmocka_unit_test(every_checkpoint_has_the_names_of_its_version),
        cmocka_unit_test(what_does_not_fit_is_named_and_changes_nothing),
        cmocka_unit_test(a_run_at_work_is_not_moved),
        cmocka_unit_test(a_version_that_is_on_disk_no_more_is_found_in_the_store),
        cmocka_unit_test(runs_that_were_listed_in_the_form_before_count_until_they_end),
        cmocka_unit_test(a_watcher_reads_each_event_by_the_version_it_is_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
