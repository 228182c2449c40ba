/* Places and key_locks: who runs, who waits, who is sent away; also with loops that run by themselves. */
#include "record/key_lock.h"
#include "run/run_slots.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include "unit.h"

#define GUESTS 8

struct hall {
    struct loop *loop;
    struct run_slots *run_slots;
    struct run_slot guests[GUESTS];
    int granted[GUESTS], count;
};
static struct hall hall;

static void granted(struct run_slot *run_slot)
{
    hall.granted[hall.count++] = (int)(run_slot - hall.guests);
}

static void open_hall(unsigned in_flight, unsigned tenant, unsigned queue)
{
    struct run_slots_options options = {in_flight, tenant, queue};
    hall = (struct hall){.loop = loop_create(0), .run_slots = run_slots_create(&options)};
}

static void close_hall(void)
{
    struct run_slots_stats stats;
    run_slots_stats(hall.run_slots, &stats);
    assert_int_equal(stats.taken + stats.waiting, 0);
    run_slots_destroy(&hall.run_slots);
    loop_destroy(&hall.loop);
}

static enum run_slot_answer ask(int guest, const char *tenant)
{
    hall.guests[guest].loop = hall.loop;
    hall.guests[guest].granted = granted;
    return run_slot_acquire(hall.run_slots, &hall.guests[guest], tenant);
}

static void leave(int guest)
{
    assert_true(run_slot_release(hall.run_slots, &hall.guests[guest]));
    loop_step(hall.loop, 0);
}

static void who_waits_longest_comes_first_and_one_too_many_is_refused(void **state)
{
    open_hall(1, 9, 2);
    assert_int_equal(ask(0, "a"), RUN_SLOT_TAKEN);
    assert_int_equal(ask(1, "b"), RUN_SLOT_QUEUED);
    assert_int_equal(ask(2, "c"), RUN_SLOT_QUEUED);
    assert_int_equal(ask(3, "d"), RUN_SLOT_REFUSED);
    leave(0);
    assert_int_equal(hall.granted[0], 1);
    leave(1);
    assert_int_equal(hall.granted[1], 2);
    leave(2);
    close_hall();
}

static void a_tenant_with_all_its_places_lets_others_pass(void **state)
{
    open_hall(3, 2, 9);
    assert_int_equal(ask(0, "greedy"), RUN_SLOT_TAKEN);
    assert_int_equal(ask(1, "greedy"), RUN_SLOT_TAKEN);
    assert_int_equal(ask(2, "greedy"), RUN_SLOT_QUEUED);
    assert_int_equal(ask(3, "polite"), RUN_SLOT_TAKEN);
    assert_int_equal(ask(4, "polite"), RUN_SLOT_QUEUED);
    leave(0); /* of greedy: its own next one comes, being first */
    assert_int_equal(hall.granted[0], 2);
    assert_int_equal(ask(5, "greedy"), RUN_SLOT_QUEUED);
    leave(3); /* of polite: not greedy's next one, who has two */
    assert_int_equal(hall.granted[1], 4);
    for (int guest = 1; guest <= 4; guest += guest == 2 ? 2 : 1)
        leave(guest);
    leave(5);
    close_hall();
}

static void who_gives_up_waiting_is_not_called(void **state)
{
    open_hall(1, 1, 9);
    ask(0, "a");
    ask(1, "a");
    ask(2, "a");
    leave(1);
    leave(0);
    assert_int_equal(hall.count, 1);
    assert_int_equal(hall.granted[0], 2);
    leave(2);
    leave(2); /* once more does nothing */
    close_hall();
}

static void a_place_that_is_on_its_way_is_given_back_when_it_comes(void **state)
{
    open_hall(1, 1, 9);
    ask(0, "a");
    ask(1, "a");
    assert_true(run_slot_release(hall.run_slots, &hall.guests[0]));
    assert_false(run_slot_release(hall.run_slots, &hall.guests[1]));
    loop_step(hall.loop, 0);
    assert_int_equal(hall.count, 1);
    leave(1);
    close_hall();
}

/* ---- key_locks
 * ------------------------------------------------------------------------------------------------------- */

