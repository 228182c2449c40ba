/* Results of nodes that are used again: when, for whom, how long. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define HOUR_NS (INT64_C(3600) * NS_PER_SEC)
#define FIELDS                                                                                                         \
    "\"state\": {\"q\": {\"type\": \"string\"}, \"other\": {\"type\": \"string\"}, \"n\": {\"type\": \"integer\"}, "   \
    "\"sum\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, "
#define CACHED "{\"kind\": \"script\", \"inputs\": [\"q\"], \"cache\": {\"ttl\": \"2h\"}}"
#define ONE    FIELDS "\"start\": \"a\", \"nodes\": {\"a\": " CACHED "}"
#define FAILS                                                                                                          \
    FIELDS "\"fail_fast\": true, \"start\": [\"a\", \"bad\"], \"nodes\": {\"a\": " CACHED                              \
           ", \"bad\": {\"kind\": \"script\"}}"

static void answer_with_usage(struct script_call *call)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    char update[32];
    snprintf(update, sizeof update, "{\"n\":%zu}", script_count);
    usage.model_calls = 1;
    response.usage = &usage;
    response.update_json = update;
    script_respond(call, &response);
}

static Renga__V1__Run *run_with(const char *input, bool bypass, const char *configuration)
{
    static unsigned next;
    static struct test_request *last;
    char thread[16];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.wait = true;
    request.bypass_node_cache = bypass;
    request.configuration_json = (char *)(uintptr_t)configuration;
    snprintf(thread, sizeof thread, "t%u", next++);
    if (last)
        ask_end(last);
    last = start_with(&stage, &request, thread, input);
    Renga__V1__StartRunResponse *response = answer_of(last);
    if (!response)
        fail_msg("%s", last_status.text);
    return response->run;
}

#define assert_output(run, wanted)                                                                                     \
    do {                                                                                                               \
        Renga__V1__Run *run_ = run;                                                                                    \
        assert_int_equal(run_->state, SUCCEEDED);                                                                      \
        assert_string_equal(run_->output_json, wanted);                                                                \
    } while (0)

static void the_same_inputs_have_the_same_result_and_cost_nothing(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    Renga__V1__Run *first = run_with("{\"q\":\"x\"}", false, "");
    assert_int_equal(first->usage->model_calls, 1);
    assert_output(first, "{\"q\":\"x\",\"n\":1,\"sum\":0}");
    Renga__V1__Run *second = run_with("{\"q\":\"x\",\"other\":\"is no input of it\"}", false, "");
    assert_output(second, "{\"q\":\"x\",\"other\":\"is no input of it\",\"n\":1,\"sum\":0}");
    assert_int_equal(second->usage->model_calls, 0);
    assert_int_equal(script_runs("a"), 1);
    stage_clear(&stage);
}

static void whatever_it_hangs_on_makes_it_run(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    run_with("{\"q\":\"x\"}", false, "");
    assert_output(run_with("{\"q\":\"y\"}", false, ""), "{\"q\":\"y\",\"n\":2,\"sum\":0}");
    assert_output(run_with("{\"q\":\"x\"}", false, "{\"temperature\":1}"), "{\"q\":\"x\",\"n\":3,\"sum\":0}");
    stage_tenant = "somebody else";
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":4,\"sum\":0}");
    stage_tenant = "tenant";
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":1,\"sum\":0}");
    house_write(&stage.house, "a/graph.json", "{\"agent\": \"a\", \"description\": \"new\", " ONE "}");
    agents_reload(stage.house.agents);
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":5,\"sum\":0}");
    stage_clear(&stage);
}

static void two_keys_of_one_place_are_not_taken_for_each_other(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    for (size_t i = 1; i <= 400; i++) { /* of 4,096 places: some meet */
        char input[32];
        snprintf(input, sizeof input, "{\"q\":\"%zu\"}", i);
        run_with(input, false, "");
        assert_int_equal(script_runs("a"), i);
    }
    stage_clear(&stage);
}

