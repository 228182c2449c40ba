/* Threads at rest, where two orchestrators share the store: calls follow the one that had them last, which binds
 * nobody, and nothing is done twice. */
#include "unit.h"

#include "ownership_fixture.h"

#define ASKS                                                                                                           \
    "\"state\": {\"x\": {\"type\": \"any\"}}, \"start\": \"q\", "                                                      \
    "\"nodes\": {\"q\": {\"kind\": \"ask\", \"question\": \"?\", \"into\": \"x\"}}"

static Renga__V1__StartRunRequest request = RENGA__V1__START_RUN_REQUEST__INIT;

/* A run on "t", waited for; `given` and `returned` as the request's. */
static struct test_request *run_at(struct stage *stage, uint64_t given, uint64_t returned)
{
    request.agent = (char *)(uintptr_t) "a";
    request.thread_id = (char *)(uintptr_t) "t";
    request.wait = true;
    loop_enter(stage->loop);
    struct test_request *sent = request_of_test(stage, &request);
    sent->request.given = given;
    sent->request.returned = returned;
    runner_run(stage->runner, &sent->request);
    loop_leave(stage->loop);
    settle();
    assert_int_equal(sent->answers, 1);
    return sent;
}

static void is_run(struct stage *stage, uint64_t given, uint64_t returned, const char *output)
{
    struct test_request *sent = run_at(stage, given, returned);
    Renga__V1__StartRunResponse *response = answer_of(sent);
    if (response)
        assert_string_equal(response->run->output_json, output);
    else
        fail_msg("%s: %s", status_code_name((int)last_status.code), last_status.text);
    ask_end(sent);
}

/* Nothing is done; the token with which the thread rests at the address. */
static uint64_t is_sent_to(struct stage *stage, const char *address, uint64_t given, uint64_t returned)
{
    struct test_request *sent = run_at(stage, given, returned);
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, UNAVAILABLE);
    assert_string_equal(sent->request.handoff_address, address);
    assert_true(sent->request.at_rest);
    uint64_t token = sent->request.thread_token;
    ask_end(sent);
    return token;
}

static void a_thread_at_rest_is_asked_for_where_it_was_last(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    is_run(&one, token, 0, "{\"n\":2}");
    is_run(&one, token, 0, "{\"n\":3}"); /* it has not left, though its token has grown */
    assert_int_equal(refused(), 0);
    close_both();
}

static void what_was_handed_on_is_not_handed_on_again(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    is_sent_to(&two, "one:1", token, 0); /* its caller gives it back, nothing else */
    is_run(&one, 0, 0, "{\"n\":2}");
    close_both();
}

static void what_comes_back_is_done_where_nobody_has_written_since(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    is_run(&two, 0, token, "{\"n\":2}");
    is_run(&two, 0, token, "{\"n\":3}"); /* another of those that came back: only we have written */
    is_sent_to(&one, "two:2", 0, 0);
    close_both();
}

static void what_comes_back_is_not_done_where_somebody_has_written(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    is_run(&one, token, 0, "{\"n\":2}"); /* done there, but its answer was lost */
    is_sent_to(&two, "", 0, token);
    is_run(&one, 0, 0, "{\"n\":3}");
    close_both();
}

/* It lay at a frozen one that has the thread once more by the time it thaws. */
static void what_was_given_up_is_not_done_though_the_thread_has_come_back(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t given_up = is_sent_to(&two, "one:1", 0, 0);
    is_run(&two, 0, given_up, "{\"n\":2}");
    uint64_t token = is_sent_to(&one, "two:2", 0, 0);
    is_run(&one, 0, token, "{\"n\":3}");
    is_sent_to(&one, "", given_up, 0);
    is_run(&one, 0, 0, "{\"n\":4}");
    close_both();
}

static void threads_at_rest_of_a_dead_one_are_served_by_anybody(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    pass_for(&two, 2 * LEASE_MS);
    is_run(&two, 0, 0, "{\"n\":2}");
    close_both();
}

static void has_drained(void *data)
{
    *(bool *)data = true;
}

static void one_that_drains_gives_its_threads_away(void **state)
{
    bool drained = false;
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    loop_enter(one.loop);
    runner_drain(one.runner, 100, has_drained, &drained);
    struct test_request *sent = request_of_test(&one, &request);
    sent->request.given = token;
    runner_run(one.runner, &sent->request);
    loop_leave(one.loop);
    settle();
    assert_null(answer_of(sent));
    assert_string_equal(sent->request.handoff_address, ""); /* nothing was done */
    ask_end(sent);
    is_run(&two, 0, token, "{\"n\":2}");
    pass(LEASE_MS / 2);
    assert_true(drained);
    is_run(&two, 0, 0, "{\"n\":3}");
    close_both();
}

