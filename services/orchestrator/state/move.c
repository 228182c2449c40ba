/* A state that goes over to another graph: value by value, each as if it were written by hand. */
#include "state_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOVE_MEMORY ((size_t)1 << 30) /* bytes, of one value and its parsed form */

static bool is_as_at_first(const struct state *fresh, const struct field *field, const struct buffer *value)
{
    struct buffer initial;
    buffer_init(&initial, MOVE_MEMORY);
    bool there = state_value(fresh, field, &initial);
    bool same = there && initial.length == value->length && memcmp(initial.data, value->data, value->length) == 0;
    buffer_fini(&initial);
    return same;
}

static bool move_value(struct state *to, const struct field *field, const struct buffer *value, struct status *st)
{
    struct buffer update, delta;
    struct json_writer writer;
    struct arena arena;
    struct write write;
    char *names[] = {(char *)(uintptr_t)field->name};
    buffer_init(&update, MOVE_MEMORY);
    buffer_init(&delta, 0);
    json_writer_init(&writer, &update);
    json_write_object(&writer, NULL);
    json_write_raw(&writer, field->name, value->data, value->length);
    json_write_end(&writer);
    arena_init(&arena, NULL, 0, MOVE_MEMORY);
    struct write_source source = {.node = "the old version",
                                  .update_json = buffer_text(&update),
                                  .update_size = update.length,
                                  .overwrite_fields = names,
                                  .overwrite_count = 1,
                                  .seed = 1};
    bool good = write_parse(to->graph, &source, &arena, &write, st) && state_reduce(to, &write, 1, &delta, NULL, st);
    arena_fini(&arena);
    buffer_fini(&delta);
    buffer_fini(&update);
    return good;
}

static bool move_field(const struct state *from, const struct state *fresh, struct state *to, const struct field *field,
                       struct status *st)
{
    struct buffer value;
    bool good = true;
    buffer_init(&value, MOVE_MEMORY);
    if (state_value(from, field, &value)) {
        if (graph_field(to->graph, field->name))
            good = move_value(to, field, &value, st);
        else if (!is_as_at_first(fresh, field, &value))
            good = fail(st, FAILED_PRECONDITION,
                        "the field '%s' of '%s' has a value, and the new version has no such field", field->name,
                        from->graph->name);
    }
    buffer_fini(&value);
    return good;
}

bool state_move(const struct state *from, struct state *to, void (*problem)(const char *text, void *data), void *data)
{
    bool good = true;
    struct state *fresh = state_create(from->graph);
    for (size_t i = 0; i < from->graph->field_count; i++) {
        struct status st = {0};
        if (move_field(from, fresh, to, &from->graph->fields[i], &st))
            continue;
        problem(st.text, data);
        good = false;
    }
    state_destroy(&fresh);
    return good;
}
