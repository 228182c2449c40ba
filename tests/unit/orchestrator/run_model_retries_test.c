/* The budget of a run for requests to models that fail: its nodes, branches and loops share it. */
#include "unit.h"

#include "proto/usage.h"
#include "runner_fixture.h"

#define SHARED_MAX 8 /* as engine/model_retries.c has it */
#define FAILED_MAX 6
#define ANSWERS    10

static struct stage stage;

#define RETRY "\"retry\": {\"attempts\": 6, \"base\": \"1ms\", \"max\": \"1ms\"}"

static void open_node(void)
{
    stage_shares = false;
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"model\", \"timeout\": \"1s\", " RETRY
                      ", \"on\": {\"done\": \"b\"}}, \"b\": {\"kind\": \"model\", " RETRY "}}");
}

static void requests_open_branches(bool shares)
{
    stage_shares = shares;
    stage_set(&stage,
              "\"state\": {\"items\": {\"type\": \"integer[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": "
              "\"append\"}}, \"start\": \"all\", \"nodes\": {\"all\": {\"kind\": \"each\", \"of\": \"items\", \"as\": "
              "\"item\", \"graph\": \"sub\", \"into\": \"out\"}}, \"graphs\": {\"sub\": {\"state\": {\"item\": "
              "{\"type\": \"integer\"}}, \"start\": \"n\", \"error_node\": \"e\", \"nodes\": {\"n\": {\"kind\": "
              "\"model\", " RETRY "}, \"e\": {\"kind\": \"noop\"}}}}");
    if (shares)
        stage_await_hands(&stage);
}

static Renga__V1__Usage requests_used(int requests)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.model_calls = requests;
    return usage;
}

static void break_after(struct script_call *call, int requests, enum status_code code)
{
    struct loop *loop = call->loop;
    Renga__V1__Usage usage = requests_used(requests);
    loop_enter(loop);
    task_spend(call->task, &usage);
    script_break(call, code, "too many requests");
    loop_leave(loop);
    stage_settle(&stage, 0);
}

static void answer_after(struct script_call *call, int requests, const char *outcome, enum status_code degraded)
{
    struct loop *loop = call->loop;
    Renga__V1__Usage usage = requests_used(requests);
    Renga__V1__Degradation degradation = RENGA__V1__DEGRADATION__INIT, *list[] = {&degradation};
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    degradation.status_code = (int32_t)degraded;
    response.outcome = (char *)(uintptr_t)outcome;
    response.usage = &usage;
    response.degradations = list;
    response.n_degradations = degraded != OK;
    loop_enter(loop);
    script_respond(call, &response);
    loop_leave(loop);
    stage_settle(&stage, 0);
}

static struct script_call *requests_at_work(const char *node)
{
    stage_settle(&stage, 20);
    return script_find(node, NULL, -1);
}

/* Each attempt uses all that it is allowed, and fails. */
static int requests_fail_all(const char *node)
{
    int sum = 0;
    for (struct script_call *call; (call = requests_at_work(node));) {
        sum += call->requests;
        break_after(call, call->requests, RESOURCE_EXHAUSTED);
    }
    return sum;
}

static void a_node_alone_has_six_failed_requests_at_most_over_its_attempts(void **state)
{
    open_node();
    char *run = start(&stage, "t", "");
    assert_int_equal(requests_at_work("a")->requests, 3);
    assert_int_equal(requests_fail_all("a"), FAILED_MAX);
    assert_run(&stage, run, FAILED, "");
    stage_clear(&stage);
}

static void the_simple_way_of_a_node_counts_the_requests_that_brought_no_answer(void **state)
{
    open_node();
    start(&stage, "t", "");
    answer_after(requests_at_work("a"), 3, "done", UNAVAILABLE);
    assert_int_equal(requests_at_work("b")->requests, 3);
    assert_int_equal(requests_fail_all("b"), 3);
    stage_clear(&stage);
}

static void repairs_of_json_that_stays_broken_count(void **state)
{
    open_node();
    start(&stage, "t", "");
    answer_after(requests_at_work("a"), 3, "done", DATA_LOSS);
    assert_int_equal(requests_at_work("b")->requests, 3);
    break_after(requests_at_work("b"), 2, DATA_LOSS);
    assert_null(requests_at_work("b"));
    stage_clear(&stage);
}

static void a_model_that_needs_one_repair_each_time_keeps_its_repairs(void **state)
{
    open_node();
    for (int i = 0; i < 20; i++) {
        start(&stage, "t", "");
        answer_after(requests_at_work("a"), 2, "done", OK);
        assert_int_equal(requests_at_work("b")->requests, 3);
        answer_after(requests_at_work("b"), 2, "", OK);
    }
    stage_clear(&stage);
}

static void an_attempt_that_was_cut_off_counts_all_that_it_was_allowed(void **state)
{
    open_node();
    char *run = start(&stage, "t", "");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(requests_at_work("a")->requests, 3);
        stage_settle(&stage, 1000);
    }
    assert_null(requests_at_work("a"));
    assert_run(&stage, run, FAILED, "");
    stage_clear(&stage);
}

static void a_run_that_a_person_resumes_has_a_full_budget(void **state)
{
    open_node();
    char *run = start(&stage, "t", "");
    requests_fail_all("a");
    resume(&stage, run, NULL);
    assert_int_equal(requests_at_work("a")->requests, 3);
    stage_clear(&stage);
}

