/* What can be read and changed of a thread, and who watches its runs. */
#include "unit.h"

#include "history/lists.h"
#include "log/keys.h"
#include "log/rows.h"
#include "runner_fixture.h"
#include "thread/shard.h"

static struct stage stage;

#define LOG "\"state\": {\"log\": {\"type\": \"string[]\", \"reduce\": \"append\"}, \"x\": {\"type\": \"any\"}},"
#define S   "\"kind\": \"script\""
#define ABC                                                                                                            \
    LOG "\"start\": \"a\", \"nodes\": {"                                                                               \
        "\"a\": {\"kind\": \"set\", \"values\": {\"log\": [\"a\"]}, \"on\": {\"done\": \"b\"}},"                       \
        "\"b\": {\"kind\": \"set\", \"values\": {\"log\": [\"b\"]}, \"on\": {\"done\": \"c\"}},"                       \
        "\"c\": {\"kind\": \"set\", \"values\": {\"log\": [\"c\"]}}}"

struct checkpoints {
    size_t count;
    char ids[32][64], parents[32][64];
};

static struct checkpoints checkpoints_of(const char *thread, const char *ancestors_of, int page)
{
    struct checkpoints all = {0};
    char token[64] = "";
    do {
        Renga__V1__ListCheckpointsRequest request = RENGA__V1__LIST_CHECKPOINTS_REQUEST__INIT;
        request.thread_id = (char *)(uintptr_t)thread;
        request.ancestors_of = (char *)(uintptr_t)ancestors_of;
        request.page_size = page;
        request.page_token = token;
        struct test_request *sent = ask_runner(&stage, &request);
        Renga__V1__ListCheckpointsResponse *response = answer_of(sent);
        assert_non_null(response);
        for (size_t i = 0; i < response->n_checkpoints; i++) {
            snprintf(all.ids[all.count], 64, "%s", response->checkpoints[i]->checkpoint_id);
            snprintf(all.parents[all.count++], 64, "%s", response->checkpoints[i]->parent_checkpoint_id);
        }
        snprintf(token, sizeof token, "%s", response->next_page_token);
        ask_end(sent);
    } while (*token);
    return all;
}

static void start_at(const char *thread, const char *checkpoint, const char *input, char *run)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.checkpoint_id = (char *)(uintptr_t)checkpoint;
    struct test_request *sent = start_with(&stage, &request, thread, input);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    snprintf(run, 64, "%s", response->run->run_id);
    ask_end(sent);
}

static void the_state_is_there_at_every_checkpoint(void **state)
{
    stage_set(&stage, ABC);
    start(&stage, "t", "{\"log\":[\"0\"]}");
    struct checkpoints all = checkpoints_of("t", "", 0);
    assert_int_equal(all.count, 4);
    assert_string_equal(get_state(&stage, "t", ""), "{\"log\":[\"0\",\"a\",\"b\",\"c\"]}");
    assert_string_equal(get_state(&stage, "t", all.ids[0]), "{\"log\":[\"0\",\"a\",\"b\",\"c\"]}");
    assert_string_equal(get_state(&stage, "t", all.ids[1]), "{\"log\":[\"0\",\"a\",\"b\"]}");
    assert_string_equal(get_state(&stage, "t", all.ids[3]), "{\"log\":[\"0\"]}");
    assert_string_equal(all.parents[0], all.ids[1]);
    assert_string_equal(all.parents[3], "");
    assert_contains(get_state(&stage, "none", ""), "no thread");
    assert_contains(get_state(&stage, "t", "zzzz"), "no checkpoint");
    struct checkpoints paged = checkpoints_of("t", "", 1);
    assert_int_equal(paged.count, 4);
    assert_memory_equal(&paged, &all, sizeof all);
    stage_clear(&stage);
}

