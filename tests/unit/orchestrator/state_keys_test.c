/* Pieces of a field that go by keys, and names that stand twice. */
#include "state/state.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FACTS, TALK, FIELDS };

static const struct field fields[FIELDS] = {
    [FACTS] = {.name = "facts", .index = FACTS, .type = FIELD_OBJECT, .reducer = REDUCE_MERGE},
    [TALK] = {.name = "talk", .index = TALK, .type = FIELD_OBJECT, .list = true, .reducer = REDUCE_MESSAGES},
};
static const struct graph graph = {.name = "test", .fields = fields, .field_count = FIELDS};

#include "state_fixture.h"

static void a_member_without_a_name_is_replaced_as_any_other(void **unused)
{
    state_reduce_text("{\"facts\": {\"\": 1, \"a\": 2}}");
    state_reduce_text("{\"facts\": {\"\": 3}}");
    state_reduce_text("{\"facts\": {\"b\": 4, \"\": 5}}");
    assert_string_equal(state_field_value(FACTS), "{\"\":5,\"a\":2,\"b\":4}");
    is_the_same_from_its_delta();
}

static void messages_are_removed_and_written_again_in_one_update(void **unused)
{
    state_reduce_text("{\"talk\": [{\"id\": \"1\"}, {\"id\": \"2\"}, {\"id\": \"3\"}, {\"id\": \"4\"}]}");
    state_reduce_text(
        "{\"talk\": [{\"id\": \"3\", \"removed\": true}, {\"id\": \"1\", \"removed\": true}, {\"id\": \"4\", \"t\": "
        "4}, "
        "{\"id\": \"3\", \"t\": 3}, {\"id\": \"5\"}, {\"id\": \"5\", \"removed\": true}]}");
    assert_string_equal(state_field_value(TALK),
                        "[{\"id\": \"2\"},{\"id\": \"4\", \"t\": 4},{\"id\": \"3\", \"t\": 3}]");
    state_reduce_text("{\"talk\": [{\"id\": \"3\", \"t\": 5}]}");
    assert_string_equal(state_field_value(TALK),
                        "[{\"id\": \"2\"},{\"id\": \"4\", \"t\": 4},{\"id\": \"3\", \"t\": 5}]");
    is_the_same_from_its_delta();
}

static void nodes_of_one_step_remove_and_write_messages_as_if_one_after_the_other(void **unused)
{
    static const char *const updates[] = {
        "{\"talk\": [{\"id\": \"1\", \"removed\": true}, {\"id\": \"5\"}]}",
        "{\"talk\": [{\"id\": \"4\", \"removed\": true}, {\"id\": \"1\", \"t\": 1}]}",
        "{\"talk\": [{\"id\": \"1\", \"t\": 2}, {\"id\": \"2\", \"t\": 2}, {\"id\": \"5\", \"removed\": true}]}",
        "{\"talk\": [{\"id\": \"6\"}]}",
    };
    struct write writes[COUNT(updates)];
    uint64_t changed[1] = {0};
    state_reduce_text("{\"talk\": [{\"id\": \"1\"}, {\"id\": \"2\"}, {\"id\": \"3\"}, {\"id\": \"4\"}]}");
    for (size_t i = 0; i < COUNT(updates); i++)
        assert_true(state_parse("n", updates[i], &writes[i]));
    assert_true(state_takes(state, writes, COUNT(updates), &st));
    assert_true(state_reduce(state, writes, COUNT(updates), &delta, changed, &st));
    assert_string_equal(state_field_value(TALK),
                        "[{\"id\": \"2\", \"t\": 2},{\"id\": \"3\"},{\"id\": \"1\", \"t\": 2},{\"id\": \"6\"}]");
    assert_int_equal(changed[0], 1u << TALK);
    is_the_same_from_its_delta();
}

static void a_removal_alone_is_a_change(void **unused)
{
    struct write write;
    uint64_t changed[1] = {0};
    state_reduce_text("{\"talk\": [{\"id\": \"1\"}]}");
    assert_true(state_parse("n", "{\"talk\": [{\"id\": \"1\", \"removed\": true}]}", &write));
    assert_true(state_reduce(state, &write, 1, &delta, changed, &st));
    assert_int_equal(changed[0], 1u << TALK);
    assert_string_equal(state_field_value(TALK), "[]");
}

#define MANY_FIELDS 20

