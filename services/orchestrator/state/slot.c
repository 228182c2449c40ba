#include "slot.h"

#include "base/hash.h"
#include "base/memory.h"
#include "json/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MIN 8
#define PLACES_MIN 16

static uint32_t slot_hash_of(struct text key)
{
    return (uint32_t)hash_bytes(key.bytes, key.size);
}

/* At most so many bytes as JSON, with its quotes and a colon. */
static size_t key_json_bytes(struct text key)
{
    size_t bytes = 3;
    for (size_t i = 0; i < key.size; i++) {
        unsigned char letter = (unsigned char)key.bytes[i];
        bytes += letter < 0x20 || letter == 0x7f ? 6 : letter == '"' || letter == '\\' ? 2 : 1;
    }
    return bytes;
}

static void count_piece(struct slot *slot, const struct piece *piece)
{
    slot->text_bytes += piece->size + 1;
    slot->key_bytes += key_json_bytes(piece_key(piece));
}

static void discount_piece(struct slot *slot, const struct piece *piece)
{
    slot->text_bytes -= piece->size + 1;
    slot->key_bytes -= key_json_bytes(piece_key(piece));
}

static struct piece *piece_of(struct text key, struct text text)
{
    assert(key.size <= UINT32_MAX && text.size <= UINT32_MAX);
    struct piece *piece = xnonnull(malloc(sizeof *piece + key.size + text.size));
    piece->size = (uint32_t)text.size;
    piece->key_size = (uint32_t)key.size;
    piece->hash = key.bytes ? slot_hash_of(key) : 0;
    if (key.bytes)
        memcpy(piece->bytes, key.bytes, key.size);
    if (text.size)
        memcpy(piece->bytes + key.size, text.bytes, text.size);
    return piece;
}

/* ---- the index --------------------------------------------------------------------------------------------------- */

static bool has_key(const struct piece *piece, struct text key)
{
    return piece && piece->key_size == key.size && memcmp(piece->bytes, key.bytes, key.size) == 0;
}

/* A change that removes a message and writes it again has the key twice for a moment. The later piece then has the
 * place: each key has a single place, however often a damaged record repeats it. */
static void slot_place(struct slot *slot, size_t position)
{
    const struct piece *piece = slot->pieces[position];
    size_t mask = slot->place_count - 1, at = piece->hash & mask, of_gap = SIZE_MAX;
    while (slot->places[at] && !has_key(slot->pieces[slot->places[at] - 1], piece_key(piece))) {
        if (of_gap == SIZE_MAX && !slot->pieces[slot->places[at] - 1])
            of_gap = at;
        at = (at + 1) & mask;
    }
    slot->places[slot->places[at] || of_gap == SIZE_MAX ? at : of_gap] = (uint32_t)position + 1;
}

static void slot_index_all(struct slot *slot, size_t places)
{
    free(slot->places);
    slot->place_count = places;
    slot->places = xnonnull(calloc(places, sizeof *slot->places));
    for (size_t i = 0; i < slot->count; i++)
        if (slot->pieces[i])
            slot_place(slot, i);
}

/* At most half full. */
static void index_last(struct slot *slot)
{
    if (2 * slot->count > slot->place_count)
        slot_index_all(slot, slot->place_count ? 2 * slot->place_count : PLACES_MIN);
    else
        slot_place(slot, slot->count - 1);
}

