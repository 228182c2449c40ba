/* Two orchestrators on one store, of which one dies, freezes or leaves: what is taken up, and what a thawed one is
 * refused.
 */
#include "unit.h"

#include "ownership_fixture.h"

#include "cluster/membership_priv.h"

static void a_dead_ones_run_goes_on_from_its_last_step(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    write_at(&one, "a", "a");
    struct script_call *before = call_at(&one, "b");
    pass_for(&two, 2 * LEASE_MS); /* one is stepped no more */
    assert_int_equal(script_runs("a"), 1);
    struct script_call *after = call_at(&two, "b");
    assert_string_equal(after->key, before->key);
    assert_int_equal(after->attempt, before->attempt + 1);
    assert_true(before->token > 0 && after->token > before->token);
    write_at(&two, "b", "b");
    write_at(&two, "c", "c");
    assert_run(&two, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    close_both();
}

static void what_a_thawed_one_writes_is_refused(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(THREE);
    request.wait = true;
    struct test_request *waiting = start_with(&one, &request, "t", "");
    assert_int_equal(waiting->answers, 0);
    struct script_call *stale = call_at(&one, "a");
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "two");
    uint64_t before = refused();
    INSIDE(&one, script_write(stale, "done", log_update("one"))); /* it knows of nothing */
    settle();
    assert_true(refused() > before);
    assert_null(answer_of(waiting));
    assert_int_equal(last_status.code, UNAVAILABLE);
    ask_end(waiting);
    assert_int_equal(script_runs("b"), 1);
    write_at(&two, "b", "b");
    write_at(&two, "c", "c");
    Renga__V1__ListRunsRequest list = RENGA__V1__LIST_RUNS_REQUEST__INIT;
    struct test_request *listing = ask_runner(&one, &list);
    Renga__V1__ListRunsResponse *listed = answer_of(listing);
    assert_int_equal(listed->n_runs, 1);
    assert_string_equal(owner_of(&one, listed->runs[0]->run_id), "two:2");
    assert_run(&two, listed->runs[0]->run_id, SUCCEEDED, "{\"log\":[\"two\",\"b\",\"c\"]}");
    ask_end(listing);
    close_both();
}

/* Its lease is over, and it cannot know whether another has written since. */
static void a_thawed_one_shows_no_old_state(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "two");
    assert_string_equal(owner_of(&one, run), "two:2");
    close_both();
}

static void nothing_comes(struct watcher *watcher, const Renga__V1__RunEvent *event) {}

/* What is left of the thread stays as long as its watcher; whoever asks for the run must not come there. */
static void a_lost_run_is_found_anew_though_a_watcher_has_not_left_yet(void **state)
{
    Renga__V1__WatchRunRequest request = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    open_both(THREE);
    request.run_id = start(&one, "t", "");
    struct watcher watcher = {.loop = one.loop, .tenant = stage_tenant, .request = &request, .came = nothing_comes};
    INSIDE(&one, runner_watch(one.runner, &watcher));
    settle();
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "two");
    assert_string_equal(owner_of(&one, request.run_id), "two:2");
    INSIDE(&one, runner_unwatch(&watcher));
    settle();
    close_both();
}

/* That others hear of it again gives it nothing back. */
static void a_thawed_one_that_beats_again_shows_no_old_state(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "two");
    pass(LEASE_MS);
    assert_string_equal(owner_of(&one, run), "two:2");
    close_both();
}

/* It writes nothing that could be refused; it looks as soon as it beats again. */
static void who_waits_at_a_thawed_one_hears_that_the_run_is_elsewhere(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    open_both(THREE);
    request.wait = true;
    struct test_request *waiting = start_with(&one, &request, "t", "");
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "two");
    assert_int_equal(waiting->answers, 0);
    pass(LEASE_MS);
    assert_int_equal(waiting->answers, 1);
    assert_null(answer_of(waiting));
    assert_int_equal(last_status.code, UNAVAILABLE);
    ask_end(waiting);
    write_at(&two, "b", "b");
    write_at(&two, "c", "c");
    close_both();
}