/* The reader of JSON compares the first keys of an object at once, and all others when it has read them. */
static void a_field_that_stands_in_an_update_ten_thousand_times_is_refused(void **unused)
{
    static char names[MANY_FIELDS][8];
    struct field many[MANY_FIELDS];
    struct buffer update;
    struct write write;
    buffer_init(&update, 1 << 20);
    for (size_t i = 0; i < MANY_FIELDS; i++) {
        snprintf(names[i], sizeof names[i], "f%02zu", i);
        many[i] = (struct field){.name = names[i], .index = i, .type = FIELD_ANY};
        buffer_printf(&update, "%c\"%s\":1", i ? ',' : '{', names[i]);
    }
    for (size_t i = 0; i < 10000; i++)
        buffer_printf(&update, ",\"%s\":1", names[MANY_FIELDS - 1]);
    buffer_put(&update, '}');
    const struct graph wide = {.name = "wide", .fields = many, .field_count = MANY_FIELDS};
    struct write_source from = state_source("n", buffer_text(&update));
    assert_false(write_parse(&wide, &from, &arena, &write, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_non_null(strstr(st.text, "'f19' stands twice"));
    assert_true(write.count <= MANY_FIELDS);
    buffer_fini(&update);
}

#define STAGES  13 /* 2^13 keys of one hash */
#define BLOCK   5
#define SAMPLES (1 << 18)

/* FNV-1a, which an attacker can compute. */
static uint32_t keys_known_hash(uint32_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

static void name_block(uint32_t number, char block[BLOCK])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t spread = number * 2654435761u;
    for (int i = 0; i < BLOCK; i++, spread >>= 6)
        block[i] = letters[spread & 63];
}

/* Two texts after which the hash is the same; gives it. */
static uint32_t find_pair(uint32_t hash, char pair[2][BLOCK])
{
    const uint32_t mask = 4 * SAMPLES - 1;
    uint32_t *seen = calloc(mask + 1, sizeof *seen), after = 0;
    for (uint32_t number = 1; number < SAMPLES; number++) {
        name_block(number, pair[1]);
        uint32_t at = (after = keys_known_hash(hash, pair[1], BLOCK)) & mask;
        for (; seen[at]; at = (at + 1) & mask) {
            name_block(seen[at], pair[0]);
            if (keys_known_hash(hash, pair[0], BLOCK) == after) {
                free(seen);
                return after;
            }
        }
        seen[at] = number;
    }
    fail_msg("no two texts of one hash among %d", SAMPLES);
    return after;
}

/* {"facts":{KEY:1,…}}: keys of one hash, or others of the same lengths. */
static void keys_write_list(char pairs[STAGES][2][BLOCK], bool meet, struct buffer *update)
{
    buffer_clear(update);
    buffer_print(update, "{\"facts\":");
    for (uint32_t key = 0; key < 1u << STAGES; key++) {
        buffer_print(update, key ? ",\"" : "{\"");
        for (uint32_t stage = 0; stage < STAGES; stage++) {
            char block[BLOCK];
            name_block(key + (stage << STAGES), block);
            buffer_append(update, meet ? pairs[stage][key >> stage & 1] : block, BLOCK);
        }
        buffer_print(update, "\":1");
    }
    buffer_print(update, "}}");
}

static double cpu_seconds_of(const char *update)
{
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    state_reduce_text(update);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

static void keys_that_were_chosen_to_meet_cost_as_much_as_others(void **unused)
{
    static char pairs[STAGES][2][BLOCK];
    struct buffer update;
    uint32_t hash = 2166136261u;
    for (int stage = 0; stage < STAGES; stage++)
        hash = find_pair(hash, pairs[stage]);
    buffer_init(&update, 64 << 20);
    keys_write_list(pairs, false, &update);
    double others = cpu_seconds_of(buffer_text(&update));
    keys_write_list(pairs, true, &update);
    double chosen = cpu_seconds_of(buffer_text(&update));
    buffer_fini(&update);
    if (chosen > 8 * others)
        fail_msg("%d keys of one hash take %.3f s, others %.3f s", 1 << STAGES, chosen, others);
}

/* One record takes away, replaces and adds at positions of any order, as none of ours does. */
static void positions_of_a_change_count_what_is_there_at_that_moment(void **unused)
{
    char model[400], text_of_model[1000] = "", one[2] = "";
    size_t count = 0, at = 0;
    srand(4711);
    for (int i = 0; i < 1500; i++) {
        int what = rand() % 5;
        size_t position = count ? (size_t)rand() % count : 0;
        one[0] = (char)('0' + rand() % 10);
        if (count < 100 && (what < 2 || count == 0)) {
            buffer_append(&delta, "A\4talk\1\1k\1", 10);
            buffer_append(&delta, one, 1);
            model[count++] = one[0];
        } else if (what < 4) {
            buffer_append(&delta, "R\4talk", 6);
            buffer_put(&delta, (char)position);
            memmove(model + position, model + position + 1, --count - position);
        } else {
            buffer_append(&delta, "P\4talk", 6);
            buffer_put(&delta, (char)position);
            buffer_put(&delta, 1);
            buffer_append(&delta, one, 1);
            model[position] = one[0];
        }
    }
    assert_true(state_apply(state, delta.data, delta.length, &st));
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text_of_model + at, sizeof text_of_model - at, "%s%c", i ? "," : "[", model[i]);
    snprintf(text_of_model + at, sizeof text_of_model - at, "%s", count ? "]" : "[]");
    assert_string_equal(state_field_value(TALK), text_of_model);
    buffer_append(&delta, "R\4talk", 6);
    buffer_put(&delta, (char)count);
    struct state *again = state_create(&graph);
    assert_false(state_apply(again, delta.data, delta.length, &st));
    assert_int_equal(st.code, DATA_LOSS);
    state_destroy(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_member_without_a_name_is_replaced_as_any_other),
        TEST(messages_are_removed_and_written_again_in_one_update),
        TEST(nodes_of_one_step_remove_and_write_messages_as_if_one_after_the_other),
        TEST(a_removal_alone_is_a_change),
        TEST(a_field_that_stands_in_an_update_ten_thousand_times_is_refused),
        TEST(keys_that_were_chosen_to_meet_cost_as_much_as_others),
        TEST(positions_of_a_change_count_what_is_there_at_that_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
