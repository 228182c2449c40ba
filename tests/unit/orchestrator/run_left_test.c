/* A run that its caller leaves while it is queued: a repetition of the call begins another in its place, unless it is
 * cancelled; on each kind of store, and whatever is on its way to the disk meanwhile. */
#include "unit.h"

#include "each_store_fixture.h"

#define S             "\"kind\": \"script\""
#define ONE_NODE      "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}"
#define LEFT          RENGA__V1__STOP_REASON__STOP_REASON_CALLER_LEFT
#define CANCELLED_RUN RENGA__V1__STOP_REASON__STOP_REASON_CANCELLED

static struct stage stage;

static void open_again(void)
{
    char url[sizeof stage.url];
    snprintf(url, sizeof url, "%s", stage.url);
    if (strcmp(url, "memory:") == 0)
        return; /* nothing of it would be left */
    stage_close(&stage);
    stage_open(&stage, url);
}

/* ---- the call and its repetitions -------------------------------------------------------------------------------- */

static Renga__V1__StartRunRequest queued_call(void)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.request_id = (char *)(uintptr_t) "call";
    request.on_busy = RENGA__V1__ON_BUSY__ON_BUSY_ENQUEUE;
    return request;
}

struct started {
    char run[64];
    bool repeated;
};

static struct started take_started(struct test_request *sent)
{
    struct started started = {0};
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    snprintf(started.run, sizeof started.run, "%s", response ? response->run->run_id : "");
    started.repeated = response && response->repeated_request;
    ask_end(sent);
    return started;
}

static struct started repeat_call(void)
{
    Renga__V1__StartRunRequest request = queued_call();
    return take_started(ask_runner(&stage, &request));
}

static Renga__V1__CancelRunRequest cancel_request(const char *run, bool left)
{
    Renga__V1__CancelRunRequest request = RENGA__V1__CANCEL_RUN_REQUEST__INIT;
    request.run_id = (char *)(uintptr_t)run;
    request.caller_left = left;
    request.reason = (char *)(uintptr_t)(left ? "the caller went away" : "not wanted");
    return request;
}

/* A run is at work on the thread; the one that waits behind it is the call's. */
static struct started enqueue(void)
{
    if (stage_redis.pid)
        server_say(&stage_redis, "FLUSHALL");
    stage_set(&stage, ONE_NODE);
    start(&stage, "t", "");
    struct started queued = repeat_call();
    assert_run(&stage, queued.run, QUEUED, "");
    return queued;
}

static struct started enqueue_and_leave(void)
{
    struct started queued = enqueue();
    Renga__V1__CancelRunRequest leave = cancel_request(queued.run, true);
    ask_end(ask_runner(&stage, &leave));
    assert_int_equal(get(&stage, queued.run)->stop_reason, LEFT);
    return queued;
}

static void cancel_it(const char *run)
{
    Renga__V1__CancelRunRequest request = cancel_request(run, false);
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__CancelRunResponse *response = answer_of(sent);
    assert_non_null(response);
    assert_int_equal(response->run->stop_reason, CANCELLED_RUN);
    assert_string_equal(response->run->stop_text, "not wanted");
    ask_end(sent);
}

/* ---- its events -------------------------------------------------------------------------------------------------- */

struct ending {
    struct watcher watcher;
    Renga__V1__StopReason reasons[4];
    int stops;
    int64_t last;
    bool ended;
};

static void ending_seen(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    struct ending *ending = watcher->owner;
    ending->ended |= !event;
    if (!event)
        return;
    assert_true(event->event_id > ending->last);
    ending->last = event->event_id;
    if (event->event_case == RENGA__V1__RUN_EVENT__EVENT_STOPPED && ending->stops < 4)
        ending->reasons[ending->stops++] = event->stopped->stop_reason;
}

