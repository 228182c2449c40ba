/* Runs whose branches are at work in two loops: what comes of them is what one loop would have made of it. */
#include "unit.h"

#include "runner_fixture.h"

#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

static struct stage stage;

#define BRANCHES 12 /* FANOUT_LOCAL_FIRST stay, the others go */
#define AWAY     (BRANCHES - FANOUT_LOCAL_FIRST)

static const char *open_terms = ""; /* of the graph */

static void open_branches(const char *more)
{
    char document[1024];
    snprintf(
        document, sizeof document,
        "\"state\": {\"items\": {\"type\": \"integer[]\"}, \"out\": {\"type\": \"object[]\", \"reduce\": \"append\"}},"
        "\"output\": [\"out\"], %s \"start\": \"all\", \"nodes\": {\"all\": {\"kind\": \"each\", \"of\": \"items\","
        "\"as\": \"item\", \"graph\": \"sub\", \"into\": \"out\"}}, \"graphs\": {\"sub\": {\"state\": {\"item\": "
        "{\"type\": \"integer\"}, \"x\": {\"type\": \"any\"}}, \"output\": [\"x\"], \"start\": \"n\","
        "\"nodes\": {\"n\": {\"kind\": \"script\"%s}}}}",
        open_terms, more);
    stage_shares = true;
    stage_set(&stage, document);
    stage_await_hands(&stage);
}

static char *start_branches(void)
{
    char *run = start(&stage, "t", "{\"items\": [0,1,2,3,4,5,6,7,8,9,10,11]}");
    STAGE_AWAIT(&stage, script_count == BRANCHES);
    return run;
}

static size_t calls_in(const struct loop *loop)
{
    size_t count = 0;
    for (size_t i = 0; i < script_count; i++)
        count += script_calls[i].task && script_calls[i].loop == loop;
    return count;
}

static struct script_call *call_in(const struct loop *loop)
{
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].task && script_calls[i].loop == loop)
            return &script_calls[i];
    fail_msg("nothing is at work there");
    return NULL;
}

static void answer(struct script_call *call, const char *update)
{
    struct loop *loop = call->loop;
    loop_enter(loop);
    script_write(call, "", update);
    loop_leave(loop);
    stage_settle(&stage, 0);
}

static void answer_all(void)
{
    char update[64];
    for (size_t i = script_count; i-- > 0;) {
        struct script_call *call = &script_calls[i];
        if (!call->task)
            continue;
        snprintf(update, sizeof update, "{\"x\": %d}", atoi(call->path + strlen("all[")));
        answer(call, update);
    }
}

#define ALL                                                                                                            \
    "{\"out\":[{\"x\":0},{\"x\":1},{\"x\":2},{\"x\":3},{\"x\":4},{\"x\":5},{\"x\":6},{\"x\":7},{\"x\":8},{\"x\":9},"   \
    "{\"x\":10},{\"x\":11}]}"

static void results_stand_in_the_order_of_the_items_whichever_loop_made_them(void **state)
{
    open_branches("");
    char *run = start_branches();
    assert_int_equal(calls_in(stage.worker), AWAY);
    answer_all();
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    assert_run(&stage, run, SUCCEEDED, ALL);
    stage_clear(&stage);
}

static void an_attempt_is_told_the_same_in_either_loop(void **state)
{
    open_branches("");
    start_branches();
    for (size_t i = 0; i < script_count; i++) {
        char item[32];
        const struct script_call *call = &script_calls[i];
        snprintf(item, sizeof item, "{\"item\":%d}", atoi(call->path + strlen("all[")));
        assert_string_equal(call->state, item);
        assert_int_equal(call->attempt, 1);
        assert_int_equal(strlen(call->key), strlen(script_calls[0].key));
    }
    stage_clear(&stage);
}

static void a_single_attempt_stays_in_its_loop(void **state)
{
    stage_shares = true;
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"script\"}}");
    for (int i = 0; i < 2 * FANOUT_LOCAL_FIRST; i++) {
        char thread[8];
        snprintf(thread, sizeof thread, "t%d", i);
        start(&stage, thread, "");
    }
    assert_int_equal(calls_in(stage.loop), 2 * FANOUT_LOCAL_FIRST);
    stage_clear(&stage);
}

