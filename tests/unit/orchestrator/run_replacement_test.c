/* Orchestrators on one store of which one is killed and comes back, at its own address or at another: who takes up what
 * it had, and when. */
#include "unit.h"

#include "ownership_fixture.h"

enum { THREADS = 30 };
#define BEAT_MS (LEASE_MS / MEMBER_BEATS)

static struct stage next; /* that comes when one has been killed: it is not stepped any more */

static void settle_living(int64_t ms)
{
    stage_settle(&two, ms);
    if (next.runner)
        stage_settle(&next, 0);
}

static void begin_next(const char *address)
{
    next = one;
    next.loop = loop_create(2);
    stage_address = address;
    stage_run(&next);
    INSIDE(&next, runner_recover(next.runner));
}

/* What was in memory of the killed one goes with it. */
static void close_all(void)
{
    while (!nothing_runs())
        stage_settle(&next, 0);
    stage_settle(&next, 0);
    stage_end(&next);
    settle();
    loop_destroy(&next.loop);
    next = (struct stage){0};
    close_both();
}

static size_t runs_at(const struct stage *stage)
{
    size_t count = 0;
    for (size_t i = 0; i < script_count; i++)
        count += script_calls[i].task && script_calls[i].loop == stage->loop;
    return count;
}

static void start_many(void)
{
    for (int n = 0; n < THREADS; n++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", n);
        start(&one, name, "");
    }
}

