/* A run that is paused before a node: resumed with a change of its state, by one of two callers, or by its time-out.
 * Time is stepped. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define DOCUMENT                                                                                                       \
    "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"plan\": {\"type\": \"object\"}, "        \
    "\"n\": {\"type\": \"integer\"}}, \"recursion_limit\": 100, \"start\": \"a\", \"nodes\": {"                        \
    "\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"choose\"}}, "                     \
    "\"choose\": {\"kind\": \"choose\", \"inputs\": [\"n\"], \"cases\": [{\"when\": {\"field\": \"n\", \"more\": "     \
    "99}, "                                                                                                            \
    "\"outcome\": \"end\"}], \"else\": \"again\", \"on\": {\"again\": \"b\", \"end\": \"end\"}}, "                     \
    "\"b\": {\"kind\": \"set\", \"values\": {\"log\": [\"b\"]}, \"on\": {\"done\": \"c\"}}, "                          \
    "\"c\": {\"kind\": \"set\", \"values\": {\"log\": [\"c\"]}, \"on\": {\"done\": \"end\"}}}"

static char *const before_b[] = {(char[]){"b"}, (char[]){"c"}};

static void open_stage(void)
{
    stage_url = "sqlite:";
    stage_set(&stage, DOCUMENT);
    INSIDE(&stage, runner_recover(stage.runner));
}

static void restart(void)
{
    char url[256];
    snprintf(url, sizeof url, "%s", stage.url);
    forget(&last_get);
    stage_close(&stage);
    stage_open(&stage, url);
    INSIDE(&stage, runner_recover(stage.runner));
    for (int i = 0; i < 40; i++)
        stage_settle(&stage, 10);
}

static char *start_paused(Renga__V1__InterruptTimeout *timeout)
{
    static char id[64];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.interrupt_before = (char **)(uintptr_t)before_b;
    request.n_interrupt_before = 2;
    request.interrupt_timeout = timeout;
    struct test_request *sent = start_with(&stage, &request, "t", "");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    snprintf(id, sizeof id, "%s", response ? response->run->run_id : "");
    ask_end(sent);
    stage_settle(&stage, 0);
    assert_run(&stage, id, WAITING, "{\"log\":[\"a\"]}");
    return id;
}

static Renga__V1__Run *resume_with(const char *run_id, Renga__V1__ResumeUpdate *update, const char *request_id,
                                   const char *expected)
{
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run_id;
    request.request_id = (char *)(uintptr_t)request_id;
    request.expected_checkpoint_id = (char *)(uintptr_t)expected;
    request.update = update;
    Renga__V1__ResumeRunResponse *response = ask_last(&last_get, &stage, &request);
    stage_settle(&stage, 0);
    return response ? response->run : NULL;
}

static Renga__V1__ResumeUpdate writes(const char *json)
{
    Renga__V1__ResumeUpdate update = RENGA__V1__RESUME_UPDATE__INIT;
    update.update_json = (char *)(uintptr_t)json;
    return update;
}

/* The next sweep, when this much time has passed. */
static void sweep_after(int64_t ms)
{
    clock_wall_step(ms * NS_PER_MS);
    for (int i = 0; i < 40; i++)
        stage_settle(&stage, i ? 10 : 60000);
}

/* ---- ResumeRun.update -------------------------------------------------------------------------------------------- */

static void a_resumption_writes_to_the_state_in_the_same_step(void **state)
{
    char name[] = "log", *log[] = {name};
    Renga__V1__ResumeUpdate update = writes("{\"log\":[\"x\"],\"plan\":{\"p\":1},\"n\":5}");
    open_stage();
    char *run = start_paused(NULL), head[64];
    snprintf(head, sizeof head, "%s", get(&stage, run)->checkpoint_id);
    assert_non_null(resume_with(run, &update, "", head));
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"x\",\"b\"],\"plan\":{\"p\":1},\"n\":5}");
    assert_string_not_equal(get(&stage, run)->checkpoint_id, head);
    restart();
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"x\",\"b\"],\"plan\":{\"p\":1},\"n\":5}");
    update = writes("{\"log\":[\"new\"]}");
    update.overwrite_fields = update.clear_fields = log;
    update.n_overwrite_fields = 1;
    assert_non_null(resume_with(run, &update, "", ""));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"new\",\"c\"],\"plan\":{\"p\":1},\"n\":5}");
    restart();
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"new\",\"c\"],\"plan\":{\"p\":1},\"n\":5}");
    const Renga__V1__Run *whole = get(&stage, run);
    assert_int_equal(whole->n_resumptions, 2);
    assert_string_equal(whole->resumptions[0]->node, "b");
    assert_string_equal(whole->resumptions[1]->node, "c");
    assert_true(whole->resumptions[0]->time_ms > 0 && !whole->resumptions[1]->timed_out);
    forget(&last_get);
    stage_clear(&stage);
}