static void a_replay_runs_the_activated_nodes_and_leaves_the_old_checkpoints(void **state)
{
    char run[64];
    stage_set(&stage, ABC);
    start(&stage, "t", "");
    struct checkpoints before = checkpoints_of("t", "", 0);
    start_at("t", before.ids[2], "", run); /* after a: b and c are activated */
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    assert_int_equal(get(&stage, run)->step, 2);
    struct checkpoints after = checkpoints_of("t", "", 2);
    assert_int_equal(after.count, 7);
    assert_string_equal(after.parents[2], before.ids[2]);
    assert_string_equal(get_state(&stage, "t", before.ids[0]), "{\"log\":[\"a\",\"b\",\"c\"]}");
    assert_string_equal(get_state(&stage, "t", after.ids[1]), "{\"log\":[\"a\",\"b\"]}");
    struct checkpoints own = checkpoints_of("t", after.ids[0], 2);
    assert_int_equal(own.count, 5);
    start_at("t", before.ids[2], "{\"x\":1}", run); /* other input: from the first node */
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"a\",\"b\",\"c\"],\"x\":1}");
    stage_clear(&stage);
}

static void two_forks_go_their_own_ways(void **state)
{
    char run[64], head[64];
    stage_set(&stage, ABC);
    start(&stage, "t", "");
    struct checkpoints all = checkpoints_of("t", "", 0);
    for (int i = 0; i < 2; i++) {
        char name[8];
        Renga__V1__ForkThreadRequest request = RENGA__V1__FORK_THREAD_REQUEST__INIT;
        request.thread_id = (char *)(uintptr_t) "t";
        request.checkpoint_id = all.ids[2 - i];
        snprintf(name, sizeof name, "f%d", i);
        request.new_thread_id = name;
        struct test_request *sent = ask_runner(&stage, &request);
        Renga__V1__ForkThreadResponse *response = answer_of(sent);
        if (!response)
            fail_msg("%s", last_status.text);
        snprintf(head, sizeof head, "%s", response->thread->checkpoint_id);
        ask_end(sent);
        assert_string_equal(get_state(&stage, name, ""), i ? "{\"log\":[\"a\",\"b\"]}" : "{\"log\":[\"a\"]}");
        start_at(name, head, "", run);
        assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
        sent = ask_runner(&stage, &request);
        assert_null(answer_of(sent));
        assert_int_equal(last_status.code, ALREADY_EXISTS);
        ask_end(sent);
    }
    assert_int_equal(checkpoints_of("t", "", 0).count, 4);
    stage_clear(&stage);
}

static void a_change_by_hand_decides_what_is_activated(void **state)
{
    char run[64];
    stage_set(&stage, ABC);
    start(&stage, "t", "");
    Renga__V1__UpdateStateRequest request = RENGA__V1__UPDATE_STATE_REQUEST__INIT;
    char *clear[] = {(char *)(uintptr_t) "log"};
    request.thread_id = (char *)(uintptr_t) "t";
    request.as_node = (char *)(uintptr_t) "b";
    request.update_json = (char *)(uintptr_t) "{\"x\":\"by hand\"}";
    request.clear_fields = clear;
    request.n_clear_fields = 1;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__UpdateStateResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    assert_string_equal(get_state(&stage, "t", ""), "{\"log\":[],\"x\":\"by hand\"}");
    start_at("t", response->checkpoint->checkpoint_id, "", run);
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"c\"],\"x\":\"by hand\"}");
    ask_end(sent);
    stage_clear(&stage);
}

