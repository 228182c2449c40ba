#include "state_priv.h"

#include <string.h>

/* ---- written ----------------------------------------------------------------------------------------------------- */

static void delta_put_number(struct buffer *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        buffer_put(out, (char)(number | 0x80));
    buffer_put(out, (char)number);
}

static void delta_put_text(struct buffer *out, struct text text)
{
    delta_put_number(out, text.size);
    buffer_append(out, text.bytes, text.size);
}

static size_t delta_number_size(uint64_t number)
{
    size_t size = 1;
    for (; number >= 0x80; number >>= 7)
        size++;
    return size;
}

static size_t delta_text_size(struct text text)
{
    return delta_number_size(text.size) + text.size;
}

size_t delta_bare_size(const struct field *field)
{
    return 1 + delta_text_size((struct text){field->name, strlen(field->name)});
}

static void delta_begin_field(struct buffer *delta, char letter, const struct field *field)
{
    buffer_put(delta, letter);
    delta_put_text(delta, (struct text){field->name, strlen(field->name)});
}

void delta_set(struct buffer *delta, const struct field *field, struct text text)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'S', field);
    delta_put_text(delta, text);
}

size_t delta_set_size(const struct field *field, struct text text)
{
    return delta_bare_size(field) + delta_text_size(text);
}

void delta_empty(struct buffer *delta, const struct field *field)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'E', field);
}

void delta_absent(struct buffer *delta, const struct field *field)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'X', field);
}

void delta_append(struct buffer *delta, const struct field *field, const struct written *pieces, size_t count)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'A', field);
    delta_put_number(delta, count);
    for (size_t i = 0; i < count; i++) {
        if (field_has_keys(field))
            delta_put_text(delta, pieces[i].key);
        delta_put_text(delta, pieces[i].text);
    }
}

void delta_pieces(struct buffer *delta, const struct field *field, const struct slot *slot)
{
    delta_empty(delta, field);
    delta_begin_field(delta, 'A', field);
    delta_put_number(delta, slot->count);
    for (size_t i = 0; i < slot->count; i++) {
        if (field_has_keys(field))
            delta_put_text(delta, piece_key(slot->pieces[i]));
        delta_put_text(delta, piece_text(slot->pieces[i]));
    }
}

size_t delta_pieces_size(const struct field *field, const struct slot *slot)
{
    size_t size = 2 * delta_bare_size(field) + delta_number_size(slot->count);
    bool has_keys = field_has_keys(field);
    for (size_t i = 0; i < slot->count; i++) {
        size += delta_text_size(piece_text(slot->pieces[i]));
        size += has_keys ? delta_text_size(piece_key(slot->pieces[i])) : 0;
    }
    return size;
}

void delta_replace(struct buffer *delta, const struct field *field, size_t position, struct text text)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'P', field);
    delta_put_number(delta, position);
    delta_put_text(delta, text);
}

void delta_remove(struct buffer *delta, const struct field *field, size_t position)
{
    if (!delta)
        return;
    delta_begin_field(delta, 'R', field);
    delta_put_number(delta, position);
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
    bool torn;
};

static uint64_t take_number(struct cursor *in)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        unsigned char byte = (unsigned char)*in->at++;
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return number;
    }
    in->torn = true;
    return 0;
}

static struct text delta_take_text(struct cursor *in)
{
    uint64_t size = take_number(in);
    if (size > (uint64_t)(in->end - in->at))
        in->torn = true;
    if (in->torn)
        return (struct text){"", 0};
    struct text text = {in->at, (size_t)size};
    in->at += size;
    return text;
}

static void apply_appended(struct slot *slot, const struct field *field, struct cursor *in)
{
    slot_open(slot);
    for (uint64_t count = take_number(in); count && !in->torn; count--) {
        struct text key = field_has_keys(field) ? delta_take_text(in) : (struct text){0}, text = delta_take_text(in);
        size_t position = in->torn || key.size ? SIZE_MAX : slot_find(slot, key);
        if (position != SIZE_MAX)
            slot_replace(slot, position, text); /* releases before kept each write of the member "" */
        else if (!in->torn)
            slot_append(slot, key, text);
    }
}

/* Its gaps are closed with the record, for any order of removals and additions. */
static size_t delta_position_of(struct slot *slot, uint64_t before)
{
    return before > SIZE_MAX - 1 ? SIZE_MAX : slot_at(slot, (size_t)before);
}

/* False if it is invalid for the field. */
static bool apply_one(struct slot *slot, const struct field *field, char letter, struct cursor *in)
{
    struct text text;
    size_t position;
    switch (letter) {
    case 'S':
        text = delta_take_text(in);
        if (!in->torn)
            slot_set(slot, text);
        return !field_in_pieces(field);
    case 'A':
        apply_appended(slot, field, in);
        return field_in_pieces(field);
    case 'P':
        position = delta_position_of(slot, take_number(in));
        text = delta_take_text(in);
        if (position == SIZE_MAX)
            return false;
        slot_replace(slot, position, text);
        return true;
    case 'R':
        position = delta_position_of(slot, take_number(in));
        if (position == SIZE_MAX)
            return false;
        slot_remove(slot, position);
        return true;
    case 'E':
        slot_clear(slot);
        slot_open(slot);
        return field_in_pieces(field);
    case 'X':
        slot_clear(slot);
        return true;
    default:
        return false;
    }
}

static bool delta_unreadable(const struct state *state, struct text name, struct status *st)
{
    return fail(st, DATA_LOSS, "a change of the field '%.*s' of '%s' cannot be read", (int)name.size, name.bytes,
                state->graph->name);
}

static bool apply_all(struct state *state, struct cursor *in, struct status *st)
{
    while (in->at < in->end) {
        char letter = *in->at++, field_name[GRAPH_NAME_MAX + 1];
        struct text name = delta_take_text(in);
        if (in->torn || name.size > GRAPH_NAME_MAX)
            return delta_unreadable(state, name, st);
        memcpy(field_name, name.bytes, name.size);
        field_name[name.size] = '\0';
        const struct field *field = graph_field(state->graph, field_name);
        if (!field || !apply_one(&state->slots[field->index], field, letter, in) || in->torn)
            return delta_unreadable(state, name, st);
    }
    return true;
}

bool state_apply(struct state *state, const void *delta, size_t size, struct status *st)
{
    struct cursor in = {.at = delta, .end = (const char *)delta + size};
    bool good = apply_all(state, &in, st);
    for (size_t i = 0; i < state->graph->field_count; i++)
        slot_close_gaps(&state->slots[i]);
    return good;
}
