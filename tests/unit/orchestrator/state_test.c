#include "state/state.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE, PLAN, LOG, COUNT, BEST, FACTS, TALK, MOOD, ANY, FIELDS };

static const char *const moods[] = {"good", "bad"};
static const struct field fields[FIELDS] = {
    [TITLE] = {.name = "title", .index = TITLE, .type = FIELD_STRING, .initial_json = "\"none\""},
    [PLAN] = {.name = "plan", .index = PLAN, .type = FIELD_STRING, .list = true},
    [LOG] = {.name = "log", .index = LOG, .type = FIELD_ANY, .list = true, .reducer = REDUCE_APPEND},
    [COUNT] = {.name = "count", .index = COUNT, .type = FIELD_INTEGER, .reducer = REDUCE_SUM},
    [BEST] = {.name = "best", .index = BEST, .type = FIELD_NUMBER, .reducer = REDUCE_MAX},
    [FACTS] = {.name = "facts", .index = FACTS, .type = FIELD_OBJECT, .reducer = REDUCE_MERGE},
    [TALK] = {.name = "talk", .index = TALK, .type = FIELD_OBJECT, .list = true, .reducer = REDUCE_MESSAGES},
    [MOOD] = {.name = "mood", .index = MOOD, .type = FIELD_STRING, .values = moods, .value_count = 2},
    [ANY] = {.name = "any", .index = ANY, .type = FIELD_ANY},
};
static const struct graph graph = {.name = "test", .fields = fields, .field_count = FIELDS};

static struct state *state;
static struct arena arena;
static struct buffer delta, text;
static struct status st;

static int set_up(void **unused)
{
    state = state_create(&graph);
    arena_init(&arena, NULL, 0, 64 << 20);
    buffer_init(&delta, 64 << 20);
    buffer_init(&text, 64 << 20);
    status_clear(&st);
    return 0;
}

static int tear_down(void **unused)
{
    state_destroy(&state);
    arena_fini(&arena);
    buffer_fini(&delta);
    buffer_fini(&text);
    return 0;
}

static struct write_source source(const char *node, const char *update)
{
    return (struct write_source){.node = node, .update_json = update, .update_size = strlen(update)};
}

static bool parse(const char *node, const char *update, struct write *write)
{
    struct write_source from = source(node, update);
    status_clear(&st);
    return write_parse(&graph, &from, &arena, write, &st);
}

static void reduce(const char *update)
{
    struct write write;
    assert_true(parse("n", update, &write));
    assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
}

static const char *all_of(const struct state *of)
{
    struct json_writer writer;
    buffer_clear(&text);
    json_writer_init(&writer, &text);
    state_write(of, NULL, 0, &writer);
    assert_true(json_writer_done(&writer));
    return buffer_text(&text);
}

static const char *value(int field)
{
    buffer_clear(&text);
    return state_value(state, &fields[field], &text) ? buffer_text(&text) : NULL;
}

static void a_new_state_is_as_the_document_begins_it(void **unused)
{
    assert_string_equal(all_of(state),
                        "{\"title\":\"none\",\"plan\":[],\"log\":[],\"count\":0,\"facts\":{},\"talk\":[]}");
}

static void each_reducer_does_what_it_is_for(void **unused)
{
    reduce("{\"title\": \"a\", \"plan\": [\"x\", \"y\"], \"log\": [1, {\"b\": [2]}], \"count\": 2, \"best\": 1.5, "
           "\"facts\": {\"a\": 1, \"b\": 2}, \"mood\": \"good\", \"any\": null}");
    reduce("{\"title\": \"b\", \"plan\": [\"z\"], \"log\": [null], \"count\": -5, \"best\": 1, \"facts\": {\"b\": 3, "
           "\"c\": 4}}");
    assert_string_equal(value(TITLE), "\"b\"");
    assert_string_equal(value(PLAN), "[\"z\"]");
    assert_string_equal(value(LOG), "[1,{\"b\": [2]},null]");
    assert_string_equal(value(COUNT), "-3");
    assert_string_equal(value(BEST), "1.5");
    assert_string_equal(value(FACTS), "{\"a\":1,\"b\":3,\"c\":4}");
    assert_string_equal(value(MOOD), "\"good\"");
    assert_string_equal(value(ANY), "null");
    assert_int_equal(state_list_length(state, &fields[LOG]), 3);
    buffer_clear(&text);
    assert_true(state_list_item(state, &fields[LOG], 1, &text));
    assert_string_equal(buffer_text(&text), "{\"b\": [2]}");
    assert_false(state_list_item(state, &fields[LOG], 3, &text));
}

