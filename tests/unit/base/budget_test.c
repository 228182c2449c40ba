/* One budget for all: the bytes for small and large requests, and the figures for the listener. */
#include "base/budget.h"

#include <stdint.h>
#include <stdio.h>

#include "unit.h"

#define TOTAL ((size_t)64 << 20)
#define MIB   ((size_t)1 << 20)

static size_t heard;

static void budget_heard_level(void *data, size_t used)
{
    heard = used;
}

/* `count` times `bytes` for a request that has `size` bytes. */
static bool take_often(struct budget *budget, struct budget_hold *hold, int count, size_t size, size_t bytes)
{
    for (int i = 0; i < count; i++)
        if (!budget_take(budget, hold, size, bytes))
            return false;
    return true;
}

static void large_requests_leave_room_for_small_ones(void **state)
{
    struct budget budget;
    struct budget_hold large = {0}, small = {0};
    budget_init(&budget, TOTAL);
    assert_true(take_often(&budget, &large, 32, 8 * MIB, MIB));
    assert_false(budget_take(&budget, &large, 8 * MIB, 1));
    assert_true(take_often(&budget, &small, 16 * MIB / BUDGET_SMALL_MAX, BUDGET_SMALL_MAX, BUDGET_SMALL_MAX));
    assert_false(budget_take(&budget, &small, 1, 1));
    assert_int_equal(budget_used(&budget), 48 * MIB);
    budget_give(&budget, &large);
    budget_give(&budget, &small);
    assert_int_equal(budget_used(&budget), 0);
    budget_fini(&budget);
}

/* The seed of the hash differs in each process, so that a name may share with another one. */
static uint64_t owner_apart_from(uint64_t other)
{
    char name[16];
    uint64_t owner = other;
    for (unsigned i = 0; owner / 2 % BUDGET_SHARES == other / 2 % BUDGET_SHARES; i++) {
        snprintf(name, sizeof name, "bert%u", i);
        owner = budget_owner(name, "");
    }
    return owner;
}

static void one_owner_takes_no_more_than_it_leaves_free(void **state)
{
    struct budget budget;
    struct budget_hold anna = {.owner = budget_owner("anna", "desk")}, bert = {.owner = owner_apart_from(anna.owner)};
    budget_init(&budget, TOTAL);
    assert_true(take_often(&budget, &anna, 16, 4 * MIB, MIB));
    assert_false(budget_take(&budget, &anna, 4 * MIB, MIB));
    assert_true(take_often(&budget, &bert, 8, 4 * MIB, MIB)); /* as many are free for a third owner */
    assert_false(budget_take(&budget, &bert, 4 * MIB, MIB));
    budget_give(&budget, &anna);
    assert_true(take_often(&budget, &bert, 8, 4 * MIB, MIB));
    budget_give(&budget, &bert);
    assert_true(budget_take(&budget, &anna, 16 * MIB, 16 * MIB)); /* all was given back */
    budget_give(&budget, &anna);
    assert_int_equal(budget_owner("", ""), 0);
    assert_int_equal(budget_owner("anna", "desk"), budget_owner("anna", "till"));
    budget_fini(&budget);
}

static void a_flood_of_small_requests_leaves_room_for_the_large_ones_of_another_owner(void **state)
{
    struct budget budget;
    struct budget_hold flood = {.owner = budget_owner("anna", "")}, large = {.owner = owner_apart_from(flood.owner)};
    size_t size = (size_t)60 << 10;
    budget_init(&budget, TOTAL);
    assert_false(take_often(&budget, &flood, 900, size, size));
    assert_in_range(flood.bytes, 24 * MIB - size, 24 * MIB + size);
    assert_true(take_often(&budget, &large, 12, 8 * MIB, MIB)); /* half of the rest beside the flood */
    budget_give(&budget, &flood);
    budget_give(&budget, &large);
    budget_fini(&budget);
}

static void a_request_that_grows_gives_back_what_it_took_when_it_was_small(void **state)
{
    struct budget budget;
    struct budget_hold hold = {.owner = budget_owner("anna", "")};
    budget_init(&budget, TOTAL);
    for (int round = 0; round < 1000; round++) {
        assert_true(budget_take(&budget, &hold, 16 << 10, 16 << 10));
        assert_true(budget_take(&budget, &hold, 2 * MIB, 2 * MIB));
        assert_int_equal(hold.large, 2 * MIB);
        budget_give(&budget, &hold);
        assert_int_equal(hold.bytes, 0);
    }
    assert_int_equal(budget_used(&budget), 0);
    budget_fini(&budget);
}

static void a_part_that_is_given_back_is_free_for_another_and_large_bytes_go_first(void **state)
{
    struct budget budget;
    struct budget_hold anna = {.owner = budget_owner("anna", "")}, bert = {.owner = owner_apart_from(anna.owner)};
    budget_init(&budget, TOTAL);
    assert_true(budget_take(&budget, &anna, MIB / 32, MIB / 32));
    assert_true(budget_take(&budget, &anna, 16 * MIB, 16 * MIB));
    assert_false(budget_take(&budget, &bert, 17 * MIB, 17 * MIB));
    budget_give_part(&budget, &anna, 15 * MIB);
    assert_int_equal(anna.large, MIB);
    assert_int_equal(budget_used(&budget), MIB + MIB / 32);
    assert_true(budget_take(&budget, &bert, 17 * MIB, 17 * MIB));
    budget_give_part(&budget, &anna, anna.bytes);
    assert_int_equal(anna.bytes + anna.large, 0);
    budget_give(&budget, &anna);
    budget_give(&budget, &bert);
    assert_int_equal(budget_used(&budget), 0);
    budget_fini(&budget);
}

static void the_listener_hears_of_each_step_and_not_of_each_byte(void **state)
{
    struct budget budget;
    struct budget_hold hold = {0};
    budget_init(&budget, TOTAL);
    assert_true(budget_take(&budget, &hold, MIB, MIB));
    budget_on_change(&budget, budget_heard_level, NULL);
    assert_int_equal(heard, MIB);
    assert_true(budget_take(&budget, &hold, 2 * MIB, MIB));
    assert_int_equal(heard, MIB);
    assert_true(budget_take(&budget, &hold, 3 * MIB, MIB));
    assert_int_equal(heard, 3 * MIB);
    budget_give(&budget, &hold);
    assert_int_equal(heard, 0);
    budget_fini(&budget);
}

static void a_size_that_wraps_round_is_refused(void **state)
{
    struct budget budget;
    struct budget_hold hold = {.owner = budget_owner("anna", "")};
    budget_init(&budget, TOTAL);
    assert_false(budget_take(&budget, &hold, SIZE_MAX, SIZE_MAX));
    assert_false(budget_take(&budget, &hold, 1, SIZE_MAX - MIB));
    assert_true(budget_take(NULL, &hold, SIZE_MAX, SIZE_MAX));
    assert_int_equal(hold.bytes, 0);
    budget_give(NULL, &hold);
    budget_fini(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_requests_leave_room_for_small_ones),
        cmocka_unit_test(one_owner_takes_no_more_than_it_leaves_free),
        cmocka_unit_test(a_flood_of_small_requests_leaves_room_for_the_large_ones_of_another_owner),
        cmocka_unit_test(a_request_that_grows_gives_back_what_it_took_when_it_was_small),
        cmocka_unit_test(a_part_that_is_given_back_is_free_for_another_and_large_bytes_go_first),
        cmocka_unit_test(the_listener_hears_of_each_step_and_not_of_each_byte),
        cmocka_unit_test(a_size_that_wraps_round_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