static void assert_watched_as_cancelled(const char *run)
{
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    struct ending ending = {0};
    request.run_id = (char *)(uintptr_t)run;
    ending.watcher = (struct watcher){
        .loop = stage.loop, .tenant = stage_tenant, .request = &request, .came = ending_seen, .owner = &ending};
    INSIDE(&stage, runner_watch(stage.runner, &ending.watcher));
    assert_true(ending.ended);
    assert_int_equal(ending.stops, 2);
    assert_int_equal(ending.reasons[0], LEFT);
    assert_int_equal(ending.reasons[1], CANCELLED_RUN);
    assert_int_equal(ending.last, get(&stage, run)->last_event_id);
    INSIDE(&stage, runner_unwatch(&ending.watcher));
}

static void assert_stays_cancelled(const char *run)
{
    struct started again = repeat_call();
    assert_string_equal(again.run, run);
    assert_true(again.repeated);
    assert_int_equal(get(&stage, run)->state, STOPPED);
    assert_int_equal(get(&stage, run)->stop_reason, CANCELLED_RUN);
    assert_string_equal(get(&stage, run)->stop_text, "not wanted");
    assert_watched_as_cancelled(run);
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

static void a_run_that_was_left_in_the_queue_and_is_then_cancelled_is_not_begun_by_a_repetition(void **state)
{
    struct started queued = enqueue_and_leave();
    cancel_it(queued.run);
    assert_stays_cancelled(queued.run);
    open_again();
    assert_stays_cancelled(queued.run);
    stage_clear(&stage);
}

static void it_can_be_cancelled_by_an_orchestrator_that_never_had_it_in_memory(void **state)
{
    struct started queued = enqueue_and_leave();
    open_again();
    cancel_it(queued.run);
    open_again();
    assert_stays_cancelled(queued.run);
    stage_clear(&stage);
}

static void who_leaves_it_once_more_does_not_cancel_it(void **state)
{
    struct started queued = enqueue_and_leave();
    Renga__V1__CancelRunRequest leave = cancel_request(queued.run, true);
    ask_end(ask_runner(&stage, &leave));
    assert_int_equal(get(&stage, queued.run)->stop_reason, LEFT);
    struct started again = repeat_call();
    assert_string_not_equal(again.run, queued.run);
    assert_false(again.repeated);
    assert_run(&stage, again.run, QUEUED, "");
    stage_clear(&stage);
}

static void a_cancellation_right_behind_the_leaving_is_kept(void **state)
{
    struct started queued = enqueue();
    Renga__V1__CancelRunRequest leave = cancel_request(queued.run, true), cancel = cancel_request(queued.run, false);
    struct test_request *left = send_to_runner(&stage, &leave, false);
    struct test_request *sent = send_to_runner(&stage, &cancel, false);
    for (int i = 0; i < 40 && !sent->answers; i++)
        stage_settle(&stage, 0);
    ask_end(left);
    Renga__V1__CancelRunResponse *response = answer_of(sent);
    assert_int_equal(response->run->stop_reason, CANCELLED_RUN);
    ask_end(sent);
    assert_stays_cancelled(queued.run);
    stage_clear(&stage);
}

static void two_repetitions_at_once_begin_one_run(void **state)
{
    struct started queued = enqueue_and_leave();
    Renga__V1__StartRunRequest request = queued_call();
    struct test_request *first = send_to_runner(&stage, &request, false);
    struct test_request *second = send_to_runner(&stage, &request, false);
    for (int i = 0; i < 40 && !(first->answers && second->answers); i++)
        stage_settle(&stage, 0);
    struct started one = take_started(first), other = take_started(second);
    assert_string_not_equal(one.run, queued.run);
    assert_string_equal(one.run, other.run);
    assert_true(one.repeated != other.repeated);
    stage_clear(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_was_left_in_the_queue_and_is_then_cancelled_is_not_begun_by_a_repetition),
        cmocka_unit_test(it_can_be_cancelled_by_an_orchestrator_that_never_had_it_in_memory),
        cmocka_unit_test(who_leaves_it_once_more_does_not_cancel_it),
        cmocka_unit_test(a_cancellation_right_behind_the_leaving_is_kept),
        cmocka_unit_test(two_repetitions_at_once_begin_one_run),
    };
    return run_on_each_store(tests, sizeof tests / sizeof *tests);
}
