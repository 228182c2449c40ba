/* Lists of which only the newest items stay. */
#include "state/state.h"

#include "unit.h"

#include <stdio.h>

enum { LOG, OTHER, TALK, FIELDS };

static const struct field fields[FIELDS] = {
    [LOG] = {.name = "log", .index = LOG, .type = FIELD_INTEGER, .list = true, .reducer = REDUCE_APPEND, .keep = 3},
    [TALK] = {.name = "talk",
              .index = TALK,
              .type = FIELD_STRING,
              .list = true,
              .reducer = REDUCE_APPEND,
              .keep = 4,
              .keep_bytes = 20},
    [OTHER] = {.name = "other", .index = OTHER, .type = FIELD_INTEGER, .list = true, .reducer = REDUCE_APPEND},
};
static const struct graph graph = {.name = "test", .fields = fields, .field_count = FIELDS};

#include "state_fixture.h"

static void the_newest_items_stay_and_a_log_gives_the_same(void **unused)
{
    state_reduce_text("{\"log\": [1, 2], \"other\": [1, 2, 3, 4]}");
    assert_string_equal(state_field_value(LOG), "[1,2]");
    state_reduce_text("{\"log\": [3]}");
    assert_string_equal(state_field_value(LOG), "[1,2,3]");
    is_the_same_from_its_delta();
    state_reduce_text("{\"log\": [4], \"other\": [5]}");
    assert_string_equal(state_field_value(LOG), "[2,3,4]");
    state_reduce_text("{\"log\": [5, 6, 7, 8, 9]}");
    assert_string_equal(state_field_value(LOG), "[7,8,9]");
    assert_string_equal(state_field_value(OTHER), "[1,2,3,4,5]");
    assert_int_equal(state_list_length(state, &fields[LOG]), 3);
    is_the_same_from_its_delta();
}

/* As supersteps write them, and as dataflow does. */
static void writes_of_one_step_keep_the_same_as_steps_one_by_one(void **unused)
{
    struct write writes[4];
    struct state *apart = state_create(&graph);
    struct buffer ignored;
    buffer_init(&ignored, 64 << 20);
    for (int i = 0; i < 4; i++) {
        char update[32];
        snprintf(update, sizeof update, "{\"log\": [%d, %d]}", 2 * i, 2 * i + 1);
        assert_true(state_parse("n", arena_strdup(&arena, update), &writes[i]));
        assert_true(state_reduce(apart, &writes[i], 1, &ignored, NULL, &st));
    }
    assert_true(state_reduce(state, writes, 4, &delta, NULL, &st));
    assert_string_equal(state_field_value(LOG), "[5,6,7]");
    char *together = strdup(all_of(state));
    assert_string_equal(all_of(apart), together);
    is_the_same_from_its_delta();
    free(together);
    buffer_fini(&ignored);
    state_destroy(&apart);
}

static void a_list_that_is_overwritten_keeps_its_newest_items(void **unused)
{
    struct write write;
    char *names[] = {(char *)(uintptr_t) "log"};
    struct write_source from = state_source("n", "{\"log\": [4, 5, 6, 7]}");
    from.overwrite_fields = names;
    from.overwrite_count = 1;
    state_reduce_text("{\"log\": [1, 2, 3]}");
    assert_true(write_parse(&graph, &from, &arena, &write, &st));
    assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
    assert_string_equal(state_field_value(LOG), "[5,6,7]");
    is_the_same_from_its_delta();
}

static void as_many_of_the_newest_items_stay_as_the_bytes_allow(void **unused)
{
    state_reduce_text("{\"talk\": [\"one\", \"two\"]}");
    assert_string_equal(state_field_value(TALK), "[\"one\",\"two\"]");
    state_reduce_text("{\"talk\": [\"three\"]}");
    assert_string_equal(state_field_value(TALK), "[\"two\",\"three\"]");
    is_the_same_from_its_delta();
    state_reduce_text("{\"talk\": [\"1\", \"2\", \"3\", \"4\", \"5\"]}");
    assert_string_equal(state_field_value(TALK), "[\"2\",\"3\",\"4\",\"5\"]");
    state_reduce_text("{\"talk\": [\"longer than all that may stay\"]}");
    assert_string_equal(state_field_value(TALK), "[\"longer than all that may stay\"]");
    is_the_same_from_its_delta();
}

static void a_list_whose_oldest_items_go_takes_writes_without_end(void **unused)
{
    static char update[1 << 20];
    int head = snprintf(update, sizeof update, "{\"talk\": [\"");
    memset(update + head, 'x', 900000);
    snprintf(update + head + 900000, 8, "\"]}");
    for (int i = 0; i < 5; i++)
        state_reduce_text(update);
    assert_int_equal(state_list_length(state, &fields[TALK]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_newest_items_stay_and_a_log_gives_the_same),
        TEST(writes_of_one_step_keep_the_same_as_steps_one_by_one),
        TEST(a_list_that_is_overwritten_keeps_its_newest_items),
        TEST(as_many_of_the_newest_items_stay_as_the_bytes_allow),
        TEST(a_list_whose_oldest_items_go_takes_writes_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