static void a_deleted_thread_is_gone_with_its_runs(void **state)
{
    Renga__V1__ListRunsRequest list = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    Renga__V1__ListThreadsRequest threads = RENGA__V1__LIST_THREADS_REQUEST__INIT;
    stage_set(&stage, ABC);
    char *run = start(&stage, "t", "");
    char *other = start(&stage, "u", "");
    struct test_request *sent = ask_runner(&stage, &list);
    Renga__V1__ListRunsResponse *runs = answer_of(sent);
    assert_int_equal(runs->n_runs, 2);
    ask_end(sent);
    Renga__V1__DeleteThreadRequest request = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    for (int i = 0; i < 2; i++) {
        sent = ask_runner(&stage, &request);
        Renga__V1__DeleteThreadResponse *response = answer_of(sent);
        if (!response)
            fail_msg("%s", last_status.text);
        assert_int_equal(response->deleted, !i);
        ask_end(sent);
    }
    assert_null(get(&stage, run));
    assert_int_equal(last_status.code, NOT_FOUND);
    assert_contains(get_state(&stage, "t", ""), "no thread");
    sent = ask_runner(&stage, &list);
    runs = answer_of(sent);
    assert_int_equal(runs->n_runs, 1);
    assert_string_equal(runs->runs[0]->run_id, other);
    ask_end(sent);
    sent = ask_runner(&stage, &threads);
    Renga__V1__ListThreadsResponse *found = answer_of(sent);
    assert_int_equal(found->n_threads, 1);
    assert_string_equal(found->threads[0]->thread_id, "u");
    ask_end(sent);
    assert_run(&stage, start(&stage, "t", ""), SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    stage_clear(&stage);
}

#define MANY_THREADS 12345

static void history_rows_written(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

/* Rows by their names, from "t0" on; their times of change are a permutation. */
static void write_many_threads(void)
{
    static struct store_batch batch;
    char name[32];
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    loop_enter(stage.loop);
    store_batch_init(&batch, stage.loop, history_rows_written);
    for (int i = 0; i < MANY_THREADS; i++) {
        struct key key;
        Renga__V1__Thread row = RENGA__V1__THREAD__INIT;
        snprintf(name, sizeof name, "t%d", i);
        row.thread_id = name;
        row.agent = (char *)(uintptr_t) "a";
        row.run_state = SUCCEEDED;
        row.created_ms = 1;
        row.updated_ms = now_ms + (int64_t)i * 7919 % MANY_THREADS;
        key_named(&key, KEY_THREAD, "tenant", name);
        row_put(&batch, &key, &row.base);
    }
    store_commit(stage.store, &batch);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static void all_threads_of_a_tenant_are_listed_by_their_change_however_many_there_are(void **state)
{
    char token[256] = "";
    int64_t last = INT64_MAX;
    size_t count = 0;
    stage_set(&stage, ABC);
    write_many_threads();
    do {
        Renga__V1__ListThreadsRequest request = RENGA__V1__LIST_THREADS_REQUEST__INIT;
        request.page_size = 500;
        request.page_token = token;
        struct test_request *sent = ask_runner(&stage, &request);
        Renga__V1__ListThreadsResponse *found = answer_of(sent);
        if (!found)
            fail_msg("%s", last_status.text);
        assert_true(found->n_threads == 500 || !*found->next_page_token);
        for (size_t i = 0; i < found->n_threads; i++) {
            assert_true(found->threads[i]->updated_ms < last);
            last = found->threads[i]->updated_ms;
        }
        count += found->n_threads;
        snprintf(token, sizeof token, "%s", found->next_page_token);
        ask_end(sent);
    } while (*token);
    assert_int_equal(count, MANY_THREADS);
    stage_clear(&stage);
}

/* ---- watching -----------------------------------------------------------------------------------------------------
 */

struct seen {
    struct watcher watcher;
    Renga__V1__WatchRunRequest request;
    char text[8192];
    int64_t ids[512];
    size_t count;
    bool ended;
};

static void saw(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    static const char *const names[] = {"?",           "started",  "state",      "node_started", "node_finished",
                                        "node_failed", "retried",  "updated",    "token",        "progress",
                                        "interrupted", "answered", "checkpoint", "heartbeat",    "stopped"};
    struct seen *seen = watcher->owner;
    if (!event) {
        seen->ended = true;
        return;
    }
    int kind = event->event_case ? (int)event->event_case - (int)RENGA__V1__RUN_EVENT__EVENT_STARTED + 1 : 0;
    if (seen->count && kind != 13)
        assert_true(event->event_id > seen->ids[seen->count - 1]);
    seen->ids[seen->count++] = event->event_id;
    sprintf(seen->text + strlen(seen->text), "%s%s%s ", names[kind], *event->node ? ":" : "", event->node);
}

static struct seen *watch(const char *run, int64_t after)
{
    struct seen *seen = calloc(1, sizeof *seen);
    renga__v1__watch_run_request__init(&seen->request);
    seen->request.run_id = (char *)(uintptr_t)run;
    seen->request.after_event_id = after;
    seen->watcher =
        (struct watcher){.loop = stage.loop, .tenant = "tenant", .request = &seen->request, .came = saw, .owner = seen};
    INSIDE(&stage, runner_watch(stage.runner, &seen->watcher));
    return seen;
}

static void watch_end(struct seen *seen)
{
    INSIDE(&stage, runner_unwatch(&seen->watcher));
    free(seen);
}

#define ALL                                                                                                            \
    "started state checkpoint node_started:a token:a progress:a node_finished:a updated:a checkpoint "                 \
    "node_started:b node_finished:b checkpoint state stopped "
#define KEPT                                                                                                           \
    "started state checkpoint node_started:a progress:a node_finished:a updated:a checkpoint "                         \
    "node_started:b node_finished:b checkpoint state stopped "

static void a_watcher_sees_everything_in_its_order_once(void **state)
{
    stage_set(&stage, LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": {\"done\": \"b\"}}, \"b\": {" S "}}");
    char *run = start(&stage, "t", "");
    struct seen *live = watch(run, 0);
    assert_string_equal(live->text, "started state checkpoint node_started:a ");
    INSIDE(&stage, task_token(script_find("a", NULL, -1)->task, "hello", ""));
    INSIDE(&stage, task_progress(script_find("a", NULL, -1)->task, "1"));
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "", "{\"log\":[\"a\"]}"));
    struct seen *late = watch(run, 0);
    INSIDE(&stage, script_write(script_find("b", NULL, -1), "", ""));
    assert_string_equal(live->text, ALL);
    assert_true(live->ended);
    assert_true(late->ended);
    assert_int_equal(live->watcher.status.code, OK);
    assert_string_equal(late->text, KEPT);
    struct seen *again = watch(run, 0);
    assert_string_equal(again->text, KEPT);
    for (size_t i = 0; i < live->count; i++) { /* coming back after any of them */
        struct seen *rest = watch(run, live->ids[i]);
        assert_true(rest->ended);
        const char *tail = again->text + strlen(again->text) - strlen(rest->text);
        assert_string_equal(tail, rest->text);
        if (rest->count)
            assert_true(rest->ids[0] > live->ids[i]);
        assert_true(rest->count >= live->count - i - 1 - (i < 4));
        watch_end(rest);
    }
    struct seen *none = watch("01m7ygrz63vpg6swk9zx478y", 0);
    assert_int_equal(none->watcher.status.code, NOT_FOUND);
    struct seen *beyond = watch(run, live->ids[live->count - 1] + 1);
    assert_int_equal(beyond->watcher.status.code, OUT_OF_RANGE);
    watch_end(none);
    watch_end(beyond);
    watch_end(again);
    watch_end(late);
    watch_end(live);
    stage_clear(&stage);
}

static void a_paused_watcher_goes_on_where_it_was(void **state)
{
    stage_set(&stage, LOG "\"recursion_limit\": 100, \"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": {\"done\": "
                          "\"a\"}}}");
    char *run = start(&stage, "t", "");
    struct seen *seen = watch(run, 0);
    INSIDE(&stage, runner_watch_pause(&seen->watcher));
    for (int i = 0; i < 100; i++)
        INSIDE(&stage, script_write(script_find("a", NULL, -1), "", ""));
    assert_true(seen->count < 10);
    INSIDE(&stage, runner_watch_resume(&seen->watcher));
    stage_settle(&stage, 0);
    assert_true(seen->ended);
    assert_int_equal(seen->count, 3 + 3 * 100 + 2);
    watch_end(seen);
    stage_clear(&stage);
}

static void a_watcher_hears_a_heart_beat_and_follows_over_a_wait(void **state)
{
    stage_set(&stage,
              LOG "\"start\": \"q\", \"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\"}}");
    char *run = start(&stage, "t", "");
    struct seen *seen = calloc(1, sizeof *seen);
    renga__v1__watch_run_request__init(&seen->request);
    seen->request.run_id = run;
    seen->request.follow = true;
    seen->request.heartbeat_ms = 1000;
    seen->watcher =
        (struct watcher){.loop = stage.loop, .tenant = "tenant", .request = &seen->request, .came = saw, .owner = seen};
    INSIDE(&stage, runner_watch(stage.runner, &seen->watcher));
    assert_string_equal(seen->text, "started state checkpoint node_started:q interrupted:q state stopped ");
    assert_false(seen->ended);
    stage_settle(&stage, 2000);
    assert_contains(seen->text, "heartbeat");
    assert_non_null(resume(&stage, run, "1"));
    stage_settle(&stage, 0);
    assert_true(seen->ended);
    assert_contains(seen->text, "answered state node_started:q node_finished:q updated:q checkpoint state stopped ");
    watch_end(seen);
    stage_clear(&stage);
}

#define LISTS 20
#define READS (4 * ROWS_MAX)

static int turns_answered;

static void turn_was_answered(struct request *request)
{
    ((struct test_request *)request->owner)->answers = ++turns_answered;
}

static struct test_request *send_turn(const char *tenant, const void *message)
{
    struct test_request *sent = request_of_test(&stage, message);
    sent->request.tenant = tenant;
    sent->request.answered = turn_was_answered;
    runner_run(stage.runner, &sent->request);
    return sent;
}

static void few_lists_are_made_at_a_time_and_a_second_tenant_is_next(void **state)
{
    struct test_request *sent[LISTS + 1];
    Renga__V1__ListThreadsRequest threads = RENGA__V1__LIST_THREADS_REQUEST__INIT;
    Renga__V1__ListRunsRequest runs = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    stage_set(&stage, ABC);
    start(&stage, "t", "{}");
    turns_answered = 0;
    loop_enter(stage.loop);
    for (size_t i = 0; i < LISTS; i++)
        sent[i] = send_turn(stage_tenant, i % 2 ? (const void *)&threads : &runs);
    sent[LISTS] = send_turn("another", &threads);
    assert_int_equal(stage.runner->shards[0].list_turns.held, LISTS_MAX);
    loop_leave(stage.loop);
    STAGE_AWAIT(&stage, turns_answered == LISTS + 1);
    assert_in_range(sent[LISTS]->answers, 1, 2 * LISTS_MAX);
    for (size_t i = 0; i <= LISTS; i++) {
        assert_int_equal(sent[i]->request.status.code, OK);
        arena_fini(&sent[i]->arena);
        free(sent[i]);
    }
    assert_int_equal(stage.runner->shards[0].list_turns.held, 0);
    assert_int_equal(stage.runner->shards[0].list_turns.waiting, 0);
    stage_clear(&stage);
}

/* Runs of no tenant of theirs: each is looked for in the store. */
static void few_runs_are_read_at_a_time_and_a_second_tenant_is_next(void **state)
{
    struct test_request *sent[READS + 1];
    Renga__V1__GetRunRequest get = RENGA__V1__GET_RUN_REQUEST__INIT;
    stage_set(&stage, ABC);
    get.run_id = start(&stage, "t", "{}");
    turns_answered = 0;
    loop_enter(stage.loop);
    for (size_t i = 0; i < READS; i++)
        sent[i] = send_turn("another", &get);
    sent[READS] = send_turn("a third", &get);
    loop_leave(stage.loop);
    STAGE_AWAIT(&stage, turns_answered == READS + 1);
    assert_in_range(sent[READS]->answers, 1, 2 * ROWS_MAX);
    for (size_t i = 0; i <= READS; i++) {
        assert_int_equal(sent[i]->request.status.code, NOT_FOUND);
        arena_fini(&sent[i]->arena);
        free(sent[i]);
    }
    assert_int_equal(stage.runner->shards[0].row_turns.held, 0);
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_is_there_at_every_checkpoint),
        cmocka_unit_test(a_replay_runs_the_activated_nodes_and_leaves_the_old_checkpoints),
        cmocka_unit_test(two_forks_go_their_own_ways),
        cmocka_unit_test(a_change_by_hand_decides_what_is_activated),
        cmocka_unit_test(a_deleted_thread_is_gone_with_its_runs),
        cmocka_unit_test(all_threads_of_a_tenant_are_listed_by_their_change_however_many_there_are),
        cmocka_unit_test(a_watcher_sees_everything_in_its_order_once),
        cmocka_unit_test(a_paused_watcher_goes_on_where_it_was),
        cmocka_unit_test(a_watcher_hears_a_heart_beat_and_follows_over_a_wait),
        cmocka_unit_test(few_lists_are_made_at_a_time_and_a_second_tenant_is_next),
        cmocka_unit_test(few_runs_are_read_at_a_time_and_a_second_tenant_is_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