#define LOOPS   3
#define WALKERS 60
#define ROUNDS  30

struct walker {
    struct key_lock key_lock;
    struct work begin;
    int rounds;
};

static struct key_locks *key_locks;
static struct walker walkers[WALKERS];
static atomic_int inside, broken;
static sem_t done;

static void walk(struct work *work);

static void take_key_lock(struct key_lock *key_lock)
{
    struct walker *walker = (struct walker *)key_lock;
    if (atomic_fetch_add(&inside, 1))
        atomic_store(&broken, 1); /* two at once */
    atomic_fetch_sub(&inside, 1);
    assert_true(key_lock_release(key_locks, key_lock));
    if (++walker->rounds == ROUNDS)
        sem_post(&done);
    else
        loop_post(key_lock->loop, &walker->begin);
}

static void walk(struct work *work)
{
    struct walker *walker = CONTAINER_OF(work, struct walker, begin);
    if (key_lock_acquire(key_locks, &walker->key_lock, "tenant", "the one door"))
        take_key_lock(&walker->key_lock);
}

static void of_one_name_one_goes_at_a_time_through_all_loops(void **state)
{
    struct status st = {0};
    struct loop *loops[LOOPS];
    key_locks = key_locks_create();
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i] = loop_create(i);
        assert_true(loop_start(loops[i], &st));
    }
    for (int i = 0; i < WALKERS; i++) {
        walkers[i].key_lock.loop = loops[i % LOOPS];
        walkers[i].key_lock.granted = take_key_lock;
        walkers[i].begin.run = walk;
        loop_post(loops[i % LOOPS], &walkers[i].begin);
    }
    for (int i = 0; i < WALKERS; i++)
        sem_wait(&done);
    assert_int_equal(atomic_load(&broken), 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        loop_stop(loops[i]);
        loop_destroy(&loops[i]);
    }
    key_locks_destroy(&key_locks);
}

static struct key_lock key_lock_list[4];
static int key_lock_order[4], key_lock_count;

static void note_turn(struct key_lock *key_lock)
{
    key_lock_order[key_lock_count++] = (int)(key_lock - key_lock_list);
}

static void turns_come_in_order_names_do_not_wait_for_each_other_and_who_leaves_is_passed_over(void **state)
{
    struct loop *loop = loop_create(0);
    key_locks = key_locks_create();
    for (int i = 0; i < 4; i++)
        key_lock_list[i] = (struct key_lock){.loop = loop, .granted = note_turn};
    assert_true(key_lock_acquire(key_locks, &key_lock_list[0], "a", "x"));
    assert_false(key_lock_acquire(key_locks, &key_lock_list[1], "a", "x"));
    assert_false(key_lock_acquire(key_locks, &key_lock_list[2], "a", "x"));
    assert_true(key_lock_acquire(key_locks, &key_lock_list[3], "b", "x")); /* another tenant's */
    assert_true(key_lock_release(key_locks, &key_lock_list[1]));
    assert_true(key_lock_release(key_locks, &key_lock_list[0]));
    assert_false(key_lock_release(key_locks, &key_lock_list[2])); /* on its way */
    loop_step(loop, 0);
    assert_int_equal(key_lock_count, 1);
    assert_int_equal(key_lock_order[0], 2);
    assert_true(key_lock_release(key_locks, &key_lock_list[2]));
    assert_true(key_lock_release(key_locks, &key_lock_list[3]));
    assert_true(key_lock_acquire(key_locks, &key_lock_list[0], "a", "x"));
    assert_true(key_lock_release(key_locks, &key_lock_list[0]));
    key_locks_destroy(&key_locks);
    loop_destroy(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_longest_comes_first_and_one_too_many_is_refused),
        cmocka_unit_test(a_tenant_with_all_its_places_lets_others_pass),
        cmocka_unit_test(who_gives_up_waiting_is_not_called),
        cmocka_unit_test(a_place_that_is_on_its_way_is_given_back_when_it_comes),
        cmocka_unit_test(turns_come_in_order_names_do_not_wait_for_each_other_and_who_leaves_is_passed_over),
        cmocka_unit_test(of_one_name_one_goes_at_a_time_through_all_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
