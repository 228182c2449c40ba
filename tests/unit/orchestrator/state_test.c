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

#include "state_fixture.h"

static void a_new_state_is_as_the_document_begins_it(void **unused)
{
    assert_string_equal(all_of(state),
                        "{\"title\":\"none\",\"plan\":[],\"log\":[],\"count\":0,\"facts\":{},\"talk\":[]}");
}

static void each_reducer_does_what_it_is_for(void **unused)
{
    state_reduce_text(
        "{\"title\": \"a\", \"plan\": [\"x\", \"y\"], \"log\": [1, {\"b\": [2]}], \"count\": 2, \"best\": 1.5, "
        "\"facts\": {\"a\": 1, \"b\": 2}, \"mood\": \"good\", \"any\": null}");
    state_reduce_text(
        "{\"title\": \"b\", \"plan\": [\"z\"], \"log\": [null], \"count\": -5, \"best\": 1, \"facts\": {\"b\": 3, "
        "\"c\": 4}}");
    assert_string_equal(state_field_value(TITLE), "\"b\"");
    assert_string_equal(state_field_value(PLAN), "[\"z\"]");
    assert_string_equal(state_field_value(LOG), "[1,{\"b\": [2]},null]");
    assert_string_equal(state_field_value(COUNT), "-3");
    assert_string_equal(state_field_value(BEST), "1.5");
    assert_string_equal(state_field_value(FACTS), "{\"a\":1,\"b\":3,\"c\":4}");
    assert_string_equal(state_field_value(MOOD), "\"good\"");
    assert_string_equal(state_field_value(ANY), "null");
    assert_int_equal(state_list_length(state, &fields[LOG]), 3);
    buffer_clear(&text);
    assert_true(state_list_item(state, &fields[LOG], 1, &text));
    assert_string_equal(buffer_text(&text), "{\"b\": [2]}");
    assert_false(state_list_item(state, &fields[LOG], 3, &text));
}

static void messages_go_by_their_ids(void **unused)
{
    state_reduce_text("{\"talk\": [{\"id\": \"1\", \"t\": \"a\"}, {\"id\": \"2\", \"t\": \"b\"}]}");
    state_reduce_text(
        "{\"talk\": [{\"id\": \"1\", \"t\": \"A\"}, {\"id\": \"3\", \"t\": \"c\"}, {\"id\": \"2\", \"removed\": "
        "true}]}");
    assert_string_equal(state_field_value(TALK), "[{\"id\": \"1\", \"t\": \"A\"},{\"id\": \"3\", \"t\": \"c\"}]");
    state_reduce_text("{\"talk\": [{\"t\": \"d\"}, {}]}");
    assert_int_equal(state_list_length(state, &fields[TALK]), 4);
    assert_non_null(strstr(state_field_value(TALK), ",{\"id\":\"m-"));
    assert_non_null(strstr(state_field_value(TALK), "\",\"t\": \"d\"},{\"id\":\"m-"));
}

static void what_is_written_by_a_delta_is_the_same(void **unused)
{
    each_reducer_does_what_it_is_for(NULL);
    messages_go_by_their_ids(NULL);
    struct write write;
    char *clear[] = {(char *)(uintptr_t) "title", (char *)(uintptr_t) "best", (char *)(uintptr_t) "log"};
    char *overwrite[] = {(char *)(uintptr_t) "count"};
    struct write_source from = state_source("n", "{\"count\": 7}");
    from.clear_fields = clear;
    from.clear_count = 3;
    from.overwrite_fields = overwrite;
    from.overwrite_count = 1;
    assert_true(write_parse(&graph, &from, &arena, &write, &st));
    assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
    assert_string_equal(state_field_value(COUNT), "7");
    assert_string_equal(state_field_value(TITLE), "\"none\"");
    assert_string_equal(state_field_value(LOG), "[]");
    assert_null(state_field_value(BEST));

    is_the_same_from_its_delta();
}

static void appends_stand_in_the_order_of_the_nodes(void **unused)
{
    struct write writes[3];
    assert_true(state_parse("a", "{\"log\": [\"a\"]}", &writes[0]));
    assert_true(state_parse("b", "{\"log\": [\"b\"]}", &writes[1]));
    assert_true(state_parse("c", "{\"log\": [\"c\"]}", &writes[2]));
    assert_true(state_reduce(state, writes, 3, &delta, NULL, &st));
    assert_string_equal(state_field_value(LOG), "[\"a\",\"b\",\"c\"]");
}