static void ten_answers_make_up_for_one_failed_request(void **state)
{
    stage_shares = false;
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"model\", \"visits\": {\"max\": 90, \"then\": "
                      "\"end\"}, \"on\": {\"again\": \"a\"}}}");
    start(&stage, "t", "");
    for (int i = 0; i < 2; i++)
        answer_after(requests_at_work("a"), 3, "again", UNAVAILABLE);
    for (int i = 0; i < 2 * ANSWERS; i++) {
        assert_int_equal(requests_at_work("a")->requests, 1);
        answer_after(requests_at_work("a"), 1, "again", OK);
    }
    for (int i = 0; i < 2 * ANSWERS; i++) { /* repaired ones do not count */
        assert_int_equal(requests_at_work("a")->requests, 2);
        answer_after(requests_at_work("a"), 2, "again", OK);
    }
    stage_clear(&stage);
}

static int allowed_at_work(void)
{
    int sum = 0;
    for (size_t i = 0; i < script_count; i++)
        sum += script_calls[i].task ? script_calls[i].requests : 0;
    return sum;
}

static void branches_at_work_share_the_repeats_in_whichever_loop_they_run(void **state)
{
    for (int shares = 0; shares < 2; shares++) {
        requests_open_branches(shares);
        start(&stage, "t", "{\"items\": [0,1,2,3,4,5,6,7,8,9,10,11]}");
        STAGE_AWAIT(&stage, script_count == 12);
        assert_int_equal(allowed_at_work(), 12 + SHARED_MAX);
        stage_clear(&stage);
    }
}

static void repeats_that_an_attempt_did_not_need_are_free_again(void **state)
{
    requests_open_branches(false);
    start(&stage, "t", "{\"items\": [0,1,2,3,4,5,6,7,8,9,10,11]}");
    int attempts = 0;
    for (struct script_call *call; (call = requests_at_work("n")); attempts++)
        answer_after(call, 1, "", OK);
    assert_int_equal(attempts, 12);
    char *run = start(&stage, "t2", "{\"items\": [0]}");
    assert_int_equal(requests_at_work("n")->requests, 3);
    answer_after(requests_at_work("n"), 1, "", OK);
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void branches_whose_model_always_fails_stay_within_the_bound(void **state)
{
    for (int shares = 0; shares < 2; shares++) {
        requests_open_branches(shares);
        char *run = start(&stage, "t", "{\"items\": [0,1,2,3,4,5,6,7]}");
        STAGE_AWAIT(&stage, script_count == 8);
        int sum = 0;
        for (size_t next = 0; next < 8 || get(&stage, run)->state == RUNNING; next++) {
            STAGE_AWAIT(&stage, (stage_settle(&stage, 20), script_count > next) || get(&stage, run)->state != RUNNING);
            if (script_count <= next)
                break;
            sum += script_calls[next].requests;
            break_after(&script_calls[next], script_calls[next].requests, RESOURCE_EXHAUSTED);
        }
        assert_in_range(sum, 8, 8 + SHARED_MAX + FAILED_MAX - 1);
        assert_in_range(script_count, 8, 8 + FAILED_MAX - 1);
        stage_clear(&stage);
    }
}

/* Requests without an answer, for every use of the allowance by attempts. */
static void the_bound_holds_for_attempts_that_end_in_any_order(void **state)
{
    srandom(1);
    for (int round = 0; round < 200; round++) {
        requests_open_branches(false);
        start(&stage, "t", "{\"items\": [0,1,2,3,4,5,6,7,8,9]}");
        int requests = 0, answers = 0;
        for (struct script_call *call; (call = requests_at_work("n"));) {
            do
                call = &script_calls[(size_t)random() % script_count];
            while (!call->task);
            int took = 1 + (int)(random() % call->requests);
            if (random() % 4) {
                requests += took;
                break_after(call, took, RESOURCE_EXHAUSTED);
            } else {
                answers++;
                answer_after(call, took, "", OK);
            }
        }
        assert_in_range(requests, 10 - answers, 10 + SHARED_MAX + FAILED_MAX - 1 + answers / ANSWERS);
        stage_clear(&stage);
    }
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_alone_has_six_failed_requests_at_most_over_its_attempts),
        cmocka_unit_test(the_simple_way_of_a_node_counts_the_requests_that_brought_no_answer),
        cmocka_unit_test(repairs_of_json_that_stays_broken_count),
        cmocka_unit_test(a_model_that_needs_one_repair_each_time_keeps_its_repairs),
        cmocka_unit_test(ten_answers_make_up_for_one_failed_request),
        cmocka_unit_test(an_attempt_that_was_cut_off_counts_all_that_it_was_allowed),
        cmocka_unit_test(a_run_that_a_person_resumes_has_a_full_budget),
        cmocka_unit_test(branches_at_work_share_the_repeats_in_whichever_loop_they_run),
        cmocka_unit_test(repeats_that_an_attempt_did_not_need_are_free_again),
        cmocka_unit_test(branches_whose_model_always_fails_stay_within_the_bound),
        cmocka_unit_test(the_bound_holds_for_attempts_that_end_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
