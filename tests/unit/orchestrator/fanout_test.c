/* The fan-out by itself: two loops on a stopped clock, and attempts of an agent "a" whose one node is a script. */
#include "unit.h"

#include "runner_fixture.h"

#include "base/trace.h"

static struct stage stage;
static char version[65];

/* ---- one that gives attempts away -------------------------------------------------------------------------------- */

struct given {
    struct dispatch dispatch;
    int tokens, progress, alive, ended;
    char text[256], outcome[65];
    struct status status;
    int64_t spent; /* calls of models, by one that failed */
};

static void came(struct dispatch *dispatch, const Renga__V1__RunNodeEvent *event)
{
    struct given *given = (struct given *)dispatch;
    assert_int_equal(given->ended, 0);
    if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_TOKEN) {
        given->tokens++;
        strcat(given->text, event->token->text);
        strcat(given->text, event->token->channel);
    } else if (event->event_case == RENGA__V1__RUN_NODE_EVENT__EVENT_PROGRESS_JSON) {
        given->progress++;
        strcat(given->text, event->progress_json);
    } else {
        given->alive++;
    }
}

static void ended(struct dispatch *dispatch, const Renga__V1__RunNodeResponse *response, const struct status *st)
{
    struct given *given = (struct given *)dispatch;
    assert_int_equal(given->ended++, 0);
    if (response)
        snprintf(given->outcome, sizeof given->outcome, "%s", response->outcome);
    else
        given->status = *st;
    if (!response && dispatch->spent)
        given->spent = dispatch->spent->model_calls;
}

static const struct dispatch_owner owner = {.came = came, .ended = ended};

static Renga__V1__NodePosition position = RENGA__V1__NODE_POSITION__INIT;
static Renga__V1__RunNodeRequest request = RENGA__V1__RUN_NODE_REQUEST__INIT;

/* A loop that has `busy` attempts of its own at work. */
static void open_two(int busy)
{
    struct status st = {0};
    stage_shares = true;
    stage_set(&stage, "\"start\": \"n\", \"nodes\": {\"n\": {\"kind\": \"script\", \"idle_timeout\": \"10s\"}}");
    struct agent *agent = agents_find(stage.house.agents, "a", NULL, &st);
    snprintf(version, sizeof version, "%s", agent->version);
    agent_release(stage.house.agents, agent);
    position.agent = position.graph = (char *)(uintptr_t) "a";
    position.graph_version = version;
    position.node = (char *)(uintptr_t) "n";
    request.position = &position;
    request.state_json = (char *)(uintptr_t) "{\"x\":1}";
    request.attempt = 3;
    request.idempotency_key = (char *)(uintptr_t) "n_key";
    request.fencing_token = 5;
    stage_await_hands(&stage);
    loop_enter(stage.loop);
    fanout_local_attempts(stage.fanout, stage.loop, busy);
    loop_leave(stage.loop);
}

static bool give_with(struct given *given, int64_t deadline_ns, const struct trace_context *trace)
{
    *given = (struct given){.dispatch.owner = &owner};
    loop_enter(stage.loop);
    bool sent = fanout_send(stage.fanout, stage.loop, &given->dispatch, &request, deadline_ns, trace);
    loop_leave(stage.loop);
    return sent;
}

static bool give(struct given *given)
{
    static const struct trace_context none;
    return give_with(given, TIME_NEVER, &none);
}

static void recall(struct given *given)
{
    loop_enter(stage.loop);
    fanout_recall(&given->dispatch);
    loop_leave(stage.loop);
}

static void end_well(struct script_call *call, const char *outcome)
{
    loop_enter(call->loop);
    script_write(call, outcome, "");
    loop_leave(stage.worker);
}

static void wait_a_little(void)
{
    usleep(20000);
    stage_settle(&stage, 0);
}

/* ---- what holds -------------------------------------------------------------------------------------------------- */

static void the_request_arrives_whole_with_its_trace_and_what_is_left_of_its_time(void **state)
{
    struct given given;
    struct trace_context trace;
    trace_begin(&trace, true);
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give_with(&given, clock_now_ns() + 5 * NS_PER_SEC, &trace));
    STAGE_AWAIT(&stage, script_count == 1);
    struct task *task = script_calls[0].task;
    const Renga__V1__RunNodeRequest *told = task_request(task);
    assert_string_equal(told->state_json, "{\"x\":1}");
    assert_string_equal(told->idempotency_key, "n_key");
    assert_int_equal(told->attempt, 3);
    assert_int_equal(told->fencing_token, 5);
    assert_ptr_equal(task_loop(task), stage.worker);
    assert_true(task_deadline_ns(task) - clock_now_ns() <= 5 * NS_PER_SEC);
    assert_true(task_deadline_ns(task) - clock_now_ns() > 4 * NS_PER_SEC);
    assert_memory_equal(task_trace(task)->trace_id, trace.trace_id, sizeof trace.trace_id);
    assert_memory_equal(task_trace(task)->span_id, trace.span_id, sizeof trace.span_id); /* which its owner sends */
    assert_true(task_trace(task)->sampled);
    end_well(&script_calls[0], "yes");
    STAGE_AWAIT(&stage, given.ended);
    assert_string_equal(given.outcome, "yes");
    stage_clear(&stage);
}

