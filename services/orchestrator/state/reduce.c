/* Writes of a step become changes of the state: first all checks are made, then no step can fail. */
#include "state_priv.h"

#include "json/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 64

/* ---- before ------------------------------------------------------------------------------------------------------ */

static bool reduce_is_plain(const struct field_write *write)
{
    return write->op != WRITE_REDUCE || write->field->reducer == REDUCE_REPLACE;
}

static double reduce_number_of(const struct slot *slot)
{
    char digits[NUMBER_MAX] = "0";
    if (slot->whole && slot->whole->size < sizeof digits) {
        memcpy(digits, piece_text(slot->whole).bytes, slot->whole->size);
        digits[slot->whole->size] = '\0';
    }
    return strtod(digits, NULL);
}

/* For each field: the node that has written it plainly, and its resulting sum. */
struct outlook {
    const char *writer;
    double sum;
    bool seen;
};

static bool reduce_look_at(const struct state *state, const char *node, const struct field_write *write,
                           struct outlook *outlook, struct status *st)
{
    if (reduce_is_plain(write)) {
        if (outlook->writer)
            return fail(st, ABORTED,
                        "nodes '%s' and '%s' both wrote '%s' in one step; give the field a reducer, or let one of them "
                        "write elsewhere",
                        outlook->writer, node, write->field->name);
        outlook->writer = node;
    }
    if (write->field->reducer != REDUCE_SUM)
        return true;
    if (!outlook->seen)
        outlook->sum = reduce_number_of(&state->slots[write->field->index]);
    outlook->seen = true;
    outlook->sum = write->op == WRITE_REDUCE ? outlook->sum + write->number : write->number;
    return isfinite(outlook->sum) ||
           fail(st, ABORTED, "node '%s': the sum in '%s' is too large for a number", node, write->field->name);
}