static void messages_go_by_their_ids(void **unused)
{
    reduce("{\"talk\": [{\"id\": \"1\", \"t\": \"a\"}, {\"id\": \"2\", \"t\": \"b\"}]}");
    reduce("{\"talk\": [{\"id\": \"1\", \"t\": \"A\"}, {\"id\": \"3\", \"t\": \"c\"}, {\"id\": \"2\", \"removed\": "
           "true}]}");
    assert_string_equal(value(TALK), "[{\"id\": \"1\", \"t\": \"A\"},{\"id\": \"3\", \"t\": \"c\"}]");
    reduce("{\"talk\": [{\"t\": \"d\"}, {}]}");
    assert_int_equal(state_list_length(state, &fields[TALK]), 4);
    assert_non_null(strstr(value(TALK), ",{\"id\":\"m-"));
    assert_non_null(strstr(value(TALK), "\",\"t\": \"d\"},{\"id\":\"m-"));
}

static void what_is_written_by_a_delta_is_the_same(void **unused)
{
    each_reducer_does_what_it_is_for(NULL);
    messages_go_by_their_ids(NULL);
    struct write write;
    char *clear[] = {(char *)(uintptr_t) "title", (char *)(uintptr_t) "best", (char *)(uintptr_t) "log"};
    char *overwrite[] = {(char *)(uintptr_t) "count"};
    struct write_source from = source("n", "{\"count\": 7}");
    from.clear_fields = clear;
    from.clear_count = 3;
    from.overwrite_fields = overwrite;
    from.overwrite_count = 1;
    assert_true(write_parse(&graph, &from, &arena, &write, &st));
    assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
    assert_string_equal(value(COUNT), "7");
    assert_string_equal(value(TITLE), "\"none\"");
    assert_string_equal(value(LOG), "[]");
    assert_null(value(BEST));

    char *before = strdup(all_of(state));
    struct state *again = state_create(&graph);
    assert_true(state_apply(again, delta.data, delta.length, &st));
    assert_string_equal(all_of(again), before);
    struct state *third = state_create(&graph);
    struct buffer snapshot;
    buffer_init(&snapshot, 1 << 20);
    state_snapshot(again, &snapshot);
    assert_true(state_apply(third, snapshot.data, snapshot.length, &st));
    assert_string_equal(all_of(third), before);
    buffer_fini(&snapshot);
    state_destroy(&again);
    state_destroy(&third);
    free(before);
}

static void appends_stand_in_the_order_of_the_nodes(void **unused)
{
    struct write writes[3];
    assert_true(parse("a", "{\"log\": [\"a\"]}", &writes[0]));
    assert_true(parse("b", "{\"log\": [\"b\"]}", &writes[1]));
    assert_true(parse("c", "{\"log\": [\"c\"]}", &writes[2]));
    assert_true(state_reduce(state, writes, 3, &delta, NULL, &st));
    assert_string_equal(value(LOG), "[\"a\",\"b\",\"c\"]");
}

static void two_plain_writers_of_a_field_are_an_error_that_changes_nothing(void **unused)
{
    struct write writes[2];
    char *before = strdup(all_of(state));
    assert_true(parse("left", "{\"log\": [1], \"title\": \"l\"}", &writes[0]));
    assert_true(parse("right", "{\"title\": \"r\"}", &writes[1]));
    assert_false(state_reduce(state, writes, 2, &delta, NULL, &st));
    assert_int_equal(st.code, ABORTED);
    assert_non_null(strstr(st.text, "'left' and 'right' both wrote 'title'"));
    assert_string_equal(all_of(state), before);
    assert_int_equal(delta.length, 0);
    free(before);
}

static void what_changed_is_told(void **unused)
{
    struct write write;
    uint64_t changed[1] = {0};
    assert_true(parse("n", "{\"log\": [], \"count\": 1, \"best\": 3}", &write));
    assert_true(state_reduce(state, &write, 1, &delta, changed, &st));
    assert_int_equal(changed[0], 1u << COUNT | 1u << BEST);
}

