/* How often the store is written for a run: a caller that waits pays for one batch where nothing outside hears of the
 * first step. And nodes that end as they begin. */
#include "unit.h"

#include "runner_fixture.h"

#include "log/keys.h"

static struct stage stage;

#define FIELDS "\"state\": {\"x\": {\"type\": \"integer\"}}, \"start\": \"a\", \"nodes\": {"
#define PURE   FIELDS "\"a\": {\"kind\": \"set\", \"values\": {\"x\": 1}}}"
#define OUTER  FIELDS "\"a\": {\"kind\": \"script\"}}"
#define STANDS "\"interrupt_before\": [\"a\"], " PURE

static uint64_t batches(void)
{
    struct store_stats stats;
    store_stats(stage.store, &stats);
    return stats.batches;
}

static struct test_request *wait_for(const char *thread)
{
    static Renga__V1__StartRunRequest request; /* it has to live until it is answered */
    renga__v1__start_run_request__init(&request);
    request.wait = true;
    request.request_id = (char *)(uintptr_t) "one";
    return start_with(&stage, &request, thread, "");
}

static void a_waited_run_of_one_pure_node_is_one_batch(void **state)
{
    stage_set(&stage, PURE);
    uint64_t before = batches();
    struct test_request *sent = wait_for("t");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_int_equal(batches() - before, 1);
    assert_int_equal(response->run->state, SUCCEEDED);
    assert_string_equal(response->run->output_json, "{\"x\":1}");
    assert_run(&stage, response->run->run_id, SUCCEEDED, "{\"x\":1}");
    ask_end(sent);
    stage_clear(&stage);
}

static void a_node_that_others_hear_of_waits_for_the_acceptance(void **state)
{
    stage_set(&stage, OUTER);
    uint64_t before = batches();
    struct test_request *sent = wait_for("t");
    assert_int_equal(batches() - before, 1);
    assert_non_null(script_find("a", NULL, -1));
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "done", "{\"x\":2}"));
    assert_int_equal(batches() - before, 2);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    assert_int_equal(response->run->state, SUCCEEDED);
    ask_end(sent);
    stage_clear(&stage);
}

static void a_run_in_the_background_is_kept_first(void **state)
{
    stage_set(&stage, PURE);
    uint64_t before = batches();
    start(&stage, "t", "");
    assert_int_equal(batches() - before, 2);
    stage_clear(&stage);
}

static void a_thread_whose_name_is_drawn_is_not_looked_for(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    stage_set(&stage, PURE);
    uint64_t before = batches();
    request.agent = (char *)(uintptr_t) "a";
    request.wait = true;
    struct test_request *sent = send_to_runner(&stage, &request, false);
    loop_step(stage.loop, 0);
    store_settle(stage.store); /* nothing that was read has come back yet */
    assert_int_equal(batches() - before, 1);
    stage_settle(&stage, 0);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_int_equal(response->run->state, SUCCEEDED);
    ask_end(sent);
    stage_clear(&stage);
}

static void a_name_that_is_drawn_twice_writes_over_nothing(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    stage_set(&stage, PURE);
    char *first = start(&stage, "t", "");
    stage_end(&stage);
    stage_run(&stage);
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    struct test_request *sent = send_to_runner(&stage, &request, true);
    stage_settle(&stage, 0);
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, UNAVAILABLE);
    ask_end(sent);
    char *second = start(&stage, "t", "");
    assert_run(&stage, first, SUCCEEDED, "{\"x\":1}");
    assert_run(&stage, second, SUCCEEDED, "{\"x\":1}");
    Renga__V1__ListRunsRequest list = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    list.thread_id = (char *)(uintptr_t) "t";
    sent = ask_runner(&stage, &list);
    Renga__V1__ListRunsResponse *listed = answer_of(sent);
    assert_int_equal(listed->n_runs, 2);
    ask_end(sent);
    stage_clear(&stage);
}

static void a_waited_run_that_pauses_at_once_is_listed_as_waiting(void **state)
{
    stage_set(&stage, STANDS);
    struct test_request *sent = wait_for("t");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_int_equal(response->run->state, WAITING);
    Renga__V1__ListRunsRequest list = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    struct test_request *listing = ask_runner(&stage, &list);
    Renga__V1__ListRunsResponse *listed = answer_of(listing);
    assert_int_equal(listed->n_runs, 1);
    assert_int_equal(listed->runs[0]->state, WAITING);
    ask_end(listing);
    ask_end(sent);
    stage_clear(&stage);
}