static void what_is_said_on_the_way_arrives_in_its_order_before_the_end(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    STAGE_AWAIT(&stage, script_count == 1);
    loop_enter(stage.worker);
    task_token(script_calls[0].task, "one ", "a");
    task_progress(script_calls[0].task, "[2]");
    task_token(script_calls[0].task, " three", "");
    task_alive(script_calls[0].task);
    loop_leave(stage.worker);
    end_well(&script_calls[0], "");
    STAGE_AWAIT(&stage, given.ended);
    assert_string_equal(given.text, "one a[2] three");
    assert_int_equal(given.tokens, 2);
    assert_int_equal(given.progress, 1);
    assert_int_equal(given.alive, 1);
    stage_clear(&stage);
}

static void a_failure_arrives_with_its_code_its_words_when_to_try_again_and_what_was_spent(void **state)
{
    struct given given;
    Renga__V1__Usage spent = RENGA__V1__USAGE__INIT;
    spent.model_calls = 3;
    struct status st = {.code = RESOURCE_EXHAUSTED, .retry_after_ms = 1234, .text = "too much at once"};
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    STAGE_AWAIT(&stage, script_count == 1);
    struct task *task = script_calls[0].task;
    script_end(&script_calls[0]);
    loop_enter(stage.worker);
    task_spend(task, &spent);
    task_fail(task, &st);
    loop_leave(stage.worker);
    STAGE_AWAIT(&stage, given.ended);
    assert_int_equal(given.status.code, RESOURCE_EXHAUSTED);
    assert_int_equal(given.status.retry_after_ms, 1234);
    assert_string_equal(given.status.text, "too much at once");
    assert_int_equal(given.spent, 3);
    assert_false(given.dispatch.lost);
    stage_clear(&stage);
}

static void a_loop_keeps_what_it_can_do_itself(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST - 1);
    assert_false(give(&given));
    stage_clear(&stage);
}

static void a_worker_gets_no_more_than_it_asked_for(void **state)
{
    static struct given given[2 * FANOUT_SLOTS];
    size_t sent = 0;
    open_two(1000);
    while (sent < COUNT(given) && give(&given[sent]))
        sent++;
    assert_int_equal(sent, FANOUT_SLOTS);
    STAGE_AWAIT(&stage, script_count == FANOUT_SLOTS);
    assert_false(give(&given[sent]));
    end_well(&script_calls[0], "");
    STAGE_AWAIT(&stage, given[0].ended);
    STAGE_AWAIT(&stage, give(&given[0]));
    assert_false(give(&given[sent]));
    stage_clear(&stage);
}

static void a_worker_with_its_hands_full_asks_for_nothing_until_they_are_empty_again(void **state)
{
    static struct given given[FANOUT_SLOTS];
    size_t sent = 0;
    open_two(1000);
    loop_enter(stage.worker);
    fanout_local_attempts(stage.fanout, stage.worker, FANOUT_SLOTS);
    loop_leave(stage.worker);
    while (sent < COUNT(given) && give(&given[sent]))
        sent++;
    STAGE_AWAIT(&stage, script_count == sent);
    for (size_t i = 0; i < sent; i++)
        end_well(&script_calls[i], "");
    STAGE_AWAIT(&stage, fanout_dispatched(stage.fanout) == 0);
    assert_false(give(&given[0]));
    loop_enter(stage.worker);
    fanout_local_attempts(stage.fanout, stage.worker, -FANOUT_SLOTS);
    loop_leave(stage.worker);
    STAGE_AWAIT(&stage, give(&given[0]));
    stage_clear(&stage);
}

static void a_worker_asks_for_no_more_than_its_idle_hands(void **state)
{
    static struct given given[FANOUT_SLOTS];
    size_t sent = 0;
    open_two(1000);
    while (sent < COUNT(given) && give(&given[sent]))
        sent++;
    STAGE_AWAIT(&stage, script_count == sent);
    loop_enter(stage.worker);
    fanout_local_attempts(stage.fanout, stage.worker, FANOUT_SLOTS - 4);
    loop_leave(stage.worker);
    for (size_t i = 0; i < sent; i++)
        end_well(&script_calls[i], "");
    STAGE_AWAIT(&stage, fanout_dispatched(stage.fanout) == 0 && stage_peer(&stage)->asked >= 4);
    wait_a_little();
    for (sent = 0; sent < COUNT(given) && give(&given[sent]);)
        sent++;
    assert_int_equal(sent, 4);
    stage_clear(&stage);
}

static void what_was_said_before_a_recall_and_comes_after_it_is_not_heard(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    STAGE_AWAIT(&stage, script_count == 1);
    loop_enter(stage.worker);
    task_token(script_calls[0].task, "too late", "");
    loop_leave(stage.worker);
    recall(&given);
    STAGE_AWAIT(&stage, given.ended);
    assert_int_equal(given.tokens, 0);
    stage_clear(&stage);
}