static void a_silent_loop_has_its_attempts_taken_over_and_its_late_results_dropped(void **state)
{
    char keys[AWAY][64];
    size_t count = 0;
    open_branches(", \"retry\": {\"attempts\": 1}");
    char *run = start_branches();
    stage.frozen = true;
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].loop == stage.worker)
            snprintf(keys[count++], sizeof keys[0], "%s", script_calls[i].key);
    STAGE_AWAIT_BEATS(&stage, script_count == BRANCHES + AWAY); /* a late datagram of the worker may put it off */
    for (size_t i = 0; i < AWAY; i++) {
        const struct script_call *again = &script_calls[BRANCHES + i];
        assert_ptr_equal(again->loop, stage.loop);
        size_t same = 0;
        for (size_t j = 0; j < AWAY; j++)
            same += strcmp(again->key, keys[j]) == 0;
        assert_int_equal(same, 1);
        assert_int_equal(again->attempt, 2);
    }
    while (calls_in(stage.worker)) { /* too late */
        struct script_call *call = call_in(stage.worker);
        loop_enter(stage.worker);
        script_write(call, "", "{\"x\": \"late\"}");
        loop_leave(stage.worker);
    }
    stage.frozen = false;
    STAGE_AWAIT(&stage, fanout_dispatched(stage.fanout) == 0);
    usleep(20000);
    stage_settle(&stage, 0);
    answer_all();
    assert_run(&stage, run, SUCCEEDED, ALL);
    stage_clear(&stage);
}

static void taking_over_costs_no_try(void **state)
{
    open_branches(", \"retry\": {\"attempts\": 2, \"base\": \"1ms\"}");
    char *run = start_branches();
    stage.frozen = true;
    STAGE_AWAIT_BEATS(&stage, script_count == BRANCHES + AWAY);
    INSIDE(&stage, script_break(&script_calls[BRANCHES], UNAVAILABLE, "not now"));
    stage_settle(&stage, 1);
    assert_int_equal(script_count, BRANCHES + AWAY + 1);
    assert_int_equal(script_calls[BRANCHES + AWAY].attempt, 3);
    cancel(&stage, run);
    stage_clear(&stage);
}

static void a_loop_that_shows_life_keeps_its_attempts_for_as_long_as_they_take(void **state)
{
    open_branches("");
    char *run = start_branches();
    for (int i = 0; i < 4 * FANOUT_PEER_TIMEOUT_MS / FANOUT_HEARTBEAT_MS; i++) {
        stage_settle(&stage, FANOUT_HEARTBEAT_MS);
        STAGE_AWAIT(&stage,
                    stage_peer(&stage)->missed_heartbeats <= 1); /* the first beat of the worker may be a step later */
    }
    assert_int_equal(script_count, BRANCHES);
    assert_int_equal(calls_in(stage.worker), AWAY);
    answer_all();
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    stage_clear(&stage);
}

static void an_attempt_that_was_too_slow_elsewhere_is_cancelled_there_and_has_no_effect(void **state)
{
    open_branches(", \"timeout\": \"1s\", \"retry\": {\"attempts\": 2, \"base\": \"1ms\"}");
    char *run = start_branches();
    struct script_call *slow = call_in(stage.worker);
    script_lingers = true;
    while (calls_in(stage.loop))
        answer(call_in(stage.loop), "{}");
    stage_settle(&stage, 1000);
    STAGE_AWAIT(&stage, slow->cancelled);
    size_t before = script_count;
    stage_settle(&stage, 10);
    STAGE_AWAIT(&stage, script_count > before); /* the second attempt may be the worker's */
    answer(slow, "{\"x\": \"late\"}");
    usleep(20000);
    stage_settle(&stage, 0);
    for (size_t i = before; i < script_count; i++) {
        assert_int_equal(script_calls[i].attempt, 2);
        assert_string_equal(script_calls[i].node, "n");
    }
    script_lingers = false;
    while (script_live) {
        struct script_call *call = calls_in(stage.loop) ? call_in(stage.loop) : call_in(stage.worker);
        answer(call, "{\"x\": 1}");
    }
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    assert_null(strstr(get(&stage, run)->output_json, "late"));
    stage_clear(&stage);
}

