#include "slot.h"

#include "base/json_writer.h"
#include "base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MIN 8
#define PLACES_MIN 16

static void *must(void *memory)
{
    if (!memory)
        fatal("orchestrator.memory", "no memory for the state of a run");
    return memory;
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). */
static uint32_t hash_of(struct text key)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < key.size; i++)
        hash = (hash ^ (unsigned char)key.bytes[i]) * 16777619u;
    return hash;
}

static struct piece *piece_of(struct text key, struct text text)
{
    assert(key.size <= UINT32_MAX && text.size <= UINT32_MAX);
    struct piece *piece = must(malloc(sizeof *piece + key.size + text.size));
    piece->size = (uint32_t)text.size;
    piece->key_size = (uint32_t)key.size;
    piece->hash = key.size ? hash_of(key) : 0;
    if (key.size)
        memcpy(piece->bytes, key.bytes, key.size);
    if (text.size)
        memcpy(piece->bytes + key.size, text.bytes, text.size);
    return piece;
}

/* ---- the index --------------------------------------------------------------------------------------------------- */

static bool has_key(const struct piece *piece, struct text key)
{
    return piece->key_size == key.size && memcmp(piece->bytes, key.bytes, key.size) == 0;
}

static void place(struct slot *slot, size_t position)
{
    size_t at = slot->pieces[position]->hash & (slot->place_count - 1);
    while (slot->places[at])
        at = (at + 1) & (slot->place_count - 1);
    slot->places[at] = (uint32_t)position + 1;
}

static void index_all(struct slot *slot, size_t places)
{
    free(slot->places);
    slot->place_count = places;
    slot->places = must(calloc(places, sizeof *slot->places));
    for (size_t i = 0; i < slot->count; i++)
        if (slot->pieces[i]->key_size)
            place(slot, i);
}

/* At most half full. */
static void index_last(struct slot *slot)
{
    if (2 * slot->count > slot->place_count)
        index_all(slot, slot->place_count ? 2 * slot->place_count : PLACES_MIN);
    else
        place(slot, slot->count - 1);
}

size_t slot_find(const struct slot *slot, struct text key)
{
    if (!slot->place_count || !key.size)
        return SIZE_MAX;
    size_t mask = slot->place_count - 1;
    for (size_t at = hash_of(key) & mask; slot->places[at]; at = (at + 1) & mask)
        if (has_key(slot->pieces[slot->places[at] - 1], key))
            return slot->places[at] - 1;
    return SIZE_MAX;
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

void slot_clear(struct slot *slot)
{
    for (size_t i = 0; i < slot->count; i++)
        free(slot->pieces[i]);
    free(slot->pieces);
    free(slot->places);
    free(slot->whole);
    *slot = (struct slot){0};
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

void slot_append(struct slot *slot, struct text key, struct text text)
{
    if (slot->count == slot->capacity) {
        slot->capacity = slot->capacity ? 2 * slot->capacity : PIECES_MIN;
        slot->pieces = must(reallocarray(slot->pieces, slot->capacity, sizeof *slot->pieces));
    }
    slot->pieces[slot->count++] = piece_of(key, text);
    slot->present = true;
    if (key.size)
        index_last(slot);
}

void slot_replace(struct slot *slot, size_t position, struct text text)
{
    assert(position < slot->count);
    struct piece *old = slot->pieces[position];
    slot->pieces[position] = piece_of(piece_key(old), text);
    free(old);
}

void slot_remove(struct slot *slot, size_t position)
{
    assert(position < slot->count);
    free(slot->pieces[position]);
    slot->count--;
    memmove(slot->pieces + position, slot->pieces + position + 1, (slot->count - position) * sizeof *slot->pieces);
    if (slot->place_count)
        index_all(slot, slot->place_count);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

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
