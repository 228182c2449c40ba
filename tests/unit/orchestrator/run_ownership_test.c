/* Two orchestrators on one store: whose a thread is, and what the store refuses. */
#include "unit.h"

#include "ownership_fixture.h"

/* ---- whose it is ------------------------------------------------------------------------------------------------- */

static void a_thread_at_work_is_asked_for_at_its_owner(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    assert_string_equal(owner_of(&two, run), "one:1");
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    struct test_request *sent = start_with(&two, &request, "t", "");
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, UNAVAILABLE);
    assert_string_equal(sent->request.handoff_address, "one:1");
    ask_end(sent);
    close_both();
}

static void runs_that_are_asked_for_at_both_in_turn_build_on_each_other(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(SUM);
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.wait = true;
    for (int i = 1; i <= 6; i++) {
        char output[32];
        snprintf(output, sizeof output, "{\"n\":%d}", i);
        struct test_request *sent = ask_wherever(i % 2 ? &one : &two, &request);
        Renga__V1__StartRunResponse *response = answer_of(sent);
        assert_string_equal(response->run->output_json, output);
        ask_end(sent);
    }
    close_both();
}

static void two_that_begin_on_a_thread_at_once_are_one_after_the_other(void **state)
{
    struct stage *stages[] = {&one, &two};
    struct test_request *pending[2];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(THREE);
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    for (int i = 0; i < 2; i++) /* both read the thread while it is nobody's */
        pending[i] = send_to_runner(stages[i], &request, false);
    settle();
    int won = pending[0]->request.status.code == OK ? 0 : 1;
    assert_int_equal(pending[won]->request.status.code, OK);
    assert_int_equal(pending[1 - won]->request.status.code, UNAVAILABLE);
    assert_string_equal(pending[1 - won]->request.handoff_address, won ? "two:2" : "one:1");
    ask_end(pending[0]);
    ask_end(pending[1]);
    assert_int_equal(script_runs("a"), 1);
    close_both();
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

static struct stage *stage_at(const char *address)
{
    return strcmp(address, "one:1") == 0 ? &one : &two;
}

static void of_twenty_runs_on_one_thread_each_counts_once(void **state)
{
    enum { RUNS = 20 };
    struct test_request *pending[RUNS];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    int done = 0;
    open_both(SUM);
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.on_busy = RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE;
    request.wait = true;
    for (int i = 0; i < RUNS; i++)
        pending[i] = send_to_runner(i % 2 ? &two : &one, &request, false);
    for (int round = 0; round < RUNS; round++) {
        settle();
        for (int i = 0; i < RUNS; i++) { /* as the API forwards */
            struct test_request *sent = pending[i];
            if (!sent->answers || !sent->request.handoff_address)
                continue;
            struct stage *stage = stage_at(sent->request.handoff_address);
            sent->answers = 0;
            sent->request.loop = stage->loop;
            loop_enter(stage->loop);
            runner_run(stage->runner, &sent->request);
            loop_leave(stage->loop);
        }
    }
    for (int i = 0; i < RUNS; i++) {
        done += pending[i]->request.status.code == OK;
        ask_end(pending[i]);
    }
    assert_int_equal(done, RUNS);
    assert_string_equal(get_state(&one, "t", ""), "{\"n\":20}");
    close_both();
}

static void a_name_that_is_drawn_twice_is_found_out_by_the_store(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(SUM);
    start(&one, "t", "");
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.wait = true;
    struct test_request *sent = send_to_runner(&two, &request, true);
    settle();
    assert_null(answer_of(sent));
    assert_int_equal(refused(), 1);
    assert_string_equal(sent->request.handoff_address, "one:1");
    ask_end(sent);
    close_both();
}

static void a_request_id_is_one_run_whoever_is_asked(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(SUM);
    request.request_id = (char *)(uintptr_t) "once";
    struct test_request *first = start_with(&one, &request, "", ""), *second = ask_wherever(&two, &request);
    Renga__V1__StartRunResponse *began = answer_of(first), *repeated = answer_of(second);
    assert_string_equal(began->run->run_id, repeated->run->run_id);
    assert_true(repeated->repeated_request);
    ask_end(first);
    ask_end(second);
    close_both();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_at_work_is_asked_for_at_its_owner),
        cmocka_unit_test(runs_that_are_asked_for_at_both_in_turn_build_on_each_other),
        cmocka_unit_test(two_that_begin_on_a_thread_at_once_are_one_after_the_other),
        cmocka_unit_test(of_twenty_runs_on_one_thread_each_counts_once),
        cmocka_unit_test(a_request_id_is_one_run_whoever_is_asked),
        cmocka_unit_test(a_name_that_is_drawn_twice_is_found_out_by_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
