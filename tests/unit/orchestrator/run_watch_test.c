/* Watchers that come in the middle of a step: what was written so far, once, whoever else looks on. */
#include "base/budget.h"
#include "journal/events.h"
#include "lifecycle/broken_thread.h"
#include "lifecycle/thread_lifecycle.h"
#include "unit.h"
#include "watch/subscribers.h"

#include "runner_fixture.h"
#include "thread/frame.h"
#include "thread/memory.h"
#include "thread/run.h"
#include "thread/shard.h"
#include "thread/thread.h"

#define S "\"kind\": \"script\""

static struct stage stage;

struct seen {
    struct watcher watcher;
    Renga__V1__WatchRunRequest request;
    char text[65536 + 1024]; /* "node=token|" and the kinds of other events by their number */
    int64_t last;
    bool ended;
    size_t events, tokens, settled; /* settled: progress that is not provisional */
};

static void saw(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    struct seen *seen = watcher->owner;
    seen->ended |= !event;
    if (!event)
        return;
    assert_true(event->event_id > seen->last || event->event_case == RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT);
    seen->events += event->event_case != RENGA__V1__RUN_EVENT__EVENT_HEARTBEAT;
    seen->last = event->event_id;
    if (!event->provisional) /* what is shown for good is on disk */
        assert_true((uint64_t)event->event_id >> EVENT_NUMBER_BITS <= watcher->subscription->thread->committed);
    if (event->event_case == RENGA__V1__RUN_EVENT__EVENT_PROGRESS_JSON)
        seen->settled += !event->provisional;
    if (event->event_case != RENGA__V1__RUN_EVENT__EVENT_TOKEN)
        return;
    seen->tokens++;
    size_t length = strlen(seen->text);
    snprintf(seen->text + length, sizeof seen->text - length, "%s%s%s=%s|", event->node,
             *event->token->channel ? "." : "", event->token->channel, event->token->text);
}

static struct seen *seen_create(const char *run, int64_t after)
{
    struct seen *seen = calloc(1, sizeof *seen);
    renga__v1__watch_run_request__init(&seen->request);
    seen->request.run_id = (char *)(uintptr_t)run;
    seen->request.after_event_id = after;
    seen->last = after;
    seen->watcher =
        (struct watcher){.loop = stage.loop, .tenant = "tenant", .request = &seen->request, .came = saw, .owner = seen};
    return seen;
}

static struct seen *watch(const char *run, int64_t after)
{
    struct seen *seen = seen_create(run, after);
    INSIDE(&stage, runner_watch(stage.runner, &seen->watcher));
    return seen;
}

static void watch_end(struct seen *seen)
{
    INSIDE(&stage, runner_unwatch(&seen->watcher));
    free(seen);
}

static void say(const char *node, const char *text, const char *channel)
{
    INSIDE(&stage, task_token(script_find(node, NULL, -1)->task, text, channel));
}

static void who_comes_in_the_middle_gets_the_text_so_far(void **state)
{
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    say("a", "an ", "");
    say("a", "old ", "");
    say("a", "thought", "thinking");
    struct seen *first = watch(run, 0);
    assert_string_equal(first->text, "a=an old |a.thinking=thought|");
    say("a", "pond", "");
    assert_string_equal(first->text, "a=an old |a.thinking=thought|a=pond|");
    struct seen *second = watch(run, 0), *rest = watch(run, -1);
    assert_string_equal(second->text, "a=an old pond|a.thinking=thought|");
    assert_string_equal(rest->text, "");
    say("a", ".", "");
    assert_string_equal(rest->text, "a=.|");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", ""));
    struct seen *late = watch(run, 0);
    assert_string_equal(late->text, "");
    watch_end(late);
    watch_end(rest);
    watch_end(second);
    watch_end(first);
    stage_clear(&stage);
}