static bool look_ahead(const struct state *state, const struct write *writes, size_t count, struct status *st)
{
    struct outlook *outlooks = calloc(state->graph->field_count + 1, sizeof *outlooks);
    bool good = true;
    if (!outlooks)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to reduce a step");
    for (size_t i = 0; good && i < count; i++)
        for (size_t k = 0; good && k < writes[i].count; k++) {
            const struct field_write *write = &writes[i].fields[k];
            good = reduce_look_at(state, writes[i].node, write, &outlooks[write->field->index], st);
        }
    free(outlooks);
    return good;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void reduce_append(struct slot *slot, const struct field *field, const struct written *pieces, size_t count,
                          struct buffer *delta)
{
    if (!count)
        return;
    for (size_t i = 0; i < count; i++)
        slot_append(slot, pieces[i].key, pieces[i].text);
    delta_append(delta, field, pieces, count);
}

/* Messages and members by their key: an existing piece is replaced or removed at its position, others are appended. */
static void reduce_put(struct slot *slot, const struct field *field, const struct written *piece, struct buffer *delta)
{
    size_t position = slot_find(slot, piece->key);
    if (position == SIZE_MAX) {
        if (!piece->removed)
            reduce_append(slot, field, piece, 1, delta);
        return;
    }
    if (piece->removed) {
        slot_remove(slot, position);
    } else {
        slot_replace(slot, position, piece->text);
        delta_replace(delta, field, position, piece->text);
    }
}

/* At the end of a step, for all its writes together: O(pieces) each time. From the last to the first, so that each
 * removal leaves the positions of those that follow it in the delta. */
static void close_gaps(struct slot *slot, const struct field *field, struct buffer *delta)
{
    size_t left = slot->gaps;
    for (size_t i = slot->count; left && i-- > slot->lowest_gap;)
        if (!slot->pieces[i]) {
            delta_remove(delta, field, i);
            left--;
        }
    slot_close_gaps(slot);
}

static void reduce_begin_anew(struct slot *slot, const struct field *field, struct buffer *delta)
{
    slot_clear(slot);
    slot_open(slot);
    delta_empty(delta, field);
}

static void reduce_pieces(struct slot *slot, const struct field_write *write, struct buffer *delta)
{
    const struct field *field = write->field;
    if (reduce_is_plain(write) || !slot->present)
        reduce_begin_anew(slot, field, delta);
    slot_reserve(slot, write->count, field_has_keys(field));
    bool all_new = field->reducer == REDUCE_MERGE && slot->count == 0; /* a key stands once in a JSON object */
    if (!field_has_keys(field) || all_new) {
        reduce_append(slot, field, write->pieces, write->count, delta);
        return;
    }
    for (size_t i = 0; i < write->count; i++)
        reduce_put(slot, field, &write->pieces[i], delta);
}

/* ---- wholes ------------------------------------------------------------------------------------------------------ */

static void reduce_set(struct slot *slot, const struct field *field, struct text text, struct buffer *delta)
{
    slot_set(slot, text);
    delta_set(delta, field, text);
}

static void reduce_set_number(struct slot *slot, const struct field *field, double number, struct buffer *delta)
{
    char digits[JSON_NUMBER_SIZE];
    size_t size = json_format_double(number, digits);
    reduce_set(slot, field, (struct text){digits, size}, delta);
}

static void reduce_whole(struct slot *slot, const struct field_write *write, struct buffer *delta)
{
    const struct field *field = write->field;
    bool reduced = write->op == WRITE_REDUCE && slot->present;
    if (reduced && field->reducer == REDUCE_SUM)
        reduce_set_number(slot, field, reduce_number_of(slot) + write->number, delta);
    else if (!reduced || field->reducer != REDUCE_MAX || write->number > reduce_number_of(slot))
        reduce_set(slot, field, write->text, delta);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static void reduce_clear(struct slot *slot, const struct field *field, struct buffer *delta)
{
    struct arena arena;
    struct field_write initial;
    arena_init(&arena, NULL, 0, STATE_INITIAL_MAX);
    if (write_initial(field, &arena, &initial)) {
        if (field_in_pieces(field))
            reduce_pieces(slot, &initial, delta);
        else
            reduce_whole(slot, &initial, delta);
    } else if (field_in_pieces(field)) {
        reduce_begin_anew(slot, field, delta);
    } else if (field->reducer == REDUCE_SUM) {
        reduce_set(slot, field, (struct text){"0", 1}, delta);
    } else {
        slot_clear(slot);
        delta_absent(delta, field);
    }
    arena_fini(&arena);
}

static void reduce_run(struct state *state, const struct field_write *write, struct buffer *delta)
{
    struct slot *slot = &state->slots[write->field->index];
    if (write->op == WRITE_CLEAR)
        reduce_clear(slot, write->field, delta);
    else if (field_in_pieces(write->field))
        reduce_pieces(slot, write, delta);
    else
        reduce_whole(slot, write, delta);
}

/* At the end of a step: the items that no longer count. Their gaps are closed with all others. */
static void drop_oldest(struct slot *slot, const struct field *field)
{
    size_t most = field->keep ? field->keep : SIZE_MAX, bytes = field->keep_bytes ? field->keep_bytes : SIZE_MAX;
    if (!field->keep && !field->keep_bytes)
        return;
    for (size_t i = 0; i + 1 < slot->count && (slot->count - i > most || slot_bytes(slot, field) > bytes); i++)
        slot_remove(slot, i);
}

static void note_change(uint64_t *changed, const struct field *field)
{
    if (changed)
        changed[field->index / 64] |= UINT64_C(1) << (field->index % 64);
}

bool state_reduce(struct state *state, const struct write *writes, size_t count, struct buffer *delta,
                  uint64_t *changed, struct status *st)
{
    if (!look_ahead(state, writes, count, st))
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < writes[i].count; k++) {
            size_t before = delta ? delta->length : 0;
            reduce_run(state, &writes[i].fields[k], delta);
            if (delta && delta->length != before)
                note_change(changed, writes[i].fields[k].field);
        }
    for (size_t i = 0; i < state->graph->field_count; i++) {
        drop_oldest(&state->slots[i], &state->graph->fields[i]);
        if (state->slots[i].gaps) {
            close_gaps(&state->slots[i], &state->graph->fields[i], delta);
            note_change(delta ? changed : NULL, &state->graph->fields[i]);
        }
    }
    return true;
}
