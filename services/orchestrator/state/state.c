#include "state_priv.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void state_begin(struct slot *slot, const struct field *field)
{
    struct arena arena;
    struct field_write initial;
    arena_init(&arena, NULL, 0, STATE_INITIAL_MAX);
    bool given = write_initial(field, &arena, &initial);
    if (field_in_pieces(field))
        slot_open(slot);
    if (given && field_in_pieces(field))
        for (size_t i = 0; i < initial.count; i++)
            slot_append(slot, initial.pieces[i].key, initial.pieces[i].text);
    else if (given)
        slot_set(slot, initial.text);
    else if (field->reducer == REDUCE_SUM)
        slot_set(slot, (struct text){"0", 1});
    arena_fini(&arena);
}

struct state *state_create(const struct graph *graph)
{
    struct state *state = xcalloc(1, sizeof *state + graph->field_count * sizeof *state->slots);
    state->graph = graph;
    for (size_t i = 0; i < graph->field_count; i++)
        state_begin(&state->slots[i], &graph->fields[i]);
    return state;
}

void state_destroy(struct state **state_pointer)
{
    struct state *state = *state_pointer;
    if (!state)
        return;
    *state_pointer = NULL;
    for (size_t i = 0; i < state->graph->field_count; i++)
        slot_clear(&state->slots[i]);
    free(state);
}

struct state_values {
    size_t count;
    struct slot slots[];
};

size_t state_pieces(const struct state *state)
{
    size_t pieces = 0;
    for (size_t i = 0; i < state->graph->field_count; i++)
        pieces += state->slots[i].count;
    return pieces;
}

struct state_values *state_detach(struct state **state_pointer)
{
    struct state *state = *state_pointer;
    size_t size = state->graph->field_count * sizeof(*state->slots);
    struct state_values *values = xnonnull(malloc(sizeof *values + size));
    *state_pointer = NULL;
    values->count = state->graph->field_count;
    memcpy(values->slots, state->slots, size);
    free(state);
    return values;
}

bool state_values_free(struct state_values *values, size_t pieces)
{
    for (; values->count; values->count--) {
        struct slot *slot = &values->slots[values->count - 1];
        for (; slot->count && pieces; pieces--)
            free(slot->pieces[--slot->count]);
        if (slot->count)
            return false;
        slot_clear(slot);
    }
    free(values);
    return true;
}

const struct graph *state_graph(const struct state *state)
{
    return state->graph;
}

/* ---- as a single change ------------------------------------------------------------------------------------------ */

/* False for a list that began with items, though it may have them still. */
static bool slot_is_initial(const struct slot *slot, const struct field *field)
{
    bool pieces = field_in_pieces(field);
    const char *initial = field->initial_json ? field->initial_json : field->reducer == REDUCE_SUM ? "0" : NULL;
    if (!slot->present)
        return !pieces && !initial;
    if (pieces)
        return slot->count == 0 && !initial;
    struct text text = piece_text(slot->whole);
    return initial && strlen(initial) == text.size && memcmp(initial, text.bytes, text.size) == 0;
}

void state_snapshot(const struct state *state, struct buffer *out)
{
    for (size_t i = 0; i < state->graph->field_count; i++) {
        const struct field *field = &state->graph->fields[i];
        const struct slot *slot = &state->slots[i];
        if (slot_is_initial(slot, field))
            continue;
        if (!slot->present)
            delta_absent(out, field);
        else if (slot->whole)
            delta_set(out, field, piece_text(slot->whole));
        else
            delta_pieces(out, field, slot);
    }
}

size_t state_snapshot_size(const struct state *state)
{
    size_t size = 0;
    for (size_t i = 0; i < state->graph->field_count; i++) {
        const struct field *field = &state->graph->fields[i];
        const struct slot *slot = &state->slots[i];
        if (slot_is_initial(slot, field))
            continue;
        if (!slot->present)
            size += delta_bare_size(field);
        else if (slot->whole)
            size += delta_set_size(field, piece_text(slot->whole));
        else
            size += delta_pieces_size(field, slot);
    }
    return size;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void state_write_field(const struct state *state, const struct field *field, struct json_writer *out)
{
    const struct slot *slot = &state->slots[field->index];
    if (!slot->present)
        return;
    json_write_key(out, field->name);
    slot_write(slot, field, out->out);
}

void state_write(const struct state *state, const struct field *const *fields, size_t count, struct json_writer *out)
{
    json_write_object(out, NULL);
    for (size_t i = 0; fields && i < count; i++)
        state_write_field(state, fields[i], out);
    for (size_t i = 0; !fields && i < state->graph->field_count; i++)
        state_write_field(state, &state->graph->fields[i], out);
    json_write_end(out);
}

static const struct field *state_field_of(const struct state *state, const struct field *const *fields, size_t index)
{
    return fields ? fields[index] : &state->graph->fields[index];
}

size_t state_size(const struct state *state, const struct field *const *fields, size_t count)
{
    size_t bytes = 2;
    for (size_t i = 0; i < (fields ? count : state->graph->field_count); i++) {
        const struct field *field = state_field_of(state, fields, i);
        const struct slot *slot = &state->slots[field->index];
        bytes += slot->present ? slot_bytes(slot, field) + strlen(field->name) + 4 : 0;
    }
    return bytes;
}

#define PIECE_BYTES 48 /* of a piece beside its text: the allocation, its header, its place in the list */

size_t state_memory(const struct state *state)
{
    size_t bytes = sizeof *state;
    for (size_t i = 0; i < state->graph->field_count; i++) {
        const struct slot *slot = &state->slots[i];
        bytes += sizeof *slot + slot_bytes(slot, &state->graph->fields[i]) + slot->count * PIECE_BYTES +
                 slot->place_count * sizeof *slot->places;
    }
    return bytes;
}

#define LARGEST_TOLD 3

void state_tell_largest(const struct state *state, const struct field *const *fields, size_t count, char *text,
                        size_t room)
{
    size_t length = 0, below = SIZE_MAX;
    *text = '\0';
    for (int told = 0; told < LARGEST_TOLD && length < room; told++) {
        const struct field *largest = NULL;
        size_t most = 0;
        for (size_t i = 0; i < (fields ? count : state->graph->field_count); i++) {
            const struct field *field = state_field_of(state, fields, i);
            size_t bytes = slot_bytes(&state->slots[field->index], field);
            if (bytes > most && bytes < below) {
                largest = field;
                most = bytes;
            }
        }
        if (!largest)
            return;
        length += (size_t)snprintf(text + length, room - length, "%s'%s' has %zu bytes", told ? ", " : "",
                                   largest->name, most);
        below = most;
    }
}

bool state_value(const struct state *state, const struct field *field, struct buffer *out)
{
    const struct slot *slot = &state->slots[field->index];
    if (slot->present)
        slot_write(slot, field, out);
    return slot->present;
}

size_t state_list_length(const struct state *state, const struct field *field)
{
    return state->slots[field->index].count;
}

bool state_list_item(const struct state *state, const struct field *field, size_t index, struct buffer *out)
{
    const struct slot *slot = &state->slots[field->index];
    if (index >= slot->count)
        return false;
    struct text text = piece_text(slot->pieces[index]);
    buffer_append(out, text.bytes, text.size);
    return true;
}