static void a_wrong_write_names_node_field_and_value(void **unused)
{
    static const struct {
        const char *update, *text;
    } wrong[] = {
        {"{\"titel\": \"a\"}",
         "node 'n' wrote to 'titel', which the state of 'test' does not have; did you mean 'title'?"},
        {"{\"title\": 7}", "node 'n' wrote 7 to 'title', which takes a string"},
        {"{\"title\": null}", "wrote null to 'title'"},
        {"{\"plan\": \"x\"}", "wrote \"x\" to 'plan', which takes a list"},
        {"{\"plan\": [\"x\", 2]}", "wrote 2 to 'plan', which takes a string in each place of its list"},
        {"{\"count\": 1.5}", "wrote 1.5 to 'count', which takes a whole number"},
        {"{\"count\": \"1\"}", "which takes a whole number"},
        {"{\"best\": true}", "which takes a number"},
        {"{\"best\": 1e999}", "too large for a double"},
        {"{\"facts\": [1]}", "which takes an object"},
        {"{\"talk\": [3]}", "which takes an object"},
        {"{\"talk\": [{\"id\": 3}]}", "whose id is no string"},
        {"{\"mood\": \"ugly\"}", "wrote \"ugly\" to 'mood'"},
        {"[1]", "its update is no JSON object"},
        {"{\"title\": \"a\"", "is not the JSON it should be"},
        {"{\"title\": \"a\", \"title\": \"b\"}", "stands twice"},
        {"{\"title\": \"\xff\"}", "is not the JSON it should be"},
        {"{} {}", "is not the JSON it should be"},
    };
    struct write write;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(parse("n", wrong[i].update, &write));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        if (!strstr(st.text, wrong[i].text))
            print_error("%s: %s\n", wrong[i].update, st.text);
        assert_non_null(strstr(st.text, wrong[i].text));
    }
}

static void clearing_and_writing_one_field_is_an_error(void **unused)
{
    struct write write;
    char *title[] = {(char *)(uintptr_t) "title"}, *log[] = {(char *)(uintptr_t) "log"};
    struct write_source from = source("n", "{\"title\": \"a\"}");
    from.clear_fields = title;
    from.clear_count = 1;
    assert_false(write_parse(&graph, &from, &arena, &write, &st));
    assert_non_null(strstr(st.text, "both clears and writes 'title'"));
    from.clear_count = 0;
    from.overwrite_fields = log;
    from.overwrite_count = 1;
    assert_false(write_parse(&graph, &from, &arena, &write, &st));
    assert_non_null(strstr(st.text, "overwrites 'log' without a value"));
}

static void a_delta_that_is_torn_is_told_and_not_guessed(void **unused)
{
    each_reducer_does_what_it_is_for(NULL);
    struct state *again;
    for (size_t size = 1; size < delta.length; size++) {
        char *cut = malloc(size);
        memcpy(cut, delta.data, size);
        again = state_create(&graph);
        if (!state_apply(again, cut, size, &st))
            assert_int_equal(st.code, DATA_LOSS);
        state_destroy(&again);
        free(cut);
    }
    again = state_create(&graph);
    assert_false(state_apply(again, "S\4gone\1x", 8, &st));
    assert_non_null(strstr(st.text, "'gone'"));
    state_destroy(&again);
}

static void a_write_costs_what_it_writes_and_not_what_is_there(void **unused)
{
    struct write write;
    char update[300];
    for (int i = 0; i < 20000; i++) {
        snprintf(update, sizeof update, "{\"talk\": [{\"id\": \"%d\", \"t\": \"x\"}], \"log\": [%d], \"count\": 1}", i,
                 i);
        arena_reset(&arena);
        buffer_clear(&delta);
        assert_true(parse("n", update, &write));
        assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
        assert_true(delta.length < 90);
    }
    assert_int_equal(state_list_length(state, &fields[TALK]), 20000);
    assert_string_equal(value(COUNT), "20000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_state_is_as_the_document_begins_it),
        TEST(each_reducer_does_what_it_is_for),
        TEST(messages_go_by_their_ids),
        TEST(what_is_written_by_a_delta_is_the_same),
        TEST(appends_stand_in_the_order_of_the_nodes),
        TEST(two_plain_writers_of_a_field_are_an_error_that_changes_nothing),
        TEST(what_changed_is_told),
        TEST(a_wrong_write_names_node_field_and_value),
        TEST(clearing_and_writing_one_field_is_an_error),
        TEST(a_delta_that_is_torn_is_told_and_not_guessed),
        TEST(a_write_costs_what_it_writes_and_not_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