static void who_comes_back_gets_what_was_written_meanwhile(void **state)
{
    stage_set(&stage, "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    struct seen *seen = watch(run, 0);
    say("a", "one ", "");
    say("b", "eins ", "");
    int64_t last = seen->last;
    watch_end(seen);
    say("a", "two ", "");
    say("b", "zwei ", "");
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", "")); /* a record, in the middle of the step */
    say("a", "three", "");
    seen = watch(run, last);
    assert_string_equal(seen->text, "a=two three|");
    watch_end(seen);
    stage_clear(&stage);
}

static void a_failed_attempts_text_is_void(void **state)
{
    stage_set(&stage,
              "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"retry\": {\"attempts\": 2, \"base\": \"10ms\"}}}");
    char *run = start(&stage, "t", "");
    say("a", "wrong", "");
    INSIDE(&stage, script_break(script_find("a", NULL, -1), UNAVAILABLE, "not now"));
    stage_settle(&stage, 10);
    say("a", "right", "");
    struct seen *seen = watch(run, 0);
    assert_string_equal(seen->text, "a=right|");
    watch_end(seen);
    stage_clear(&stage);
}

static void a_long_text_is_shown_to_its_end_and_kept_in_part(void **state)
{
    char piece[33];
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    struct seen *seen = watch(run, 0);
    for (int i = 0; i < 6000; i++) {
        snprintf(piece, sizeof piece, "%032d", i);
        loop_enter(stage.loop);
        task_token(script_find("a", NULL, -1)->task, piece, "");
        loop_leave(stage.loop);
        if (i % 50 == 49)
            stage_settle(&stage, 0);
    }
    stage_settle(&stage, 0);
    assert_int_equal(seen->tokens, 6000);
    struct seen *late = watch(run, 0);
    size_t length = strlen(late->text);
    assert_int_equal(late->tokens, 1);
    assert_true(length > 65536 / 2 && length <= 65536 + 3);
    assert_int_equal((length - 3) % 32, 0); /* "a=", whole pieces, "|" */
    assert_memory_equal(late->text + length - 1 - 32, "00000000000000000000000000005999", 32);
    watch_end(late);
    watch_end(seen);
    stage_clear(&stage);
}

static void progress_of_a_result_is_shown_when_that_is_on_disk(void **state)
{
    char *shown[] = {(char *)(uintptr_t) "1", (char *)(uintptr_t) "2"};
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.progress_json = shown;
    response.n_progress_json = 2;
    stage_set(&stage, "\"start\": [\"a\", \"b\"], \"nodes\": {\"a\": {" S "}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    struct seen *seen = watch(run, 0);
    INSIDE(&stage, task_progress(script_find("a", NULL, -1)->task, "0"));
    assert_int_equal(seen->settled, 0);
    loop_enter(stage.loop);
    script_respond(script_find("a", NULL, -1), &response);
    loop_leave(stage.loop);
    struct seen *late = watch(run, 0); /* while it is on its way */
    assert_int_equal(seen->settled, 2);
    assert_int_equal(late->settled, 3); /* the first is read from disk */
    watch_end(late);
    watch_end(seen);
    stage_clear(&stage);
}

static void what_failures_have_spent_is_kept_and_bounds_the_run(void **state)
{
    Renga__V1__Usage usage = RENGA__V1__USAGE__INIT;
    usage.model_calls = 2;
    stage_set(&stage, "\"budget\": {\"model_calls\": 5}, \"start\": \"a\", \"nodes\": {\"a\": {" S
                      ", \"retry\": {\"attempts\": 9, \"base\": \"10ms\"}}}");
    char *run = start(&stage, "t", "");
    for (int i = 1; i <= 3; i++) {
        struct script_call *call = script_find("a", NULL, -1);
        assert_non_null(call);
        loop_enter(stage.loop);
        task_spend(call->task, &usage);
        loop_leave(stage.loop);
        INSIDE(&stage, script_break(call, UNAVAILABLE, "not now"));
        assert_int_equal(get(&stage, run)->usage->model_calls, 2 * i);
        stage_settle(&stage, 1000);
    }
    assert_int_equal(script_live, 0);
    Renga__V1__Run *stopped = get(&stage, run);
    assert_int_equal(stopped->state, SUCCEEDED);
    assert_int_equal(stopped->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_BUDGET_MODEL_CALLS);
    stage_clear(&stage);
}

static void who_leaves_while_the_thread_is_read_leaves_no_seat(void **state)
{
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", ""));
    stage_end(&stage);
    stage_run(&stage); /* now it is on disk alone */
    struct seen seen = {.request = RENGA__V1__WATCH_RUN_REQUEST__INIT};
    seen.request.run_id = run;
    seen.watcher =
        (struct watcher){.loop = stage.loop, .tenant = "tenant", .request = &seen.request, .came = saw, .owner = &seen};
    loop_enter(stage.loop);
    runner_watch(stage.runner, &seen.watcher);
    runner_unwatch(&seen.watcher);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
    struct thread *thread;
    INSIDE(&stage, thread = thread_get(stage.runner->shards, "tenant", "t", false));
    assert_int_equal(thread->phase, THREAD_READY);
    assert_null(thread->subscriptions);
    stage_clear(&stage);
}

static void who_leaves_as_the_thread_goes_is_answered_once(void **state)
{
    struct status why = {.code = UNAVAILABLE};
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    stage_set(&stage, "\"start\": \"a\", \"nodes\": {\"a\": {" S "}}");
    request.wait = true;
    struct test_request *sent = start_with(&stage, &request, "t", "");
    assert_non_null(sent->request.waits_on);
    loop_enter(stage.loop);
    thread_unload(thread_get(stage.runner->shards, "tenant", "t", false), &why);
    runner_abandon(&sent->request); /* the run it waited for is not there any more */
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, UNAVAILABLE);
    ask_end(sent);
    stage_clear(&stage);
}

/* ---- large events ------------------------------------------------------------------------------------------------ */

#define LARGE       100000
#define LARGE_STEPS 3
#define READERS     8
#define READERS_FIT 4                   /* so that each may hold a large event, and one reads on */
#define ROOM        ((size_t)512 << 10) /* of a tenant, for large events */

static struct budget room;

static char *large_run_start(void)
{
    budget_init(&room, 4 * ROOM);
    stage_set(&stage, "\"state\": {\"x\": {\"type\": \"string\"}}, \"start\": \"a\", \"nodes\": {\"a\": {" S
                      ", \"visits\": {\"max\": 3, \"then\": \"end\"}, \"on\": {\"done\": \"a\"}}}");
    stage.runner->options.answers = &room;
    return start(&stage, "t", "");
}

static void large_step(void)
{
    char *update;
    assert_true(asprintf(&update, "{\"x\": \"%*s\"}", LARGE, "x") > 0);
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", update));
    free(update);
}

static struct seen *watch_paused(const char *run)
{
    struct seen *seen = seen_create(run, 0);
    loop_enter(stage.loop);
    runner_watch(stage.runner, &seen->watcher);
    runner_watch_pause(&seen->watcher);
    loop_leave(stage.loop);
    return seen;
}

/* Time passes in the loop for those that wait for room; worker threads, which read long rows, take time of their own.
 */
static void seen_await_end(const struct seen *seen)
{
    for (int i = 0; i < 50000 && !seen->ended; i++) {
        stage_settle(&stage, i % 20 == 0 && i < 2000 ? 500 : 0);
        usleep(100);
    }
    assert_true(seen->ended);
}

static void large_run_end(void)
{
    stage_clear(&stage);
    assert_int_equal(budget_used(&room), 0);
    budget_fini(&room);
}

static void large_events_that_nobody_reads_hold_a_bound_and_all_come_to_those_who_read(void **state)
{
    struct seen *readers[READERS];
    char *run = large_run_start();
    for (int i = 0; i < LARGE_STEPS; i++)
        large_step();
    struct seen *first = watch(run, 0);
    seen_await_end(first);
    for (int i = 0; i < READERS; i++)
        readers[i] = watch_paused(run);
    stage_settle(&stage, 1000);
    assert_in_range(budget_used(&room), LARGE, ROOM);
    for (int i = READERS_FIT; i < READERS; i++) /* else those that stand still may hold all room for a minute */
        watch_end(readers[i]);
    for (int i = 0; i < READERS_FIT; i++) {
        INSIDE(&stage, runner_watch_resume(&readers[i]->watcher));
        seen_await_end(readers[i]);
        assert_int_equal(readers[i]->watcher.status.code, OK);
        assert_int_equal(readers[i]->events, first->events);
    }
    assert_int_equal(budget_used(&room), 0);
    for (int i = 0; i < READERS_FIT; i++)
        watch_end(readers[i]);
    watch_end(first);
    large_run_end();
}

static void a_live_event_for_which_there_is_no_room_comes_when_there_is(void **state)
{
    struct budget_hold others = {0};
    char *run = large_run_start();
    struct seen *seen = watch(run, 0), *gone = watch(run, 0);
    assert_true(budget_take(&room, &others, 2 * ROOM, 2 * ROOM));
    for (int i = 0; i < LARGE_STEPS; i++)
        large_step();
    stage_settle(&stage, 5000);
    size_t before = seen->events;
    assert_false(seen->ended);
    watch_end(gone); /* while it waits */
    budget_give(&room, &others);
    seen_await_end(seen);
    assert_int_equal(seen->watcher.status.code, OK);
    struct seen *all = watch(run, 0);
    seen_await_end(all);
    assert_int_equal(seen->events, all->events);
    assert_in_range(before, 1, all->events - 3 * LARGE_STEPS);
    watch_end(all);
    watch_end(seen);
    large_run_end();
}

static void watchers_that_leave_give_the_room_of_their_events_back(void **state)
{
    struct seen *readers[READERS];
    char *run = large_run_start();
    for (int i = 0; i < LARGE_STEPS; i++)
        large_step();
    for (int i = 0; i < READERS; i++)
        readers[i] = watch_paused(run);
    stage_settle(&stage, 1000);
    assert_in_range(budget_used(&room), LARGE, ROOM);
    for (int i = 0; i < READERS; i++)
        watch_end(readers[i]);
    stage_settle(&stage, 1000);
    large_run_end();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_comes_in_the_middle_gets_the_text_so_far),
        cmocka_unit_test(who_comes_back_gets_what_was_written_meanwhile),
        cmocka_unit_test(a_failed_attempts_text_is_void),
        cmocka_unit_test(a_long_text_is_shown_to_its_end_and_kept_in_part),
        cmocka_unit_test(progress_of_a_result_is_shown_when_that_is_on_disk),
        cmocka_unit_test(what_failures_have_spent_is_kept_and_bounds_the_run),
        cmocka_unit_test(who_leaves_while_the_thread_is_read_leaves_no_seat),
        cmocka_unit_test(who_leaves_as_the_thread_goes_is_answered_once),
        cmocka_unit_test(large_events_that_nobody_reads_hold_a_bound_and_all_come_to_those_who_read),
        cmocka_unit_test(a_live_event_for_which_there_is_no_room_comes_when_there_is),
        cmocka_unit_test(watchers_that_leave_give_the_room_of_their_events_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