static void two_plain_writers_of_a_field_are_an_error_that_changes_nothing(void **unused)
{
    struct write writes[2];
    char *before = strdup(all_of(state));
    assert_true(state_parse("left", "{\"log\": [1], \"title\": \"l\"}", &writes[0]));
    assert_true(state_parse("right", "{\"title\": \"r\"}", &writes[1]));
    assert_false(state_reduce(state, writes, 2, &delta, NULL, &st));
    assert_int_equal(st.code, ABORTED);
    assert_non_null(strstr(st.text, "'left' and 'right' both wrote 'title'"));
    assert_string_equal(all_of(state), before);
    assert_int_equal(delta.length, 0);
    free(before);
}

/* Two nodes of one step; the text of the refusal, or "" if the state takes it. */
static const char *refusal(struct write_source one, struct write_source two)
{
    struct write writes[2];
    status_clear(&st);
    assert_true(write_parse(&graph, &one, &arena, &writes[0], &st));
    assert_true(write_parse(&graph, &two, &arena, &writes[1], &st));
    bool takes = state_takes(state, writes, 2, &st);
    assert_int_equal(st.code, takes ? OK : ABORTED);
    return st.text;
}

static void an_overwrite_beside_any_other_write_is_refused_in_either_order(void **unused)
{
    char *log[] = {(char *)(uintptr_t) "log"}, *count[] = {(char *)(uintptr_t) "count"};
    struct write_source over = state_source("over", "{\"log\": [9]}"), more = state_source("more", "{\"log\": [1]}");
    struct write_source clears = state_source("clears", ""), sums = state_source("sums", "{\"count\": 1}");
    over.overwrite_fields = log;
    over.overwrite_count = 1;
    clears.clear_fields = count;
    clears.clear_count = 1;
    const char *first = "node 'over' overwrites", *second = "node 'more' writes it too";
    for (int turn = 0; turn < 2; turn++) {
        const char *why = turn ? refusal(more, over) : refusal(over, more);
        assert_non_null(strstr(why, first));
        assert_non_null(strstr(why, second));
        assert_non_null(strstr(why, "'log'"));
        assert_non_null(strstr(turn ? refusal(clears, sums) : refusal(sums, clears), "node 'clears' "));
    }
    assert_non_null(strstr(refusal(over, over), "'over'"));
    assert_string_equal(refusal(more, sums), "");
    assert_string_equal(refusal(over, sums), "");
}

static void a_message_that_is_not_there_cannot_be_removed(void **unused)
{
    struct write_source nothing = state_source("nothing", "{}");
    const char *gone = "{\"talk\": [{\"id\": \"gone\", \"removed\": true}]}";
    const char *why = refusal(state_source("remover", gone), nothing);
    assert_non_null(strstr(why, "node 'remover' removes the message 'gone' from 'talk'"));
    state_reduce_text("{\"talk\": [{\"id\": \"gone\"}]}");
    assert_string_equal(refusal(state_source("remover", gone), nothing), "");
    assert_non_null(strstr(refusal(state_source("one", gone), state_source("two", gone)),
                           "node 'two' removes")); /* once is enough */
    state_reduce_text(gone);
    assert_string_equal(
        refusal(state_source("writer", "{\"talk\": [{\"id\": \"gone\"}]}"), state_source("remover", gone)), "");
    assert_int_equal(
        refusal(state_source("remover", gone), state_source("writer", "{\"talk\": [{\"id\": \"gone\"}]}"))[0], 'n');
}

static void a_removal_without_an_id_says_how_a_message_is_removed(void **unused)
{
    const char *why =
        refusal(state_source("remover", "{\"talk\": [{\"removed\": true}]}"), state_source("nothing", "{}"));
    assert_non_null(strstr(why, "node 'remover' removes a message from 'talk' without its \"id\"; write {\"id\""));
}

/* An update that writes `letters` bytes of text between `before` and `after`. */
static char *long_update(const char *before, size_t letters, const char *after)
{
    char *update = malloc(strlen(before) + letters + strlen(after) + 1);
    strcpy(update, before);
    memset(update + strlen(before), 'x', letters);
    strcpy(update + strlen(before) + letters, after);
    return update;
}

/* Whether a field that has `base` letters takes `more`; a value that it takes is written, and can be read. */
static bool takes_more(const char *before, size_t letters, const char *after)
{
    struct write write;
    char *update = long_update(before, letters, after);
    assert_true(state_parse("writer", update, &write));
    bool takes = state_takes(state, &write, 1, &st);
    if (takes)
        assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
    free(update);
    return takes;
}