/* Its memory is all that calls follow. */
static void a_thread_that_is_out_of_memory_goes_to_who_is_asked_for_it(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    for (int i = 0; i < THREADS_IDLE_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        start(&one, name, "");
    }
    uint64_t token = is_sent_to(&two, "one:1", 0, 0);
    is_sent_to(&one, "", token, 0);
    is_run(&two, 0, token, "{\"n\":2}");
    close_both();
}

/* Handed on one after the other, until one of them is given back; how many were served. */
static int hand_on_until_it_goes(int at_most, uint64_t *token)
{
    for (int runs = 0; runs < at_most; runs++) {
        *token = is_sent_to(&two, "one:1", 0, 0);
        struct test_request *sent = run_at(&one, *token, 0);
        bool served = sent->request.status.code == OK;
        ask_end(sent);
        if (!served)
            return runs;
    }
    return at_most;
}

static void a_thread_goes_after_those_who_always_ask_for_it_elsewhere(void **state)
{
    enum { AT_MOST = 100 };
    char output[32];
    uint64_t token;
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    int runs = hand_on_until_it_goes(AT_MOST, &token);
    assert_true(runs > AT_MOST / 2 && runs < AT_MOST);
    snprintf(output, sizeof output, "{\"n\":%d}", 1 + runs + 1);
    is_run(&two, 0, token, output);
    close_both();
}

static void events_come(struct watcher *watcher, const Renga__V1__RunEvent *event)
{
    unsigned *events = watcher->owner;
    *events += event != NULL;
}

static void what_is_on_disk_is_watched_where_one_asks(void **state)
{
    Renga__V1__WatchRunRequest watch = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    unsigned events = 0;
    open_both(SUM);
    watch.run_id = start(&one, "t", "");
    struct watcher watcher = {
        .loop = two.loop, .tenant = stage_tenant, .request = &watch, .came = events_come, .owner = &events};
    INSIDE(&two, runner_watch(two.runner, &watcher));
    settle();
    assert_int_equal(watcher.status.code, OK);
    assert_true(events > 2);
    INSIDE(&two, runner_unwatch(&watcher));
    is_sent_to(&two, "one:1", 0, 0); /* though it is in memory there now */
    close_both();
}

/* Else it would not hear of what another does with the thread. */
static void who_waits_for_what_comes_watches_where_the_thread_is_and_keeps_it_there(void **state)
{
    Renga__V1__WatchRunRequest watch = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    unsigned events = 0;
    uint64_t token;
    open_both(ASKS);
    watch.run_id = start(&one, "t", "");
    watch.follow = true;
    struct watcher there = {
        .loop = two.loop, .tenant = stage_tenant, .request = &watch, .came = events_come, .owner = &events};
    INSIDE(&two, runner_watch(two.runner, &there));
    settle();
    assert_string_equal(there.handoff_address, "one:1");
    INSIDE(&two, runner_unwatch(&there));
    struct watcher here = there;
    here.loop = one.loop;
    INSIDE(&one, runner_watch(one.runner, &here));
    settle();
    assert_int_equal(hand_on_until_it_goes(200, &token), 200);
    INSIDE(&one, runner_unwatch(&here));
    settle();
    assert_true(hand_on_until_it_goes(200, &token) < 200);
    close_both();
}

static void who_watches_a_thread_at_rest_at_a_thawed_one_hears_that_it_went(void **state)
{
    Renga__V1__WatchRunRequest watch = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    unsigned events = 0;
    open_both(ASKS);
    watch.run_id = start(&one, "t", "");
    watch.follow = true;
    struct watcher watcher = {
        .loop = one.loop, .tenant = stage_tenant, .request = &watch, .came = events_come, .owner = &events};
    INSIDE(&one, runner_watch(one.runner, &watcher));
    settle();
    pass_for(&two, 2 * LEASE_MS);
    assert_non_null(resume(&two, watch.run_id, "7"));
    assert_int_equal(watcher.status.code, OK);
    pass(LEASE_MS);
    assert_int_equal(watcher.status.code, UNAVAILABLE);
    INSIDE(&one, runner_unwatch(&watcher));
    settle();
    close_both();
}

static void written(struct store_batch *batch)
{
    store_batch_fini(batch);
}

struct row_scan {
    struct store_scan scan;
    char member[64];
};

static void row_came(struct store_scan *scan)
{
    struct row_scan *row = (struct row_scan *)scan;
    assert_int_equal(scan->count, 1);
    Renga__V1__OwnerRow *read = renga__v1__owner_row__unpack(NULL, scan->rows[0].value.size, scan->rows[0].value.bytes);
    assert_int_equal(read->base.n_unknown_fields, 0);
    snprintf(row->member, sizeof row->member, "%s", read->member);
    renga__v1__owner_row__free_unpacked(read, NULL);
    store_scan_fini(scan);
}

