/* Sums in memory, and what they cost a call. */
#include "usage/sums.h"

#include <stdio.h>

#include "unit.h"

static void add(struct sums *sums, int64_t quarter, const char *client, const char *run, int64_t micros)
{
    const char *names[SUM_NAMES] = {[SUM_CLIENT] = client, [SUM_TENANT] = "kyoto", [SUM_RUN] = run};
    int64_t counts[SUM_COUNTS] = {[SUM_COST] = micros, [SUM_CALLS] = 1};
    sums_add(sums, quarter, names, counts);
}

static int64_t total(const struct sums *sums, enum sum_count count)
{
    int64_t total = 0;
    for (const struct sum *sum = sums_first(sums); sum; sum = sum->next)
        total += sum->counts[count];
    return total;
}

static void what_has_the_same_names_and_time_is_one_sum(void **state)
{
    struct sums *sums = sums_create(100);
    const char *names[SUM_NAMES];
    add(sums, 7, "desk", "r1", 5);
    add(sums, 7, "desk", "r1", 6);
    assert_int_equal(sums_count(sums), 1);
    assert_int_equal(sums_first(sums)->counts[SUM_COST], 11);
    assert_int_equal(sums_first(sums)->counts[SUM_CALLS], 2);
    assert_int_equal(sum_quarter(sums_first(sums)), 7);
    sum_names(sums_first(sums), names);
    assert_string_equal(names[SUM_CLIENT], "desk");
    assert_string_equal(names[SUM_TENANT], "kyoto");
    assert_string_equal(names[SUM_MODEL], "");
    assert_string_equal(names[SUM_RUN], "r1");
    add(sums, 8, "desk", "r1", 1);
    add(sums, 7, "des", "kr1", 1);
    add(sums, 7, "desk", NULL, 1);
    assert_int_equal(sums_count(sums), 4);
    sums_clear(sums);
    assert_int_equal(sums_count(sums), 0);
    add(sums, 7, "desk", "r1", 5);
    assert_int_equal(sums_first(sums)->counts[SUM_COST], 5);
    sums_destroy(&sums);
}

static void past_the_bound_runs_are_folded_and_no_money_is_lost(void **state)
{
    struct sums *sums = sums_create(1000);
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "run-%d", i);
        add(sums, 7, "desk", text, 3);
    }
    assert_int_equal(sums_count(sums), 1001);
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "client-%d", i);
        add(sums, 7, text, NULL, 3);
    }
    assert_int_equal(sums_count(sums), 1251);
    assert_int_equal(total(sums, SUM_COST), 30000);
    assert_int_equal(total(sums, SUM_CALLS), 10000);
    sums_destroy(&sums);
}

static void long_names_are_cut_at_a_character(void **state)
{
    struct sums *sums = sums_create(10);
    const char *names[SUM_NAMES];
    char text[600] = "x";
    for (int i = 0; i < 150; i++)
        strcat(text, "京");
    add(sums, 1, text, text, 1);
    sum_names(sums_first(sums), names);
    assert_int_equal(strlen(names[SUM_CLIENT]), 127);
    assert_int_equal(strlen(names[SUM_RUN]), 64);
    assert_memory_equal(names[SUM_CLIENT], text, 127);
    sums_destroy(&sums);
}

static void counts_that_cannot_be_are_bounded(void **state)
{
    struct sums *sums = sums_create(10);
    add(sums, 1, "desk", NULL, -5);
    assert_int_equal(total(sums, SUM_COST), 0);
    add(sums, 1, "desk", NULL, INT64_MAX);
    add(sums, 1, "desk", NULL, INT64_MAX);
    assert_int_equal(total(sums, SUM_COST), 2 * SUM_ENTRY_MAX);
    sums_destroy(&sums);
}

static void the_hash_of_every_length_is_its_own(void **state)
{
    static const char zeros[64];
    for (size_t i = 1; i < sizeof zeros; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(sums_hash(zeros, i, 1) != sums_hash(zeros, j, 1));
    assert_true(sums_hash("desk", 4, 1) != sums_hash("desl", 4, 1));
    assert_true(sums_hash("desk", 4, 1) != sums_hash("desk", 4, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_the_same_names_and_time_is_one_sum),
        cmocka_unit_test(past_the_bound_runs_are_folded_and_no_money_is_lost),
        cmocka_unit_test(long_names_are_cut_at_a_character),
        cmocka_unit_test(counts_that_cannot_be_are_bounded),
        cmocka_unit_test(the_hash_of_every_length_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