static void a_frozen_one_that_nobody_missed_goes_on(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    clock_step(10 * LEASE_MS * NS_PER_MS); /* both froze: nobody watched */
    stage_settle(&two, 0);                 /* who thaws first sees a row that has not changed for long */
    write_at(&one, "a", "a");
    pass(500);
    write_at(&one, "b", "b");
    write_at(&one, "c", "c");
    assert_run(&one, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    assert_int_equal(refused(), 0);
    close_both();
}

static void jumps_of_the_wall_clock_kill_nobody(void **state)
{
    static const int64_t hours[] = {1, -2, 400 * 24};
    open_both(THREE);
    char *run = start(&one, "t", "");
    for (size_t i = 0; i < COUNT(hours); i++) {
        clock_wall_step(hours[i] * 3600 * NS_PER_SEC);
        pass(LEASE_MS);
        assert_string_equal(owner_of(&two, run), "one:1");
    }
    assert_int_equal(script_runs("a"), 1);
    write_at(&one, "a", "a");
    clock_wall_step(-(399 * 24 + 23) * 3600 * NS_PER_SEC);
    close_both();
}

static void has_drained(void *data)
{
    *(bool *)data = true;
}

static void one_that_leaves_hands_its_runs_over_at_once(void **state)
{
    bool drained = false;
    open_both(THREE);
    char *run = start(&one, "t", "");
    INSIDE(&one, runner_drain(one.runner, 100, has_drained, &drained));
    pass(LEASE_MS / 2);
    assert_true(drained);
    assert_int_equal(call_at(&two, "a")->attempt, 2);
    write_at(&two, "a", "a");
    assert_string_equal(owner_of(&two, run), "");
    close_both();
}

/* A node that ends as it begins has done so, its result is not in the log yet, and just then the one that leaves looks
 * whether it may. */
static void one_that_leaves_waits_for_what_is_about_to_be_written(void **state)
{
    Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;
    bool drained = false;
    open_both(LOG "\"start\": \"a\", \"nodes\": {\"a\": {" S ", \"on\": {\"done\": \"s\"}}, \"s\": {\"kind\": \"set\", "
                  "\"values\": {\"log\": [\"s\"]}, \"on\": {\"done\": \"b\"}}, \"b\": {" S "}}");
    request.wait = true;
    struct test_request *waiting = start_with(&one, &request, "t", "");
    loop_enter(one.loop);
    script_write(call_at(&one, "a"), "done", log_update("a"));
    loop_leave(one.loop);
    store_settle(one.store);
    runner_drain(one.runner, LEASE_MS, has_drained, &drained); /* posts its look behind what the store has posted */
    settle();
    write_at(&one, "b", "b");
    Renga__V1__StartRunResponse *answer = answer_of(waiting);
    assert_non_null(answer);
    assert_string_equal(answer->run->output_json, "{\"log\":[\"a\",\"s\",\"b\"]}");
    ask_end(waiting);
    pass(LEASE_MS / 2);
    assert_true(drained);
    close_both();
}

static void the_threads_of_a_dead_one_are_all_taken_up(void **state)
{
    enum { THREADS = 40 };
    struct stage three;
    open_both(THREE);
    three = one;
    three.loop = loop_create(2);
    stage_address = "three:3";
    stage_run(&three);
    INSIDE(&three, runner_recover(three.runner));
    for (int i = 0; i < 30; i++) { /* one is frozen after it began */
        stage_settle(&three, 50);
        stage_settle(&two, 50);
        if (i == 10)
            for (int n = 0; n < THREADS; n++) {
                char name[16];
                snprintf(name, sizeof name, "t%d", n);
                start(&one, name, "");
            }
        if (i < 20)
            stage_settle(&one, 0);
    }
    for (int i = 0; i < 80; i++) {
        stage_settle(&three, 25);
        stage_settle(&two, 25);
    }
    size_t at_two = 0, at_three = 0;
    for (size_t i = THREADS; i < script_count; i++) {
        at_two += script_calls[i].loop == two.loop;
        at_three += script_calls[i].loop == three.loop;
    }
    assert_int_equal(at_two + at_three, THREADS);
    assert_true(at_two > THREADS / 8 && at_three > THREADS / 8); /* each its share: less is one chance in a million */
    stage_settle(&three, 0);
    while (!nothing_runs())
        stage_settle(&three, 0);
    stage_end(&three);
    settle();
    loop_destroy(&three.loop);
    close_both();
}

static void nothing_kept(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

static void put_row(const struct key *key, const char *value)
{
    struct store_batch batch;
    loop_enter(two.loop);
    store_batch_init(&batch, two.loop, nothing_kept);
    store_put(&batch, key_bytes(key), (struct store_bytes){value, strlen(value)});
    store_commit(two.store, &batch);
    loop_leave(two.loop);
    stage_settle(&two, 0);
}

static void a_run_that_cannot_be_read_stops_alone(void **state)
{
    struct key key;
    open_both(THREE);
    char *good = start(&one, "good", ""), *bad = start(&one, "bad", "");
    key_numbered(&key, KEY_RECORD, stage_tenant, "bad", 1);
    put_row(&key, "\xff\xff");
    pass_for(&two, 2 * LEASE_MS);
    write_at(&two, "a", "a");
    write_at(&two, "b", "b");
    write_at(&two, "c", "c");
    assert_run(&two, good, SUCCEEDED, "");
    assert_null(get(&two, bad));
    assert_int_equal(last_status.code, DATA_LOSS);
    struct store_stats before, after;
    store_stats(two.store, &before);
    int64_t beats = 40000 * MEMBER_BEATS / LEASE_MS;
    pass_for(&two, 40000);
    store_stats(two.store, &after); /* its beats, and nothing about what cannot be read */
    assert_true(after.batches - before.batches <= (uint64_t)beats + 1);
    close_both();
}

static void note_bytes(struct store_scan *scan) {}

/* The member that the row of what is pending names. */
static const char *pending_at(struct stage *stage, const char *thread)
{
    static char member[64];
    struct key from, to;
    struct store_scan scan;
    key_named(&from, KEY_PENDING, stage_tenant, thread);
    to = from;
    to.bytes[to.size++] = '\0';
    loop_enter(stage->loop);
    store_scan_init(&scan, stage->loop, note_bytes);
    scan.from = key_bytes(&from);
    scan.to = key_bytes(&to);
    store_scan(stage->store, &scan);
    loop_leave(stage->loop);
    stage_settle(stage, 0);
    snprintf(member, sizeof member, "%.*s", scan.count ? (int)scan.rows[0].value.size : 4,
             scan.count ? (const char *)scan.rows[0].value.bytes : "none");
    store_scan_fini(&scan);
    return member;
}

/* The second one has two loops: in the first it looks at what is pending, in the other it reads the thread. */
static void what_another_has_taken_meanwhile_is_not_noted_as_unreadable(void **state)
{
    struct key key;
    char bad[8] = "bad0";
    struct status st = {0};
    stage_address = "one:1";
    stage_set(&one, THREE);
    two = one;
    two.loop = loop_create(1);
    struct loop *loops[] = {two.loop, loop_create(2)};
    struct runner_options options = one.runner->options;
    options.loops = loops;
    options.loop_count = 2;
    options.address = options.owner = "two:2";
    two.runner = runner_create(&options, &st);
    assert_non_null(two.runner);
    INSIDE(&one, runner_recover(one.runner));
    INSIDE(&two, runner_recover(two.runner));
    pass(1000);
    while (shard_of_place(two.runner, id_of_place(stage_tenant, bad)) != &two.runner->shards[1])
        bad[3]++;
    start(&one, bad, "");
    key_numbered(&key, KEY_RECORD, stage_tenant, bad, 1);
    put_row(&key, "\xff\xff");
    pass_for(&two, 3 * LEASE_MS);
    key_named(&key, KEY_PENDING, stage_tenant, bad);
    put_row(&key, "a third one");
    for (int i = 0; i < 20; i++) {
        loop_step(loops[1], 0);
        stage_settle(&two, 0);
    }
    assert_int_equal(refused(), 1);
    assert_string_equal(pending_at(&two, bad), "a third one");
    while (!nothing_runs())
        ;
    runner_destroy(&two.runner);
    for (int i = 0; i < 3; i++) {
        store_settle(two.store);
        loop_step(loops[0], 0);
        loop_step(loops[1], 0);
    }
    loop_destroy(&loops[0]);
    loop_destroy(&loops[1]);
    stage_clear(&one);
    stage_address = NULL;
}

/* A batch that goes to the disk while a request has the thread for itself, and after which nothing is left to do. */
static void a_thread_is_let_go_though_its_last_batch_went_while_it_was_held(void **state)
{
    Renga__V1__StartRunRequest requests[2];
    struct test_request *pending[2];
    open_both(SUM);
    renga__v1__start_run_request__init(&requests[0]);
    requests[0].request_id = (char *)(uintptr_t) "r";
    ask_end(start_with(&one, &requests[0], "t", ""));
    requests[1] = requests[0];
    requests[0].request_id = (char *)(uintptr_t) "";
    requests[0].wait = true;
    loop_enter(one.loop);
    for (int i = 0; i < 2; i++) {
        pending[i] = request_of_test(&one, &requests[i]);
        runner_run(one.runner, &pending[i]->request);
    }
    loop_leave(one.loop);
    settle();
    Renga__V1__StartRunResponse *response = answer_of(pending[0]);
    assert_int_equal(response->run->state, SUCCEEDED);
    Renga__V1__GetRunRequest get_run = RENGA__V1__GET_RUN_REQUEST__INIT;
    get_run.run_id = response->run->run_id;
    struct test_request *sent = ask_runner(&two, &get_run);
    assert_true(sent->request.at_rest);
    ask_end(sent);
    assert_true(((Renga__V1__StartRunResponse *)answer_of(pending[1]))->repeated_request);
    for (int i = 0; i < 2; i++)
        ask_end(pending[i]);
    close_both();
}

/* As if its beats had not been answered for a lease: another may have taken the thread. */
static void lapse(struct stage *stage)
{
    struct membership *members = stage->runner->membership;
    members->lease_ns = clock_boot_ns();
}

static void who_is_not_sure_of_its_lease_begins_nothing_until_it_is(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    lapse(&one);
    write_at(&one, "a", "a");
    assert_int_equal(script_runs("b"), 0);
    pass(LEASE_MS);
    write_at(&one, "b", "b");
    write_at(&one, "c", "c");
    assert_run(&one, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    assert_int_equal(script_runs("b"), 1);
    close_both();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_not_sure_of_its_lease_begins_nothing_until_it_is),
        cmocka_unit_test(a_dead_ones_run_goes_on_from_its_last_step),
        cmocka_unit_test(what_a_thawed_one_writes_is_refused),
        cmocka_unit_test(a_thawed_one_shows_no_old_state),
        cmocka_unit_test(a_lost_run_is_found_anew_though_a_watcher_has_not_left_yet),
        cmocka_unit_test(a_thawed_one_that_beats_again_shows_no_old_state),
        cmocka_unit_test(who_waits_at_a_thawed_one_hears_that_the_run_is_elsewhere),
        cmocka_unit_test(a_frozen_one_that_nobody_missed_goes_on),
        cmocka_unit_test(jumps_of_the_wall_clock_kill_nobody),
        cmocka_unit_test(one_that_leaves_hands_its_runs_over_at_once),
        cmocka_unit_test(one_that_leaves_waits_for_what_is_about_to_be_written),
        cmocka_unit_test(the_threads_of_a_dead_one_are_all_taken_up),
        cmocka_unit_test(a_run_that_cannot_be_read_stops_alone),
        cmocka_unit_test(what_another_has_taken_meanwhile_is_not_noted_as_unreadable),
        cmocka_unit_test(a_thread_is_let_go_though_its_last_batch_went_while_it_was_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