static void a_result_is_used_until_its_time_is_over(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    run_with("{\"q\":\"x\"}", false, "");
    clock_wall_step(HOUR_NS);
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":1,\"sum\":0}");
    clock_wall_step(HOUR_NS + NS_PER_SEC);
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":2,\"sum\":0}");
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":2,\"sum\":0}");
    stage_clear(&stage);
}

static void a_run_that_passes_the_cache_by_renews_it(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    run_with("{\"q\":\"x\"}", false, "");
    assert_output(run_with("{\"q\":\"x\"}", true, ""), "{\"q\":\"x\",\"n\":2,\"sum\":0}");
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":2,\"sum\":0}");
    stage_clear(&stage);
}

static void answer_degraded(struct script_call *call)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Degradation less = RENGA__V1__DEGRADATION__INIT, *list[] = {&less};
    response.update_json = (char *)(uintptr_t) "{\"n\":0}";
    response.degradations = list;
    response.n_degradations = 1;
    script_respond(call, &response);
}

static void break_always(struct script_call *call)
{
    script_break(call, INTERNAL, "broken");
}

static void failures_and_degraded_results_are_not_kept(void **state)
{
    stage_set(&stage, ONE);
    script_begins = break_always;
    assert_int_equal(run_with("{\"q\":\"x\"}", false, "")->state, FAILED);
    script_begins = answer_degraded;
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":0,\"sum\":0}");
    script_begins = answer_with_usage;
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":3,\"sum\":0}");
    stage_clear(&stage);
}

static void break_the_bad_one(struct script_call *call)
{
    if (strcmp(call->node, "bad") == 0)
        script_break(call, INTERNAL, "broken");
    else
        answer_with_usage(call);
}

static void a_node_that_is_stopped_while_it_is_looked_for_does_not_run(void **state)
{
    stage_set(&stage, FAILS);
    script_begins = break_the_bad_one;
    Renga__V1__Run *run = run_with("{\"q\":\"x\"}", false, "");
    assert_int_equal(run->state, FAILED);
    assert_int_equal(script_runs("a"), 0);
    script_begins = answer_with_usage;
    assert_int_equal(resume(&stage, run->run_id, NULL) == NULL, 0);
    assert_int_equal(script_runs("a"), 1);
    stage_clear(&stage);
}

static void a_deleted_thread_takes_its_results_along(void **state)
{
    stage_set(&stage, ONE);
    script_begins = answer_with_usage;
    Renga__V1__Run *run = run_with("{\"q\":\"x\"}", false, "");
    Renga__V1__DeleteThreadRequest delete = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    delete.thread_id = run->thread_id;
    ask_end(ask_runner(&stage, &delete));
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":2,\"sum\":0}");
    stage_clear(&stage);
}

static void a_run_with_a_result_of_the_cache_is_the_same_after_a_restart(void **state)
{
    char url[256], run[64];
    stage_set(&stage, ONE);
    stage_close(&stage);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    stage_open(&stage, url);
    script_begins = answer_with_usage;
    run_with("{\"q\":\"x\"}", false, "");
    snprintf(run, sizeof run, "%s", run_with("{\"q\":\"x\"}", false, "")->run_id);
    stage_close(&stage);
    stage_open(&stage, url);
    assert_run(&stage, run, SUCCEEDED, "{\"q\":\"x\",\"n\":1,\"sum\":0}");
    assert_int_equal(get(&stage, run)->usage->model_calls, 0);
    assert_output(run_with("{\"q\":\"x\"}", false, ""), "{\"q\":\"x\",\"n\":1,\"sum\":0}");
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_inputs_have_the_same_result_and_cost_nothing),
        cmocka_unit_test(whatever_it_hangs_on_makes_it_run),
        cmocka_unit_test(two_keys_of_one_place_are_not_taken_for_each_other),
        cmocka_unit_test(a_result_is_used_until_its_time_is_over),
        cmocka_unit_test(a_run_that_passes_the_cache_by_renews_it),
        cmocka_unit_test(failures_and_degraded_results_are_not_kept),
        cmocka_unit_test(a_node_that_is_stopped_while_it_is_looked_for_does_not_run),
        cmocka_unit_test(a_deleted_thread_takes_its_results_along),
        cmocka_unit_test(a_run_with_a_result_of_the_cache_is_the_same_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
