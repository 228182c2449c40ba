#include "state_priv.h"

#include "base/memory.h"

#include <stdlib.h>

struct state_change {
    struct state *fields; /* a slot that was not written is empty */
    bool written[];       /* of each field */
};

/* Whether the first write to a field replaces its whole value. */
static bool is_anew(const struct field_write *write)
{
    return write->op != WRITE_REDUCE || write->field->reducer == REDUCE_REPLACE;
}

static void copy_written(struct state_change *change, const struct state *state, const struct write *write)
{
    for (size_t i = 0; i < write->count; i++) {
        const struct field *field = write->fields[i].field;
        if (!change->written[field->index] && !is_anew(&write->fields[i]))
            slot_copy(&change->fields->slots[field->index], &state->slots[field->index], field_has_keys(field));
        change->written[field->index] = true;
    }
}

struct state_change *state_prepare(const struct state *state, const struct write *writes, size_t count,
                                   struct status *st)
{
    const struct graph *graph = state->graph;
    struct state_change *change = xcalloc(1, sizeof *change + graph->field_count * sizeof *change->written);
    struct state *fields = xcalloc(1, sizeof *fields + graph->field_count * sizeof *fields->slots);
    fields->graph = graph;
    change->fields = fields;
    for (size_t i = 0; i < count; i++)
        copy_written(change, state, &writes[i]);
    if (!state_reduce(fields, writes, count, NULL, NULL, st))
        state_change_destroy(&change);
    return change;
}

void state_take(struct state *state, struct state_change *change)
{
    for (size_t i = 0; i < state->graph->field_count; i++) {
        if (!change->written[i])
            continue;
        struct slot before = state->slots[i];
        state->slots[i] = change->fields->slots[i];
        change->fields->slots[i] = before;
    }
}

void state_change_destroy(struct state_change **change_pointer)
{
    struct state_change *change = *change_pointer;
    if (!change)
        return;
    *change_pointer = NULL;
    state_destroy(&change->fields);
    free(change);
}