static void a_late_result_is_not_taken_for_that_of_the_next_attempt(void **state)
{
    struct given first, second;
    open_two(FANOUT_LOCAL_FIRST);
    script_lingers = true;
    assert_true(give(&first));
    STAGE_AWAIT(&stage, script_count == 1);
    stage.frozen = true;
    STAGE_AWAIT_BEATS(&stage, first.dispatch.lost);
    stage.frozen = false;
    for (int i = 0; i < 2; i++) {
        stage_settle(&stage, FANOUT_HEARTBEAT_MS);
        wait_a_little();
    }
    STAGE_AWAIT(&stage, give(&second));
    STAGE_AWAIT(&stage, script_count == 2);
    end_well(&script_calls[0], "late");
    wait_a_little();
    assert_int_equal(second.ended, 0);
    end_well(&script_calls[1], "mine");
    STAGE_AWAIT(&stage, second.ended);
    assert_string_equal(second.outcome, "mine");
    assert_int_equal(first.ended, 1);
    stage_clear(&stage);
}

static void a_recalled_attempt_is_cancelled_once_and_says_nothing_more(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    script_lingers = true;
    assert_true(give(&given));
    STAGE_AWAIT(&stage, script_count == 1);
    recall(&given);
    STAGE_AWAIT(&stage, script_calls[0].cancelled);
    loop_enter(stage.worker);
    task_token(script_calls[0].task, "more", "");
    loop_leave(stage.worker);
    wait_a_little();
    assert_int_equal(given.ended + given.tokens, 0);
    end_well(&script_calls[0], "late");
    STAGE_AWAIT(&stage, given.ended);
    stage_clear(&stage);
}

static void an_attempt_that_is_recalled_before_it_arrived_still_ends(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    recall(&given);
    STAGE_AWAIT(&stage, given.ended);
    assert_int_equal(given.status.code, CANCELLED);
    stage_clear(&stage);
}

static void a_worker_that_was_silent_is_given_work_again_when_it_speaks(void **state)
{
    struct given given, again;
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    stage.frozen = true;
    STAGE_AWAIT_BEATS(&stage, given.ended == 1);
    assert_true(given.dispatch.lost);
    assert_int_equal(given.status.code, UNAVAILABLE);
    assert_false(give(&again));
    stage.frozen = false;
    STAGE_AWAIT(&stage, give(&again));
    STAGE_AWAIT(&stage, script_count == 2);
    assert_true(script_calls[0].cancelled);
    end_well(&script_calls[1], "again");
    STAGE_AWAIT(&stage, again.ended);
    assert_string_equal(again.outcome, "again");
    assert_int_equal(given.ended, 1);
    stage_clear(&stage);
}

static void where_the_whole_process_stood_still_nobody_was_silent(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    assert_true(give(&given));
    STAGE_AWAIT(&stage, script_count == 1);
    clock_step(INT64_C(3600) * NS_PER_SEC);
    for (int i = 0; i < 3; i++) {
        stage_settle(&stage, FANOUT_HEARTBEAT_MS);
        wait_a_little();
    }
    assert_int_equal(given.ended, 0);
    stage_clear(&stage);
}

static void an_attempt_of_a_version_that_is_not_there_fails(void **state)
{
    struct given given;
    open_two(FANOUT_LOCAL_FIRST);
    position.graph_version = (char *)(uintptr_t) "0123456789abcdef";
    assert_true(give(&given));
    STAGE_AWAIT(&stage, given.ended);
    assert_int_equal(given.status.code, NOT_FOUND);
    position.graph_version = version;
    position.node = (char *)(uintptr_t) "m";
    assert_true(give(&given));
    STAGE_AWAIT(&stage, given.ended);
    assert_int_equal(given.status.code, NOT_FOUND);
    assert_non_null(strstr(given.status.text, "'m'"));
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_arrives_whole_with_its_trace_and_what_is_left_of_its_time),
        cmocka_unit_test(what_is_said_on_the_way_arrives_in_its_order_before_the_end),
        cmocka_unit_test(a_failure_arrives_with_its_code_its_words_when_to_try_again_and_what_was_spent),
        cmocka_unit_test(a_loop_keeps_what_it_can_do_itself),
        cmocka_unit_test(a_worker_gets_no_more_than_it_asked_for),
        cmocka_unit_test(a_worker_with_its_hands_full_asks_for_nothing_until_they_are_empty_again),
        cmocka_unit_test(a_worker_asks_for_no_more_than_its_idle_hands),
        cmocka_unit_test(what_was_said_before_a_recall_and_comes_after_it_is_not_heard),
        cmocka_unit_test(a_late_result_is_not_taken_for_that_of_the_next_attempt),
        cmocka_unit_test(a_recalled_attempt_is_cancelled_once_and_says_nothing_more),
        cmocka_unit_test(an_attempt_that_is_recalled_before_it_arrived_still_ends),
        cmocka_unit_test(a_worker_that_was_silent_is_given_work_again_when_it_speaks),
        cmocka_unit_test(where_the_whole_process_stood_still_nobody_was_silent),
        cmocka_unit_test(an_attempt_of_a_version_that_is_not_there_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