static void a_field_takes_as_much_as_can_be_read_by_every_way_of_writing(void **unused)
{
    static const struct {
        int field;
        const char *before[2], *after;
    } ways[] = {
        {TITLE, {"{\"title\":\"", "{\"title\":\""}, "\"}"},
        {PLAN, {"{\"plan\":[\"", "{\"plan\":[\""}, "\"]}"},
        {LOG, {"{\"log\":[\"", "{\"log\":[\""}, "\"]}"},
        {FACTS, {"{\"facts\":{\"a\":\"", "{\"facts\":{\"b\":\""}, "\"}}"},
        {TALK, {"{\"talk\":[{\"id\":\"a\",\"t\":\"", "{\"talk\":[{\"id\":\"b\",\"t\":\""}, "\"}]}"},
        {ANY, {"{\"any\":\"", "{\"any\":\""}, "\"}"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct field *field = &fields[ways[i].field];
        size_t beside = strlen(ways[i].before[0]) + strlen(ways[i].after);
        bool adds = field->reducer != REDUCE_REPLACE;
        assert_false(takes_more(ways[i].before[0], FIELD_BYTES_MAX - beside + 1 + (adds ? 0 : 1), ways[i].after));
        assert_non_null(strstr(st.text, field->name));
        assert_non_null(strstr(st.text, "at most 31457"));
        assert_true(takes_more(ways[i].before[0], FIELD_BYTES_MAX / 2, ways[i].after));
        assert_int_equal(takes_more(ways[i].before[1], FIELD_BYTES_MAX / 2, ways[i].after), !adds);
        assert_true(takes_more(ways[i].before[1], FIELD_BYTES_MAX / 2 - 200, ways[i].after));
        const struct field *alone[] = {field};
        assert_true(state_size(state, alone, 1) <= FIELD_BYTES_MAX);
        assert_true(strlen(state_field_value(ways[i].field)) + strlen(field->name) + 5 <= state_size(state, alone, 1));
        tear_down(NULL);
        set_up(NULL);
    }
}

static void what_replaces_a_large_message_counts_alone(void **unused)
{
    const char *before = "{\"talk\":[{\"id\":\"a\",\"t\":\"";
    assert_true(takes_more(before, 2000000, "\"}]}"));
    assert_true(takes_more(before, 3000000, "\"}]}"));
    assert_true(takes_more("{\"talk\":[{\"id\":\"a\",\"removed\":true},{\"id\":\"b\",\"t\":\"", 3000000, "\"}]}"));
    assert_false(takes_more(before, 3000000, "\"}]}"));
}

static void what_changed_is_told(void **unused)
{
    struct write write;
    uint64_t changed[1] = {0};
    assert_true(state_parse("n", "{\"log\": [], \"count\": 1, \"best\": 3}", &write));
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
        {"{\"talk\": [{\"id\": 3}]}", "node 'n' wrote a message to 'talk' with \"id\": 3; an id is a string"},
        {"{\"talk\": [{\"id\": {\"a\": 1}}]}", "with \"id\": {\"a\": 1}; an id is a string"},
        {"{\"mood\": \"ugly\"}", "wrote \"ugly\" to 'mood'"},
        {"[1]", "its update_json is no JSON object, {"},
        {"{\"title\": \"a\"", "is not the JSON it should be"},
        {"{\"title\": \"a\", \"title\": \"b\"}", "stands twice"},
        {"{\"title\": \"\xff\"}", "is not the JSON it should be"},
        {"{} {}", "is not the JSON it should be"},
    };
    struct write write;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(state_parse("n", wrong[i].update, &write));
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
    struct write_source from = state_source("n", "{\"title\": \"a\"}");
    from.clear_fields = title;
    from.clear_count = 1;
    assert_false(write_parse(&graph, &from, &arena, &write, &st));
    assert_non_null(strstr(st.text, "node 'n': clear_fields[0] is 'title', which update_json writes, too"));
    char *twice[] = {title[0], title[0]};
    from = state_source("n", "");
    from.clear_fields = twice;
    from.clear_count = 2;
    assert_false(write_parse(&graph, &from, &arena, &write, &st));
    assert_non_null(strstr(st.text, "clear_fields[1] is 'title', which stands there before; name each field once"));
    from.clear_count = 0;
    from.overwrite_fields = log;
    from.overwrite_count = 1;
    assert_false(write_parse(&graph, &from, &arena, &write, &st));
    assert_non_null(strstr(st.text, "overwrite_fields[0] is 'log', which update_json gives no value"));
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

static void a_snapshot_leaves_out_what_a_new_state_begins_with(void **unused)
{
    struct buffer snapshot;
    buffer_init(&snapshot, 64 << 20);
    state_snapshot(state, &snapshot);
    assert_int_equal(snapshot.length, 0);
    state_reduce_text("{\"title\": \"\", \"plan\": [\"x\"], \"log\": [1], \"count\": 2, \"facts\": {\"a\": 1}}");
    is_the_same_from_its_delta();
    state_reduce_text("{\"title\": \"none\", \"plan\": [], \"count\": -2}");
    is_the_same_from_its_delta();
    buffer_clear(&snapshot);
    state_snapshot(state, &snapshot); /* log and facts */
    assert_memory_equal(snapshot.data, "E\3log", 5);
    assert_int_equal(snapshot.length, strlen("E.log"
                                             "A.log..1"
                                             "E.facts"
                                             "A.facts"
                                             "..a.1"));
    char update[1024]; /* sizes that take two bytes */
    snprintf(update, sizeof update, "{\"title\": \"%0300d\", \"facts\": {\"%0200d\": \"%0150d\"}}", 1, 2, 3);
    state_reduce_text(update);
    is_the_same_from_its_delta();
    buffer_fini(&snapshot);
}

static void a_state_is_freed_in_parts(void **unused)
{
    enum { PIECES = 10, PART = 2 };
    struct state *large = state_create(&graph);
    char delta_of_ten[64] = "A\3log\12";
    for (size_t i = 0; i < PIECES; i++)
        memcpy(delta_of_ten + 6 + 2 * i,
               "\1"
               "7",
               2);
    assert_true(state_apply(large, delta_of_ten, 26, &st));
    assert_int_equal(state_pieces(large), PIECES);
    struct state_values *values = state_detach(&large);
    assert_null(large);
    for (int freed = PART; freed <= PIECES; freed += PART)
        assert_int_equal(state_values_free(values, PART), freed == PIECES);
}

static void a_change_without_a_delta_is_the_same_change(void **unused)
{
    static const char *const updates[] = {
        "{\"log\": [1, 2], \"count\": 2, \"title\": \"a\", \"talk\": [{\"id\": \"m\"}]}",
        "{\"log\": [3], \"count\": 3, \"talk\": [{\"id\": \"m\", \"t\": 1}, {\"id\": \"n\"}]}",
    };
    struct state *without = state_create(&graph);
    for (int i = 0; i < 2; i++) {
        struct write write;
        state_reduce_text(updates[i]);
        assert_true(state_parse("n", updates[i], &write));
        assert_true(state_reduce(without, &write, 1, NULL, NULL, &st));
    }
    char *all = strdup(all_of(state));
    assert_string_equal(all_of(without), all);
    free(all);
    state_destroy(&without);
}

static void a_change_that_was_prepared_is_seen_when_it_is_taken(void **unused)
{
    static const char *const updates[] = {
        "{\"log\": [1, 2], \"count\": 2, \"title\": \"a\", \"talk\": [{\"id\": \"m\"}, {\"id\": \"o\"}]}",
        "{\"log\": [3], \"count\": 3, \"talk\": [{\"id\": \"m\", \"t\": 1}, {\"id\": \"o\", \"removed\": true}]}",
        "{\"title\": \"b\"}",
    };
    struct state *prepared = state_create(&graph);
    for (int i = 0; i < 3; i++) {
        struct write write;
        char *before = strdup(all_of(prepared));
        state_reduce_text(updates[i]);
        assert_true(state_parse("n", updates[i], &write));
        struct state_change *change = state_prepare(prepared, &write, 1, &st);
        assert_non_null(change);
        assert_string_equal(all_of(prepared), before);
        state_take(prepared, change);
        state_change_destroy(&change);
        char *after = strdup(all_of(state));
        assert_string_equal(all_of(prepared), after);
        free(after);
        free(before);
    }
    state_destroy(&prepared);
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
        assert_true(state_parse("n", update, &write));
        assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
        assert_true(delta.length < 90);
    }
    assert_int_equal(state_list_length(state, &fields[TALK]), 20000);
    assert_string_equal(state_field_value(COUNT), "20000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_state_is_as_the_document_begins_it),
        TEST(each_reducer_does_what_it_is_for),
        TEST(messages_go_by_their_ids),
        TEST(what_is_written_by_a_delta_is_the_same),
        TEST(appends_stand_in_the_order_of_the_nodes),
        TEST(two_plain_writers_of_a_field_are_an_error_that_changes_nothing),
        TEST(an_overwrite_beside_any_other_write_is_refused_in_either_order),
        TEST(a_message_that_is_not_there_cannot_be_removed),
        TEST(a_removal_without_an_id_says_how_a_message_is_removed),
        TEST(a_field_takes_as_much_as_can_be_read_by_every_way_of_writing),
        TEST(what_replaces_a_large_message_counts_alone),
        TEST(what_changed_is_told),
        TEST(a_wrong_write_names_node_field_and_value),
        TEST(clearing_and_writing_one_field_is_an_error),
        TEST(a_delta_that_is_torn_is_told_and_not_guessed),
        TEST(a_snapshot_leaves_out_what_a_new_state_begins_with),
        TEST(a_state_is_freed_in_parts),
        TEST(a_change_without_a_delta_is_the_same_change),
        TEST(a_change_that_was_prepared_is_seen_when_it_is_taken),
        TEST(a_write_costs_what_it_writes_and_not_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
