/* Whether the writes of a step are compatible, and fit into the state. It is asked before a new change alone (state.h).
 */
#include "state_priv.h"

#include <stdlib.h>
#include <string.h>

/* The change of a field by a step, as far as it was read. */
struct field_plan {
    const char *writer; /* the last node that writes it; NULL: no writer yet */
    bool plain;         /* by overwriting or clearing */
    bool removes;       /* a message */
    size_t bytes;       /* afterwards, at most */
};

static bool is_reduced(const struct field_write *write)
{
    return write->op == WRITE_REDUCE && write->field->reducer != REDUCE_REPLACE;
}

/* ---- nodes beside each other ------------------------------------------------------------------------------------- */

static const char *plain_word(const struct field_write *write)
{
    return write->op == WRITE_CLEAR ? "clears" : "overwrites";
}

static bool refuse_beside(const struct field_plan *plan, const char *node, const struct field_write *write,
                          struct status *st)
{
    const char *field = write->field->name;
    if (write->field->reducer == REDUCE_REPLACE)
        return fail(st, ABORTED,
                    "nodes '%s' and '%s' both wrote '%s' in one step; give the field a reducer, or let one of them "
                    "write elsewhere",
                    plan->writer, node, field);
    return fail(st, ABORTED,
                "node '%s' %s '%s' in the step in which node '%s' writes it too: which one comes first is not defined; "
                "let one of them write in another step, or let both add to it",
                is_reduced(write) ? plan->writer : node, is_reduced(write) ? "overwrites or clears" : plain_word(write),
                field, is_reduced(write) ? node : plan->writer);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static size_t written_bytes(const struct field_write *write)
{
    size_t bytes = 0;
    if (!field_in_pieces(write->field))
        return write->text.size;
    for (size_t i = 0; i < write->count; i++)
        bytes +=
            write->pieces[i].removed ? 0 : slot_piece_bytes(write->field, write->pieces[i].key, write->pieces[i].text);
    return bytes;
}

static bool fits_field(const struct field *field, size_t bytes, const char *node, struct status *st)
{
    size_t most = FIELD_BYTES_MAX - strlen(field->name) - 5; /* {"NAME":VALUE} */
    return bytes <= most ||
           fail(st, ABORTED,
                "node '%s': the field '%s' would have %zu bytes; at most %zu are allowed, as the state can be read and "
                "a node can be sent it; keep less in it, or divide it among several fields",
                node, field->name, bytes, most);
}

/* ---- values by keys ---------------------------------------------------------------------------------------------- */

/* A member or message of the field while the step is played; `seen` has those that the step has touched, an empty text
 * for a removed piece. */
struct play {
    const struct slot *slot;
    const struct field *field;
    struct slot seen;
    bool anew; /* the state's old value is gone */
    size_t bytes;
};

static struct text present_text(const struct play *play, struct text key)
{
    size_t touched = slot_find(&play->seen, key);
    if (touched != SIZE_MAX)
        return piece_text(play->seen.pieces[touched]);
    size_t there = play->anew ? SIZE_MAX : slot_find(play->slot, key);
    return there == SIZE_MAX ? (struct text){"", 0} : piece_text(play->slot->pieces[there]);
}

static bool take_play_piece(struct play *play, const char *node, const struct written *piece, struct status *st)
{
    struct text before = present_text(play, piece->key);
    struct text after = piece->removed ? (struct text){"", 0} : piece->text;
    if (piece->removed && piece->unnamed)
        return fail(
            st, ABORTED,
            "node '%s' removes a message from '%s' without its \"id\"; write {\"id\": \"ID\", \"removed\": true} "
            "with the id of the message that is to go",
            node, play->field->name);
    if (piece->removed && !before.size)
        return fail(st, ABORTED,
                    "node '%s' removes the message '%.*s' from '%s', which has no message of that id; remove only what "
                    "is there",
                    node, (int)(piece->key.size < 64 ? piece->key.size : 64), piece->key.bytes, play->field->name);
    if (before.size)
        play->bytes -= slot_piece_bytes(play->field, piece->key, before);
    if (after.size)
        play->bytes += slot_piece_bytes(play->field, piece->key, after);
    size_t touched = slot_find(&play->seen, piece->key);
    if (touched == SIZE_MAX)
        slot_append(&play->seen, piece->key, after);
    else
        slot_replace(&play->seen, touched, after);
    return true;
}

/* Plays all writes to a field in their order. */
static bool take_play_field(const struct state *state, const struct write *writes, size_t count,
                            const struct field *field, struct status *st)
{
    struct play play = {.slot = &state->slots[field->index], .field = field};
    play.bytes = slot_bytes(play.slot, field);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        for (size_t k = 0; good && k < writes[i].count; k++) {
            const struct field_write *write = &writes[i].fields[k];
            if (write->field != field)
                continue;
            if (!is_reduced(write)) {
                play.anew = true;
                play.bytes = 2;
                slot_clear(&play.seen);
            }
            for (size_t p = 0; good && p < write->count; p++)
                good = take_play_piece(&play, writes[i].node, &write->pieces[p], st);
            good = good && fits_field(field, play.bytes, writes[i].node, st);
        }
    slot_clear(&play.seen);
    return good;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static bool take_plan_write(const struct state *state, const char *node, const struct field_write *write,
                            struct field_plan *plan, struct status *st)
{
    const struct field *field = write->field;
    bool plain = !is_reduced(write), keyed = field_in_pieces(field) && field_has_keys(field);
    if (plan->writer && (plain || plan->plain))
        return refuse_beside(plan, node, write, st);
    if (!plan->writer)
        plan->bytes = plain || !field_in_pieces(field) ? 2 : slot_bytes(&state->slots[field->index], field);
    plan->bytes += written_bytes(write);
    plan->writer = node;
    plan->plain = plain;
    for (size_t i = 0; keyed && i < write->count; i++)
        plan->removes |= write->pieces[i].removed;
    if (keyed || field->reducer == REDUCE_SUM || field->reducer == REDUCE_MAX)
        return true;       /* keyed fields are played later if necessary; numbers are short */
    if (field->keep_bytes) /* older items make room */
        return fits_field(field, written_bytes(write) + 2, node, st);
    return fits_field(field, plan->bytes - (field_in_pieces(field) ? 0 : 2), node, st);
}

bool state_takes(const struct state *state, const struct write *writes, size_t count, struct status *st)
{
    const struct graph *graph = state->graph;
    struct field_plan *plans = calloc(graph->field_count + 1, sizeof *plans);
    bool good = true;
    if (!plans)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to reduce a step");
    for (size_t i = 0; good && i < count; i++)
        for (size_t k = 0; good && k < writes[i].count; k++) {
            const struct field_write *write = &writes[i].fields[k];
            good = take_plan_write(state, writes[i].node, write, &plans[write->field->index], st);
        }
    for (size_t i = 0; good && i < graph->field_count; i++) {
        const struct field *field = &graph->fields[i];
        if (plans[i].writer && field_in_pieces(field) && field_has_keys(field) &&
            (plans[i].removes || plans[i].bytes > FIELD_BYTES_MAX - strlen(field->name) - 5))
            good = take_play_field(state, writes, count, field, st);
    }
    free(plans);
    return good;
}