size_t slot_find(const struct slot *slot, struct text key)
{
    if (!slot->place_count)
        return SIZE_MAX;
    size_t mask = slot->place_count - 1;
    for (size_t at = slot_hash_of(key) & mask; slot->places[at]; at = (at + 1) & mask)
        if (has_key(slot->pieces[slot->places[at] - 1], key))
            return slot->places[at] - 1;
    return SIZE_MAX;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static size_t low_bit(size_t number)
{
    return number & (~number + 1);
}

static uint32_t rank_of(const struct slot *slot, size_t position)
{
    uint32_t before = 0;
    for (size_t i = position; i > 0; i -= low_bit(i))
        before += slot->ranks[i];
    return before;
}

static void slot_rank_all(struct slot *slot)
{
    slot->ranks = xnonnull(calloc(slot->capacity + 1, sizeof *slot->ranks));
    for (size_t i = 1; i <= slot->count; i++) {
        size_t above = i + low_bit(i);
        slot->ranks[i] += slot->pieces[i - 1] != NULL;
        if (above <= slot->count)
            slot->ranks[above] += slot->ranks[i];
    }
}

static void rank_last(struct slot *slot)
{
    size_t last = slot->count;
    slot->ranks[last] = rank_of(slot, last - 1) - rank_of(slot, last - low_bit(last)) + 1;
}

static void rank_removed(struct slot *slot, size_t position)
{
    for (size_t i = position + 1; i <= slot->count; i += low_bit(i))
        slot->ranks[i]--;
}

static void ranks_drop(struct slot *slot)
{
    free(slot->ranks);
    slot->ranks = NULL;
}

size_t slot_at(struct slot *slot, size_t before)
{
    size_t at = 0, step = 1;
    if (before >= slot->count - slot->gaps)
        return SIZE_MAX;
    if (!slot->gaps || before < slot->lowest_gap)
        return before;
    if (!slot->ranks)
        slot_rank_all(slot);
    while (2 * step <= slot->count)
        step *= 2;
    for (; step; step /= 2)
        if (at + step <= slot->count && slot->ranks[at + step] <= before) {
            at += step;
            before -= slot->ranks[at];
        }
    return at;
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

void slot_clear(struct slot *slot)
{
    struct slot old = *slot;
    *slot = (struct slot){0};
    for (size_t i = 0; i < old.count; i++)
        free(old.pieces[i]);
    free(old.pieces);
    free(old.places);
    free(old.ranks);
    free(old.whole);
}

void slot_set(struct slot *slot, struct text text)
{
    slot_clear(slot);
    slot->whole = piece_of((struct text){0}, text);
    slot->present = true;
}

void slot_open(struct slot *slot)
{
    slot->present = true;
}

void slot_reserve(struct slot *slot, size_t more, bool by_key)
{
    size_t count = slot->count + more, capacity = slot->capacity ? slot->capacity : PIECES_MIN, places = PLACES_MIN;
    while (capacity < count)
        capacity *= 2;
    while (places < 2 * count)
        places *= 2;
    if (more > PIECES_MIN && capacity > slot->capacity) {
        slot->pieces = xnonnull(reallocarray(slot->pieces, capacity, sizeof *slot->pieces));
        slot->capacity = capacity;
    }
    if (more > PIECES_MIN && by_key && places > slot->place_count)
        slot_index_all(slot, places);
}

void slot_append(struct slot *slot, struct text key, struct text text)
{
    if (slot->count == slot->capacity) {
        slot->capacity = slot->capacity ? 2 * slot->capacity : PIECES_MIN;
        slot->pieces = xnonnull(reallocarray(slot->pieces, slot->capacity, sizeof *slot->pieces));
        if (slot->ranks)
            slot->ranks = xnonnull(reallocarray(slot->ranks, slot->capacity + 1, sizeof *slot->ranks));
    }
    slot->pieces[slot->count++] = piece_of(key, text);
    count_piece(slot, slot->pieces[slot->count - 1]);
    if (slot->ranks)
        rank_last(slot);
    slot->present = true;
    if (key.bytes)
        index_last(slot);
}

void slot_replace(struct slot *slot, size_t position, struct text text)
{
    assert(position < slot->count);
    struct piece *old = slot->pieces[position];
    slot->pieces[position] = piece_of(piece_key(old), text);
    discount_piece(slot, old);
    count_piece(slot, slot->pieces[position]);
    free(old);
}

void slot_remove(struct slot *slot, size_t position)
{
    assert(position < slot->count && slot->pieces[position]);
    discount_piece(slot, slot->pieces[position]);
    free(slot->pieces[position]);
    slot->pieces[position] = NULL;
    if (slot->ranks)
        rank_removed(slot, position);
    if (!slot->gaps++ || position < slot->lowest_gap)
        slot->lowest_gap = position;
}

void slot_close_gaps(struct slot *slot)
{
    size_t kept = slot->lowest_gap;
    if (!slot->gaps)
        return;
    for (size_t i = kept; i < slot->count; i++)
        if (slot->pieces[i])
            slot->pieces[kept++] = slot->pieces[i];
    slot->count = kept;
    slot->gaps = 0;
    ranks_drop(slot);
    if (slot->place_count)
        slot_index_all(slot, slot->place_count);
}

void slot_copy(struct slot *to, const struct slot *from, bool by_key)
{
    assert(!from->gaps);
    to->present = from->present;
    if (from->whole)
        slot_set(to, piece_text(from->whole));
    slot_reserve(to, from->count, by_key);
    for (size_t i = 0; i < from->count; i++) {
        const struct piece *piece = from->pieces[i];
        slot_append(to, by_key ? piece_key(piece) : (struct text){0}, piece_text(piece));
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

size_t slot_bytes(const struct slot *slot, const struct field *field)
{
    if (slot->whole)
        return slot->whole->size;
    return slot->text_bytes + (field->list ? 0 : slot->key_bytes) + 2;
}

size_t slot_piece_bytes(const struct field *field, struct text key, struct text text)
{
    return text.size + 1 + (field->list ? 0 : key_json_bytes(key));
}

void slot_write(const struct slot *slot, const struct field *field, struct buffer *out)
{
    if (slot->whole) {
        buffer_append(out, piece_text(slot->whole).bytes, slot->whole->size);
        return;
    }
    bool is_object = !field->list;
    buffer_put(out, is_object ? '{' : '[');
    for (size_t i = 0; i < slot->count; i++) {
        struct text key = piece_key(slot->pieces[i]), text = piece_text(slot->pieces[i]);
        if (i)
            buffer_put(out, ',');
        if (is_object) {
            json_append_string(out, key.bytes, key.size);
            buffer_put(out, ':');
        }
        buffer_append(out, text.bytes, text.size);
    }
    buffer_put(out, is_object ? '}' : ']');
}
