/* A state of `graph`, which has `fields`: the test defines both before it includes this. And the room that its writes
 * are read in. */
#ifndef RENGA_STATE_FIXTURE_H
#define RENGA_STATE_FIXTURE_H

#include "state/state.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

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

static struct write_source state_source(const char *node, const char *update)
{
    return (struct write_source){.node = node, .update_json = update, .update_size = strlen(update)};
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

static bool state_parse(const char *node, const char *update, struct write *write)
{
    struct write_source from = state_source(node, update);
    status_clear(&st);
    return write_parse(&graph, &from, &arena, write, &st);
}

static void state_reduce_text(const char *update)
{
    struct write write;
    assert_true(state_parse("n", update, &write));
    assert_true(state_takes(state, &write, 1, &st));
    assert_true(state_reduce(state, &write, 1, &delta, NULL, &st));
}

static const char *state_field_value(int field)
{
    buffer_clear(&text);
    return state_value(state, &fields[field], &text) ? buffer_text(&text) : NULL;
}

/* As a change and as a snapshot, the state is the same as it is in memory. */
static void is_the_same_from_its_delta(void)
{
    char *before = strdup(all_of(state));
    struct state *again = state_create(&graph), *third = state_create(&graph);
    struct buffer snapshot;
    assert_true(state_apply(again, delta.data, delta.length, &st));
    assert_string_equal(all_of(again), before);
    buffer_init(&snapshot, 64 << 20);
    state_snapshot(again, &snapshot);
    assert_int_equal(state_snapshot_size(again), snapshot.length);
    assert_true(state_apply(third, snapshot.data, snapshot.length, &st));
    assert_string_equal(all_of(third), before);
    buffer_fini(&snapshot);
    state_destroy(&again);
    state_destroy(&third);
    free(before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