static void as_a_node_its_followers_are_activated_and_released(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{\"log\":[\"x\"]}");
    open_stage();
    char *run = start_paused(NULL);
    update.as_node = (char[]){"a"};
    assert_non_null(resume_with(run, &update, "", "")); /* "choose" is activated, and leads to "b" */
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"x\"]}");
    update.as_node = (char[]){"choose"};
    update.outcome = (char[]){"again"};
    assert_non_null(resume_with(run, &update, "", "")); /* "b" has leave */
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"x\",\"x\",\"b\"]}");
    update.outcome = (char[]){"end"};
    assert_non_null(resume_with(run, &update, "", ""));
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"x\",\"x\",\"b\",\"x\"]}");
    restart();
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"x\",\"x\",\"b\",\"x\"]}");
    forget(&last_get);
    stage_clear(&stage);
}

static void an_update_that_does_not_fit_is_refused_and_changes_nothing(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{\"log\":1}");
    open_stage();
    char *run = start_paused(NULL);
    assert_null(resume_with(run, &update, "", ""));
    assert_int_equal(last_status.code, INVALID_ARGUMENT);
    assert_string_equal(last_status.field, "update.update_json");
    update = writes("{\"nothing\":1}");
    assert_null(resume_with(run, &update, "", ""));
    assert_string_equal(last_status.field, "update.update_json");
    update = writes("{}");
    update.as_node = (char[]){"nobody"};
    assert_null(resume_with(run, &update, "", ""));
    assert_string_equal(last_status.field, "update.as_node");
    update.as_node = (char[]){"choose"};
    update.outcome = (char[]){"other"};
    assert_null(resume_with(run, &update, "", ""));
    assert_string_equal(last_status.field, "update.outcome");
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\"]}");
    forget(&last_get);
    stage_clear(&stage);
}

static void a_node_in_whose_name_is_written_goes_with_no_answer(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{}");
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    char as_node[] = "a", answer[] = "5";
    stage_set(&stage, "\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"a\", \"nodes\": {\"a\": "
                      "{\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\"}}");
    request.run_id = start(&stage, "t", "");
    request.maybe_answer_json_case = RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    request.answer_json = answer;
    request.update = &update;
    update.as_node = as_node;
    assert_null(ask_last(&last_get, &stage, &request));
    assert_string_equal(last_status.field, "update.as_node");
    *as_node = '\0';
    assert_non_null(ask_last(&last_get, &stage, &request));
    stage_settle(&stage, 0);
    assert_run(&stage, request.run_id, SUCCEEDED, "{\"x\":5}");
    forget(&last_get);
    stage_clear(&stage);
}

static void of_two_answers_to_one_stop_one_holds(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{\"log\":[\"x\"]}");
    open_stage();
    char *run = start_paused(NULL), head[64];
    snprintf(head, sizeof head, "%s", get(&stage, run)->checkpoint_id);
    assert_non_null(resume_with(run, &update, "first", head));
    assert_null(resume_with(run, &update, "second", head));
    assert_string_equal(last_reason, "STALE");
    assert_non_null(resume_with(run, &update, "first", head));
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"x\",\"b\"]}");
    forget(&last_get);
    stage_clear(&stage);
}

static void a_long_update_is_read_by_a_worker(void **state)
{
    enum { LONG = 200000 };
    char *json = malloc(LONG + 64);
    open_stage();
    char *run = start_paused(NULL);
    size_t size = (size_t)sprintf(json, "{\"n\":7,\"plan\":{\"text\":\"");
    memset(json + size, 'x', LONG);
    snprintf(json + size + LONG, 8, "\"}}");
    Renga__V1__ResumeUpdate update = writes(json);
    Renga__V1__ResumeRunRequest request = RENGA__V1__RESUME_RUN_REQUEST__INIT;
    request.run_id = run;
    request.update = &update;
    struct test_request *sent = ask_runner(&stage, &request);
    STAGE_AWAIT(&stage, sent->answers);
    assert_non_null(answer_of(sent));
    ask_end(sent);
    STAGE_AWAIT(&stage, get(&stage, run)->state == WAITING && strstr(get(&stage, run)->output_json, "\"n\":7"));
    forget(&last_get);
    free(json);
    stage_clear(&stage);
}

/* ---- interrupt_timeout ------------------------------------------------------------------------------------------- */

static Renga__V1__InterruptTimeout after(int64_t ms, Renga__V1__ResumeUpdate *update)
{
    Renga__V1__InterruptTimeout timeout = RENGA__V1__INTERRUPT_TIMEOUT__INIT;
    timeout.after_ms = ms;
    timeout.update = update;
    return timeout;
}