/* It waits a lease for one that it never hears of, and then expects the row as it has read it. */
static void a_thread_at_rest_may_be_taken_by_a_release_that_knows_of_no_rest(void **state)
{
    struct key from, to;
    struct row_scan row;
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    key_named(&from, KEY_OWNER, stage_tenant, "t");
    to = from;
    to.bytes[to.size++] = '\0';
    loop_enter(one.loop);
    store_scan_init(&row.scan, one.loop, row_came);
    row.scan.from = key_bytes(&from);
    row.scan.to = key_bytes(&to);
    store_scan(one.store, &row.scan);
    loop_leave(one.loop);
    settle();
    assert_string_not_equal(row.member, ""); /* as what nobody has */
    assert_string_not_equal(row.member, membership_self(one.runner->membership));
    close_both();
}

/* As if another had written to the thread. */
static void write_owner(uint64_t token)
{
    struct key key;
    uint8_t bytes[64];
    struct store_batch batch;
    Renga__V1__OwnerRow row = RENGA__V1__OWNER_ROW__INIT;
    row.token = token;
    loop_enter(two.loop);
    store_batch_init(&batch, two.loop, written);
    key_named(&key, KEY_OWNER, stage_tenant, "t");
    store_put(&batch, key_bytes(&key), (struct store_bytes){bytes, renga__v1__owner_row__pack(&row, bytes)});
    store_commit(two.store, &batch);
    loop_leave(two.loop);
    settle();
}

/* Nobody that could be reached had it last: each serves it where he is asked. */
static void who_watches_a_thread_that_rests_nowhere_hears_that_another_has_it(void **state)
{
    Renga__V1__WatchRunRequest watch = RENGA__V1__WATCH_RUN_REQUEST__INIT;
    unsigned events = 0;
    open_both(ASKS);
    watch.run_id = start(&one, "t", "");
    watch.follow = true;
    watch.heartbeat_ms = 1000;
    write_owner(100);
    struct watcher watcher = {
        .loop = one.loop, .tenant = stage_tenant, .request = &watch, .came = events_come, .owner = &events};
    INSIDE(&one, runner_watch(one.runner, &watcher));
    pass(2 * watch.heartbeat_ms);
    assert_int_equal(watcher.status.code, OK);
    assert_non_null(resume(&two, watch.run_id, "7"));
    pass(2 * watch.heartbeat_ms);
    assert_int_equal(watcher.status.code, UNAVAILABLE);
    INSIDE(&one, runner_unwatch(&watcher));
    settle();
    close_both();
}

static void who_has_lost_too_often_hears_that_nothing_was_done(void **state)
{
    open_both(SUM);
    is_run(&one, 0, 0, "{\"n\":1}");
    write_owner(100);
    struct test_request *sent = request_of_test(&one, &request);
    loop_enter(one.loop);
    runner_run(one.runner, &sent->request);
    sent->request.again = 8; /* so often */
    loop_leave(one.loop);
    settle();
    assert_null(answer_of(sent));
    assert_int_equal(last_status.code, UNAVAILABLE);
    assert_string_equal(sent->request.handoff_address, "");
    ask_end(sent);
    is_run(&one, 0, 0, "{\"n\":2}");
    close_both();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_at_rest_is_asked_for_where_it_was_last),
        cmocka_unit_test(what_was_handed_on_is_not_handed_on_again),
        cmocka_unit_test(what_comes_back_is_done_where_nobody_has_written_since),
        cmocka_unit_test(what_comes_back_is_not_done_where_somebody_has_written),
        cmocka_unit_test(what_was_given_up_is_not_done_though_the_thread_has_come_back),
        cmocka_unit_test(threads_at_rest_of_a_dead_one_are_served_by_anybody),
        cmocka_unit_test(one_that_drains_gives_its_threads_away),
        cmocka_unit_test(a_thread_that_is_out_of_memory_goes_to_who_is_asked_for_it),
        cmocka_unit_test(a_thread_goes_after_those_who_always_ask_for_it_elsewhere),
        cmocka_unit_test(what_is_on_disk_is_watched_where_one_asks),
        cmocka_unit_test(who_waits_for_what_comes_watches_where_the_thread_is_and_keeps_it_there),
        cmocka_unit_test(who_watches_a_thread_at_rest_at_a_thawed_one_hears_that_it_went),
        cmocka_unit_test(a_thread_at_rest_may_be_taken_by_a_release_that_knows_of_no_rest),
        cmocka_unit_test(who_watches_a_thread_that_rests_nowhere_hears_that_another_has_it),
        cmocka_unit_test(who_has_lost_too_often_hears_that_nothing_was_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
