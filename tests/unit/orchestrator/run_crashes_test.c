/* Runs with owners that die again and again, on a store that is one orchestrator's alone, and on one that two share. */
#include "unit.h"

#include "ownership_fixture.h"

#include "quarantine/crashes_priv.h"

#define NODE          LOG "\"start\": \"n\", \"nodes\": {\"n\": {" S "}}"
#define CRASHED       RENGA__V1__STOP_REASON__STOP_REASON_OWNER_CRASHED
#define QUIET_MS      8100 /* without a death, before a trial begins */
#define TRIAL_MS      6000
#define LOOK_AGAIN_MS 20000
#define RUNS          50
#define KILLS         30
#define DEATHS_MAX    20
#define GUILTY        "{\"log\":[\"guilty\"]}"

static struct stage stage;

static void open_stage(void)
{
    stage_crashes_max = 3;
    stage_set(&stage, NODE);
    INSIDE(&stage, runner_recover(stage.runner));
}

static void live_again(void)
{
    stage_end(&stage);
    stage_run(&stage);
    INSIDE(&stage, runner_recover(stage.runner));
}

/* Time goes by in this life, on the wall clock too. */
static void live_for(int64_t ms)
{
    clock_wall_step(ms * NS_PER_MS);
    stage_settle(&stage, ms);
}

static bool has_drained;

static void crashes_drained(void *data)
{
    has_drained = true;
}

static void end_in_good_order(void)
{
    has_drained = false;
    INSIDE(&stage, runner_drain(stage.runner, 0, crashes_drained, NULL));
    stage_settle(&stage, 100);
    assert_true(has_drained);
    live_again();
}

static struct script_call *call_of_run(const char *node, size_t begun)
{
    assert_int_equal(script_runs(node), begun);
    struct script_call *call = script_find(node, NULL, -1);
    assert_non_null(call);
    return call;
}