static void a_run_goes_on_when_each_stop_has_lasted_long_enough(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{\"log\":[\"late\"]}");
    Renga__V1__InterruptTimeout timeout = after(600000, &update);
    open_stage();
    char *run = start_paused(&timeout);
    const Renga__V1__Interrupt *interrupt = get(&stage, run)->interrupts[0];
    assert_int_equal(interrupt->expires_ms, interrupt->asked_ms + 600000);
    sweep_after(300000);
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\"]}");
    sweep_after(400000);
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"late\",\"b\"]}");
    restart(); /* the next stop ends after it, too */
    sweep_after(700000);
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"late\",\"b\",\"late\",\"c\"]}");
    const Renga__V1__Run *whole = get(&stage, run);
    assert_int_equal(whole->n_resumptions, 2);
    assert_true(whole->resumptions[0]->timed_out && whole->resumptions[1]->timed_out);
    assert_string_equal(whole->resumptions[1]->node, "c");
    assert_int_equal(stage_rows(&stage, KEY_INTERRUPT_TIMEOUT), 0);
    forget(&last_get);
    stage_clear(&stage);
}

static void a_run_that_was_answered_in_time_is_left_alone(void **state)
{
    Renga__V1__InterruptTimeout timeout = after(600000, NULL);
    open_stage();
    char *run = start_paused(&timeout);
    sweep_after(500000);
    assert_non_null(resume(&stage, run, NULL));
    stage_settle(&stage, 0);
    sweep_after(200000); /* the first stop would end now; the second one has just begun */
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\",\"b\"]}");
    assert_int_equal(stage_rows(&stage, KEY_INTERRUPT_TIMEOUT), 1);
    assert_int_equal(get(&stage, run)->n_resumptions, 1);
    forget(&last_get);
    stage_clear(&stage);
}

static void a_stop_ends_within_a_second_of_its_time(void **state)
{
    Renga__V1__InterruptTimeout timeout = after(5000, NULL);
    timeout.then = RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_CANCEL;
    open_stage();
    char *run = start_paused(&timeout);
    clock_wall_step(4900 * NS_PER_MS);
    stage_settle(&stage, 999);
    assert_run(&stage, run, WAITING, "{\"log\":[\"a\"]}");
    clock_wall_step(101 * NS_PER_MS);
    for (int i = 0; i < 10; i++)
        stage_settle(&stage, 99);
    assert_run(&stage, run, STOPPED, "{\"log\":[\"a\"]}");
    assert_int_equal(stage_rows(&stage, KEY_INTERRUPT_TIMEOUT), 0);
    forget(&last_get);
    stage_clear(&stage);
}

static void a_run_is_cancelled_when_the_stop_has_lasted_long_enough(void **state)
{
    Renga__V1__InterruptTimeout timeout = after(1000, NULL);
    timeout.then = RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_CANCEL;
    open_stage();
    char *run = start_paused(&timeout);
    restart();
    sweep_after(2000);
    assert_run(&stage, run, STOPPED, "{\"log\":[\"a\"]}");
    assert_int_equal(get(&stage, run)->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_INTERRUPT_TIMEOUT);
    forget(&last_get);
    stage_clear(&stage);
}

static void a_timeout_whose_update_the_graph_does_not_have_is_refused(void **state)
{
    Renga__V1__ResumeUpdate update = writes("{\"nothing\":1}");
    Renga__V1__InterruptTimeout timeout = after(1000, &update);
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_stage();
    request.interrupt_timeout = &timeout;
    struct test_request *sent = start_with(&stage, &request, "t", "");
    assert_null(answer_of(sent));
    assert_string_equal(last_status.field, "interrupt_timeout.update.update_json");
    ask_end(sent);
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumption_writes_to_the_state_in_the_same_step),
        cmocka_unit_test(as_a_node_its_followers_are_activated_and_released),
        cmocka_unit_test(an_update_that_does_not_fit_is_refused_and_changes_nothing),
        cmocka_unit_test(a_node_in_whose_name_is_written_goes_with_no_answer),
        cmocka_unit_test(of_two_answers_to_one_stop_one_holds),
        cmocka_unit_test(a_long_update_is_read_by_a_worker),
        cmocka_unit_test(a_run_goes_on_when_each_stop_has_lasted_long_enough),
        cmocka_unit_test(a_run_that_was_answered_in_time_is_left_alone),
        cmocka_unit_test(a_stop_ends_within_a_second_of_its_time),
        cmocka_unit_test(a_run_is_cancelled_when_the_stop_has_lasted_long_enough),
        cmocka_unit_test(a_timeout_whose_update_the_graph_does_not_have_is_refused),
    };
    clock_stop();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