static void one_that_is_started_anew_at_its_address_has_its_runs_back_at_once(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    write_at(&one, "a", "a");
    struct script_call *before = call_at(&one, "b");
    begin_next("one:1");
    stage_settle(&next, 0); /* no time passes */
    struct script_call *after = call_at(&next, "b");
    assert_string_equal(after->key, before->key);
    assert_int_equal(after->attempt, before->attempt + 1);
    assert_true(before->token > 0 && after->token > before->token);
    assert_int_equal(script_runs("a"), 1);
    INSIDE(&next, script_write(after, "done", log_update("b")));
    stage_settle(&next, 0);
    write_at(&next, "c", "c");
    stage_settle(&next, 0);
    assert_run(&next, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    close_all();
}

static void others_leave_it_what_it_had(void **state)
{
    open_both(THREE);
    start_many();
    begin_next("one:1");
    for (int64_t ms = 0; ms < LEASE_MS; ms += BEAT_MS)
        settle_living(BEAT_MS);
    assert_int_equal(runs_at(&next), THREADS);
    assert_int_equal(runs_at(&two), 0);
    close_all();
}

static void is_kept(struct store_batch *batch)
{
    assert_int_equal(batch->status.code, OK);
    store_batch_fini(batch);
}

/* The row of one that has died as soon as it had written that. */
static void add_member(const char *id, const char *address)
{
    struct key key;
    struct store_batch batch;
    uint8_t bytes[256];
    Renga__V1__MemberRow row = RENGA__V1__MEMBER_ROW__INIT;
    row.beat = 1;
    row.address = row.name = (char *)(uintptr_t)address;
    key_named(&key, KEY_MEMBER, "", id);
    loop_enter(two.loop);
    store_batch_init(&batch, two.loop, is_kept);
    store_put(&batch, key_bytes(&key), (struct store_bytes){bytes, renga__v1__member_row__pack(&row, bytes)});
    store_commit(two.store, &batch);
    loop_leave(two.loop);
    stage_settle(&two, 0);
}

/* They wait neither for the one's lease nor for the other's. */
static void what_it_does_not_take_up_others_do(void **state)
{
    int64_t waited = 0;
    open_both(THREE);
    start(&one, "t", "");
    add_member("o_next", "one:1");
    stage_settle(&two, BEAT_MS);
    assert_int_equal(runs_at(&two), 0);
    for (; waited < LEASE_MS && runs_at(&two) == 0; waited += 10)
        stage_settle(&two, 10);
    assert_in_range(waited, 0, LEASE_MS / 2);
    close_both();
}

/* A mistake of who configures them: it costs what was under way, and nothing that was written. */
static void of_two_with_one_address_both_live_and_the_store_decides(void **state)
{
    open_both(THREE);
    char *run = start(&one, "t", "");
    begin_next("one:1");
    stage_settle(&next, 0);
    uint64_t before = refused();
    INSIDE(&one, script_write(call_at(&one, "a"), "done", log_update("stale")));
    settle();
    assert_true(refused() > before);
    stage_settle(&next, 0);
    write_at(&next, "a", "a");
    stage_settle(&next, 0);
    write_at(&next, "b", "b");
    stage_settle(&next, 0);
    write_at(&next, "c", "c");
    stage_settle(&next, 0);
    assert_run(&two, run, SUCCEEDED, "{\"log\":[\"a\",\"b\",\"c\"]}");
    for (int i = 0; i < 2 * MEMBER_BEATS; i++) { /* each hears of the other again and again */
        settle_living(BEAT_MS);
        stage_settle(&one, 0);
    }
    char *later = start(&one, "later", "");
    for (int i = 0; i < 2 * MEMBER_BEATS; i++) {
        settle_living(BEAT_MS);
        stage_settle(&one, 0);
    }
    assert_int_equal(call_at(&one, "a")->attempt, 1);
    assert_string_equal(owner_of(&two, later), "one:1");
    assert_int_equal(runs_at(&next), 0);
    close_all();
}

/* Not only when its reader beats: what held that up once has moved its beats away from the lease's end. */
static void a_lost_one_is_missed_as_soon_as_its_lease_is_over(void **state)
{
    int64_t waited = BEAT_MS * 3 / 2;
    open_both(THREE);
    start(&one, "t", "");
    pass(BEAT_MS); /* it has just beaten, and is lost */
    clock_step(waited * NS_PER_MS);
    for (; waited < 2 * LEASE_MS && runs_at(&two) == 0; waited += 10)
        stage_settle(&two, 10);
    assert_in_range(waited, LEASE_MS - BEAT_MS, LEASE_MS + 2 * BEAT_MS - 1);
    close_both();
}

/* Who takes the place of a lost one elsewhere has not watched it, and is left no share. */
static void who_has_just_begun_is_not_waited_for(void **state)
{
    open_both(THREE);
    start_many();
    pass_for(&two, LEASE_MS / 2);
    begin_next("three:3");
    for (int64_t ms = 0; ms < 2 * LEASE_MS && runs_at(&two) == 0; ms += 10)
        settle_living(10);
    assert_int_equal(runs_at(&two), THREADS);
    close_all();
}

/* Another has not read its row again, and takes it for dead still: it must not have what was begun in the new lease,
 * whose owner believes its memory. */
static void one_that_shows_life_again_keeps_what_it_has_begun_since(void **state)
{
    open_both(THREE);
    pass_for(&two, 2 * LEASE_MS);
    stage_settle(&one, 0);
    char *run = start(&one, "t", "");
    assert_int_equal(runs_at(&one), 1);
    owner_of(&two, run);
    assert_int_equal(runs_at(&two), 0);
    pass(LEASE_MS);
    assert_int_equal(call_at(&one, "a")->attempt, 1);
    assert_string_equal(owner_of(&two, run), "one:1");
    close_both();
}

int main(void)
{
    clock_stop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_started_anew_at_its_address_has_its_runs_back_at_once),
        cmocka_unit_test(others_leave_it_what_it_had),
        cmocka_unit_test(what_it_does_not_take_up_others_do),
        cmocka_unit_test(of_two_with_one_address_both_live_and_the_store_decides),
        cmocka_unit_test(a_lost_one_is_missed_as_soon_as_its_lease_is_over),
        cmocka_unit_test(who_has_just_begun_is_not_waited_for),
        cmocka_unit_test(one_that_shows_life_again_keeps_what_it_has_begun_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