static void signs_of_life_from_elsewhere_keep_a_run_from_its_idle_timeout(void **state)
{
    open_terms = "\"idle_timeout\": \"2s\",";
    open_branches("");
    open_terms = "";
    char *run = start_branches();
    while (calls_in(stage.loop))
        answer(call_in(stage.loop), "{\"x\": 1}");
    struct script_call *call = call_in(stage.worker);
    const struct timer *idle = &shard_find_run(&stage.runner->shards[0], stage_tenant, run)->idle_limit;
    for (int i = 0; i < 8; i++) {
        loop_enter(stage.worker);
        task_alive(call->task);
        loop_leave(stage.worker);
        STAGE_AWAIT(&stage, idle->at_ns == clock_now_ns() + 2 * NS_PER_SEC); /* the sign has come */
        stage_settle(&stage, 500);
    }
    assert_int_equal(get(&stage, run)->state, RUNNING);
    stage_settle(&stage, 2000);
    STAGE_AWAIT(&stage, get(&stage, run)->state != RUNNING);
    assert_int_equal(get(&stage, run)->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_IDLE_TIMEOUT);
    stage_clear(&stage);
}

static void a_cancelled_run_cancels_what_is_at_work_elsewhere(void **state)
{
    open_branches("");
    char *run = start_branches();
    cancel(&stage, run);
    STAGE_AWAIT(&stage, script_live == 0);
    for (size_t i = 0; i < script_count; i++)
        assert_true(script_calls[i].cancelled);
    assert_run(&stage, run, STOPPED, "");
    stage_clear(&stage);
}

static void a_question_asked_elsewhere_is_answered_and_its_node_runs_again(void **state)
{
    static const char *const keys[] = {"k"};
    open_branches("");
    char *run = start_branches();
    struct script_call *asks = call_in(stage.worker);
    char path[128];
    snprintf(path, sizeof path, "%s", asks->path);
    loop_enter(stage.worker);
    script_ask(asks, keys, 1);
    loop_leave(stage.worker);
    while (script_live)
        answer(calls_in(stage.loop) ? call_in(stage.loop) : call_in(stage.worker), "{\"x\": 1}");
    STAGE_AWAIT(&stage, get(&stage, run)->state == WAITING);
    assert_non_null(resume(&stage, run, "5"));
    struct script_call *again = script_find("n", path, -1);
    assert_non_null(again);
    assert_string_equal(again->answer[0], "k=5");
    answer(again, "{\"x\": 1}");
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    stage_clear(&stage);
}

static void a_failure_elsewhere_is_tried_again_as_the_document_says(void **state)
{
    open_branches(", \"retry\": {\"attempts\": 2, \"base\": \"1ms\"}");
    char *run = start_branches();
    struct script_call *breaks = call_in(stage.worker);
    char key[64];
    snprintf(key, sizeof key, "%s", breaks->key);
    loop_enter(stage.worker);
    script_break(breaks, UNAVAILABLE, "not now");
    loop_leave(stage.worker);
    STAGE_AWAIT(&stage, stage_peer(&stage)->dispatched == AWAY - 1);
    for (int i = 0; i < 10 && script_count == BRANCHES; i++)
        stage_settle(&stage, 1);
    STAGE_AWAIT(&stage, script_count > BRANCHES);
    assert_int_equal(script_count, BRANCHES + 1);
    assert_string_equal(script_calls[BRANCHES].key, key);
    assert_int_equal(script_calls[BRANCHES].attempt, 2);
    answer_all();
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    assert_run(&stage, run, SUCCEEDED, ALL);
    stage_clear(&stage);
}