static void a_run_that_three_owners_died_of_has_failed_and_is_not_taken_up(void **state)
{
    open_stage();
    char *run = start(&stage, "t", "");
    live_again();
    call_of_run("n", 2);
    live_again();
    assert_int_equal(script_runs("n"), 2);
    stage_settle(&stage, QUIET_MS);
    call_of_run("n", 3);
    for (int life = 3; life < 6; life++) {
        live_again();
        assert_int_equal(script_runs("n"), 3);
        assert_run(&stage, run, FAILED, "");
        assert_int_equal(get(&stage, run)->stop_reason, CRASHED);
        assert_contains(get(&stage, run)->stop_text, "died 3 times while it worked on node 'n'");
        assert_contains(get(&stage, run)->stop_text, "resume the run");
    }
    assert_int_equal(resume(&stage, run, NULL)->state, RUNNING);
    INSIDE(&stage, script_write(call_of_run("n", 4), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void a_clean_end_is_no_crash(void **state)
{
    open_stage();
    char *run = start(&stage, "t", "");
    for (int life = 0; life < 6; life++)
        end_in_good_order();
    INSIDE(&stage, script_write(call_of_run("n", 7), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

/* In the store the thread has the name of its last owner, not of the one that died. */
static void a_clean_end_behind_a_crash_is_not_counted(void **state)
{
    open_stage();
    char *run = start(&stage, "t", "");
    live_again();
    for (int life = 0; life < 4; life++)
        end_in_good_order();
    INSIDE(&stage, script_write(call_of_run("n", 6), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

static void crashes_counted(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

/* As if so many owners had died while they read its log in order to let its run fail. */
static void let_readers_have_died(unsigned readers)
{
    static struct store_batch batch;
    struct thread *thread = shard_find_thread(&stage.runner->shards[0], stage_tenant, "t");
    struct crash_record record = *thread->crashes.record;
    strcpy(record.owners[record.count++], "a third owner");
    record.parkings = readers;
    store_batch_init(&batch, stage.loop, crashes_counted);
    crashes_put_row(thread, &batch, &record, true);
    INSIDE(&stage, store_commit(stage.store, &batch));
}

static void a_run_whose_log_kills_its_readers_is_left_alone(void **state)
{
    for (unsigned readers = 2; readers <= 3; readers++) {
        open_stage();
        char *run = start(&stage, "t", "");
        live_again();
        live_again();
        stage_settle(&stage, QUIET_MS);
        call_of_run("n", 3);
        let_readers_have_died(readers);
        for (int life = 0; life < 3; life++) {
            live_again();
            assert_int_equal(script_runs("n"), 3);
            const char *text = get_state(&stage, "t", "");
            assert_int_equal(last_status.code, readers == 3 ? DATA_LOSS : OK);
            assert_int_equal(strstr(text, "nobody reads it") != NULL, readers == 3);
        }
        assert_int_equal(resume(&stage, run, NULL) != NULL, readers < 3);
        stage_clear(&stage);
    }
}

static void a_step_on_disk_sets_the_count_to_0(void **state)
{
    stage_crashes_max = 3;
    stage_set(&stage, THREE);
    INSIDE(&stage, runner_recover(stage.runner));
    char *run = start(&stage, "t", "");
    static const char *const nodes[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        live_again();
        live_again();
        stage_settle(&stage, QUIET_MS);
        INSIDE(&stage, script_write(script_find(nodes[i], NULL, -1), "", log_update(nodes[i])));
    }
    assert_run(&stage, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    stage_clear(&stage);
}

static void a_run_that_waits_is_not_counted(void **state)
{
    static const char *const keys[] = {"k"};
    open_stage();
    char *run = start(&stage, "t", "");
    INSIDE(&stage, script_ask(call_of_run("n", 1), keys, 1));
    for (int life = 0; life < 6; life++)
        live_again();
    resume(&stage, run, "5");
    INSIDE(&stage, script_write(call_of_run("n", 2), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

/* Five were at work at two crashes. One of them, whichever is on trial, is at work at the third. */
static void of_many_under_suspicion_the_one_that_was_alone_fails(void **state)
{
    char *runs[5], thread[8];
    unsigned failed = 0;
    open_stage();
    for (int i = 0; i < 5; i++) {
        snprintf(thread, sizeof thread, "t%d", i);
        runs[i] = start(&stage, thread, "");
    }
    live_again();
    assert_int_equal(script_runs("n"), 5 + 5);
    live_again();
    assert_int_equal(script_runs("n"), 5 + 5);
    stage_settle(&stage, QUIET_MS);
    assert_int_equal(script_runs("n"), 5 + 5 + 1);
    live_again();
    for (int i = 0; i < 5; i++) {
        Renga__V1__Run *run = get(&stage, runs[i]);
        failed += run && run->state == FAILED;
    }
    assert_int_equal(failed, 1);
    stage_settle(&stage, QUIET_MS);
    for (unsigned i = 0; i < 4; i++)
        INSIDE(&stage, script_write(call_of_run("n", 12 + i), "", ""));
    unsigned succeeded = 0;
    for (int i = 0; i < 5; i++)
        succeeded += get(&stage, runs[i])->state == SUCCEEDED;
    assert_int_equal(succeeded, 4);
    stage_clear(&stage);
}

static void one_that_comes_no_further_lets_the_next_begin(void **state)
{
    open_stage();
    start(&stage, "t1", "");
    start(&stage, "t2", "");
    live_again();
    live_again();
    stage_settle(&stage, QUIET_MS);
    assert_int_equal(script_runs("n"), 2 + 2 + 1);
    stage_settle(&stage, TRIAL_MS);
    assert_int_equal(script_runs("n"), 2 + 2 + 2);
    stage_clear(&stage);
}

static void a_run_that_no_owner_died_of_while_it_was_alone_is_counted_from_0(void **state)
{
    open_stage();
    char *run = start(&stage, "t", "");
    live_again();
    live_again();
    stage_settle(&stage, QUIET_MS);
    call_of_run("n", 3);
    stage_settle(&stage, TRIAL_MS);
    live_again();
    call_of_run("n", 4);
    live_again();
    stage_settle(&stage, QUIET_MS);
    INSIDE(&stage, script_write(call_of_run("n", 5), "", ""));
    assert_run(&stage, run, SUCCEEDED, "");
    stage_clear(&stage);
}

/* Lives of 20 s: the kills may go on at that pace. */
static void a_trial_waits_for_four_times_the_longest_life_without_a_death(void **state)
{
    open_stage();
    start(&stage, "t", "");
    live_again();
    live_for(20000);
    live_again();
    live_for(79000);
    assert_int_equal(script_runs("n"), 2);
    live_for(2000);
    call_of_run("n", 3);
    stage_clear(&stage);
}

/* The death in a trial is that run's: for those in line it does not tell the pace of kills. */
static void a_death_in_a_trial_lengthens_no_other_runs_wait(void **state)
{
    open_stage();
    start(&stage, "t1", "");
    start(&stage, "t2", "");
    live_again();
    live_again();
    live_for(QUIET_MS);
    assert_int_equal(script_runs("n"), 2 + 2 + 1);
    live_for(1000);
    live_again();
    live_for(QUIET_MS);
    assert_int_equal(script_runs("n"), 2 + 2 + 1 + 1);
    stage_clear(&stage);
}

static void a_kill_while_a_run_waits_for_its_trial_lengthens_the_wait(void **state)
{
    open_stage();
    start(&stage, "t", "");
    live_again();
    live_again();
    live_for(6000);
    live_again();
    live_for(23000);
    assert_int_equal(script_runs("n"), 2);
    live_for(2000);
    assert_int_equal(script_runs("n"), 3);
    stage_clear(&stage);
}

static void a_run_that_makes_progress_in_its_trial_and_kills_then_fails_no_other(void **state)
{
    char *runs[2];
    stage_crashes_max = 3;
    stage_set(&stage, THREE);
    INSIDE(&stage, runner_recover(stage.runner));
    runs[0] = start(&stage, "t1", "");
    runs[1] = start(&stage, "t2", "");
    live_again();
    live_again();
    live_for(QUIET_MS);
    assert_int_equal(script_runs("a"), 2 + 2 + 1);
    INSIDE(&stage, script_write(script_find("a", NULL, -1), "done", log_update("a")));
    assert_int_equal(script_runs("b"), 1);
    assert_int_equal(script_runs("a"), 2 + 2 + 1);
    live_again();
    assert_run(&stage, runs[0], RUNNING, "");
    assert_run(&stage, runs[1], RUNNING, "");
    live_for(QUIET_MS);
    assert_int_equal(script_runs("a"), 2 + 2 + 1 + 1);
    stage_clear(&stage);
}

static void crashes_start_many(char *runs[], unsigned guilty)
{
    char thread[8];
    for (unsigned i = 0; i < RUNS; i++) {
        snprintf(thread, sizeof thread, "t%u", i);
        runs[i] = start(&stage, thread, i < guilty ? GUILTY : "");
    }
}

static unsigned crashes_count(char *runs[], Renga__V1__RunState wanted)
{
    unsigned count = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        const Renga__V1__Run *run = get(&stage, runs[i]);
        count += run && run->state == wanted;
    }
    return count;
}

static void end_calls(void)
{
    for (size_t i = 0; i < script_count; i++)
        if (script_calls[i].task)
            INSIDE(&stage, script_write(&script_calls[i], "", ""));
}

static void kills_from_outside_fail_no_run_that_stood_beside(void **state)
{
    static const int64_t lives_ms[] = {1000, 200, 3000, 700, 2500, 1000, 1000, 400, 1900};
    char *runs[RUNS];
    open_stage();
    crashes_start_many(runs, 0);
    for (int kill = 0; kill < KILLS; kill++) {
        live_for(lives_ms[(size_t)kill % (sizeof lives_ms / sizeof *lives_ms)]);
        live_again();
        assert_int_equal(crashes_count(runs, FAILED), 0);
    }
    live_for(5 * 3000);
    for (int i = 0; i < RUNS; i++)
        end_calls();
    assert_int_equal(crashes_count(runs, SUCCEEDED), RUNS);
    stage_clear(&stage);
}

/* The guilty call that began in this life, of those from `first` on. */
static bool is_killed(size_t first)
{
    for (size_t i = first; i < script_count; i++)
        if (script_calls[i].task && strstr(script_calls[i].state, "guilty"))
            return true;
    return false;
}

static void of_fifty_runs_two_that_kill_their_owner_are_parked_after_four_deaths(void **state)
{
    char *runs[RUNS];
    unsigned deaths = 0, guilty_calls = 0;
    open_stage();
    crashes_start_many(runs, 2);
    size_t first = 0;
    for (int steps = 0; steps < 4000 && deaths < DEATHS_MAX; steps++) {
        live_for(200);
        if (!is_killed(first))
            continue;
        first = script_count;
        deaths++;
        live_again();
    }
    for (size_t i = 0; i < script_count; i++)
        guilty_calls += strstr(script_calls[i].state, "guilty") != NULL;
    assert_int_equal(deaths, 4);
    assert_int_equal(guilty_calls, 2 * 3);
    assert_int_equal(get(&stage, runs[0])->stop_reason, CRASHED);
    assert_int_equal(get(&stage, runs[1])->stop_reason, CRASHED);
    assert_int_equal(crashes_count(runs, FAILED), 2);
    end_calls();
    assert_int_equal(crashes_count(runs, SUCCEEDED), RUNS - 2);
    stage_clear(&stage);
}

static void a_thread_in_quarantine_is_unavailable_and_its_run_is_shown(void **state)
{
    open_stage();
    char *runs[] = {start(&stage, "t1", ""), start(&stage, "t2", "")};
    static const char *const threads[] = {"t1", "t2"};
    live_again();
    live_again();
    unsigned refused = 0;
    for (int i = 0; i < 2; i++) {
        assert_run(&stage, runs[i], RUNNING, "");
        refused += strstr(get_state(&stage, threads[i], ""), "quarantine") && last_status.code == UNAVAILABLE;
    }
    assert_int_equal(refused, 2);
    stage_settle(&stage, QUIET_MS);
    refused = 0;
    for (int i = 0; i < 2; i++)
        refused += strstr(get_state(&stage, threads[i], ""), "quarantine") && last_status.code == UNAVAILABLE;
    assert_int_equal(refused, 1);
    stage_clear(&stage);
}

/* "two" takes the run up, and dies; who comes in its place too. */
static void owners_that_share_a_store_count_the_same(void **state)
{
    stage_crashes_max = 2;
    open_both(THREE);
    char *run = start(&one, "t", "");
    pass_for(&two, 2 * LEASE_MS);
    assert_int_equal(script_runs("a"), 1);
    pass_for(&two, QUIET_MS);
    call_at(&two, "a"); /* alone, since one died of it */
    stage_end(&one);
    stage_address = "one:1";
    stage_run(&one);
    INSIDE(&one, runner_recover(one.runner));
    pass_for(&one, 3 * LEASE_MS);
    assert_int_equal(script_runs("a"), 2);
    assert_run(&one, run, FAILED, "");
    assert_int_equal(get(&one, run)->stop_reason, CRASHED);
    close_both();
}

/* "one" dies of the run, and again, 5 s later, of another cause. */
static void a_death_of_another_orchestrator_postpones_the_trial(void **state)
{
    stage_crashes_max = 2;
    open_both(THREE);
    start(&one, "t", "");
    pass_for(&two, 2 * LEASE_MS);
    stage_end(&one);
    stage_address = "one:1";
    stage_run(&one);
    pass(3000);
    stage_end(&one);
    pass_for(&two, 7000);
    assert_int_equal(script_runs("a"), 1);
    pass_for(&two, 2000 + 2 * LEASE_MS);
    assert_int_equal(script_runs("a"), 2);
    call_at(&two, "a");
    stage_run(&one);
    close_both();
}

/* Taken for dead, it lives. */
static void a_thawed_owner_did_not_die(void **state)
{
    stage_crashes_max = 2;
    open_both(THREE);
    char *run = start(&one, "t", "");
    for (int i = 0; i < 3; i++) {
        struct stage *thawed = i % 2 ? &one : &two;
        pass_for(thawed, LOOK_AGAIN_MS); /* its own threads are found lost first */
        call_at(thawed, "a");
        pass(LEASE_MS);
    }
    write_at(&two, "a", "a");
    write_at(&two, "b", "b");
    write_at(&two, "c", "c");
    assert_run(&two, run, SUCCEEDED, "");
    close_both();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_three_owners_died_of_has_failed_and_is_not_taken_up),
        cmocka_unit_test(a_clean_end_is_no_crash),
        cmocka_unit_test(a_clean_end_behind_a_crash_is_not_counted),
        cmocka_unit_test(a_run_whose_log_kills_its_readers_is_left_alone),
        cmocka_unit_test(a_step_on_disk_sets_the_count_to_0),
        cmocka_unit_test(a_run_that_waits_is_not_counted),
        cmocka_unit_test(of_many_under_suspicion_the_one_that_was_alone_fails),
        cmocka_unit_test(one_that_comes_no_further_lets_the_next_begin),
        cmocka_unit_test(a_run_that_no_owner_died_of_while_it_was_alone_is_counted_from_0),
        cmocka_unit_test(a_trial_waits_for_four_times_the_longest_life_without_a_death),
        cmocka_unit_test(a_death_in_a_trial_lengthens_no_other_runs_wait),
        cmocka_unit_test(a_kill_while_a_run_waits_for_its_trial_lengthens_the_wait),
        cmocka_unit_test(a_run_that_makes_progress_in_its_trial_and_kills_then_fails_no_other),
        cmocka_unit_test(kills_from_outside_fail_no_run_that_stood_beside),
        cmocka_unit_test(of_fifty_runs_two_that_kill_their_owner_are_parked_after_four_deaths),
        cmocka_unit_test(a_thread_in_quarantine_is_unavailable_and_its_run_is_shown),
        cmocka_unit_test(owners_that_share_a_store_count_the_same),
        cmocka_unit_test(a_death_of_another_orchestrator_postpones_the_trial),
        cmocka_unit_test(a_thawed_owner_did_not_die),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