static void a_request_that_comes_twice_before_it_is_on_disk_is_one_run(void **state)
{
    struct test_request *twice[2];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    stage_set(&stage, PURE);
    request.agent = (char *)(uintptr_t) "a";
    request.request_id = (char *)(uintptr_t) "once";
    request.on_busy = RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE;
    loop_enter(stage.loop);
    for (int i = 0; i < 2; i++) {
        twice[i] = request_of_test(&stage, &request);
        runner_run(stage.runner, &twice[i]->request);
    }
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
    Renga__V1__StartRunResponse *first = answer_of(twice[0]), *second = answer_of(twice[1]);
    assert_string_equal(first->run->run_id, second->run->run_id);
    assert_int_equal(first->repeated_request, 0);
    assert_int_equal(second->repeated_request, 1);
    ask_end(twice[0]);
    ask_end(twice[1]);
    stage_clear(&stage);
}

static size_t counted;

static void count_rows(struct store_scan *scan)
{
    counted = scan->count;
}

static size_t snapshots_of(const char *thread)
{
    struct key from, to;
    struct store_scan scan;
    key_numbered(&from, KEY_SNAPSHOT, stage_tenant, thread, 0);
    key_numbered(&to, KEY_SNAPSHOT, stage_tenant, thread, UINT64_MAX);
    store_scan_init(&scan, stage.loop, count_rows);
    scan.from = key_bytes(&from);
    scan.to = key_bytes(&to);
    INSIDE(&stage, store_scan(stage.store, &scan));
    store_scan_fini(&scan);
    return counted;
}

static void what_had_to_be_read_of_a_thread_is_not_read_again(void **state)
{
    static char document[4096], line[2001];
    memset(line, 'x', sizeof line - 1);
    snprintf(document, sizeof document,
             "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}}, \"output\": [], \"start\": "
             "\"a\", \"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"%s\"]}}}",
             line);
    stage_set(&stage, document);
    for (int i = 0; i < 10; i++)
        start(&stage, "t", "");
    assert_int_equal(snapshots_of("t"), 0);
    static const size_t after[] = {1, 1, 1}; /* 20 KB were read, then little, then less than twice the snapshot */
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        stage_end(&stage);
        stage_run(&stage);
        start(&stage, "t", "");
        start(&stage, "t", "");
        assert_int_equal(snapshots_of("t"), after[i]);
    }
    stage_clear(&stage);
}

/* A thread's stack would not hold them within each other. */
static void forty_thousand_nodes_that_end_at_once_are_begun_one_after_the_other(void **state)
{
    static char input[300000];
    char *at = input + sprintf(input, "{\"items\":[0");
    stage_set(&stage,
              "\"state\": {\"items\": {\"type\": \"integer[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": "
              "\"append\"}}, \"output\": [], \"max_concurrency\": 100, \"start\": \"all\", \"nodes\": {\"all\": "
              "{\"kind\": \"each\", \"of\": \"items\", \"as\": \"item\", \"graph\": \"branch\", \"into\": \"out\"}}, "
              "\"graphs\": {\"branch\": {\"state\": {\"item\": {\"type\": \"integer\"}}, \"start\": \"n\", "
              "\"nodes\": {\"n\": {\"kind\": \"noop\"}}}}");
    for (int i = 1; i < 40000; i++)
        at += sprintf(at, ",%d", i);
    sprintf(at, "]}");
    char *run = start(&stage, "t", input);
    for (int i = 0; i < 10 && get(&stage, run)->state == RUNNING; i++)
        stage_settle(&stage, 0);
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waited_run_of_one_pure_node_is_one_batch),
        cmocka_unit_test(a_node_that_others_hear_of_waits_for_the_acceptance),
        cmocka_unit_test(a_run_in_the_background_is_kept_first),
        cmocka_unit_test(a_request_that_comes_twice_before_it_is_on_disk_is_one_run),
        cmocka_unit_test(forty_thousand_nodes_that_end_at_once_are_begun_one_after_the_other),
        cmocka_unit_test(a_waited_run_that_pauses_at_once_is_listed_as_waiting),
        cmocka_unit_test(what_had_to_be_read_of_a_thread_is_not_read_again),
        cmocka_unit_test(a_thread_whose_name_is_drawn_is_not_looked_for),
        cmocka_unit_test(a_name_that_is_drawn_twice_writes_over_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