static void a_result_larger_than_may_travel_fails_its_node_and_says_so(void **state)
{
    stage_message_max = 16384;
    open_branches("");
    char *run = start_branches(), *update = malloc(65536);
    memset(update, 'x', 65536);
    memcpy(update, "{\"x\": \"", 7);
    memcpy(update + 65533, "\"}", 3);
    answer(call_in(stage.worker), update);
    while (script_live)
        answer(calls_in(stage.loop) ? call_in(stage.loop) : call_in(stage.worker), "{\"x\": 1}");
    STAGE_AWAIT(&stage, get(&stage, run)->state == FAILED);
    const Renga__V1__Run *failed = get(&stage, run);
    assert_int_equal(failed->n_failures, 1);
    assert_int_equal(failed->failures[0]->status_code, RESOURCE_EXHAUSTED);
    assert_non_null(strstr(failed->failures[0]->message, "16384"));
    free(update);
    stage_message_max = (size_t)4 << 20;
    stage_clear(&stage);
}

static void a_state_larger_than_may_travel_stays_in_its_loop(void **state)
{
    stage_message_max = 16384;
    open_branches("");
    char *input = malloc(400000), *at = input + sprintf(input, "{\"items\": [");
    for (int i = 0; i < BRANCHES; i++)
        at += sprintf(at, "%s%d", i ? "," : "", i);
    strcpy(at, "]}");
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    char *configuration = malloc(100000);
    memset(configuration, 'x', 100000);
    memcpy(configuration, "{\"x\": \"", 7);
    memcpy(configuration + 50000, "\"}", 3);
    request.configuration_json = configuration;
    ask_end(start_with(&stage, &request, "t", input));
    STAGE_AWAIT(&stage, script_count == BRANCHES);
    assert_int_equal(calls_in(stage.loop), BRANCHES);
    free(input);
    free(configuration);
    stage_message_max = (size_t)4 << 20;
    stage_clear(&stage);
}

static void five_thousand_branches_end_once_each(void **state)
{
    enum { MANY = 5000 };
    open_branches("");
    char *input = malloc(10 * MANY), *at = input + sprintf(input, "{\"items\": [");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "%s%d", i ? "," : "", i);
    strcpy(at, "]}");
    char *run = start(&stage, "t", input);
    size_t elsewhere = 0;
    for (size_t next = 0; next < MANY; next++) {
        if (next % 32 == 0) /* its datagrams have come, so that it has its turn */
            STAGE_AWAIT(&stage, stage_peer(&stage)->dispatched == calls_in(stage.worker));
        STAGE_AWAIT(&stage, script_count > next);
        elsewhere += script_calls[next].loop == stage.worker;
        struct script_call *call = &script_calls[next];
        struct loop *loop = call->loop;
        loop_enter(loop);
        script_write(call, "", "{\"x\": 1}");
        loop_leave(loop);
    }
    STAGE_AWAIT(&stage, get(&stage, run)->state == SUCCEEDED);
    assert_int_equal(script_count, MANY);
    assert_true(elsewhere > MANY / 20);
    free(input);
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stand_in_the_order_of_the_items_whichever_loop_made_them),
        cmocka_unit_test(an_attempt_is_told_the_same_in_either_loop),
        cmocka_unit_test(a_single_attempt_stays_in_its_loop),
        cmocka_unit_test(a_silent_loop_has_its_attempts_taken_over_and_its_late_results_dropped),
        cmocka_unit_test(taking_over_costs_no_try),
        cmocka_unit_test(a_loop_that_shows_life_keeps_its_attempts_for_as_long_as_they_take),
        cmocka_unit_test(an_attempt_that_was_too_slow_elsewhere_is_cancelled_there_and_has_no_effect),
        cmocka_unit_test(signs_of_life_from_elsewhere_keep_a_run_from_its_idle_timeout),
        cmocka_unit_test(a_cancelled_run_cancels_what_is_at_work_elsewhere),
        cmocka_unit_test(a_question_asked_elsewhere_is_answered_and_its_node_runs_again),
        cmocka_unit_test(a_failure_elsewhere_is_tried_again_as_the_document_says),
        cmocka_unit_test(a_result_larger_than_may_travel_fails_its_node_and_says_so),
        cmocka_unit_test(a_state_larger_than_may_travel_stays_in_its_loop),
        cmocka_unit_test(five_thousand_branches_end_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
