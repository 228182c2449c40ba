/* How long threads are kept, and how much of their history; the days are stepped. */
#include "unit.h"

#include "runner_fixture.h"

static struct stage stage;

#define DAY_MS INT64_C(86400000)
#define LOOP                                                                                                           \
    "\"state\": {\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, \"recursion_limit\": 2000, \"start\": \"a\", "  \
    "\"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"n\": 1}, \"visits\": {\"max\": 1200, \"then\": \"end\"}, "  \
    "\"on\": {\"done\": \"a\"}}}"
#define ASKS                                                                                                           \
    "\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"a\", \"nodes\": {\"a\": {\"kind\": \"ask\", "               \
    "\"question\": \"?\", \"into\": \"x\"}}"
#define ONE                                                                                                            \
    "\"state\": {\"n\": {\"type\": \"integer\", \"reduce\": \"sum\"}}, \"start\": \"a\", "                             \
    "\"nodes\": {\"a\": {\"kind\": \"set\", \"values\": {\"n\": 1}}}"

/* ---- what there is ----------------------------------------------------------------------------------------------- */

static size_t rows(enum key_kind kind)
{
    return stage_rows(&stage, kind);
}

static size_t rows_of_threads(void)
{
    static const enum key_kind kinds[] = {KEY_RECORD,  KEY_SNAPSHOT, KEY_THREAD_RUN, KEY_THREAD,
                                          KEY_PENDING, KEY_RUN,      KEY_ERASED,     KEY_THREAD_REQUEST};
    size_t count = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        count += rows(kinds[i]);
    return count;
}

/* The next sweep, after these days. */
static void sweep_after(int64_t days)
{
    clock_wall_step(days * DAY_MS * NS_PER_MS);
    for (int i = 0; i < 80; i++)
        stage_settle(&stage, i ? 10 : 60000);
}

static void set_stage(const char *document)
{
    stage_set(&stage, document);
    loop_enter(stage.loop);
    runner_recover(stage.runner);
    loop_leave(stage.loop);
    stage_settle(&stage, 0);
}

static void reopen(const char *url)
{
    stage_close(&stage);
    stage_open(&stage, url);
    INSIDE(&stage, runner_recover(stage.runner));
    for (int i = 0; i < 80; i++)
        stage_settle(&stage, i ? 10 : 0);
}

static char *start_kept(const char *thread, Renga__V1__Retention *retention, const char *request_id)
{
    static char id[64];
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.retention = retention;
    request.request_id = (char *)(uintptr_t)request_id;
    struct test_request *sent = start_with(&stage, &request, thread, "");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (!response)
        fail_msg("%s", last_status.text);
    snprintf(id, sizeof id, "%s", response->run->run_id);
    ask_end(sent);
    for (int i = 0; i < 1300 && get(&stage, id)->state == RUNNING; i++)
        stage_settle(&stage, 0);
    return id;
}

static Renga__V1__Retention retention(int64_t ttl_ms, int32_t checkpoints, int64_t age_ms)
{
    Renga__V1__Retention retention = RENGA__V1__RETENTION__INIT;
    retention.ttl_ms = ttl_ms;
    retention.max_checkpoints = checkpoints;
    retention.max_age_ms = age_ms;
    return retention;
}

static struct test_request *checkpoints(const char *thread, Renga__V1__ListCheckpointsResponse **response)
{
    Renga__V1__ListCheckpointsRequest request = RENGA__V1__LIST_CHECKPOINTS_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t)thread;
    request.page_size = 500;
    struct test_request *sent = ask_runner(&stage, &request);
    *response = answer_of(sent);
    assert_non_null(*response);
    return sent;
}

static const char *state_at(const char *thread, const char *checkpoint)
{
    const char *text = get_state(&stage, thread, checkpoint);
    return last_status.code == OK ? text : status_code_name((int)last_status.code);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void a_thread_goes_when_its_time_is_over_and_leaves_nothing(void **state)
{
    Renga__V1__Retention week = retention(7 * DAY_MS, 0, 0);
    stage_snapshot_every = 100;
    set_stage(LOOP);
    start_kept("t", &week, "request"); /* 1,200 steps: more than one batch */
    start_kept("stays", NULL, "");
    assert_int_equal(rows(KEY_THREAD), 2);
    assert_true(rows(KEY_SNAPSHOT) >= 20);
    assert_int_equal(rows(KEY_REQUEST), 1);
    sweep_after(6);
    assert_int_equal(rows(KEY_THREAD), 2);
    sweep_after(2);
    assert_int_equal(rows(KEY_THREAD), 1);
    assert_int_equal(rows(KEY_REQUEST), 0);
    assert_string_equal(state_at("t", ""), "NOT_FOUND");
    assert_string_equal(state_at("stays", ""), "{\"n\":1200}");
    Renga__V1__DeleteThreadRequest delete = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    delete.thread_id = (char *)(uintptr_t) "stays";
    ask_end(ask_runner(&stage, &delete));
    for (int i = 0; i < 20; i++)
        stage_settle(&stage, 0);
    assert_int_equal(rows_of_threads(), 0);
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

static void a_forked_thread_has_its_time_from_the_fork_on(void **state)
{
    char url[256];
    stage_thread_ttl_ms = 7 * DAY_MS;
    set_stage(ONE);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    reopen(url);
    start_kept("t", NULL, "");
    Renga__V1__ForkThreadRequest request = RENGA__V1__FORK_THREAD_REQUEST__INIT;
    request.thread_id = (char *)(uintptr_t) "t";
    request.new_thread_id = (char *)(uintptr_t) "u";
    ask_end(ask_runner(&stage, &request));
    reopen(url);
    assert_string_equal(state_at("u", ""), "{\"n\":1}");
    sweep_after(6);
    assert_int_equal(rows(KEY_THREAD), 2);
    sweep_after(2);
    assert_int_equal(rows_of_threads(), 0);
    stage_thread_ttl_ms = 0;
    stage_clear(&stage);
}

static void what_happens_on_a_thread_gives_it_its_time_anew(void **state)
{
    Renga__V1__Retention week = retention(7 * DAY_MS, 0, 0);
    set_stage(ONE);
    start_kept("t", &week, "");
    sweep_after(6);
    start_kept("t", NULL, "");
    sweep_after(6);
    assert_string_equal(state_at("t", ""), "{\"n\":2}");
    sweep_after(2);
    assert_string_equal(state_at("t", ""), "NOT_FOUND");
    assert_int_equal(rows_of_threads(), 0);
    stage_clear(&stage);
}

static size_t listed_threads(void)
{
    Renga__V1__ListThreadsRequest request = RENGA__V1__LIST_THREADS_REQUEST__INIT;
    struct test_request *sent = ask_runner(&stage, &request);
    Renga__V1__ListThreadsResponse *response = answer_of(sent);
    assert_non_null(response);
    size_t count = response->n_threads;
    ask_end(sent);
    return count;
}

/* The sweep is a minute away. */
static void a_thread_is_not_found_from_its_time_on_and_its_name_is_free(void **state)
{
    Renga__V1__Retention day = retention(DAY_MS, 0, 0);
    set_stage(ONE);
    start_kept("t", &day, "");
    clock_wall_step((DAY_MS - 60000) * NS_PER_MS); /* this clock goes on by itself */
    assert_string_equal(state_at("t", ""), "{\"n\":1}");
    assert_int_equal(listed_threads(), 1);
    clock_wall_step(60000 * NS_PER_MS);
    assert_string_equal(state_at("t", ""), "NOT_FOUND");
    assert_int_equal(listed_threads(), 0);
    assert_int_equal(rows(KEY_THREAD), 1); /* no sweep has come yet */
    start_kept("t", &day, "");
    assert_string_equal(state_at("t", ""), "{\"n\":1}");
    sweep_after(1);
    assert_int_equal(rows_of_threads(), 0);
    stage_clear(&stage);
}

static void a_thread_that_waits_goes_with_its_time_only(void **state)
{
    Renga__V1__Retention month = retention(30 * DAY_MS, 1, DAY_MS);
    set_stage(ASKS);
    char *run = start_kept("t", &month, "");
    sweep_after(20);
    assert_int_equal(get(&stage, run)->state, WAITING);
    assert_int_equal(resume(&stage, run, "1")->state == FAILED, 0);
    assert_run(&stage, run, SUCCEEDED, "{\"x\":1}");
    start_kept("u", &month, "");
    sweep_after(31);
    assert_int_equal(rows_of_threads(), 0);
    stage_clear(&stage);
}

static void a_request_of_a_thread_that_is_gone_is_known_for_a_day(void **state)
{
    Renga__V1__DeleteThreadRequest delete = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    set_stage(ONE);
    start_kept("t", NULL, "request");
    delete.thread_id = (char *)(uintptr_t) "t";
    ask_end(ask_runner(&stage, &delete));
    assert_int_equal(rows_of_threads(), 0);
    assert_int_equal(rows(KEY_REQUEST), 1);
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.request_id = (char *)(uintptr_t) "request";
    struct test_request *again = start_with(&stage, &request, "t", "");
    assert_null(answer_of(again));
    assert_int_equal(last_status.code, NOT_FOUND);
    ask_end(again);
    sweep_after(0);
    assert_int_equal(rows(KEY_REQUEST), 1);
    sweep_after(2);
    assert_int_equal(rows(KEY_REQUEST) + rows(KEY_ORPHAN), 0);
    stage_clear(&stage);
}

static void a_thread_that_was_being_erased_when_the_process_ended_is_erased(void **state)
{
    struct key key;
    struct store_batch batch;
    int64_t now_ms = clock_wall_ns() / NS_PER_MS;
    char url[256];
    set_stage(ONE);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    reopen(url);
    start_kept("t", NULL, "");
    start_kept("u", NULL, "");
    for (const char *thread = "tu"; *thread; thread++) {
        const char name[] = {*thread, '\0'};
        store_batch_init(&batch, stage.loop, store_batch_fini);
        int64_t marked_ms = now_ms + (*thread == 't' ? DAY_MS : -DAY_MS);
        key_named(&key, KEY_ERASED, "tenant", name);
        store_put(&batch, key_bytes(&key), (struct store_bytes){&marked_ms, sizeof marked_ms});
        INSIDE(&stage, store_commit(stage.store, &batch));
    }
    reopen(url);
    assert_string_equal(state_at("t", ""), "NOT_FOUND");
    assert_string_equal(state_at("u", ""), "{\"n\":1}"); /* has been used since it was marked */
    assert_int_equal(rows(KEY_ERASED), 0);
    assert_int_equal(rows(KEY_THREAD), 1);
    stage_clear(&stage);
}

/* ---- histories --------------------------------------------------------------------------------------------------- */

static void the_newest_checkpoints_are_kept_and_read_as_before(void **state)
{
    Renga__V1__ListCheckpointsResponse *list;
    Renga__V1__Retention ten = retention(0, 10, 0);
    set_stage(LOOP);
    char *run = start_kept("t", &ten, "");
    assert_true(rows(KEY_RECORD) > 1200);
    sweep_after(0);
    struct test_request *sent = checkpoints("t", &list);
    assert_int_equal(list->n_checkpoints, 10);
    for (size_t i = 0; i < 10; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "{\"n\":%d}", 1200 - (int)i);
        assert_string_equal(state_at("t", list->checkpoints[i]->checkpoint_id), wanted);
    }
    assert_true(rows(KEY_RECORD) <= 12);
    ask_end(sent);
    assert_run(&stage, run, SUCCEEDED, "{\"n\":1200}");
    stage_clear(&stage);
}

static void a_pruned_thread_is_the_same_after_a_restart(void **state)
{
    Renga__V1__Retention three = retention(0, 3, 0);
    Renga__V1__ListCheckpointsResponse *list;
    char url[256];
    stage_snapshot_every = 1000000;
    set_stage(LOOP);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    reopen(url);
    char *run = start_kept("t", &three, "");
    sweep_after(0);
    assert_true(rows(KEY_RECORD) <= 5);
    reopen(url);
    assert_run(&stage, run, SUCCEEDED, "{\"n\":1200}");
    struct test_request *sent = checkpoints("t", &list);
    assert_int_equal(list->n_checkpoints, 3);
    assert_string_equal(state_at("t", list->checkpoints[2]->checkpoint_id), "{\"n\":1198}");
    ask_end(sent);
    start_kept("t", NULL, "");
    assert_string_equal(state_at("t", ""), "{\"n\":2400}");
    stage_snapshot_every = 0;
    stage_clear(&stage);
}

static void what_is_older_than_its_age_goes_but_never_the_head(void **state)
{
    Renga__V1__ListCheckpointsResponse *list;
    Renga__V1__Retention age = retention(0, 0, 3 * DAY_MS);
    set_stage(ONE);
    start_kept("t", &age, "");
    sweep_after(2);
    start_kept("t", NULL, "");
    sweep_after(2);
    struct test_request *sent = checkpoints("t", &list);
    assert_int_equal(list->n_checkpoints, 2); /* of the second run: its input and its step */
    ask_end(sent);
    sweep_after(2);
    sent = checkpoints("t", &list);
    assert_int_equal(list->n_checkpoints, 1);
    assert_string_equal(state_at("t", list->checkpoints[0]->checkpoint_id), "{\"n\":2}");
    ask_end(sent);
    start_kept("t", NULL, "");
    assert_string_equal(state_at("t", ""), "{\"n\":3}");
    stage_clear(&stage);
}

static void a_run_cannot_begin_at_a_checkpoint_that_is_gone(void **state)
{
    Renga__V1__ListCheckpointsResponse *list;
    Renga__V1__Retention one = retention(0, 1, 0);
    set_stage(ONE);
    start_kept("t", &one, "");
    struct test_request *sent = checkpoints("t", &list);
    char first[64];
    snprintf(first, sizeof first, "%s", list->checkpoints[1]->checkpoint_id);
    ask_end(sent);
    sweep_after(0);
    assert_string_equal(state_at("t", first), "NOT_FOUND");
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    request.checkpoint_id = first;
    request.wait = true;
    sent = start_with(&stage, &request, "t", "");
    Renga__V1__StartRunResponse *response = answer_of(sent);
    assert_int_equal(response->run->state, FAILED);
    assert_int_equal(response->run->stop_reason, RENGA__V1__STOP_REASON__STOP_REASON_UNREADABLE);
    ask_end(sent);
    assert_string_equal(state_at("t", ""), "{\"n\":1}");
    stage_clear(&stage);
}

static struct status watch_status;
static size_t watch_count;
static bool watch_over;
static void watched(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    watch_count += event != NULL;
    watch_over |= event == NULL;
    if (!event)
        watch_status = watcher->status;
}

static void whoever_watches_from_pruned_events_on_hears_that_they_are_gone(void **state)
{
    Renga__V1__Retention one = retention(0, 1, 0);
    set_stage(LOOP);
    char *run = start_kept("t", &one, "");
    sweep_after(0);
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    request.run_id = run;
    struct watcher watcher = {.loop = stage.loop, .tenant = "tenant", .request = &request, .came = watched};
    INSIDE(&stage, runner_watch(stage.runner, &watcher));
    assert_true(watch_over);
    assert_int_equal(watch_status.code, OUT_OF_RANGE);
    assert_int_equal(watch_count, 0);
    INSIDE(&stage, runner_unwatch(&watcher));
    stage_clear(&stage);
}

static void a_run_that_goes_to_work_at_once_is_accepted_in_the_same_record(void **state)
{
    char url[256];
    set_stage(ONE);
    snprintf(url, sizeof url, "sqlite:%s/store.db", stage.house.root);
    reopen(url);
    start_kept("t", NULL, "");
    assert_int_equal(rows(KEY_RECORD), 3); /* accepted and at work, its step, its end */
    assert_int_equal(rows(KEY_VERSION), 0);
    reopen(url);
    assert_string_equal(state_at("t", ""), "{\"n\":1}");
    start_kept("t", NULL, "");
    assert_int_equal(rows(KEY_RECORD), 6);
    assert_string_equal(state_at("t", ""), "{\"n\":2}");
    stage_clear(&stage);
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_goes_when_its_time_is_over_and_leaves_nothing),
        cmocka_unit_test(a_run_that_goes_to_work_at_once_is_accepted_in_the_same_record),
        cmocka_unit_test(a_forked_thread_has_its_time_from_the_fork_on),
        cmocka_unit_test(what_happens_on_a_thread_gives_it_its_time_anew),
        cmocka_unit_test(a_thread_is_not_found_from_its_time_on_and_its_name_is_free),
        cmocka_unit_test(a_thread_that_waits_goes_with_its_time_only),
        cmocka_unit_test(a_request_of_a_thread_that_is_gone_is_known_for_a_day),
        cmocka_unit_test(a_thread_that_was_being_erased_when_the_process_ended_is_erased),
        cmocka_unit_test(a_pruned_thread_is_the_same_after_a_restart),
        cmocka_unit_test(the_newest_checkpoints_are_kept_and_read_as_before),
        cmocka_unit_test(what_is_older_than_its_age_goes_but_never_the_head),
        cmocka_unit_test(a_run_cannot_begin_at_a_checkpoint_that_is_gone),
        cmocka_unit_test(whoever_watches_from_pruned_events_on_hears_that_they_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
